import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cgroupValues, groupLimits, numbersProcesses, processNumbers, reportLimits, resourceLimits } from './limits.ts'
import { makeCgroup, openCgroups } from './limits-cgroup.ts'

const ALL = { memoryBytes: 1000, processes: 10, cpuSeconds: 5, cpus: 1.5, fileBytes: 7 }
const V1 = { version: 1, memory: true, pids: true, cpu: true } as const
const V2 = { ...V1, version: 2 } as const

describe('resourceLimits', () => {
  test.each([
    { name: 'nothing asked', limits: {}, cgroup: null, expected: { CORE: 1 } },
    {
      name: 'without cgroups',
      limits: ALL,
      cgroup: null,
      expected: { CORE: 1, CPU: 5, FSIZE: 7, DATA: 1000, NPROC: 12 },
    },
    { name: 'memory is the cgroup’s', limits: ALL, cgroup: V1, expected: { CORE: 1, CPU: 5, FSIZE: 7, NPROC: 12 } },
  ])('$name', ({ limits, cgroup, expected }) => {
    expect(Object.fromEntries(resourceLimits(limits, cgroup).map(({ name, limit }) => [name, limit]))).toEqual(expected)
  })
})

describe('cgroupValues', () => {
  test.each([
    {
      name: 'version 1',
      cgroup: V1,
      expected: {
        'memory.limit_in_bytes': '1000',
        'memory.memsw.limit_in_bytes': '1000',
        'pids.max': '13',
        'cpu.cfs_period_us': '1000000',
        'cpu.cfs_quota_us': '1500000',
      },
    },
    {
      name: 'version 2',
      cgroup: V2,
      expected: { 'memory.max': '1000', 'memory.swap.max': '0', 'pids.max': '13', 'cpu.max': '1500000 1000000' },
    },
    { name: 'only pids', cgroup: { ...V1, memory: false, cpu: false }, expected: { 'pids.max': '13' } },
  ])('$name', ({ cgroup, expected }) => {
    expect(Object.fromEntries(cgroupValues(ALL, cgroup).map(({ file, value }) => [file, value]))).toEqual(expected)
  })
})

describe('reportLimits', () => {
  const statusOf = (cgroup: typeof V1 | null, uid: number) =>
    Object.fromEntries(reportLimits(ALL, cgroup, uid, false).map(({ limit, status }) => [limit, status]))

  test.each([
    { name: 'cgroups', cgroup: V1, uid: 0, memory: 'enforced', processes: 'enforced', cpus: 'enforced' },
    { name: 'a user without', cgroup: null, uid: 1000, memory: 'degraded', processes: 'enforced', cpus: 'absent' },
    {
      name: 'root without, whom NPROC does not bind',
      cgroup: null,
      uid: 0,
      memory: 'degraded',
      processes: 'absent',
      cpus: 'absent',
    },
  ])('$name', ({ cgroup, uid, memory, processes, cpus }) => {
    expect(statusOf(cgroup, uid)).toMatchObject({
      memory,
      processes,
      cpus,
      cpuSeconds: 'enforced',
      fileBytes: 'enforced',
    })
  })

  test('what was not asked for is not reported', () => {
    expect(reportLimits({}, null, 0, true)).toEqual([])
  })
})

