/** Secrets stored for `[[secrets]]`: values in the key store, names in the state directory (N7). */

import { join } from 'node:path'
import { keyOfSecret, requireSecretName } from '../keychain-entry.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../state.ts'
import { openKeyStore } from './keychain.ts'

/** A stored secret, without its value. */
export interface StoredSecret {
  readonly name: string
  readonly kept: 'keychain' | 'file'
  readonly since: string
}

export interface StoredSecrets {
  list(): readonly StoredSecret[]
  /** `warning` says if it is not in the keychain. */
  set(name: string, value: string, since: string): { readonly warning: string | null }
  /** False if there was none. */
  remove(name: string): boolean
}

export function openStoredSecrets(stateDir: string): StoredSecrets {
  const index = join(openOwnDirectory(stateDir), 'secrets.json')
  const list = (): readonly StoredSecret[] => readOwnJson(index, isIndex) ?? []
  const others = (name: string) => list().filter((secret) => secret.name !== name)
  const store = () => openKeyStore(stateDir)
  return {
    list,
    set(name, value, since) {
      requireSecretName(name)
      openOwnDirectory(join(stateDir, 'keys'))
      const { to, warning } = store().write(keyOfSecret(name), value)
      const secrets = [...others(name), { name, kept: to, since }]
      writeOwnJson(
        index,
        secrets.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      )
      return { warning }
    },
    remove(name) {
      requireSecretName(name)
      const left = others(name)
      if (left.length === list().length) return false
      store().delete(keyOfSecret(name))
      writeOwnJson(index, left)
      return true
    },
  }
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
