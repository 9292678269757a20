/** Sets the time of a file's last change to the nanosecond; Node's own call rounds to a fraction of a microsecond. */

import { lutimesSync } from 'node:fs'
import { join } from 'node:path'

interface TimesAddon {
  /** The path ends in NUL. 0, or an errno. */
  times(path: Buffer, seconds: number, nanoseconds: number): number
}

let addon: TimesAddon | null | undefined

/** The addon `cordon-launch`; null where it was not built. From the bundled program, the library, or a checkout. */
function loadAddon(): TimesAddon | null {
  for (const place of ['../native', '../../native', '../../dist/native']) {
    const module = { exports: {} }
    try {
      process.dlopen(module, join(import.meta.dirname, place, `cordon-launch-${process.arch}`))
      return module.exports as TimesAddon
    } catch {
      // The next place.
    }
  }
  return null
}

/** A link itself, and not where it leads. Throws what the system says. */
export function setFileTime(path: Buffer, seconds: bigint, nanoseconds: number): void {
  addon ??= loadAddon()
  if (addon?.times(Buffer.concat([path, Buffer.of(0)]), Number(seconds), nanoseconds) === 0) return
  const time = Number(seconds) + nanoseconds / 1e9
  lutimesSync(path, time, time)
}
