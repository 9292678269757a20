/** Secrets that a person stored for `[[secrets]]`: values in the key store, their names in the state directory (N7). */

import { join } from 'node:path'
import { Fault, messageOf } from '../fault.ts'
import { openOwnDirectory, readOwnFile, readOwnJson, writeOwnJson } from '../state.ts'
import { openKeyStore } from './keychain.ts'
import { keychainEntry } from './keychain-entry.ts'

/** Apart from Cordon's own keys: no manifest may have the signing key sent to a host. */
const keyOf = (name: string): string => `secret.${name}`

const NAME = /^[a-z0-9][a-z0-9._-]{0,55}$/

/** One that is stored; its value is nobody's to list. */
export interface StoredSecret {
  readonly name: string
  readonly kept: 'keychain' | 'file'
  readonly since: string
}

export interface StoredSecrets {
  list(): readonly StoredSecret[]
  /** Keeps a value under a name. `warning` tells a person when it is not in the keychain. */
  set(name: string, value: string, since: string): { readonly warning: string | null }
  /** False when there was none of this name. */
  remove(name: string): boolean
}

/** Opens what this user stored. */
export function openStoredSecrets(stateDir: string): StoredSecrets {
  const index = join(openOwnDirectory(stateDir), 'secrets.json')
  const list = (): readonly StoredSecret[] => readOwnJson(index, isIndex) ?? []
  const others = (name: string) => list().filter((secret) => secret.name !== name)
  const store = () => openKeyStore(stateDir)
  return {
    list,
    set(name, value, since) {
      requireName(name)
      openOwnDirectory(join(stateDir, 'keys'))
      const { to, warning } = store().write(keyOf(name), value)
      const secrets = [...others(name), { name, kept: to, since }]
      writeOwnJson(
        index,
        secrets.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      )
      return { warning }
    },
    remove(name) {
      requireName(name)
      const left = others(name)
      if (left.length === list().length) return false
      store().delete(keyOf(name))
      writeOwnJson(index, left)
      return true
    },
  }
}

/** The value of `keychain:NAME`; null when none was stored. Throws where it may be in a keychain that cannot be used. */
export function readStoredSecret(stateDir: string, name: string): string | null {
  requireName(name)
  const file = readOwnFile(join(stateDir, 'keys', keyOf(name)))
  if (file !== null) return new TextDecoder().decode(file).trim()
  try {
    return keychainEntry(keyOf(name)).getPassword()
  } catch (error) {
    throw new Fault(
      'keychain-unavailable',
      `the secret ${name} cannot be read: the system's keychain cannot be used here (${messageOf(error).split('\n')[0]})`,
      {
        cause: error,
        remedy: `Store it with cordon secrets set ${name}, which keeps it in a file for you alone where there is no keychain; or name another source, env:NAME or file:PATH.`,
      },
    )
  }
}

function requireName(name: string): void {
  if (NAME.test(name)) return
  throw new Fault('secret-name', `${JSON.stringify(name)} cannot name a secret`, {
    remedy: 'A name is up to 56 lower-case letters, digits, dots, dashes and underscores.',
  })
}

function isIndex(value: unknown): value is StoredSecret[] {
  return (
    Array.isArray(value) &&
    value.every(
      (row: unknown) =>
        typeof row === 'object' &&
        row !== null &&
        typeof (row as StoredSecret).name === 'string' &&
        ['keychain', 'file'].includes((row as StoredSecret).kept) &&
        typeof (row as StoredSecret).since === 'string',
    )
  )
}
