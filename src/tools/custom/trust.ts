/** Trust in tools and skills: the approved bytes, in the state directory (T3). */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isRecord } from '../../system/json.ts'
import { withLock } from '../../system/lock.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'

/** A name and where it was found: `user`, or a canonical project root. */
export interface TrustKey {
  readonly scope: string
  readonly name: string
}

export interface StoredTrust {
  readonly hash: string
  readonly trusted_at: string
  /** Set after a change: the tool stays untrusted even if the old bytes return. */
  readonly revoked?: { readonly at: string; readonly found: string }
}

interface TrustFile {
  readonly version: 1
  readonly scopes: Readonly<Record<string, Readonly<Record<string, StoredTrust>>>>
}

/** As shown by `cordon tools trust-status`. */
export type TrustStatus = 'ok' | 'no stored hash' | 'MISMATCH'

export interface TrustStore {
  stored(key: TrustKey): StoredTrust | null
  /** All trusted entries. */
  all(): readonly (TrustKey & StoredTrust)[]
  trust(key: TrustKey, hash: string, now: string): void
  /** Revokes trust; false if there was none. */
  untrust(key: TrustKey): boolean
  /** Records other bytes. */
  revoke(key: TrustKey, found: string, now: string): void
}

/** SHA-256(manifest || 0x00 || script). */
export function trustHash(manifest: Uint8Array, script: Uint8Array): string {
  return createHash('sha256').update(manifest).update(new Uint8Array(1)).update(script).digest('hex')
}

/** Compares bytes with the stored hash. */
export function trustStatus(stored: StoredTrust | null, hash: string): TrustStatus {
  if (stored === null) return 'no stored hash'
  return stored.hash === hash && stored.revoked === undefined ? 'ok' : 'MISMATCH'
}

/** The store in `trust.json`, synced and locked on every change. */
export function createTrustStore(stateDirectory: string): TrustStore {
  const stateDir = openOwnDirectory(stateDirectory)
  const path = join(stateDir, 'trust.json')
  const read = (): TrustFile => readOwnJson(path, isTrustFile) ?? { version: 1, scopes: {} }
  const of = (file: TrustFile, { scope, name }: TrustKey): StoredTrust | null => {
    const tools = Object.hasOwn(file.scopes, scope) ? file.scopes[scope]! : {}
    return Object.hasOwn(tools, name) ? tools[name]! : null
  }
  const update = (key: TrustKey, change: (before: StoredTrust | null) => StoredTrust | null): void =>
    withLock(join(stateDir, 'locks', 'trust'), () => {
      const file = read()
      const before = of(file, key)
      const after = change(before)
      if (after === before) return
      const { [key.name]: _, ...others } = Object.hasOwn(file.scopes, key.scope) ? file.scopes[key.scope]! : {}
      const tools = after === null ? others : { ...others, [key.name]: after }
      writeOwnJson(path, { ...file, scopes: { ...file.scopes, [key.scope]: tools } })
    })
  return {
    stored: (key) => of(read(), key),
    all: () =>
      Object.entries(read().scopes).flatMap(([scope, tools]) =>
        Object.entries(tools).map(([name, stored]) => ({ scope, name, ...stored })),
      ),
    trust: (key, hash, now) => update(key, () => ({ hash, trusted_at: now })),
    untrust(key) {
      let was = false
      update(key, (before) => {
        was = before !== null
        return null
      })
      return was
    },
    revoke: (key, found, now) =>
      update(key, (before) =>
        before === null || before.revoked ? before : { ...before, revoked: { at: now, found } },
      ),
  }
}

function isTrustFile(value: unknown): value is TrustFile {
  const file = value as TrustFile | null
  return (
    file?.version === 1 &&
    isRecord(file.scopes) &&
    Object.values(file.scopes).every(
      (tools) =>
        isRecord(tools) &&
        Object.values(tools).every(
          (stored) =>
            isRecord(stored) && /^[0-9a-f]{64}$/.test(String(stored.hash)) && typeof stored.trusted_at === 'string',
        ),
    )
  )
}
