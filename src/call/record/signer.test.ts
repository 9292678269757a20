import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openAuditLog } from '../../audit/log.ts'
import { verifyAudit } from '../../audit/verify.ts'
import { userPublicKey, userSigningKey } from '../../manifest/sign/sign.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import { type Machine, thisMachine } from '../../system/machine.ts'
import { signTails } from './signer.ts'

let machine: Machine
beforeEach(() => {
  machine = { ...thisMachine(), stateDir: mkdtempSync(join(tmpdir(), 'cordon-tails-')) }
})
afterEach(() => rmSync(machine.stateDir, { recursive: true, force: true }))

/** A line of a hook or a run: written by a process that has no key at hand, and ends. */
function leave(session: string, by: 'host' | 'person' | 'gateway' | 'session' = 'host'): void {
  const { stateDir } = machine
  const now = () => '2026-01-01T00:00:00.000Z'
  const log = openAuditLog({
    stateDir,
    session,
    now,
    redact: (text) => text,
    sync: 'never',
    shared: true,
    first: { type: 'session', by, project: '/p' },
  })
  log.record({ type: 'warning', message: 'a line' })
  log.close()
}

const makeKey = (): void => {
  userSigningKey({ stateDir: machine.stateDir, keys: openKeyStore(machine.stateDir) })
}

const unsigned = (): Record<string, number> => {
  const key = userPublicKey(machine.stateDir)
  const { ok, sessions } = verifyAudit({ stateDir: machine.stateDir, keys: key === null ? [] : [key] })
  expect(ok).toBe(true)
  return Object.fromEntries(sessions.map((session) => [session.session, session.unsigned]))
}

it('signs what hooks and runs left, once, and goes on behind it', () => {
  makeKey()
  for (const session of ['run-0123', 'codex-s1', 'some-new-host-s2']) leave(session)
  expect(unsigned()).toEqual({ 'run-0123': 2, 'codex-s1': 2, 'some-new-host-s2': 2 })
  signTails(machine)
  signTails(machine)
  expect(unsigned()).toEqual({ 'run-0123': 0, 'codex-s1': 0, 'some-new-host-s2': 0 })
  leave('run-0123')
  expect(unsigned()).toMatchObject({ 'run-0123': 1 })
})

it('leaves the logs of sessions to those who hold them', () => {
  makeKey()
  leave('s0123', 'session')
  leave('my-own-session', 'session')
  leave('mcp-tools-0123', 'gateway')
  signTails(machine)
  expect(unsigned()).toEqual({ s0123: 2, 'my-own-session': 2, 'mcp-tools-0123': 2 })
})

it('without a key nothing is signed, and no key is created', () => {
  leave('run-0123')
  signTails(machine)
  expect(unsigned()).toEqual({ 'run-0123': 2 })
  expect(userPublicKey(machine.stateDir)).toBe(null)
})
