/** Logs that somebody wrote anew without the person's key: chain and head recomputed, and still found. */

import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeSigningKey } from '../manifest/sign/signature.ts'
import { checkpointMessage, genesis } from './event.ts'
import { HeadFile } from './head.ts'
import { openAuditLog } from './log.ts'
import { verifyAudit } from './verify.ts'

type Line = Record<string, unknown>

const { key } = makeSigningKey()
const { key: other } = makeSigningKey()
let stateDir: string
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'cordon-forged-'))
})
afterEach(() => rmSync(stateDir, { recursive: true, force: true }))

function write(lines: number, closed = true): void {
  const now = () => '2026-01-01T00:00:00.000Z'
  const log = openAuditLog({
    stateDir,
    session: 's1',
    now,
    redact: (text) => text,
    signer: () => key,
    sync: 'never',
    first: { type: 'session', by: 'person', project: '/home/ada/one' },
  })
  for (let at = 0; at < lines; at++) log.record({ type: 'warning', message: `line ${at}` })
  if (closed) log.close()
}

/** Everything that can be done without the key: lines changed, numbered and chained anew, the head put in their place. */
function forge(change: (lines: Line[]) => Line[], closed = true, session = 's1'): void {
  const file = join(stateDir, 'audit/s1.0.jsonl')
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line)
  let prev = hash('sha256', genesis(session))
  const texts = change(lines).map(({ resign, ...line }, index) => {
    const placed = { ...line, seq: index + 1, prev }
    const signed = resign
      ? { key: other.publicKey, signature: other.sign(checkpointMessage('s1', index + 1, prev)) }
      : {}
    const text = JSON.stringify({ ...placed, ...signed })
    prev = hash('sha256', text)
    return text
  })
  const whole = `${texts.join('\n')}\n`
  writeFileSync(join(stateDir, `audit/${session}.0.jsonl`), whole)
  const head = new HeadFile(join(stateDir, `audit-heads/${session}.head`))
  for (const seq of [texts.length - 1, texts.length])
    head.write({ session, part: 0, size: Buffer.byteLength(whole), seq, hash: prev, closed })
  head.close()
}

const edited = (lines: Line[]): Line[] =>
  lines.map((line) => (line.message === 'line 2' ? { ...line, message: 'nothing happened' } : line))
const kinds = (): string[] =>
  verifyAudit({ stateDir, keys: [key.publicKey] }).sessions[0]!.damage.map((damage) => damage.kind)

it('control: what Cordon wrote is whole, and signed to its end', () => {
  write(5)
  expect(verifyAudit({ stateDir, keys: [key.publicKey] })).toMatchObject({ ok: true, sessions: [{ unsigned: 1 }] })
})

it.each([
  { note: 'edited and re-chained', lines: 5, change: edited, found: 'bad-signature' },
  {
    note: 'edited, and its checkpoints taken out',
    lines: 5,
    change: (lines: Line[]) => edited(lines).filter(({ type }) => type !== 'checkpoint'),
    found: 'unsigned',
  },
  {
    note: 'edited, and its checkpoints without a signature',
    lines: 5,
    change: (lines: Line[]) => edited(lines).map(({ signature, key: _, ...line }) => line),
    found: 'unsigned',
  },
  {
    note: 'edited, and signed by another key',
    lines: 5,
    change: (lines: Line[]) =>
      edited(lines).map((line) => (line.type === 'checkpoint' ? { ...line, resign: true } : line)),
    found: 'unknown-key',
  },
  {
    note: 'said to be of another project',
    lines: 5,
    change: (lines: Line[]) =>
      lines.map((line) => (line.type === 'session' ? { ...line, project: '/home/ada/two' } : line)),
    found: 'bad-signature',
  },
  {
    note: 'cut before its signed end, and closed',
    lines: 5,
    change: (lines: Line[]) => lines.slice(0, 3),
    found: 'unsigned',
  },
  {
    note: 'a long one without any signature, left open',
    lines: 600,
    change: (lines: Line[]) => lines.filter(({ type }) => type !== 'checkpoint' && type !== 'closed'),
    closed: false,
    found: 'unsigned',
  },
  {
    note: 'the checkpoint of another moment put at its end',
    lines: 300,
    change: (lines: Line[]) => [...lines.slice(0, 100), lines.find(({ type }) => type === 'checkpoint')!],
    found: 'bad-signature',
  },
])('a forged log is found: $note', ({ lines, change, closed = true, found }) => {
  write(lines)
  expect(kinds()).toEqual([])
  forge(change, closed)
  expect(kinds()).toContain(found)
})

it('a log does not pass for that of another session, whatever is renamed and chained anew', () => {
  write(5)
  forge((lines) => lines.map((line) => ({ ...line, session: 's2' })), true, 's2')
  const found = verifyAudit({ stateDir, keys: [key.publicKey] }).sessions.find(({ session }) => session === 's2')!
  expect(found.damage.map(({ kind }) => kind)).toContain('bad-signature')
})

it('a log that was cut and left open says how little of it is signed', () => {
  write(5)
  forge((lines) => lines.slice(0, 3), false)
  expect(verifyAudit({ stateDir, keys: [key.publicKey] }).sessions[0]).toMatchObject({ signedUpTo: 0, unsigned: 3 })
})

it('lines from before there was a key are not damage, and later ones are', () => {
  const since = '2026-01-02T00:00:00.000Z'
  write(600)
  forge((lines) => lines.filter(({ type }) => type !== 'checkpoint'))
  expect(kinds()).toEqual(['unsigned'])
  expect(verifyAudit({ stateDir, keys: [key.publicKey], since })).toMatchObject({
    ok: true,
    sessions: [{ signedUpTo: 0 }],
  })
  forge((lines) => lines.map((line) => ({ ...line, time: '2026-01-03T00:00:00.000Z' })))
  expect(verifyAudit({ stateDir, keys: [key.publicKey], since }).ok).toBe(false)
})

it('a log that processes share is signed by the one that writes every eighth line, so that a rewritten history shows', () => {
  const options = { stateDir, session: 's1', now: () => '2026-01-01T00:00:00.000Z', redact: (text: string) => text }
  for (let run = 0; run < 5; run++) {
    const log = openAuditLog({ ...options, shared: true, sync: 'never' })
    for (const message of [`line ${2 * run}`, `line ${2 * run + 1}`]) log.record({ type: 'warning', message })
    if (log.isDue) log.checkpoint(key)
    log.close()
  }
  expect(verifyAudit({ stateDir, keys: [key.publicKey] })).toMatchObject({ ok: true, sessions: [{ checkpoints: 1 }] })
  forge(edited, false)
  expect(kinds()).toEqual(['bad-signature'])
})
