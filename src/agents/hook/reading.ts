/** How a hook and a wrapped command read a text; a process that serves both may hand a reading on (`kept-readings.ts`). */

import type { Surroundings } from '../../call/decide/resolve-call.ts'

/** How a text is read. */
export type Reader = Pick<Surroundings, 'analyze' | 'syntaxError'>

let handingOn: ((own: Reader) => Reader) | null = null

/** From here on readings are made by what this gives. */
export function handReadingsOn(by: (own: Reader) => Reader): void {
  handingOn = by
}

export function readerOf(own: Reader): Reader {
  return handingOn?.(own) ?? own
}
