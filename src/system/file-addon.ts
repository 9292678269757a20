/** What Node cannot say about files: times to the nanosecond, and extended attributes. */

import { lutimesSync } from 'node:fs'
import { join } from 'node:path'

/** Paths end in NUL; the answer is 0, or an errno. */
interface FileAddon {
  times(path: Buffer, seconds: number, nanoseconds: number): number
  attributes(from: Buffer, to: Buffer): number
  has_attributes(path: Buffer): number
}

let addon: FileAddon | null | undefined

/** The addon `cordon-launch`; null where it was not built. From the bundled program, the library, or a checkout. */
function loadAddon(): FileAddon | null {
  for (const place of ['../native', '../../native', '../../dist/native']) {
    const module = { exports: {} }
    try {
      process.dlopen(module, join(import.meta.dirname, place, `cordon-launch-${process.arch}`))
      return module.exports as FileAddon
    } catch {
      // The next place.
    }
  }
  return null
}

const ended = (path: Buffer): Buffer => Buffer.concat([path, Buffer.of(0)])

/** A link itself, and not where it leads. Throws what the system says. Without the addon Node's own call rounds to a fraction of a microsecond. */
export function setFileTime(path: Buffer, seconds: bigint, nanoseconds: number): void {
  addon ??= loadAddon()
  if (addon?.times(ended(path), Number(seconds), nanoseconds) === 0) return
  const time = Number(seconds) + nanoseconds / 1e9
  lutimesSync(path, time, time)
}

/** Whether a file or folder has any of those that are copied. */
export function hasAttributes(path: Buffer): boolean {
  addon ??= loadAddon()
  return (addon?.has_attributes(ended(path)) ?? 0) !== 0
}

/**
 * Gives a file the access lists, capabilities and own attributes of another, and no others. Throws where one cannot be given;
 * without the addon nothing is known of attributes, and nothing is done.
 */
export function copyAttributes(from: Buffer, to: Buffer): void {
  addon ??= loadAddon()
  const errno = addon?.attributes(ended(from), ended(to)) ?? 0
  if (errno !== 0) throw Object.assign(new Error('attributes'), { code: 'ATTRIBUTES', errno })
}
