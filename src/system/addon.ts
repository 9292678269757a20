/** The addon `cordon-launch`: what it can do with files, and its hash. */

import { hash } from 'node:crypto'
import { join } from 'node:path'

/** Paths end in NUL; returns 0 or an errno. */
export interface FileAddon {
  times(path: Buffer, seconds: number, nanoseconds: number): number
  attributes(from: Buffer, to: Buffer): number
  has_attributes(path: Buffer): number
  watch(watches: number, folder: number): number
  unwatch(watches: number, watch: number): void
  lock(fd: number): number
  sha256(bytes: Uint8Array): Buffer
}

let addon: FileAddon | null | undefined

/** The addon `cordon-launch` of the bundle, the library or a checkout, or null. */
function loadAddon(): FileAddon | null {
  for (const place of ['../native', '../../native', '../../dist/native']) {
    const module = { exports: {} }
    try {
      process.dlopen(module, join(import.meta.dirname, place, `cordon-launch-${process.arch}`))
      return module.exports as FileAddon
    } catch {
      // Try the next place.
    }
  }
  return null
}

/** Null where it was not built, or this Node cannot load it. */
export function fileAddon(): FileAddon | null {
  if (addon === undefined) addon = loadAddon()
  return addon
}

const EWOULDBLOCK = 11

/**
 * Locks an open file until it is closed or the process ends. False if another opening has the lock; null without the addon,
 * and on file systems that cannot, such as NFS.
 */
export function tryLock(fd: number): boolean | null {
  const errno = fileAddon()?.lock(fd)
  return errno === 0 ? true : errno === EWOULDBLOCK ? false : null
}

/** The hash of bytes or of a text's UTF-8, in hexadecimal digits. Loading node:crypto takes a start 4 ms. */
export function sha256(input: string | Uint8Array): string {
  const addon = fileAddon()
  if (addon === null) return hash('sha256', input)
  return addon.sha256(typeof input === 'string' ? Buffer.from(input) : input).toString('hex')
}
