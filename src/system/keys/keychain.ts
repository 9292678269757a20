/** Stores keys in the system keychain, or in private files with a warning. */

import { join } from 'node:path'
import { messageOf } from '../fault.ts'
import { keychainEntry } from '../keychain-entry.ts'
import { readOwnFile, removeIfThere, writeOwnFile } from '../state.ts'

/** The system keychain. Every call throws if it is missing or locked. */
export interface Keychain {
  get(name: string): string | null
  set(name: string, value: string): void
  delete(name: string): void
}

export interface StoredKey {
  readonly value: string
  readonly from: 'keychain' | 'file'
}

export interface KeyStore {
  read(name: string): StoredKey | null
  /** Stores a value; `warning` says if it is not in the keychain. */
  write(name: string, value: string): { readonly to: 'keychain' | 'file'; readonly warning: string | null }
  /** Removes it from both places. */
  delete(name: string): void
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Opens a store over the keychain and the opened state directory's `keys`. */
export function openKeyStore(stateDir: string, keychain: Keychain = systemKeychain()): KeyStore {
  const fileOf = (name: string): string => {
    if (!NAME.test(name)) throw new RangeError(`a key's name is lower-case letters, digits, dots and dashes: ${name}`)
    return join(stateDir, 'keys', name)
  }
  const readFile = (name: string): StoredKey | null => {
    const bytes = readOwnFile(fileOf(name))
    return bytes === null ? null : { value: new TextDecoder().decode(bytes).trim(), from: 'file' }
  }
  return {
    read(name) {
      // File first: it exists only without a keychain, and asking the keychain takes time.
      const stored = readFile(name)
      if (stored !== null) return stored
      const value = attempt(() => keychain.get(name))
      return 'value' in value && value.value !== null ? { value: value.value, from: 'keychain' } : null
    },
    write(name, value) {
      const path = fileOf(name)
      const stored = attempt(() => {
        keychain.set(name, value)
        // A keychain that forgets is worse than none.
        if (keychain.get(name) !== value) throw new Error('it did not keep the value')
      })
      if (!('failure' in stored)) {
        removeIfThere(path)
        return { to: 'keychain', warning: null }
      }
      writeOwnFile(path, `${value}\n`)
      return {
        to: 'file',
        warning: `no keychain here${isAbsence(stored.failure) ? '' : ` (${stored.failure})`}; the key is in ${path}, owner-only`,
      }
    },
    delete(name) {
      removeIfThere(fileOf(name))
      attempt(() => keychain.delete(name))
    },
  }
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly failure: string } {
  try {
    return { value: work() }
  } catch (error) {
    return { failure: messageOf(error).split('\n')[0]! }
  }
}

/** Usual reasons for a missing keychain, which need no explanation. */
function isAbsence(failure: string): boolean {
  return /dbus|d-bus|no such (?:interface|service|file)|not provided by any|secret.?service|org\.freedesktop|CORDON_KEYCHAIN|platform failure/i.test(
    failure,
  )
}

function systemKeychain(): Keychain {
  return {
    get: (name) => keychainEntry(name).getPassword(),
    set: (name, value) => keychainEntry(name).setPassword(value),
    delete: (name) => void keychainEntry(name).deletePassword(),
  }
}

const KEY_FIELD = /^(?:api_?key|token|secret)$/i

interface MovedKeys {
  /** The names under which they are now stored. */
  readonly moved: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Moves keys out of a JSON configuration. Each is stored before it is removed, so a crash leaves it
 * in both places, never in none.
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

/** `api-key` for the whole configuration, `api-key.anthropic` below `anthropic`. */
function keyName(place: readonly string[]): string {
  const path = place.map((part) => part.toLowerCase().replace(/[^a-z0-9]+/g, '-')).filter((part) => part !== '')
  return ['api-key', ...path].join('.').slice(0, 64)
}