/** Plain folders stand in for the kernel’s: what is written where is what counts. */
describe('cgroups on a stand-in', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cordon-cgroup-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  const folder = (path: string, enabled: string) => {
    mkdirSync(join(root, path), { recursive: true })
    writeFileSync(join(root, path, 'cgroup.controllers'), 'cpu io memory pids\n')
    writeFileSync(join(root, path, 'cgroup.subtree_control'), enabled)
    writeFileSync(join(root, path, 'cgroup.procs'), '')
  }

  test('version 2 hands its controllers down', () => {
    folder('.', '')
    const host = openCgroups(root, '/')!
    expect(host.support).toEqual(V2)
    expect(readFileSync(join(root, 'cordon/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids +cpu')
    const group = makeCgroup(host, { memoryBytes: 5, processes: 6 })!
    expect(group.procs).toEqual([expect.stringMatching(/cordon\/run-\d+-\d+\/cgroup\.procs$/)])
    expect(readFileSync(group.procs[0]!.replace('cgroup.procs', 'memory.max'), 'utf8')).toBe('5')
  })

  test('version 2, a user: beside the own group, where that part of the tree is delegated', () => {
    mkdirSync(join(root, 'user.slice/app.slice'), { recursive: true })
    folder('user.slice/app.slice', 'memory pids cpu')
    const host = openCgroups(root, '/user.slice/app.slice/app-terminal.scope')!
    expect([...new Set(host.roots.values())]).toEqual([join(root, 'user.slice/app.slice/cordon')])
    expect(readFileSync(join(root, 'user.slice/app.slice/cgroup.subtree_control'), 'utf8')).toBe('memory pids cpu')
  })

  test('version 2, a user: none where nothing is delegated', () => {
    mkdirSync(join(root, 'user.slice'))
    expect(openCgroups(root, '/user.slice/session-1.scope')).toBeNull()
  })

  test('version 1 has a tree for each controller', () => {
    for (const name of ['memory', 'pids']) mkdirSync(join(root, name))
    const host = openCgroups(root)!
    expect(host.support).toEqual({ version: 1, memory: true, pids: true, cpu: false })
    expect(makeCgroup(host, { memoryBytes: 5, processes: 6, cpus: 1 })!.procs.length).toBe(2)
  })

  test('no group without a limit that needs one, and none without controllers', () => {
    expect(openCgroups(root)).toBeNull()
    mkdirSync(join(root, 'pids'))
    expect(makeCgroup(openCgroups(root)!, { cpuSeconds: 1 })).toBeNull()
  })

  test('groups of the dead are removed, those of the living stay', () => {
    const dead = 2 ** 22 + 1
    for (const name of [`run-${dead}-0`, `run-${process.pid}-0`, 'other'])
      mkdirSync(join(root, 'pids/cordon', name), { recursive: true })
    openCgroups(root)
    expect(readdirSync(join(root, 'pids/cordon')).sort()).toEqual(['other', `run-${process.pid}-0`])
  })
})

describe('processes limited by number', () => {
  test.each([
    ['6.14.0-rc1', true],
    ['6.18.44-fc-v490', true],
    ['7.0.3', true],
    ['6.13.9', false],
    ['6.1.0-28-amd64', false],
    ['5.15.0', false],
    ['', false],
    ['unknown', false],
  ])('Linux %s: %s', (release, expected) => expect(numbersProcesses(release)).toBe(expected))

  test.each([
    [{ processes: 1024 }, true, 1026],
    [{ processes: 900 }, true, 902],
    [{ processes: 899 }, true, null],
    [{ processes: 1024 }, false, null],
    [{}, true, null],
  ])('%o where numbers are the namespace’s own: %s -> %s', (limits, numbered, expected) =>
    expect(processNumbers(limits, numbered)).toBe(expected),
  )

  test.each([
    [{ processes: 1024 }, true, null],
    [{ processes: 1024 }, false, { processes: 1024 }],
    [{ processes: 60 }, true, { processes: 60 }],
    [{ processes: 1024, memoryBytes: 5 }, true, { memoryBytes: 5 }],
    [{ timeoutMs: 5 }, false, null],
  ])('a control group for %o (%s) limits %o', (limits, numbered, expected) =>
    expect(groupLimits(limits, numbered)).toEqual(expected),
  )

  test('the report says so', () => {
    expect(reportLimits({ processes: 1024 }, null, 0, true)).toMatchObject([{ status: 'enforced' }])
    expect(reportLimits({ processes: 1024 }, null, 0, false)).toMatchObject([{ status: 'absent' }])
  })
})
