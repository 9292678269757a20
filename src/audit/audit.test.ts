import { hash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeSigningKey } from '../manifest/sign/signature.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import type { DamageKind } from './chain.ts'
import { type AuditLog, type AuditOptions, openAuditLog } from './log.ts'
import { followAudit, newestSession, queryAudit } from './read.ts'
import { verifyAudit } from './verify.ts'

let base: string
let stateDir: string
const { key } = makeSigningKey()
const { redact } = createRedactor()
let tick = 0

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-audit-'))
  stateDir = join(base, 'state')
  tick = 0
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function open(session = 's1', options: Partial<AuditOptions> = {}): AuditLog {
  const now = () => new Date(1_750_000_000_000 + tick++ * 1000).toISOString()
  return openAuditLog({ stateDir, session, now, redact, signer: () => key, sync: 'never', ...options })
}

function record(log: AuditLog, count: number): void {
  for (let i = 0; i < count; i++) {
    log.record({
      type: 'begin',
      call: `c${i}`,
      tool: 'bash',
      args_hash: 'ab',
      decision: { verdict: 'allow', reason: 'granted' },
    })
  }
}

const verify = (session?: string) =>
  verifyAudit({ stateDir, keys: [key.publicKey], ...(session === undefined ? {} : { session }) })
const file = (session = 's1', part = 0) => join(stateDir, 'audit', `${session}.${part}.jsonl`)
const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n')
const rewrite = (path: string, change: (lines: string[]) => string[]) =>
  writeFileSync(path, `${change(linesOf(path)).join('\n')}\n`)

