/** How many events a second the audit log takes, with and without fdatasync, alone and shared. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditOptions, openAuditLog } from '../src/audit/log.ts'
import { makeSigningKey } from '../src/manifest/sign/signature.ts'
import { createRedactor } from '../src/scan/redact/redact.ts'
import { printTable } from './measure.ts'

const base = mkdtempSync(join(tmpdir(), 'cordon-bench-audit-'))
const { redact } = createRedactor()
const { key } = makeSigningKey()

printTable('Events of the audit log', [
  ['', 'events a second', 'processor time of each'],
  measure('no fdatasync', 100_000, { sync: 'never' }),
  measure('fdatasync with every checkpoint (1000 lines)', 100_000, { sync: 'checkpoints' }),
  measure('fdatasync with every line', 2000, { sync: 'lines' }),
  measure('shared between processes', 20_000, { sync: 'never', shared: true }),
])
rmSync(base, { recursive: true })

function measure(name: string, count: number, options: Partial<AuditOptions>): string[] {
  const session = name.replace(/[^a-z0-9]+/g, '-').slice(0, 40)
  const now = () => new Date().toISOString()
  const log = openAuditLog({ stateDir: join(base, 'state'), session, now, redact, signer: () => key, ...options })
  const decision = {
    verdict: 'allow',
    reason: 'granted',
    rules: ['capabilities.allow.commands.patterns[0] (cordon.toml:12:3)'],
    approver: null,
  } as const
  const started = performance.now()
  const before = process.cpuUsage()
  for (let i = 0; i < count / 2; i++) {
    log.record({
      type: 'begin',
      call: `c${i}`,
      agent: 'build',
      tool: 'bash',
      args_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      decision,
      labels: ['execute'],
    })
    log.record({
      type: 'end',
      call: `c${i}`,
      duration_ms: 12,
      exit_code: 0,
      outcome: 'ok',
      output: { parsed: 'text', bytes: 120, truncated: false },
    })
  }
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(before)
  log.close()
  return [name, Math.round(count / seconds).toLocaleString('en'), `${((user + system) / count).toFixed(1)} µs`]
}
