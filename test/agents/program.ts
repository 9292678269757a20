/** The programs under test: where they are installed, and how one is run. */

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Agent, Driven } from './agents.ts'

const checkout = join(import.meta.dirname, '../..')
/** Over a gigabyte of programs, ignored by version control. */
export const cache: string = join(checkout, '.cache', process.argv.includes('--latest') ? 'newest-agents' : 'agents')
/** The words that run Cordon. */
export const cordon: readonly [string, string] = [
  process.execPath,
  process.env.CORDON_CLI ?? join(checkout, 'dist/cordon.cjs'),
]
/** A PATH with the agents on it, and this Node. */
export const findable: string = [
  join(cache, 'node_modules/.bin'),
  join(checkout, 'node_modules/.bin'),
  process.env.PATH,
].join(delimiter)

/** The same without the agents. */
export const findableAlone: string = [join(checkout, 'node_modules/.bin'), process.env.PATH].join(delimiter)

/** What of this checkout the agents need to run. */
export const toolchain: readonly string[] = [join(checkout, 'node_modules/.bin'), join(checkout, 'node_modules/node')]

export function programOf({ program }: Pick<Agent, 'program'>): string {
  return join(cache, 'node_modules/.bin', program)
}

/** The words that start an agent. */
export function programWords(agent: Driven): readonly string[] {
  return agent.name === 'cordon' ? cordon : [programOf(agent)]
}

/** Ends what an agent left running: every process that was started with this home. */
export function endLeftovers(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
      if (variables.includes(`HOME=${home}`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has gone, or is somebody else's.
    }
  }
}

/** Installs a program into the ignored cache, in the version that is named; null when it is there, else what is missing and why. */
export function install({
  package: named,
  program,
  also = [],
}: Pick<Agent, 'package' | 'program' | 'also'>): string | null {
  const isInstalled = (one: string): boolean => {
    const [, name = one, version] = /^(@?[^@]+)@(.+)$/.exec(one) ?? []
    return (version ?? installedVersion(name)) === installedVersion(name)
  }
  const isThere = (): boolean => existsSync(programOf({ program })) && [named, ...also].every(isInstalled)
  if (isThere()) return null
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}\n')
  const run = spawnSync('npm', ['install', '--save-exact', '--no-audit', '--no-fund', named, ...also], {
    cwd: cache,
    encoding: 'utf8',
    env: { ...process.env, PATH: findable },
  })
  if (run.error) return `${named} is missing, and npm could not be started: ${run.error.message}`
  if (run.status !== 0) return `${named} is missing, and npm could not install it: ${run.stderr.trim().slice(-300)}`
  return isThere() ? null : `npm installed ${named}, but ${programOf({ program })} is not there in that version`
}

/** The package in the version that the registry has now; throws if it cannot be asked. */
export function newestOf(named: string): string {
  const [, name = named] = /^(@?[^@]+)@/.exec(named) ?? []
  const run = spawnSync('npm', ['view', name, 'version'], { encoding: 'utf8', env: { ...process.env, PATH: findable } })
  if (run.status !== 0)
    throw new Error(`npm does not know the newest version of ${name}: ${run.stderr.trim().slice(-300)}`)
  return `${name}@${run.stdout.trim()}`
}

/** The version of a package in the cache; undefined when it is not there. */
function installedVersion(name: string): string | undefined {
  const file = join(cache, 'node_modules', name, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined
}

/** What a program said, in the order in which it came, and how it ended. */
export interface Ended {
  readonly status: number | null
  readonly said: string
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, for ten minutes at most unless it is said; other sessions and their models go on meanwhile. */
export function runProgram(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  limitMs = 600_000,
): Promise<Ended> {
  const [program = '', ...args] = words
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let [said, stdout, stderr] = ['', '', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      stderr += text
    })
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs)
    child.on('close', (status) => {
      clearTimeout(timer)
      resolve({ status, said, stdout, stderr })
    })
    child.on('error', ({ message }) => {
      clearTimeout(timer)
      resolve({ status: null, said: said + message, stdout, stderr: stderr + message })
    })
  })
}
