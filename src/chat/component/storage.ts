/** What a component keeps from one run to the next: a file of its own, by its name in the manifest of its project. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ComponentSetting } from '../../manifest/schema/settings.ts'
import type { Machine } from '../../system/machine.ts'
import { isRecord } from '../../system/record.ts'
import { openOwnDirectory, writeOwnJson } from '../../system/state.ts'

export interface ComponentStorage {
  get(key: string): string | null
  /** False when it would be more than the quota. */
  set(key: string, value: string): boolean
}

/** Two projects may name their components alike: they share nothing. */
export function openStorage(
  machine: Machine,
  root: string,
  { name, storageBytes }: Pick<ComponentSetting, 'name' | 'storageBytes'>,
): ComponentStorage {
  const own = createHash('sha256')
    .update(JSON.stringify([root, name]))
    .digest('hex')
    .slice(0, 32)
  const file = join(openOwnDirectory(join(machine.stateDir, 'component-storage')), `${own}.json`)
  let entries: Record<string, string> = {}
  try {
    const known: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isRecord(known)) entries = Object.fromEntries(Object.entries(known).map(([key, value]) => [key, String(value)]))
  } catch {
    // Nothing was kept yet.
  }
  return {
    get: (key) => (Object.hasOwn(entries, key) ? entries[key]! : null),
    set: (key, value) => {
      const next = { ...entries, [key]: value }
      if (Buffer.byteLength(JSON.stringify(next)) > storageBytes) return false
      entries = next
      writeOwnJson(file, entries)
      return true
    },
  }
}
