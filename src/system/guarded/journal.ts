/** Records temporary files, so that the next start removes those of killed processes. */

import { closeSync, constants, ftruncateSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { posix } from 'node:path'
import { attempt } from '../fault.ts'
import { openMade } from '../made-file.ts'
import { isSameProcess, startOf } from '../processes.ts'
import { makeDirectories } from '../state.ts'
import { holdDirectory } from './directory.ts'

/** Only names that Cordon creates are removed. */
const TEMPORARY = /^\.cordon-[0-9a-f]{16}\.tmp$/

/** Used if the start time is unknown. */
const UNKNOWN = '0'

export interface TemporaryJournal {
  /** Records a temporary file before it is created. */
  begin(path: string): void
  /** The temporary file is gone. */
  end(): void
  close(): void
}

/** For callers without a state directory. */
export const noJournal: TemporaryJournal = { begin: () => {}, end: () => {}, close: () => {} }

export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name)
}

/** Opens this process's journal in a private directory. */
export function openTemporaryJournal(directory: string): TemporaryJournal {
  makeDirectories(directory)
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants
  const name = `${process.pid}-${startOf(process.pid) ?? UNKNOWN}-${crypto.randomUUID()}`
  const path = posix.join(directory, name)
  let fd: number | null = null
  let open = 0
  return {
    begin(temporary) {
      fd ??= openMade(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL)
      writeSync(fd, `${JSON.stringify(temporary)}\n`)
      open++
    },
    end() {
      if (--open === 0 && fd !== null) ftruncateSync(fd, 0)
    },
    close() {
      if (fd === null) return
      closeSync(fd)
      fd = null
      unlinkSync(path)
    },
  }
}

/** Removes temporary files of dead processes and returns them. Called at every start. */
export function reapTemporaries(directory: string): readonly string[] {
  const removed: string[] = []
  for (const name of names(directory)) {
    const [pid = '', start = ''] = name.split('-')
    if (isSameProcess(Number(pid), start === UNKNOWN ? null : start)) continue
    const journal = posix.join(directory, name)
    for (const path of notedPaths(journal)) if (removeTemporary(path)) removed.push(path)
    unlinkSync(journal)
  }
  return removed
}

function names(directory: string): string[] {
  return attempt(() => readdirSync(directory), [])
}

function notedPaths(journal: string): string[] {
  return readFileSync(journal, 'utf8')
    .split('\n')
    .flatMap((line) => {
      // A killed process may leave a cut line; its file was never created.
      return attempt(() => [JSON.parse(line) as string], [])
    })
}

function removeTemporary(path: string): boolean {
  if (!isTemporaryName(posix.basename(path))) return false
  try {
    const directory = holdDirectory(posix.dirname(path))
    try {
      unlinkSync(directory.at(posix.basename(path)))
      return true
    } finally {
      directory.close()
    }
  } catch {
    return false
  }
}
