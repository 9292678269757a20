/** Signs the record with the person's key: at intervals, at the close of a session, and the tails that hooks and runs left. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditSigner, openAuditLog } from '../../audit/log.ts'
import { auditPlaces } from '../../audit/log-files.ts'
import { userPublicKey, userSigningKey } from '../../manifest/sign/sign.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import type { Machine } from '../../system/machine.ts'

/** The person's key; null before they signed anything, and where it cannot be had now: `audit verify` says what is unsigned. */
export function auditSigner({ stateDir }: Machine): AuditSigner | null {
  try {
    if (userPublicKey(stateDir) === null) return null
    return userSigningKey({ stateDir, keys: openKeyStore(stateDir) }).key
  } catch {
    return null
  }
}

/** Logs that processes share, none of which closes them. */
const SHARED = /^(?:run|claude-code|codex|gemini|cursor|opencode|hook)-.+\.head$/
const NEWEST = 20

/** Signs the ends of the shared logs that were written last: a session that closes does it for those who had no time. */
export function signTails(machine: Machine): void {
  const signer = auditSigner(machine)
  if (signer === null) return
  const { heads } = auditPlaces(machine.stateDir)
  try {
    const names = readdirSync(heads).filter((name) => SHARED.test(name))
    const changed = names.map((name) => ({ name, time: statSync(join(heads, name)).mtimeMs }))
    for (const { name } of changed.sort((a, b) => b.time - a.time).slice(0, NEWEST))
      signTail(machine, name.slice(0, -'.head'.length), signer)
  } catch {
    // What could not be signed now stays an unsigned tail, and that is said.
  }
}

function signTail(machine: Machine, session: string, signer: AuditSigner): void {
  const log = openAuditLog({
    stateDir: machine.stateDir,
    session,
    now: () => new Date().toISOString(),
    redact: (text) => text,
    sync: 'never',
    shared: true,
  })
  try {
    log.checkpoint(signer)
  } finally {
    log.close()
  }
}
