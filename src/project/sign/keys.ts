/** The keys of manifests: the user's own, and those of others that the user trusts. */

import { resetUserKey, userPublicKey } from '../../manifest/sign/sign.ts'
import { readTrustedKeys, type TrustedKey, trustKey, untrustKey } from '../../manifest/sign/trusted-keys.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import { openStoredSecrets, type StoredSecrets } from '../../system/keys/stored-secrets.ts'
import type { Machine } from '../../system/machine.ts'

export interface Keys {
  list(): { readonly own: string | null; readonly trusted: readonly TrustedKey[] }
  trust(key: string, comment: string): void
  untrust(key: string): boolean
  /** Makes a new key; `warning` says when it could not be kept in the keychain. */
  reset(): { readonly warning: string | null }
}

/** Opens the keys of this user. */
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

/** Opens the secrets that this user stored for manifests. */
export function openSecrets({ stateDir }: Machine): StoredSecrets {
  return openStoredSecrets(stateDir)
}
