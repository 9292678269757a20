/** Reads a stream line by line, by its bytes: only a line feed ends a line, U+2028 and its kin do not. */

import type { Readable } from 'node:stream'

/** A longer line is not a message of anybody who means well. */
const MAX_LINE: number = 64 * 1024 * 1024

/** Splits a stream into lines, null for one that is not UTF-8; a line that is too long ends it with an error. */
export async function* linesOf(input: Readable, limit: number = MAX_LINE): AsyncGenerator<string | null> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, at))
      const line = decoded(parts)
      parts = []
      size = 0
      start = at + 1
      if (line?.trim() !== '') yield line
    }
    size += chunk.length - start
    if (size > limit) throw new RangeError(`a line has more than ${limit} bytes`)
    if (start < chunk.length) parts.push(chunk.subarray(start))
  }
  if (parts.length > 0) yield decoded(parts)
}

function decoded(parts: readonly Uint8Array[]): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  } catch {
    return null
  }
}
