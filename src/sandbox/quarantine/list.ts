/** What is in the quarantine: listed, and put back where a person wants it. */

import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { posix } from 'node:path'
import { Fault } from '../../system/fault.ts'

/** One thing that a command left and that did not stay. */
export interface Quarantined {
  /** `RUN/NUMBER`: what `restore` and `diff` take. */
  readonly id: string
  readonly time: string
  /** Where it was. */
  readonly path: string
  /** Where it is kept. */
  readonly kept: string
  readonly reason: string
  /** The rights that it had; absent in lists of earlier versions. */
  readonly mode?: number
}

/** Everything that is kept, the newest first. */
export function listQuarantine(stateDir: string): readonly Quarantined[] {
  const folder = posix.join(stateDir, 'quarantine')
  return namesIn(folder)
    .sort()
    .reverse()
    .flatMap((run) => entriesOf(posix.join(folder, run), run))
}

/**
 * Puts one back. What stands at its path now is replaced only when told. Its own rights return, so a person should have looked
 * at it first: it is there because it would run code.
 */
export function restoreQuarantined(entry: Quarantined, force: boolean): void {
  if (lstatSync(entry.path, { throwIfNoEntry: false }) !== undefined) {
    if (!force)
      throw new Fault('quarantine-occupied', `there is something at ${entry.path} now`, {
        remedy: `Look at both with cordon quarantine diff ${entry.id}; then restore it with --force.`,
      })
    rmSync(entry.path, { recursive: true, force: true })
  }
  const { isDirectory } = readable(entry)
  if (!isDirectory) chmodSync(entry.kept, entry.mode ?? 0o644)
  try {
    renameSync(entry.kept, entry.path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    cpSync(entry.kept, entry.path, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false })
    rmSync(entry.kept, { recursive: true, force: true })
  }
  if (isDirectory && entry.mode !== undefined) chmodSync(entry.path, entry.mode)
}

/** Lets the owner read it: it is kept without any right. */
export function readable(entry: Quarantined): { readonly isDirectory: boolean } {
  const stat = lstatSync(entry.kept)
  if (!stat.isSymbolicLink() && !stat.isDirectory()) chmodSync(entry.kept, 0o400)
  return { isDirectory: stat.isDirectory() }
}

function entriesOf(folder: string, run: string): readonly Quarantined[] {
  const lines = textOf(posix.join(folder, 'list.jsonl')).split('\n')
  return lines.flatMap((line) => {
    try {
      const { time, path, kept, reason, mode } = JSON.parse(line) as Omit<Quarantined, 'id'>
      if (typeof path !== 'string' || typeof kept !== 'string' || posix.dirname(kept) !== folder || !isThere(kept))
        return []
      const id = `${run}/${posix.basename(kept).split('-')[0]}`
      return [{ id, time: String(time), path, kept, reason: String(reason), ...(typeof mode === 'number' && { mode }) }]
    } catch {
      return []
    }
  })
}

function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