describe('a log that nobody touched', () => {
  it('verifies, closed or not', () => {
    const log = open()
    record(log, 25)
    expect(verify()).toMatchObject({ ok: true, sessions: [{ lines: 25, closed: false }] })
    log.close()
    expect(verify()).toMatchObject({
      ok: true,
      sessions: [{ lines: 27, closed: true, checkpoints: 1, signedUpTo: 26 }],
    })
  })

  it('is for the owner alone', () => {
    record(open(), 1)
    for (const directory of ['audit', 'audit-heads']) {
      expect(statSync(join(stateDir, directory)).mode & 0o777).toBe(0o700)
      for (const name of readdirSync(join(stateDir, directory))) {
        expect(statSync(join(stateDir, directory, name)).mode & 0o777).toBe(0o600)
      }
    }
  })

  it('keeps the chain over rotation', () => {
    const log = open('s1', { maxBytes: 1000 })
    record(log, 40)
    log.close()
    expect(readdirSync(join(stateDir, 'audit')).length).toBeGreaterThan(3)
    expect(verify()).toMatchObject({ ok: true })
  })

  it('goes on where a closed session ended', () => {
    const log = open()
    record(log, 3)
    log.close()
    const again = open()
    record(again, 3)
    again.close()
    expect(verify()).toMatchObject({ ok: true })
    expect(queryAudit(stateDir).map((line) => line.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('is written by several logs in turn when it is shared', () => {
    const [a, b] = [open('s1', { shared: true }), open('s1', { shared: true })]
    for (let i = 0; i < 10; i++) record(i % 2 === 0 ? a : b, 1)
    expect(verify()).toMatchObject({ ok: true, sessions: [{ lines: 10 }] })
  })

  it('is one process’s own otherwise', () => {
    const log = open()
    expect(() => open()).toThrow(/is locked by process/)
    log.close()
  })

  it('masks secrets, and stays JSON', () => {
    const log = open()
    log.record({
      type: 'warning',
      text: 'export TOKEN="abc\\" def',
      url: 'https://u:hunter2@x/',
      nested: { password: 'hunter2hunter2' },
    })
    const [line] = queryAudit(stateDir)
    expect(JSON.stringify(line)).not.toContain('hunter2')
    expect(line).toMatchObject({ type: 'warning' })
    log.close()
    expect(verify().ok).toBe(true)
  })
})

interface Attack {
  readonly name: string
  readonly attack: () => void
  readonly kind: DamageKind
  /** The line it must be found at. */
  readonly line?: number
}

const attacks: readonly Attack[] = [
  {
    name: 'an edit',
    attack: () => rewrite(file(), (l) => l.with(4, l[4]!.replace('"allow"', '"deny"'))),
    kind: 'edited',
    line: 5,
  },
  {
    name: 'an edit of the last line',
    attack: () => rewrite(file(), (l) => l.with(19, l[19]!.replace('"allow"', '"deny"'))),
    kind: 'edited',
    line: 20,
  },
  {
    name: 'an edit of the first line',
    attack: () => rewrite(file(), (l) => l.with(0, l[0]!.replace('"allow"', '"deny"'))),
    kind: 'edited',
    line: 1,
  },
  { name: 'a deletion', attack: () => rewrite(file(), (l) => l.toSpliced(7, 1)), kind: 'deleted', line: 8 },
  { name: 'a deletion of the first line', attack: () => rewrite(file(), (l) => l.slice(1)), kind: 'deleted', line: 1 },
  {
    name: 'a copy inserted',
    attack: () => rewrite(file(), (l) => l.toSpliced(9, 0, l[3]!)),
    kind: 'inserted',
    line: 10,
  },
  {
    name: 'two lines changing places',
    attack: () => rewrite(file(), (l) => l.toSpliced(5, 2, l[6]!, l[5]!)),
    kind: 'reordered',
    line: 6,
  },
  { name: 'a tail cut at a line', attack: () => rewrite(file(), (l) => l.slice(0, 12)), kind: 'cut', line: 12 },
  {
    name: 'a tail cut inside a line',
    attack: () => truncateSync(file(), statSync(file()).size - 10),
    kind: 'torn',
    line: 20,
  },
  { name: 'the file emptied', attack: () => truncateSync(file(), 0), kind: 'cut' },
  { name: 'the file removed', attack: () => rmSync(file()), kind: 'cut' },
  { name: 'the head removed', attack: () => rmSync(join(stateDir, 'audit-heads', 's1.head')), kind: 'head-missing' },
  {
    name: 'the head overwritten',
    attack: () => writeFileSync(join(stateDir, 'audit-heads', 's1.head'), 'x'.repeat(1024)),
    kind: 'head-damaged',
  },
  { name: 'lines forged at the end', attack: () => forge(3), kind: 'beyond-head', line: 23 },
  {
    name: 'garbage in the middle',
    attack: () => rewrite(file(), (l) => l.toSpliced(6, 0, 'not json')),
    kind: 'torn',
    line: 7,
  },
]

/** Appends lines with a right chain, as someone who knows the format would. */
function forge(count: number): void {
  for (let i = 0; i < count; i++) {
    const last = linesOf(file()).at(-1)!
    const line: Record<string, unknown> = { ...(JSON.parse(last) as object), prev: hash('sha256', last) }
    line.seq = Number(line.seq) + 1
    appendFileSync(file(), `${JSON.stringify(line)}\n`)
  }
}

describe('tampering is found, and where', () => {
  it.each(attacks)('$name', ({ attack, kind, line }) => {
    record(open(), 20)
    expect(verify().ok).toBe(true)
    attack()
    const { ok, sessions } = verify()
    expect(ok).toBe(false)
    const damage = sessions[0]!.damage
    expect(damage.map((each) => each.kind)).toContain(kind)
    if (line !== undefined) expect(damage.find((each) => each.kind === kind)!.line).toBe(line)
  })

  it('two files that changed places', () => {
    const [a, b] = [open('a'), open('b')]
    record(a, 3)
    record(b, 3)
    renameSync(file('a'), file('x'))
    renameSync(file('b'), file('a'))
    renameSync(file('x'), file('b'))
    const kinds = verify().sessions.flatMap((session) => session.damage.map((damage) => damage.kind))
    expect(kinds.filter((kind) => kind === 'swapped').length).toBe(2)
  })

  it('an older copy of a file, restored', () => {
    const log = open()
    record(log, 5)
    copyFileSync(file(), `${stateDir}/old`)
    record(log, 5)
    copyFileSync(`${stateDir}/old`, file())
    expect(verify().sessions[0]!.damage.map((damage) => damage.kind)).toEqual(['cut'])
  })

  it('a file in the middle of a rotated log, removed or replaced by another', () => {
    const log = open('s1', { maxBytes: 1000 })
    record(log, 40)
    log.close()
    copyFileSync(file('s1', 1), `${stateDir}/one`)
    rmSync(file('s1', 1))
    expect(verify().sessions[0]!.damage.map((damage) => damage.kind)).toContain('missing')
    copyFileSync(file('s1', 2), file('s1', 1))
    expect(verify().ok).toBe(false)
    copyFileSync(`${stateDir}/one`, file('s1', 1))
    expect(verify().ok).toBe(true)
  })

  it('a whole chain computed anew, checkpoints and head included, by someone without the key', () => {
    const log = open('s1', { checkpointEvery: 5 })
    record(log, 12)
    const lines = linesOf(file()).map((line) => JSON.parse(line) as Record<string, unknown>)
    lines[2] = { ...lines[2]!, tool: 'read' }
    let prev = hash('sha256', 'cordon-audit-v1\0s1')
    const texts = lines.map((line) => {
      const text = JSON.stringify({ ...line, prev })
      prev = hash('sha256', text)
      return text
    })
    writeFileSync(file(), `${texts.join('\n')}\n`)
    const kinds = verify().sessions[0]!.damage.map((damage) => damage.kind)
    expect(kinds).toContain('bad-signature')
    expect(kinds).toContain('edited')
  })

  it('a checkpoint by another key', () => {
    const log = open('s1', { signer: () => makeSigningKey().key })
    record(log, 3)
    log.close()
    expect(verify().sessions[0]!.damage.map((damage) => damage.kind)).toEqual(['unknown-key', 'unsigned'])
  })
})

describe('crashes', () => {
  it('closes a torn line at the next start, and verifies again', () => {
    const shared = { shared: true }
    record(open('s1', shared), 4)
    appendFileSync(file(), '{"v":1,"seq":5,"ti')
    expect(verify().sessions[0]!.damage.map((damage) => damage.kind)).toEqual(['torn'])
    record(open('s1', shared), 2)
    expect(verify()).toMatchObject({ ok: true, sessions: [{ recovered: 1 }] })
    expect(queryAudit(stateDir, { type: 'recovered' })).toMatchObject([{ problem: 'torn', seq: 5 }])
  })

  it('does not take another torn line for the one that was closed', () => {
    const log = open()
    record(log, 3)
    log.close()
    appendFileSync(file(), '{"v":1,"seq":')
    open().close()
    expect(verify()).toMatchObject({ ok: true, sessions: [{ recovered: 1 }] })
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('{"v":1,"seq":\n', '{"v":1,"XXX":\n'))
    expect(verify()).toMatchObject({ ok: false })
  })

  it('does not believe a head whose checksum does not fit', () => {
    const log = open()
    record(log, 4)
    log.close()
    const head = join(stateDir, 'audit-heads', 's1.head')
    // The newest slot with a greater number: it would hide that lines are missing, or promise some.
    const bytes = readFileSync(head, 'latin1')
      .replace('"closed":true', '"closed":false')
      .replaceAll('"seq":6', '"seq":5')
    writeFileSync(head, bytes)
    expect(verify().sessions[0]).toMatchObject({ closed: false })
    writeFileSync(head, readFileSync(head, 'latin1').replaceAll('"seq":', '"sEq":'))
    expect(verify()).toMatchObject({ ok: false, sessions: [{ damage: [{ kind: 'head-damaged' }] }] })
  })

  it('takes over a whole line whose head was not written', () => {
    record(open('s1', { shared: true }), 4)
    copyFileSync(join(stateDir, 'audit-heads', 's1.head'), `${stateDir}/head`)
    record(open('s1', { shared: true }), 1)
    copyFileSync(`${stateDir}/head`, join(stateDir, 'audit-heads', 's1.head'))
    expect(verify()).toMatchObject({ ok: true, sessions: [{ unacknowledged: 1 }] })
    record(open('s1', { shared: true }), 1)
    expect(verify()).toMatchObject({ ok: true, sessions: [{ lines: 7, unacknowledged: 0 }] })
    expect(readFileSync(file(), 'utf8')).toContain('"problem":"unacknowledged","line":5')
  })

  it('goes on in a new file after a cut, and does not hide it', () => {
    record(open('s1', { shared: true }), 6)
    truncateSync(file(), statSync(file()).size - 30)
    record(open('s1', { shared: true }), 2)
    const { ok, sessions } = verify()
    expect(ok).toBe(false)
    expect(sessions[0]!.files).toHaveLength(2)
    expect(queryAudit(stateDir, { type: 'recovered' })).toMatchObject([{ problem: 'cut' }])
  })
})

describe('when nothing can be written', () => {
  it('throws before anything runs', () => {
    const log = open()
    record(log, 1)
    expect(() => log.record({ type: 'warning', text: 'x'.repeat(2_000_000) })).toThrow(/larger than/)
    record(log, 1)
    log.close()
    expect(() => record(log, 1)).toThrow(/is closed/)
    expect(verify().ok).toBe(true)
  })

  it('goes on where it was when the next file could not be begun', () => {
    let left = Number.POSITIVE_INFINITY
    const now = () => {
      if (left-- <= 0) throw new Error('broken clock')
      return new Date(1_750_000_000_000 + tick++ * 1000).toISOString()
    }
    const log = open('s1', { maxBytes: 1, now })
    record(log, 1)
    // A rotation writes a checkpoint, then the first line of the next file: that one fails.
    left = 1
    expect(() => record(log, 1)).toThrow('broken clock')
    left = Number.POSITIVE_INFINITY
    record(log, 2)
    log.close()
    expect(verify()).toMatchObject({ ok: true })
  })

  it.each(['../x', 'a/b', '', '.hidden', 'a\0b'])('does not open a session called %j', (session) => {
    expect(() => open(session)).toThrow(RangeError)
  })
})

describe('what is absent or unreadable', () => {
  it('is not whole when it is asked for by its name', () => {
    record(open(), 1)
    expect(verify('s1')).toMatchObject({ ok: true })
    expect(verify('gone')).toMatchObject({ ok: false, sessions: [{ damage: [{ kind: 'missing' }] }] })
    expect(verify('../audit/s1')).toMatchObject({ ok: false })
  })

  it('is a fault, not an empty log', () => {
    writeFileSync(stateDir, 'a file instead of the directory')
    expect(() => verify()).toThrow(/cannot be read/)
    expect(() => queryAudit(stateDir)).toThrow(/cannot be read/)
  })
})

describe('reading', () => {
  it('finds what fits, in every session', () => {
    const [a, b] = [open('a'), open('b')]
    record(a, 2)
    b.record({
      type: 'denied',
      call: 'x',
      tool: 'http',
      args_hash: 'cd',
      decision: { verdict: 'deny', reason: 'host-denied' },
      hosts: ['evil.example'],
    })
    expect(queryAudit(stateDir, { verdict: 'deny' })).toMatchObject([{ session: 'b', tool: 'http' }])
    expect(queryAudit(stateDir, { host: 'evil' })).toHaveLength(1)
    expect(queryAudit(stateDir, { limit: 2 })).toHaveLength(2)
    expect(queryAudit(stateDir, { since: '2999' })).toEqual([])
    expect(newestSession(stateDir)).toBe('b')
  })

  it('follows a log that grows', async () => {
    const log = open()
    record(log, 2)
    const stop = new AbortController()
    const seen: number[] = []
    for await (const line of followAudit(stateDir, 's1', { back: 1, signal: stop.signal })) {
      seen.push(line.seq)
      if (line.seq === 2) record(log, 2)
      if (line.seq === 4) stop.abort()
    }
    expect(seen).toEqual([2, 3, 4])
  })
})
