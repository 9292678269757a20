/**
 * kill -9 at random moments of writes, edits and patches: every file is old or new, and nothing else stays behind.
 * `node test/attacks/tools/tools-crash.ts 500` runs the long form.
 */

import { fork } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isTemporaryName, reapTemporaries } from '../../../src/system/guarded/journal.ts'
import { randomFrom } from '../../redact-samples.ts'

const LINES = 2000

/** A text that can tell whether it is whole. */
export function versionText(version: number): string {
  return `${`version ${version}\n`.repeat(LINES)}`
}

/** Which version a text is, or null when it is not as a whole. */
export function versionOf(text: string): number | null {
  const version = Number(/^version (\d+)\n/.exec(text)?.[1] ?? Number.NaN)
  return text === versionText(version) ? version : null
}

export interface CrashReport {
  readonly kills: number
  /** Kills that found a temporary file in the project: the moments this is about. */
  readonly caught: number
  readonly versions: number
  readonly problems: readonly string[]
}

/** Starts and kills the worker again and again. */
export async function runCrashes(kills: number, seed = 1): Promise<CrashReport> {
  const random = randomFrom(seed)
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-crash-')))
  const root = join(base, 'project')
  const state = join(base, 'state')
  mkdirSync(join(root, 'deep'), { recursive: true })
  for (const path of ['a.txt', 'b.txt', 'c.txt', 'deep/d.txt']) writeFileSync(join(root, path), versionText(0))
  const problems: string[] = []
  let caught = 0
  try {
    const reached = () => versionOf(readFileSync(join(root, 'a.txt'), 'utf8')) ?? -1
    // On a busy machine the workers get nothing done so soon: then they are given longer.
    for (let kill = 0; kill < kills || (kill < kills * 4 && reached() === 0); kill++) {
      await killOnce(root, state, random() * (kill < kills ? 40 : 5000))
      caught += leftOvers(root).length > 0 ? 1 : 0
      reapTemporaries(state)
      problems.push(...leftOvers(root).map((path) => `kill ${kill}: ${path} was left`))
      problems.push(...brokenFiles(root).map((path) => `kill ${kill}: ${path} is neither old nor new`))
    }
    return { kills, caught, versions: reached(), problems }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

async function killOnce(root: string, state: string, afterMs: number): Promise<void> {
  const worker = fork(join(import.meta.dirname, 'tools-crash-worker.ts'), [root, state], { execArgv: [] })
  const ended = new Promise<number | null>((resolve) => worker.once('exit', (code) => resolve(code)))
  await Promise.race([new Promise((resolve) => worker.once('message', resolve)), ended])
  await setTimeout(afterMs)
  worker.kill('SIGKILL')
  if ((await ended) !== null) throw new Error('the worker ended by itself; see its error above')
}

function names(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
}

function leftOvers(root: string): string[] {
  return names(root).filter((path) => isTemporaryName(path.split('/').at(-1)!))
}

function brokenFiles(root: string): string[] {
  return names(root).filter(
    (path) => path.endsWith('.txt') && versionOf(readFileSync(join(root, path), 'utf8')) === null,
  )
}

if (import.meta.main) {
  const report = await runCrashes(Number(process.argv[2] ?? 500))
  console.log(report)
  if (report.problems.length > 0) process.exitCode = 1
}
