import { describe, expect, test } from 'vitest'
import { isBaselineRead, SYSTEM_PATHS } from '../files/baseline.ts'
import type { PathFact } from './layout.ts'
import { planSandbox, type SandboxPlan, type SandboxRequest } from './plan.ts'

const HOST: Record<string, PathFact> = Object.fromEntries([
  ...[
    '/usr',
    '/etc',
    '/home/ada',
    '/home/ada/work',
    '/home/ada/work/src',
    '/home/ada/docs',
    '/data',
    '/tmp/job',
    '/',
  ].map((real) => [real, { kind: 'directory', real }] as const),
  ['/home/ada/file', { kind: 'file', real: '/home/ada/file' }],
  ['/bin', { kind: 'directory', real: '/usr/bin', link: 'usr/bin' }],
  ['/home/ada/link', { kind: 'directory', real: '/data', link: '../../data' }],
])

function plan(change: Partial<SandboxRequest> = {}): SandboxPlan {
  return planSandbox({
    argv: ['true'],
    cwd: '/home/ada/work',
    env: {},
    baseline: 'system',
    home: '/home/ada',
    uid: 1000,
    gid: 1000,
    reads: [],
    writes: ['/home/ada/work'],
    masks: [],
    pins: [],
    network: 'none',
    unixSockets: false,
    limits: {},
    facts: { paths: new Map(Object.entries(HOST)), sockets: [], kernelMounts: [] },
    ...change,
  })
}

const shown = ({ binds }: SandboxPlan) => binds.map(({ path, mode }) => `${mode === 'read-only' ? 'ro' : 'rw'} ${path}`)

describe('binds', () => {
  test.each([
    { name: 'system', change: {}, binds: ['ro /etc', 'rw /home/ada/work', 'ro /usr'] },
    { name: 'none', change: { baseline: 'none' }, binds: ['rw /home/ada/work'] },
    {
      name: 'permissive',
      change: { baseline: 'permissive' },
      binds: ['ro /etc', 'ro /home/ada', 'rw /home/ada/work', 'ro /usr'],
    },
    { name: 'all', change: { baseline: 'all' }, binds: ['ro /', 'rw /home/ada/work'] },
    {
      name: 'all, in /tmp',
      change: { baseline: 'all', writes: [], reads: ['/tmp/job'] },
      binds: ['ro /', 'ro /tmp/job'],
    },
    {
      name: 'a read below a write adds nothing',
      change: { reads: ['/home/ada/work/src'] },
      binds: ['ro /etc', 'rw /home/ada/work', 'ro /usr'],
    },
    {
      name: 'a write below a read',
      change: { reads: ['/home/ada/work'], writes: ['/home/ada/work/src'] },
      binds: ['ro /etc', 'ro /home/ada/work', 'rw /home/ada/work/src', 'ro /usr'],
    },
    {
      name: 'a write wins over a read of the same',
      change: { reads: ['/home/ada/work'] },
      binds: ['ro /etc', 'rw /home/ada/work', 'ro /usr'],
    },
    {
      name: 'twice is once',
      change: { writes: ['/home/ada/work', '/home/ada/work'] },
      binds: ['ro /etc', 'rw /home/ada/work', 'ro /usr'],
    },
    {
      name: 'a file',
      change: { reads: ['/home/ada/file'] },
      binds: ['ro /etc', 'ro /home/ada/file', 'rw /home/ada/work', 'ro /usr'],
    },
    {
      name: 'a link is shown at its target',
      change: { writes: ['/home/ada/link'] },
      binds: ['rw /data', 'ro /etc', 'ro /usr'],
    },
  ] as { name: string; change: Partial<SandboxRequest>; binds: string[] }[])('$name', ({ change, binds }) => {
    expect(shown(plan(change))).toEqual(binds)
  })

  test('10,000 reads below one write are one bind', () => {
    const reads = Array.from({ length: 10_000 }, (_, i) => `/home/ada/work/${i}`)
    const paths = new Map<string, PathFact>([
      ...Object.entries(HOST),
      ...reads.map((real) => [real, { kind: 'directory', real } as const] as const),
    ])
    expect(plan({ reads, facts: { paths, sockets: [], kernelMounts: [] } }).binds.length).toBe(3)
  })

  test.each([
    { path: '/', reason: 'whole file system' },
    { path: '/proc/1', reason: 'kernel path' },
    { path: '/sys/kernel', reason: 'kernel path' },
    { path: '/dev', reason: 'kernel path' },
    { path: '/nowhere', reason: 'missing' },
  ] as const)('$path is skipped: $reason', ({ path, reason }) => {
    expect(plan({ writes: [path] }).skipped).toEqual([{ path, grant: 'write', reason }])
  })

  test('links of the baseline are created again, but not into something shown', () => {
    expect(plan().links).toEqual([{ path: '/bin', target: 'usr/bin' }])
    expect(plan({ baseline: 'all' }).links).toEqual([])
  })

  test('the decision exempts exactly what the system baseline shows', () => {
    for (const path of SYSTEM_PATHS) expect(isBaselineRead(path), path).toBe(true)
  })
})

