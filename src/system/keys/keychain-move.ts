/** Moves keys that an old configuration holds in plain text into the key store, and rewrites it without them (A4). */

import { readOwnFile, writeOwnFile } from '../state.ts'
import type { KeyStore } from './keychain.ts'

const KEY_FIELD = /^(?:api_?key|token|secret)$/i

export interface MovedKeys {
  /** The names under which they are kept now. */
  readonly moved: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Looks through a JSON configuration for keys. Each is stored first and then taken out, so that a crash in between leaves it in
 * both places and never in none.
 */
export function moveKeys(configPath: string, store: KeyStore): MovedKeys {
  const bytes = readOwnFile(configPath)
  if (bytes === null) return { moved: [], warnings: [] }
  const moved: string[] = []
  const warnings: string[] = []
  const without = (value: unknown, place: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => without(item, [...place, String(index)]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, field]) => {
        if (!KEY_FIELD.test(name) || typeof field !== 'string' || field === '' || field.includes('${')) {
          return [[name, without(field, [...place, name])]]
        }
        const key = keyName(place)
        const { warning } = store.write(key, field)
        moved.push(key)
        if (warning !== null) warnings.push(warning)
        return []
      }),
    )
  }
  const config = without(JSON.parse(new TextDecoder().decode(bytes)), [])
  if (moved.length > 0) writeOwnFile(configPath, `${JSON.stringify(config, null, 2)}\n`)
  return { moved, warnings }
}

/** `api-key` for the configuration as a whole, `api-key.anthropic` below `anthropic`. */
function keyName(place: readonly string[]): string {
  const path = place.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, '-')).filter((part) => part !== '')
  return ['api-key', ...path].join('.').slice(0, 64)
}
