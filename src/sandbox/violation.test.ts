import { describe, expect, test } from 'vitest'
import { planSandbox } from './plan.ts'
import { inferViolations, maskViolation } from './violation.ts'

const directory = (real: string) => [real, { kind: 'directory' as const, real }] as const
const PLAN = planSandbox({
  argv: ['x'],
  cwd: '/work',
  env: {},
  baseline: 'system',
  home: '/home/ada',
  uid: 1,
  gid: 1,
  reads: ['/docs'],
  writes: ['/work'],
  masks: [],
  pins: [{ path: '/work/.git/hooks', mode: 'read-only' }],
  network: 'none',
  unixSockets: false,
  limits: {},
  facts: { paths: new Map(['/usr', '/etc', '/work', '/docs'].map(directory)), sockets: [], kernelMounts: [] },
})

describe('inferViolations', () => {
  test.each([
    { name: 'hidden', text: 'cat: /secret/x: No such file or directory', found: ['path-hidden /secret/x'] },
    {
      name: 'hidden, quoted',
      text: "ls: cannot access '/var/lib': No such file or directory",
      found: ['path-hidden /var/lib'],
    },
    {
      name: 'hidden, Node',
      text: "Error: ENOENT: no such file or directory, open '/secret/x'",
      found: ['path-hidden /secret/x'],
    },
    { name: 'a file that is simply not there', text: 'cat: /work/x: No such file or directory', found: [] },
    { name: 'missing in the private /tmp', text: 'cat: /tmp/x: No such file or directory', found: [] },
    {
      name: 'read-only',
      text: "touch: cannot touch '/docs/x': Read-only file system",
      found: ['path-read-only /docs/x'],
    },
    {
      name: 'pinned',
      text: "touch: cannot touch '/work/.git/hooks/x': Read-only file system",
      found: ['path-read-only /work/.git/hooks/x'],
    },
    { name: 'refused', text: 'bash: /etc/x: Permission denied', found: ['path-denied /etc/x'] },
    { name: 'a plain mode problem in the project', text: 'bash: /work/x: Permission denied', found: [] },
    { name: 'a refused call', text: 'unshare: unshare failed: Operation not permitted', found: ['call-refused -'] },
    { name: 'the same twice', text: 'a: /s: Permission denied\nb: /s: Permission denied', found: ['path-denied /s'] },
    { name: 'nothing', text: 'all is well', found: [] },
  ])('$name', ({ text, found }) => {
    const violations = inferViolations(text, PLAN)
    expect(violations.map(({ kind, path }) => `${kind} ${path ?? '-'}`)).toEqual(found)
    expect(violations.every(({ certainty }) => certainty === 'inferred')).toBe(true)
  })

  test('a flood of denials is cut', () => {
    const text = Array.from({ length: 1000 }, (_, i) => `cat: /s/${i}: No such file or directory`).join('\n')
    expect(inferViolations(text, PLAN).length).toBe(20)
  })
})

test('what the init saw is observed', () => {
  expect(maskViolation('/work/.env', 'opened')).toMatchObject({
    kind: 'mask-opened',
    certainty: 'observed',
    path: '/work/.env',
  })
  expect(maskViolation('/work/.env', 'lifted')).toMatchObject({ kind: 'mask-lifted' })
})

test.each([
  { text: 'MemoryError', limits: { memoryBytes: 100 * 1024 ** 2 }, said: 'the memory limit of 100 MiB' },
  {
    text: 'bash: fork: retry: Resource temporarily unavailable',
    limits: { processes: 20 },
    said: 'the limit of 20 processes',
  },
  { text: 'bash: line 1: 5 CPU time limit exceeded', limits: { cpuSeconds: 2 }, said: '2 s of processor time' },
  { text: 'MemoryError', limits: {}, said: null },
])('a limit that a program speaks of is named, where there is one: $text', ({ text, limits, said }) => {
  const found = inferViolations(text, { ...PLAN, limits })
  expect(found.map(({ kind, certainty }) => ({ kind, certainty }))).toEqual(
    said === null ? [] : [{ kind: 'limit-reached', certainty: 'inferred' }],
  )
  if (said !== null) expect(found[0]!.message).toContain(said)
})
