/** Waiting for what must come: a test that passes does not wait, so patience is for the busiest machine. */

import { setTimeout as sleep } from 'node:timers/promises'

/** How long a test waits for something to happen. Vitest's own polls take as long (vitest.config.ts). */
export const PATIENCE_MS = 60_000

/** Looks again and again until there is something to see, which it returns. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (seen) return seen as Exclude<T, false | null | undefined>
    if (performance.now() > end) throw new Error(`it did not come to this: ${what}`)
    await sleep(20)
  }
}
