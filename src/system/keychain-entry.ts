/** Entries of the system keychain: Secret Service, Keychain or Credential Manager. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Fault, messageOf } from './fault.ts'
import { readOwnFile } from './state.ts'

const SERVICE = 'cordon'

/** Throws if the keychain is missing, locked or switched off. */
export function keychainEntry(name: string): import('@napi-rs/keyring').Entry {
  if (process.env.CORDON_KEYCHAIN === 'off') throw new Fault('keychain-off', 'CORDON_KEYCHAIN is off')
  const { Entry } = createRequire(import.meta.url)('@napi-rs/keyring') as typeof import('@napi-rs/keyring')
  // Pinned: without D-Bus the kernel keyring would be used, which forgets at boot.
  return new Entry(SERVICE, name, { linux: { store: 'secret-service' } })
}

/** Separate from Cordon's own keys: no manifest may send the signing key to a host. */
export const keyOfSecret = (name: string): string => `secret.${name}`

const NAME = /^[a-z0-9][a-z0-9._-]{0,55}$/

/**
 * The value of `keychain:NAME`, or null. Throws if the keychain that may contain it is unusable.
 */
export function readStoredSecret(stateDir: string, name: string): string | null {
  requireSecretName(name)
  const file = readOwnFile(join(stateDir, 'keys', keyOfSecret(name)))
  if (file !== null) return new TextDecoder().decode(file).trim()
  try {
    return keychainEntry(keyOfSecret(name)).getPassword()
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

export function requireSecretName(name: string): void {
  if (NAME.test(name)) return
  throw new Fault('secret-name', `${JSON.stringify(name)} cannot name a secret`, {
    remedy: 'A name is up to 56 lower-case letters, digits, dots, dashes and underscores, such as api-key.',
  })
}
