/** An entry of the system's keychain: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows. */

import { createRequire } from 'node:module'
import { Fault } from '../fault.ts'

const SERVICE = 'cordon'

/** The entry of this name. Throws where there is no keychain, or it is locked or switched off. */
export function keychainEntry(name: string): import('@napi-rs/keyring').Entry {
  if (process.env.CORDON_KEYCHAIN === 'off') throw new Fault('keychain-off', 'CORDON_KEYCHAIN is off')
  const { Entry } = createRequire(import.meta.url)('@napi-rs/keyring') as typeof import('@napi-rs/keyring')
  // Pinned: without it the kernel's keyring would be used where D-Bus is missing, and that forgets at the next boot.
  return new Entry(SERVICE, name, { linux: { store: 'secret-service' } })
}
