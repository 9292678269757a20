/** Removes spilled output of killed sessions. */

import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KEEP_SPILL_MS = 24 * 3600 * 1000

/** Removes spilled output that is older than a day. */
export function reapSpill(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    try {
      if (now - statSync(path).mtimeMs > KEEP_SPILL_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}
