import { describe, expect, test } from 'vitest'
import { planSandbox, type SandboxRequest } from '../plan.ts'
import { parseMessage } from './init-messages.ts'
import { compileSetupMessage, HIDDEN_PROC } from './setup-message.ts'

function setup(change: Partial<SandboxRequest> = {}, terminalFds = 0): { type: string; payload: Buffer }[] {
  const plan = planSandbox({
    argv: ['cmd', ''],
    cwd: '/work',
    env: { A: '1' },
    baseline: 'none',
    home: '/home/ada',
    uid: 1000,
    gid: 1001,
    reads: [],
    writes: ['/work'],
    masks: ['/work/b/.env', '/work/a.key'],
    pins: [{ path: '/work/b/.git', mode: 'read-only' }],
    network: 'none',
    unixSockets: false,
    limits: {},
    facts: { paths: new Map([['/work', { kind: 'directory', real: '/work' }]]), sockets: [], kernelMounts: [] },
    ...change,
  })
  const bytes = Buffer.from(
    compileSetupMessage({
      plan,
      filter: new Uint8Array(16),
      limits: [{ name: 'CORE', limit: 1 }],
      processNumbers: null,
      terminalFds,
      gate: false,
      bound: new Map(),
    }),
  )
  expect(bytes.toString('latin1', 0, 8)).toBe('CORDON1\n')
  expect(bytes.readUInt32LE(8)).toBe(bytes.length - 12)
  const records: { type: string; payload: Buffer }[] = []
  for (let at = 12; at < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 1)
    records.push({ type: String.fromCharCode(bytes[at]!), payload: bytes.subarray(at + 5, at + 5 + length) })
    at += 5 + length
  }
  return records
}

const of = (records: { type: string; payload: Buffer }[], type: string) =>
  records.filter((record) => record.type === type)

describe('compileOrders', () => {
  test('arguments and environment, empty words included', () => {
    expect(of(setup(), 'a').map(({ payload }) => payload.toString())).toEqual(['cmd\0', '\0'])
    expect(of(setup(), 'e').map(({ payload }) => payload.toString())).toEqual(['A=1\0'])
  })

  test('masks and pins in one order, parents first, the plan’s masks before those of /proc', () => {
    const places = setup().filter(({ type }) => type === 'm' || type === 'p')
    expect(
      places
        .slice(0, 4)
        .map(({ type, payload }) => `${type}${payload[0]}${payload.toString('utf8', 1, payload.length - 1)}`),
    ).toEqual(['m0/work/a.key', 'p0/work/b', 'm0/work/b/.env', 'p1/work/b/.git'])
    expect(places.length).toBe(4 + HIDDEN_PROC.length)
  })

  test('/proc, /dev and the root become read-only', () => {
    expect(of(setup(), 'r').map(({ payload }) => payload.toString('utf8', 1))).toEqual(['/proc\0', '/dev\0', '/\0'])
  })

  test('ids, terminal and listener', () => {
    expect([...of(setup(), 'i')[0]!.payload]).toEqual([0xe8, 3, 0, 0, 0xe9, 3, 0, 0])
    expect(of(setup(), 't')).toEqual([])
    expect([...of(setup({ terminal: { rows: 40, columns: 300 } }, 7), 't')[0]!.payload]).toEqual([7, 40, 0, 44, 1])
    expect([...of(setup({ network: 'listener' }), 'n')[0]!.payload]).toEqual([0x38, 0x0c])
  })

  test('servers that may be reached, each once, and never the proxy', () => {
    expect([...of(setup({ servers: [8080, 3000, 8080] }), 'd')[0]!.payload]).toEqual([0xb8, 0x0b, 0x90, 0x1f])
    expect(of(setup(), 'd')).toEqual([])
    expect(() => setup({ servers: [3128], network: 'listener' })).toThrow(/the proxy uses/)
    expect(of(setup({ servers: [3128] }), 'd')).toHaveLength(1)
    expect(() => setup({ servers: Array.from({ length: 65 }, (_, at) => 4000 + at) })).toThrow(/at most 64/)
  })

  test('ends with the end', () => {
    expect(setup().at(-1)).toMatchObject({ type: 'z', payload: Buffer.alloc(0) })
  })

  test.each([
    { name: 'an argument', change: { argv: ['a\0b'] } },
    { name: 'a variable', change: { env: { A: 'a\0b' } } },
    { name: 'a directory', change: { cwd: '/a\0b' } },
    { name: 'a variable’s name', change: { env: { 'A=B': 'x' } } },
    { name: 'an empty variable name', change: { env: { '': 'x' } } },
  ] as { name: string; change: Partial<SandboxRequest> }[])('refuses what Linux cannot say: $name', ({ change }) => {
    expect(() => setup(change)).toThrow(RangeError)
  })
})

test.each([
  { name: 'failed', words: [0x46, 5, 2, 7], message: { kind: 'failed', step: 5, errno: 2, index: 7 } },
  { name: 'ready', words: [0x52, 1, 0, 0], message: { kind: 'ready', watched: true } },
  { name: 'opened', words: [0x56, 3, 0, 0], message: { kind: 'mask', index: 3, event: 'opened' } },
  { name: 'lifted', words: [0x56, 3, 1, 0], message: { kind: 'mask', index: 3, event: 'lifted' } },
  { name: 'served', words: [0x4c, 3000, 1, 0], message: { kind: 'server', port: 3000, listening: true, listed: true } },
  {
    name: 'no longer served',
    words: [0x4c, 3000, 0, 0],
    message: { kind: 'server', port: 3000, listening: false, listed: true },
  },
  { name: 'not connected', words: [0x4e, 9, 111, 0], message: { kind: 'unconnected', id: 9, errno: 111 } },
  { name: 'exited', words: [0x58, 0, 7, 0], message: { kind: 'ended', code: 7, signal: null } },
  { name: 'signalled', words: [0x58, 1, 9, 0], message: { kind: 'ended', code: null, signal: 9 } },
  {
    name: 'a port of nobody',
    words: [0x4c, 5173, 1, 1],
    message: { kind: 'server', port: 5173, listening: true, listed: false },
  },
  { name: 'stopped', words: [0x53, 20, 0, 0], message: { kind: 'stopped', signal: 20 } },
  { name: 'unknown', words: [0x3f, 0, 0, 0], message: null },
])('parseMessage: $name', ({ words, message }) => {
  expect(parseMessage(new Uint8Array(Uint32Array.from(words).buffer))).toEqual(message)
})
