/** A note of every temporary file while it exists, so that the next start removes what a killed process left. */

import {
  closeSync,
  constants,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { posix } from 'node:path'
import { holdDirectory } from './guarded-files-directory.ts'

/** Names that only Cordon gives: the reaper removes nothing else. */
const TEMPORARY = /^\.cordon-[0-9a-f]{16}\.tmp$/

export interface TemporaryJournal {
  /** Notes a temporary file before it is made. */
  begin(path: string): void
  /** The temporary file is gone. */
  end(): void
  close(): void
}

/** For those who have no state directory: nothing is noted. */
export const noJournal: TemporaryJournal = { begin: () => {}, end: () => {}, close: () => {} }

export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name)
}

/** Opens this process's journal below a directory that only Cordon can reach. */
export function openTemporaryJournal(directory: string): TemporaryJournal {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants
  const name = `${process.pid}-${startOf(process.pid) ?? 0}-${crypto.randomUUID()}`
  const path = posix.join(directory, name)
  let fd: number | null = null
  let open = 0
  return {
    begin(temporary) {
      fd ??= openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600)
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

/** Removes the temporary files of processes that are gone; returns those it removed. Called at every start. */
export function reapTemporaries(directory: string): readonly string[] {
  const removed: string[] = []
  for (const name of names(directory)) {
    const [pid = '', start = ''] = name.split('-')
    if (startOf(Number(pid)) === start) continue
    const journal = posix.join(directory, name)
    for (const path of notedPaths(journal)) if (removeTemporary(path)) removed.push(path)
    unlinkSync(journal)
  }
  return removed
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function notedPaths(journal: string): string[] {
  return readFileSync(journal, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as string]
      } catch {
        // The last line of a killed process may be cut; its file was then never made.
        return []
      }
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

/** When a process started, as text that no later process of the same number repeats; null when it does not run. */
function startOf(pid: number): string | null {
  if (process.platform !== 'linux') {
    try {
      process.kill(pid, 0)
      return '0'
    } catch {
      return null
    }
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
