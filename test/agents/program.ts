/** The programs under test: where they are installed, and how one is run. */

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Agent } from './agents.ts'

const checkout = join(import.meta.dirname, '../..')
/** Over a gigabyte of programs, ignored by version control. */
export const cache: string = join(checkout, '.cache/agents')
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

/** What of this checkout the agents need to run. */
export const toolchain: readonly string[] = [join(checkout, 'node_modules/.bin'), join(checkout, 'node_modules/node')]

export function programOf({ program }: Pick<Agent, 'program'>): string {
  return join(cache, 'node_modules/.bin', program)
}

/** Installs a program into the ignored cache; null when it is there. */
export function install(agent: Pick<Agent, 'package' | 'program'>): string | null {
  if (existsSync(programOf(agent))) return null
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}\n')
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', agent.package], { cwd: cache, encoding: 'utf8' })
  return run.status === 0 ? null : `npm could not install ${agent.package}: ${run.stderr.slice(-300)}`
}

/** Runs a program to its end, for three minutes at most unless it is said; what it said. */
export function runProgram(
  words: readonly string[],
  cwd: string,
  env: Record<string, string>,
  limitMs = 180_000,
): Promise<string> {
  const [program = '', ...args] = words
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
    })
    child.stderr.on('data', (data) => {
      said += data
    })
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(said)
    })
    child.on('error', (error) => resolve(`${said}${error.message}`))
  })
}
