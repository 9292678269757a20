/** Reads files that a command could have put there. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
/**
 * A regular file of at most so many bytes, or null. Never follows a link, even one swapped in just now, and never
 * waits for the other end of a pipe.
 */
export function readPlainFile(path: string, most: number): Buffer | null {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.size > most) return null
    const bytes = Buffer.alloc(stat.size + 1)
    const length = readSync(descriptor, bytes, 0, bytes.length, 0)
    return length === stat.size ? bytes.subarray(0, length) : null
  } catch {
    return null
  } finally {
    closeSync(descriptor)
  }
}