describe('private places', () => {
  test.each([
    { name: 'a home that is not shown', change: {}, scratch: ['/tmp', '/dev/shm', '/home/ada', '/var/tmp'] },
    { name: 'a home in /var/tmp', change: { home: '/var/tmp/h' }, scratch: ['/tmp', '/dev/shm', '/var/tmp/h'] },
    { name: 'a home that is shown', change: { baseline: 'permissive' }, scratch: ['/tmp', '/dev/shm', '/var/tmp'] },
    { name: 'a home that is a grant', change: { writes: ['/home/ada'] }, scratch: ['/tmp', '/dev/shm', '/var/tmp'] },
    {
      name: 'one that was asked for',
      change: { scratch: ['/var/cache'] },
      scratch: ['/tmp', '/dev/shm', '/home/ada', '/var/cache', '/var/tmp'],
    },
    {
      name: 'one below a bind, which would have to be created there',
      change: { scratch: ['/usr/new'] },
      scratch: ['/tmp', '/dev/shm', '/home/ada', '/var/tmp'],
    },
  ] as { name: string; change: Partial<SandboxRequest>; scratch: string[] }[])('$name', ({ change, scratch }) => {
    expect(plan(change).scratch).toEqual(scratch)
  })
})

describe('stand-ins', () => {
  const source = '/cache/ssh-config'
  const facts = (path: string, fact: PathFact) => ({
    paths: new Map([['/etc', { kind: 'directory', real: '/etc' }] as const, [path, fact] as const]),
    sockets: [],
    kernelMounts: [],
  })
  test.each([
    { name: 'a file that is shown', path: '/etc/a', fact: { kind: 'file', real: '/etc/a' }, at: '/etc/a' },
    { name: 'a link to one', path: '/etc/a', fact: { kind: 'file', real: '/etc/b', link: 'b' }, at: '/etc/b' },
    { name: 'a link to what is not shown', path: '/etc/a', fact: { kind: 'file', real: '/srv/b', link: '/srv/b' } },
    { name: 'a file that is not shown', path: '/srv/a', fact: { kind: 'file', real: '/srv/a' } },
    { name: 'a directory', path: '/etc/a', fact: { kind: 'directory', real: '/etc/a' } },
    { name: 'nothing', path: '/etc/a', fact: null },
  ] as { name: string; path: string; fact: PathFact | null; at?: string }[])('for $name', ({ path, fact, at }) => {
    const known = fact ? facts(path, fact) : facts('/etc', { kind: 'directory', real: '/etc' })
    const { standIns } = plan({ standIns: [{ path, source }], facts: known })
    expect(standIns).toEqual(at === undefined ? [] : [{ path: at, source }])
  })
})

describe('masks', () => {
  const masks = [
    '/etc/shadow',
    '/home/ada/.ssh',
    '/home/ada/work/.env',
    '/home/ada/work/keys/a',
    '/home/ada/work/keys',
    '/root/.ssh',
  ]
  test.each([
    { name: 'only what is shown', change: {}, expected: ['/etc/shadow', '/home/ada/work/.env', '/home/ada/work/keys'] },
    {
      name: 'permissive',
      change: { baseline: 'permissive' },
      expected: ['/etc/shadow', '/home/ada/.ssh', '/home/ada/work/.env', '/home/ada/work/keys'],
    },
    {
      name: 'all',
      change: { baseline: 'all' },
      expected: ['/etc/shadow', '/home/ada/.ssh', '/home/ada/work/.env', '/home/ada/work/keys', '/root/.ssh'],
    },
  ] as { name: string; change: Partial<SandboxRequest>; expected: string[] }[])('$name', ({ change, expected }) => {
    expect(plan({ masks, ...change }).masks).toEqual(expected)
  })

  test('a mask in the private /tmp hides nothing of the host, one in a grant there does', () => {
    expect(plan({ masks: ['/tmp/x', '/tmp/job/x'], reads: ['/tmp/job'] }).masks).toEqual(['/tmp/job/x'])
  })

  test('host sockets are masked exactly when unix sockets are granted', () => {
    const facts = { paths: new Map(Object.entries(HOST)), sockets: ['/home/ada/work/s', '/run/s'], kernelMounts: [] }
    expect(plan({ facts }).masks).toEqual([])
    expect(plan({ facts, unixSockets: true }).masks).toEqual(['/home/ada/work/s'])
  })

  test('kernel file systems elsewhere are masked under the all baseline', () => {
    const facts = {
      paths: new Map(Object.entries(HOST)),
      sockets: [],
      kernelMounts: ['/proc', '/sys/fs/cgroup', '/jail/proc'],
    }
    expect(plan({ facts, baseline: 'all' }).masks).toEqual(['/jail/proc'])
  })
})

describe('pins', () => {
  const pin = (path: string, mode: 'read-only' | 'in-place' = 'read-only') => ({ path, mode })
  test.each([
    {
      name: 'ancestors up to the grant are pinned',
      pins: [pin('/home/ada/work/a/b/c')],
      expected: [
        pin('/home/ada/work/a', 'in-place'),
        pin('/home/ada/work/a/b', 'in-place'),
        pin('/home/ada/work/a/b/c'),
      ],
    },
    { name: 'what cannot be written needs none', pins: [pin('/etc/x'), pin('/home/ada/.bashrc')], expected: [] },
    {
      name: 'read-only wins over in place',
      pins: [pin('/home/ada/work/a', 'in-place'), pin('/home/ada/work/a'), pin('/home/ada/work/a/b')],
      expected: [pin('/home/ada/work/a'), pin('/home/ada/work/a/b')],
    },
    { name: 'the grant itself', pins: [pin('/home/ada/work')], expected: [pin('/home/ada/work')] },
  ])('$name', ({ pins, expected }) => {
    expect(plan({ pins }).pins).toEqual(expected)
  })

  test('the directories above a mask on its path stay in place, and no others', () => {
    const masks = ['/home/ada/work/a/b/plan.txt', '/home/ada/work/c/.env', '/etc/shadow']
    const { pins } = plan({ masks, pinned: ['/home/ada/work/a/b/plan.txt', '/etc/shadow'] })
    expect(pins).toEqual([pin('/home/ada/work/a', 'in-place'), pin('/home/ada/work/a/b', 'in-place')])
  })
})
