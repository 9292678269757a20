import { expect, test } from 'vitest'
import { ocsfEvent } from '../report/audit-trail.ts'
import type { AuditLine } from './event.ts'

/** What OCSF 1.3 requires of API Activity, and of the profile for controls. */
const REQUIRED =
  'activity_id actor api category_uid class_uid metadata severity_id src_endpoint time type_uid action_id disposition_id'

const line = (more: object): AuditLine =>
  ({ v: 1, seq: 3, time: '2026-06-01T00:00:00.000Z', session: 's1', prev: 'p', ...more }) as AuditLine
const decided = (verdict: string) => ({ decision: { verdict, reason: 'grant', rules: ['cordon.toml:3'] } })

const rows: readonly [string, AuditLine, object][] = [
  [
    'a call that begins',
    line({ type: 'begin', tool: 'bash', call: 'c1', agent: 'claude', ...decided('allow') }),
    {
      activity_name: 'begin',
      status_id: 0,
      action_id: 1,
      disposition: 'Allowed',
      severity_id: 1,
      actor: { app_name: 'claude', session: { uid: 's1' } },
      api: { operation: 'bash', request: { uid: 'c1' } },
      firewall_rule: { name: 'cordon.toml:3' },
    },
  ],
  [
    'one that is asked about',
    line({ type: 'begin', tool: 'bash', ...decided('ask') }),
    { status_id: 0, action_id: 99, disposition: 'Asked' },
  ],
  [
    'one that is denied',
    line({ type: 'denied', tool: 'bash', ...decided('deny') }),
    { status_id: 2, action_id: 2, disposition: 'Blocked', severity_id: 3 },
  ],
  ['one that ended well', line({ type: 'end', call: 'c1', outcome: 'ok' }), { status_id: 1, status_detail: 'ok' }],
  ['one that failed', line({ type: 'end', call: 'c1', outcome: 'failed' }), { status_id: 2, disposition_id: 0 }],
  ['one that tried more', line({ type: 'end', outcome: 'ok', violations: [{ kind: 'host' }] }), { severity_id: 3 }],
]
test.each(rows)('%s', (_, given, expected) => {
  const event = ocsfEvent(given, { version: '1', host: 'h1' })!
  expect(event).toMatchObject({ ...expected, src_endpoint: { name: 'h1' }, class_uid: 6003, type_uid: 600399 })
  expect(REQUIRED.split(' ').filter((name) => event[name] === undefined)).toEqual([])
  expect(event).toMatchObject({ time: 1780272000000, metadata: { uid: 's1.3', sequence: 3, correlation_uid: 's1' } })
  expect(event.unmapped).toEqual({ cordon: given })
})

test.each(['checkpoint', 'rotated', 'recovered', 'closed'])(
  '%s is about the log itself, and is not an event',
  (type) => {
    expect(ocsfEvent(line({ type }), { version: '1', host: 'h1' })).toBe(null)
  },
)
