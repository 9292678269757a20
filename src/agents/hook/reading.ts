/** How a hook and a wrapped command read a text; a shared process may reuse a reading (`kept-readings.ts`). */

import type { Surroundings } from '../../call/decide/resolve-call.ts'

export type Reader = Pick<Surroundings, 'analyze' | 'syntaxError'>

let handingOn: ((own: Reader) => Reader) | null = null

/** Replaces the reader from now on. */
export function handReadingsOn(by: (own: Reader) => Reader): void {
  handingOn = by
}

export function readerOf(own: Reader): Reader {
  return handingOn?.(own) ?? own
}
