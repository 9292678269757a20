/** Creates Cordon's own files with their intended mode: a umask could lock Cordon out of them. */

import { closeSync, fchmodSync, fstatSync, openSync, type PathLike, writeFileSync } from 'node:fs'

/** Opens or creates a file like `openSync`. */
export function openMade(path: PathLike, flags: number | string, mode = 0o600): number {
  const fd = openSync(path, flags, mode)
  if ((fstatSync(fd).mode & mode) !== mode) fchmodSync(fd, mode)
  return fd
}

/** Writes (`w`), creates (`wx`) or appends to (`a`) a file. */
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

/** A name that no other process creates. */
export function uniqueName(): string {
  const moment = process.hrtime.bigint().toString(36)
  return `${process.pid.toString(36)}-${moment}-${(count++).toString(36)}${Math.random().toString(36).slice(2, 8)}`
}
