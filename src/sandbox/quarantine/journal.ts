/** Remembers runs under way, so that a killed Cordon's run is settled by the next one and parallel runs share a yardstick. */

import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { unwritable } from '../../system/fault.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { isSameProcess, startOf } from '../../system/processes.ts'
import { makeDirectories } from '../../system/state.ts'
import { isBelow } from '../protect/tree.ts'
import type { TreeBaseline } from './baseline.ts'

/** A run that some process began and has not settled. */
export interface JournalEntry {
  readonly file: string
  readonly baseline: TreeBaseline
  /** False when the process that began it is gone. */
  readonly alive: boolean
  /** Whether every change of it is written down elsewhere, by the name of this run. */
  readonly held: boolean
}

/** By what name a run's changes are written down. */
export function runName(file: string): string {
  return posix.basename(file, '.json')
}

/** Notes a run under way; returns the file to remove when it has been settled. */
export function writeJournal(stateDir: string, baseline: TreeBaseline, held: boolean): string {
  const folder = posix.join(stateDir, 'runs')
  const file = posix.join(folder, `${process.pid}-${uniqueName()}.json`)
  const owner = { pid: process.pid, started: startOf(process.pid) }
  try {
    makeDirectories(folder)
    writeMade(file, JSON.stringify({ owner, held, baseline }), { flag: 'wx' })
  } catch (error) {
    removeIfPossible(file)
    throw unwritable(file, error)
  }
  return file
}

/** Forgets a run that has been settled. */
export function removeJournal(file: string): void {
  rmSync(file, { force: true })
}

/** Runs of any process that touch these roots, this process's own ones left out. */
export function readJournals(stateDir: string, roots: readonly string[], own: ReadonlySet<string>): JournalEntry[] {
  const folder = posix.join(stateDir, 'runs')
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
  const entries: JournalEntry[] = []
  for (const file of names.map((name) => posix.join(folder, name))) {
    if (own.has(file)) continue
    const entry = readEntry(file)
    if (entry?.baseline.roots.some((theirs) => roots.some((mine) => overlaps(theirs, mine)))) entries.push(entry)
  }
  return entries
}

function readEntry(file: string): JournalEntry | null {
  try {
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as {
      owner: { pid: number; started: string | null }
      held?: boolean
      baseline: TreeBaseline
    }
    const alive = isSameProcess(parsed.owner.pid, parsed.owner.started)
    return { file, baseline: parsed.baseline, alive, held: parsed.held === true }
  } catch {
    // Being written this very moment, or removed; a run whose journal was cut short had not started yet.
    removeStale(file)
    return null
  }
}

/** Writing one takes no time at all. */
const STALE_MS = 60_000

function removeStale(file: string): void {
  const facts = statSync(file, { throwIfNoEntry: false })
  if (facts !== undefined && Date.now() - facts.mtimeMs > STALE_MS) removeIfPossible(file)
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // On a disk that takes no changes.
  }
}

function overlaps(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a)
}
