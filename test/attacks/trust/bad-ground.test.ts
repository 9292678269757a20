import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openAuditLog } from '../../../src/audit/log.ts'
import { queryAudit } from '../../../src/audit/read.ts'
import { verifyAudit } from '../../../src/audit/verify.ts'
import { verifyManifest } from '../../../src/manifest/sign/sign.ts'
import { Fault } from '../../../src/system/fault.ts'

let base: string
let stateDir: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-ground-'))
  stateDir = join(base, 'state')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const open = (now: () => string = () => new Date().toISOString()) =>
  openAuditLog({ stateDir, session: 's', now, redact: (text) => text, sync: 'never' })
const verify = () =>
  verifyManifest({ stateDir, project: '/p', canonical: '{}', detached: null, trustedKeys: [], identity: null })
const codeOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return error instanceof Fault ? error.code : `not a fault: ${String(error)}`
  }
  return 'nothing was thrown'
}

describe('ground that cannot be believed is a fault, on the closed side', () => {
  it('a state directory that others may write', () => {
    mkdirSync(stateDir)
    chmodSync(stateDir, 0o777)
    expect(codeOf(verify)).toBe('state-untrusted')
    expect(codeOf(open)).toBe('state-untrusted')
  })

  it('a state directory of another user', () => {
    if (process.getuid?.() === 0) {
      mkdirSync(stateDir)
      chownSync(stateDir, 65534, 65534)
    } else stateDir = '/usr'
    expect(codeOf(verify)).toBe('state-untrusted')
  })

  it('a state directory that is a file, or cannot be created', () => {
    writeFileSync(stateDir, '')
    expect(codeOf(verify)).toBe('state-untrusted')
    stateDir = '/proc/cordon/state'
    expect(codeOf(verify)).toBe('state-unwritable')
  })

  it('an audit file that is a link to somewhere else', () => {
    open().close()
    symlinkSync(join(base, 'victim'), join(stateDir, 'audit', 's.1.jsonl'))
    expect(codeOf(open)).toBe('audit-unwritable')
  })

  it('an audit file that others may write', () => {
    const log = open()
    log.record({ type: 'warning', text: 'x' })
    log.close()
    chmodSync(join(stateDir, 'audit', 's.0.jsonl'), 0o666)
    expect(codeOf(open)).toBe('state-untrusted')
  })

  it('a clock that jumps back does not disturb the chain or the order', () => {
    const times = ['2026-05-01T00:00:00.000Z', '1999-01-01T00:00:00.000Z', '2030-01-01T00:00:00.000Z']
    let at = 0
    const log = open(() => times[at++ % 3]!)
    for (let i = 0; i < 3; i++) log.record({ type: 'warning', i })
    log.close()
    expect(verifyAudit({ stateDir, keys: [] }).ok).toBe(true)
    expect(queryAudit(stateDir, { session: 's', type: 'warning' }).map((line) => line.i)).toEqual([0, 1, 2])
  })

  it('a full disk: the call that cannot be recorded does not run, and the chain stays whole', () => {
    // A file system of 64 KiB, in its own namespaces, which end with the process.
    const script = `
      import { openAuditLog } from ${JSON.stringify(join(import.meta.dirname, '../../../src/audit/log.ts'))}
      import { verifyAudit } from ${JSON.stringify(join(import.meta.dirname, '../../../src/audit/verify.ts'))}
      const stateDir = process.argv[1] + '/state'
      const log = openAuditLog({ stateDir, session: 's', now: () => 'T', redact: (text) => text, sync: 'never' })
      let ran = 0
      let code = null
      try { for (;;) { log.record({ type: 'warning', text: 'x'.repeat(777) }); ran++ } } catch (error) { code = error.code }
      const { ok, sessions } = verifyAudit({ stateDir, keys: [] })
      console.log(JSON.stringify({ code, ok, same: sessions[0].lines === ran, ran: ran > 10 }))
      process.exit(0)
    `
    const argv = [
      '-rm',
      '--',
      'sh',
      '-c',
      'mount -t tmpfs -o size=64k,mode=700 none "$1" && exec "$2" --input-type=module -e "$3" "$1"',
      'sh',
      base,
      process.execPath,
      script,
    ]
    const output = execFileSync('unshare', argv, { encoding: 'utf8' })
    expect(JSON.parse(output)).toEqual({ code: 'audit-unwritable', ok: true, same: true, ran: true })
  })
})
