/** The user's own signing key, and keys that the user trusts. */

import { resetUserKey, userPublicKey } from '../../manifest/sign/sign.ts'
import { readTrustedKeys, type TrustedKey, trustKey, untrustKey } from '../../manifest/sign/trusted-keys.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import { openStoredSecrets, type StoredSecrets } from '../../system/keys/stored-secrets.ts'
import type { Machine } from '../../system/machine.ts'

export interface Keys {
  list(): { readonly own: string | null; readonly trusted: readonly TrustedKey[] }
  trust(key: string, comment: string): void
  untrust(key: string): boolean
  /** Creates a new key; `warning` says why the keychain could not store it. */
  reset(): { readonly warning: string | null }
}

export function openKeys(machine: Machine): Keys {
  const { configDir, stateDir, env } = machine
  return {
    list: () => ({
      own: userPublicKey(stateDir),
      trusted: readTrustedKeys({ configDir, override: env.CORDON_TRUSTED_KEYS, projectRoot: machine.cwd }),
    }),
    trust: (key, comment) => void trustKey(configDir, key, comment),
    untrust: (key) => untrustKey(configDir, key),
    reset: () => resetUserKey({ stateDir, keys: openKeyStore(stateDir) }),
  }
}

export function openSecrets({ stateDir }: Machine): StoredSecrets {
  return openStoredSecrets(stateDir)
}
