import { describe, expect, test } from 'vitest'
import { planSandbox, type SandboxPlan } from '../plan.ts'
import { compileArguments, MAX_BINDS } from './args.ts'

const directory = (real: string) => [real, { kind: 'directory' as const, real }] as const

const PLAN: SandboxPlan = planSandbox({
  argv: ['secret-name-of-the-command'],
  cwd: '/work',
  env: { TOKEN: 'value' },
  baseline: 'system',
  home: '/home/ada',
  uid: 1000,
  gid: 1000,
  reads: [],
  writes: ['/work', '/tmp/job'],
  masks: [],
  pins: [],
  network: 'none',
  unixSockets: false,
  limits: {},
  facts: { paths: new Map(['/usr', '/etc', '/work', '/tmp/job'].map(directory)), sockets: [], kernelMounts: [] },
})

describe('compileArguments', () => {
  const args = compileArguments(PLAN, false)

  test.each(['user', 'pid', 'ipc', 'uts', 'cgroup', 'net'])('a %s namespace', (name) => {
    expect(args).toContain(`--unshare-${name}`)
  })

  test('the init is pid 1, and it alone ends the sandbox when its parent is gone', () => {
    expect(args).toContain('--as-pid-1')
    expect(args).not.toContain('--die-with-parent')
  })

  test('what is to be read cannot be written', () => {
    const kind = (path: string) => args[args.lastIndexOf(path) - 2]
    expect(['/usr', '/etc', '/work', '/tmp/job'].map(kind)).toEqual(['--ro-bind', '--ro-bind', '--bind', '--bind'])
  })

  test('parents come before children, so that nothing covers what was bound before', () => {
    const places = ['/dev', '/dev/shm', '/proc', '/tmp', '/tmp/job'].map((path) => args.lastIndexOf(path))
    expect(places.every((at) => at >= 0)).toBe(true)
    expect(args.lastIndexOf('/tmp')).toBeLessThan(args.lastIndexOf('/tmp/job'))
    expect(args.lastIndexOf('/dev')).toBeLessThan(args.lastIndexOf('/dev/shm'))
  })

  test('the command and its environment are not on the command line, where other users can see them', () => {
    expect(args.join(' ')).not.toContain('secret-name')
    expect(args.join(' ')).not.toContain('TOKEN')
  })

  test('too many places are an error that says how many', () => {
    const binds = Array.from({ length: MAX_BINDS + 1 }, (_, i) => ({ path: `/g/${i}`, mode: 'read-only' as const }))
    expect(() => compileArguments({ ...PLAN, binds }, false)).toThrow(`${MAX_BINDS + 1} separate places`)
  })

  test('the descriptor of the channel comes only with a channel', () => {
    expect(args.slice(-4)).toEqual(['/proc/self/fd/4', '3', '5', 'h9'])
    expect(compileArguments(PLAN, true).slice(-5)).toEqual(['/proc/self/fd/4', '3', '5', '8', 'h9'])
  })
})
