/** This process's surroundings: user, directories, environment. */

import { readFileSync } from 'node:fs'
import { networkInterfaces, userInfo } from 'node:os'
import { join } from 'node:path'
import { errorCode, Fault } from './fault.ts'
import { readStoredSecret } from './keychain-entry.ts'

export interface Machine {
  readonly cwd: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Cordon runs as root. */
  readonly isRoot: boolean
  /** `$XDG_CONFIG_HOME/cordon` */
  readonly configDir: string
  /** `/etc/cordon`: settings of the administrator for all users. */
  readonly systemDir: string
  /** `$XDG_STATE_HOME/cordon` */
  readonly stateDir: string
  /** `$XDG_CACHE_HOME/cordon`: may be deleted. */
  readonly cacheDir: string
  /** A secret from a file or the keychain, or null. */
  readonly readSecret: (source: { readonly kind: 'env' | 'keychain' | 'file'; readonly name: string }) => string | null
  /** This machine's own addresses, read once. */
  readonly ownAddresses: () => readonly string[]
}

export function thisMachine(): Machine {
  const env = withPassed(process.env)
  // The first choice of os.homedir(), without loading node:os.
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

/** Variables that the resident client withheld from Node (native/resident/environment.c). */
function withPassed(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => name.startsWith(PASSED))
  if (names.length === 0) return env
  const others = Object.entries(env).filter(([name]) => !name.startsWith(PASSED))
  return Object.fromEntries([...others, ...names.map((name) => [name.slice(PASSED.length), env[name]])])
}

/** The account's home. A relative HOME would put Cordon's state into any folder. */
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

/** An agent's process is not further up. */
const MAX_ANCESTORS = 12

/** Command lines of parent processes, nearest first; empty if hidden. */
export function ancestorArguments(): readonly (readonly string[])[] {
  const found: (readonly string[])[] = []
  for (let pid = process.ppid; pid > 1 && found.length < MAX_ANCESTORS; ) {
    try {
      found.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1))
      // The name in brackets may contain anything.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    } catch {
      break
    }
  }
  return found
}
