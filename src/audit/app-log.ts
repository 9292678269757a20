/** Cordon's own log, `app.log` in the state directory: for the owner alone, without secrets, of bounded size (A2). */

import { closeSync, constants, fstatSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openMade } from '../system/made-file.ts'
import { mustBeOurs, openOwnDirectory } from '../system/state.ts'

export interface AppLog {
  write(level: 'info' | 'warning' | 'error', message: string): void
  close(): void
}

const MAX_BYTES = 5 * 1024 * 1024

/** Opens the log. Unlike the audit it is a convenience: a line that cannot be written is dropped. */
export function openAppLog(stateDir: string, redact: (text: string) => string, now: () => string): AppLog {
  const path = join(openOwnDirectory(stateDir), 'app.log')
  let fd = openLog(path)
  return {
    write(level, message) {
      const text = redact(message).replace(/[\r\n]+/g, ' | ')
      try {
        if (fstatSync(fd).size > MAX_BYTES) {
          renameSync(path, `${path}.1`)
          closeSync(fd)
          fd = openLog(path)
        }
        writeSync(fd, `${now()} ${level} ${text}\n`)
      } catch {
        // A full disk must not stop the work that the log is about.
      }
    },
    close: () => closeSync(fd),
  }
}

function openLog(path: string): number {
  const fd = openMade(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW)
  mustBeOurs(path, fstatSync(fd))
  return fd
}
