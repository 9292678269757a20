/** Reads lines from a stream of bytes; only a line feed ends a line, not U+2028. */

import type { Readable } from 'node:stream'
import { attempt } from './fault.ts'

/** Longer lines are an error. */
const MAX_LINE: number = 64 * 1024 * 1024

/** Yields lines, or null for one that is not UTF-8. */
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
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)), null)
}
