/** Files of Cordon's own, with the rights that they are meant to have: a umask that takes the owner's would lock Cordon out of them. */

import { closeSync, fchmodSync, fstatSync, openSync, type PathLike, writeFileSync } from 'node:fs'

/** Opens a file, which may be made by it, as `openSync` does. */
export function openMade(path: PathLike, flags: number | string, mode = 0o600): number {
  const fd = openSync(path, flags, mode)
  if ((fstatSync(fd).mode & mode) !== mode) fchmodSync(fd, mode)
  return fd
}

/** Writes a file (`w`), a new one (`wx`) or to the end of one (`a`). */
export function writeMade(
  path: PathLike,
  content: string | Uint8Array,
  { mode = 0o600, flag = 'w' }: { readonly mode?: number; readonly flag?: 'w' | 'wx' | 'a' } = {},
): void {
  const fd = openMade(path, flag, mode)
  try {
    writeFileSync(fd, content)
  } finally {
    closeSync(fd)
  }
}

let count = 0

/** A name that no other call of this or another process makes. */
export function uniqueName(): string {
  const moment = process.hrtime.bigint().toString(36)
  return `${process.pid.toString(36)}-${moment}-${(count++).toString(36)}${Math.random().toString(36).slice(2, 8)}`
}
