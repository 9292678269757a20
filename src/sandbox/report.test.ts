import { describe, expect, test } from 'vitest'
import { planSandbox } from './plan.ts'
import { describePlan, formatPlan, type Support } from './report.ts'

const directory = (real: string) => [real, { kind: 'directory' as const, real }] as const
const PLAN = planSandbox({
  argv: ['echo', 'a\u001b[31mb'],
  cwd: '/work',
  env: { TOKEN: 'the-value', PATH: '/usr/bin' },
  baseline: 'system',
  home: '/home/ada',
  uid: 1000,
  gid: 1000,
  reads: ['/gone'],
  writes: ['/work'],
  masks: ['/work/.env'],
  pins: [{ path: '/work/.git/hooks', mode: 'read-only' }],
  network: 'listener',
  unixSockets: false,
  limits: { memoryBytes: 1 },
  facts: { paths: new Map(['/usr', '/work'].map(directory)), sockets: [], kernelMounts: [] },
})
const SUPPORT: Support = {
  backend: 'bwrap',
  usable: true,
  assurances: [{ name: 'masks', status: 'enforced', detail: 'secrets read as empty' }],
  cgroup: null,
  numbered: false,
}

describe('describePlan', () => {
  const report = describePlan(PLAN, SUPPORT)

  test('says what is shown, hidden, pinned and skipped', () => {
    expect(report).toMatchObject({
      readOnly: ['/usr'],
      readWrite: ['/work'],
      masks: ['/work/.env'],
      pins: ['/work/.git (pinned)', '/work/.git/hooks'],
      skipped: [{ path: '/gone', grant: 'read', reason: 'missing' }],
    })
  })

  test('names variables and keeps their values', () => {
    expect(report.environment).toEqual(['PATH', 'TOKEN'])
    expect(JSON.stringify(report)).not.toContain('the-value')
  })

  test('limits are promises too', () => {
    expect(report.promises).toContainEqual(expect.objectContaining({ name: 'limit: memory', status: 'degraded' }))
  })

  test('where no sandbox can be created, nothing is promised', () => {
    const promises = describePlan(PLAN, { ...SUPPORT, usable: false }).promises
    expect(promises.find(({ name }) => name === 'masks')?.status).toBe('absent')
  })

  test('for a terminal, without raw control characters', () => {
    const text = formatPlan(report)
    expect(text).not.toContain('\u001b')
    expect(text).toContain('skipped: read /gone (missing)')
    expect(text).toContain('DEGRADED  limit: memory')
  })
})
