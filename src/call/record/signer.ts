/** Signs the record: at intervals, when a session closes, and for tails that hooks left. */

import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { auditPlaces, partName } from '../../audit/head.ts'
import { type AuditSigner, openAuditLog } from '../../audit/log.ts'
import { userPublicKey, userSigningKey } from '../../manifest/sign/sign.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import type { Machine } from '../../system/machine.ts'

/** Null without a usable key; `audit verify` reports unsigned lines. */
export function auditSigner({ stateDir }: Machine): AuditSigner | null {
  try {
    if (userPublicKey(stateDir) === null) return null
    return userSigningKey({ stateDir, keys: openKeyStore(stateDir) }).key
  } catch {
    return null
  }
}

const NEWEST = 20

/** Signs the newest shared logs, on behalf of processes that ended without signing. */
export function signTails(machine: Machine): void {
  const signer = auditSigner(machine)
  if (signer === null) return
  const { heads, logs } = auditPlaces(machine.stateDir)
  try {
    const names = readdirSync(heads).filter((name) => /-.*\.head$/.test(name))
    const changed = names.map((name) => ({ name, time: statSync(join(heads, name)).mtimeMs }))
    const sessions = changed.sort((a, b) => b.time - a.time).map(({ name }) => name.slice(0, -'.head'.length))
    let signed = 0
    for (const session of sessions) {
      if (signed === NEWEST) break
      if (!isShared(join(logs, partName(session, 0)))) continue
      signTail(machine, session, signer)
      signed++
    }
  } catch {
    // A tail that cannot be signed stays unsigned, and verify reports it.
  }
}

/** Whether several processes share a log: its first line names a host or a person. */
function isShared(log: string): boolean {
  try {
    const [start, file] = [Buffer.alloc(4096), openSync(log, 'r')]
    try {
      const [line = ''] = start.toString('utf8', 0, readSync(file, start)).split('\n')
      return /"type":"session","by":"(?:host|person)"/.test(line)
    } finally {
      closeSync(file)
    }
  } catch {
    return false
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
