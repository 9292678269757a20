/** The port to this process's surroundings: where it runs, for whom, and with which environment. */

import { readFileSync } from 'node:fs'
import { networkInterfaces, userInfo } from 'node:os'
import { join } from 'node:path'
import { errorCode, Fault } from './fault.ts'
import { readStoredSecret } from './keychain-entry.ts'

export interface Machine {
  readonly cwd: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** A process that runs this process may do anything on the machine. */
  readonly isRoot: boolean
  /** `$XDG_CONFIG_HOME/cordon` */
  readonly configDir: string
  /** `/etc/cordon`: what the process that runs this machine has set for all of its users. */
  readonly systemDir: string
  /** `$XDG_STATE_HOME/cordon` */
  readonly stateDir: string
  /** `$XDG_CACHE_HOME/cordon`: what may be lost. */
  readonly cacheDir: string
  /** A secret from a file of the user or from the keychain; null when there is none. */
  readonly readSecret: (source: { readonly kind: 'env' | 'keychain' | 'file'; readonly name: string }) => string | null
  /** Addresses of this machine's own interfaces, looked up once. */
  readonly ownAddresses: () => readonly string[]
}

/** The machine this process runs on. */
export function thisMachine(): Machine {
  const env = withPassed(process.env)
  // What os.homedir() answers first, without loading node:os at every start.
  const home = env.HOME?.startsWith('/') ? env.HOME : accountHome()
  const base = (value: string | undefined, fallback: string) => (value?.startsWith('/') ? value : join(home, fallback))
  let addresses: readonly string[] | null = null
  return {
    cwd: workingDirectory(),
    home,
    env,
    isRoot: process.getuid?.() === 0,
    configDir: join(base(env.XDG_CONFIG_HOME, '.config'), 'cordon'),
    systemDir: '/etc/cordon',
    stateDir: join(base(env.XDG_STATE_HOME, '.local/state'), 'cordon'),
    cacheDir: join(base(env.XDG_CACHE_HOME, '.cache'), 'cordon'),
    readSecret: (source) => readSecret(source, env, home, join(base(env.XDG_STATE_HOME, '.local/state'), 'cordon')),
    ownAddresses: () => {
      addresses ??= Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address))
      return addresses
    },
  }
}

const PASSED = 'CORDON_PASSED_'

/** With what the client kept from this process, since Node itself would have heeded it (native/resident/environment.c): commands have it. */
function withPassed(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => name.startsWith(PASSED))
  if (names.length === 0) return env
  const others = Object.entries(env).filter(([name]) => !name.startsWith(PASSED))
  return Object.fromEntries([...others, ...names.map((name) => [name.slice(PASSED.length), env[name]])])
}

/** The home of the account. A relative HOME would put Cordon's own state into whatever folder it is called from. */
function accountHome(): string {
  try {
    return userInfo().homedir
  } catch (error) {
    throw new Fault('no-home', 'HOME is not an absolute path, and this user has no account with a home', {
      cause: error,
      remedy: 'Set HOME to your home directory.',
    })
  }
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new Fault('no-directory', 'the working directory does not exist any more', {
      cause: error,
      remedy: 'Change to one that does, and try again.',
    })
  }
}

function readSecret(
  source: { readonly kind: 'env' | 'keychain' | 'file'; readonly name: string },
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  stateDir: string,
): string | null {
  if (source.kind === 'env') return env[source.name] ?? null
  if (source.kind === 'keychain') return readStoredSecret(stateDir, source.name)
  const path = source.name.startsWith('~/') ? join(home, source.name.slice(2)) : source.name
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Fault('secret-missing', `the secret's file ${path} cannot be read (${errorCode(error)})`, {
      cause: error,
      remedy: 'Make it a file that you can read, or name another source.',
    })
  }
}

/** Further up is no one who started an agent. */
const MAX_ANCESTORS = 12

/** The command lines of the processes above this one, the nearest first; nothing where the system does not show them. */
export function ancestorArguments(): readonly (readonly string[])[] {
  const found: (readonly string[])[] = []
  for (let pid = process.ppid; pid > 1 && found.length < MAX_ANCESTORS; ) {
    try {
      found.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1))
      // Its name, in brackets, may hold anything.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    } catch {
      break
    }
  }
  return found
}
