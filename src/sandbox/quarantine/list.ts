/** Lists the quarantine. */

import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** One thing that a command left and that did not stay. */
export interface QuarantinedFile {
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
export function listQuarantine(stateDir: string): readonly QuarantinedFile[] {
  const folder = posix.join(stateDir, 'quarantine')
  return namesIn(folder)
    .sort()
    .reverse()
    .flatMap((run) => entriesOf(posix.join(folder, run), run))
}

/** Lets the owner read it: it is kept without any right. */
export function readable(entry: QuarantinedFile): { readonly isDirectory: boolean } {
  const stat = lstatSync(entry.kept)
  if (!stat.isSymbolicLink() && !stat.isDirectory()) chmodSync(entry.kept, 0o400)
  return { isDirectory: stat.isDirectory() }
}

function entriesOf(folder: string, run: string): readonly QuarantinedFile[] {
  const lines = textOf(posix.join(folder, 'list.jsonl')).split('\n')
  return lines.flatMap((line) => {
    try {
      const { time, path, kept, reason, mode } = JSON.parse(line) as Omit<QuarantinedFile, 'id'>
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
