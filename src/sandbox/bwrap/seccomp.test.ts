import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assembleFilter, compileFilter, type FilterOptions } from './seccomp.ts'
import {
  type Architecture,
  BARE_CALLS,
  INSPECTED_CALLS,
  type InspectedCall,
  LAST_KNOWN_CALL,
  REFUSED_CALLS,
} from './syscalls.ts'

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const ASK = 0x7fc00000
const refused = (errno: number) => 0x00050000 | errno
const EPERM = refused(1)
const ENOTTY = refused(25)
const ENOSYS = refused(38)
const EPROTONOSUPPORT = refused(93)
const EAFNOSUPPORT = refused(97)
const PRETENDED = refused(0)

const ARCH: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }

interface Call {
  readonly number: number
  readonly arguments?: readonly bigint[]
  readonly arch?: number
}

/** Runs the compiled bytes as the kernel would; throws on a jump out of the program, as the kernel refuses to load it. */
function answerOf(bytes: Uint8Array, call: Call, architecture: Architecture): number {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.arch ?? ARCH[architecture], true)
  call.arguments?.forEach((value, i) => {
    data.setBigUint64(16 + 8 * i, BigInt.asUintN(64, value), true)
  })
  const program = new DataView(bytes.buffer)
  let a = 0
  for (let pc = 0; ; pc++) {
    if (pc * 8 >= bytes.length) throw new Error('ran off the end')
    const code = program.getUint16(pc * 8, true)
    const [jt, jf] = [program.getUint8(pc * 8 + 2), program.getUint8(pc * 8 + 3)]
    const k = program.getUint32(pc * 8 + 4, true)
    if (code === 0x20) a = data.getUint32(k, true)
    else if (code === 0x54) a = (a & k) >>> 0
    else if (code === 0x05) pc += k
    else if (code === 0x15) pc += a === k ? jt : jf
    else if (code === 0x35) pc += a >= k ? jt : jf
    else if (code === 0x45) pc += (a & k) !== 0 ? jt : jf
    else if (code === 0x06) return k
    else throw new Error(`instruction ${code} is not of the kernel's`)
  }
}

describe.each(['x64', 'arm64'] as const)('%s', (architecture) => {
  const closed = compileFilter({ architecture, unixSockets: false, changes: false })
  const open = compileFilter({ architecture, unixSockets: true, changes: false })
  const numberOf = (name: InspectedCall) => INSPECTED_CALLS[name][architecture]
  const ask = (name: InspectedCall, args: readonly (number | bigint)[], filter = closed) =>
    answerOf(filter, { number: numberOf(name)!, arguments: args.map(BigInt) }, architecture)

  test('fits into the kernel’s 4,096 instructions', () => {
    expect(assembleFilter({ architecture, unixSockets: false, changes: false }).length).toBeLessThan(600)
  })

  test.each(REFUSED_CALLS.filter((call) => call[architecture] !== null))('refuses $name', (call) => {
    expect(answerOf(closed, { number: call[architecture]! }, architecture)).toBe(
      call.errno === 'EPERM' ? EPERM : ENOSYS,
    )
  })

  test('allows every known call that is in no table, and answers ENOSYS to newer ones', () => {
    const special = new Set([
      ...REFUSED_CALLS.map((call) => call[architecture]),
      ...Object.values(INSPECTED_CALLS).map((numbers) => numbers[architecture]),
    ])
    for (let number = 0; number < 2000; number++)
      if (!special.has(number))
        expect(answerOf(closed, { number }, architecture), String(number)).toBe(
          number <= LAST_KNOWN_CALL ? ALLOW : ENOSYS,
        )
  })

  test.each([
    { name: 'i386', arch: 0x40000003 },
    { name: 'arm', arch: 0x40000028 },
    { name: 'the other one', arch: ARCH[architecture === 'x64' ? 'arm64' : 'x64'] },
    { name: 'none', arch: 0 },
  ])('kills a call by the architecture $name', ({ arch }) => {
    expect(answerOf(closed, { number: 1, arch }, architecture)).toBe(KILL)
  })

  test('x32 numbers are answered as by a kernel without x32', () => {
    for (const number of [0, 1, 101, 520])
      expect(answerOf(closed, { number: 0x40000000 + number }, architecture)).toBe(ENOSYS)
  })

  test.each([
    { name: 'fork', flags: 17n, answer: ALLOW },
    { name: 'a thread', flags: 0x3d0f00n, answer: ALLOW },
    { name: 'a user namespace', flags: 0x10000011n, answer: EPERM },
    { name: 'a user namespace behind high bits', flags: 0xffffffff_10000011n, answer: EPERM },
    { name: 'a mount namespace', flags: 0x00020011n, answer: EPERM },
    { name: 'high bits alone', flags: 0x10000000_00000011n, answer: ALLOW },
  ])('clone: $name', ({ flags, answer }) => {
    expect(ask('clone', [flags])).toBe(answer)
  })

  test.each([
    { name: 'files', flags: 0x400, answer: ALLOW },
    { name: 'a time namespace', flags: 0x80, answer: EPERM },
    { name: 'a network namespace', flags: 0x40000000, answer: EPERM },
  ])('unshare: $name', ({ flags, answer }) => {
    expect(ask('unshare', [flags])).toBe(answer)
  })

  test.each([
    { name: 'TCP', args: [2, 1, 0], answer: ALLOW },
    { name: 'TCP by number', args: [10, 1, 6], answer: ALLOW },
    { name: 'UDP', args: [2, 2, 17], answer: ALLOW },
    { name: 'MPTCP', args: [2, 1, 262], answer: EPROTONOSUPPORT },
    { name: 'SCTP', args: [10, 1, 132], answer: EPROTONOSUPPORT },
    { name: 'unix', args: [1, 1, 0], answer: EPERM },
    { name: 'unix behind high bits', args: [0xdead_0000_0001n, 1n, 0n], answer: EPERM },
    { name: 'routes by netlink', args: [16, 3, 0], answer: ALLOW },
    { name: 'netfilter by netlink', args: [16, 3, 12], answer: EPROTONOSUPPORT },
    { name: 'packet', args: [17, 3, 0], answer: EAFNOSUPPORT },
    { name: 'vsock', args: [40, 1, 0], answer: EAFNOSUPPORT },
    { name: 'alg', args: [38, 5, 0], answer: EAFNOSUPPORT },
    { name: 'xdp', args: [44, 3, 0], answer: EAFNOSUPPORT },
    { name: 'none', args: [0, 1, 0], answer: EAFNOSUPPORT },
  ])('socket: $name', ({ args, answer }) => {
    expect(ask('socket', args)).toBe(answer)
  })

  test.each([
    { name: 'stream', args: [1, 1], answer: ALLOW },
    { name: 'stream, close-on-exec and non-blocking', args: [1, 0x80801], answer: ALLOW },
    { name: 'seqpacket', args: [1, 5], answer: ALLOW },
    { name: 'datagram', args: [1, 2], answer: EPERM },
    { name: 'raw, which becomes datagram', args: [1, 3], answer: EPERM },
    { name: 'another family', args: [30, 1], answer: EAFNOSUPPORT },
  ])('socketpair: $name', ({ args, answer }) => {
    expect(ask('socketpair', args)).toBe(answer)
  })

  test('with changes, what a datagram socket is and what brings an address to one goes to the init', () => {
    const options = { architecture, unixSockets: true, changes: true }
    const [changes, bare] = [compileFilter(options), compileFilter({ ...options, bare: true })]
    const send = (name: 'sendto' | 'sendmsg' | 'sendmmsg', args: readonly number[], filter = changes) =>
      answerOf(filter, { number: BARE_CALLS[name][architecture], arguments: args.map(BigInt) }, architecture)
    expect(ask('socket', [1, 2, 0], changes)).toBe(ASK)
    expect(ask('socketpair', [1, 2], changes)).toBe(ASK)
    expect(ask('socket', [1, 3, 0], changes)).toBe(EPERM)
    expect(ask('socket', [1, 2, 0], bare)).toBe(EPERM)
    expect(send('sendto', [3, 1, 1, 0, 0, 0])).toBe(ALLOW)
    expect(send('sendto', [3, 1, 1, 0, 0x10, 110])).toBe(ASK)
    expect(send('sendto', [3, 1, 1, 0, 2 ** 40, 110])).toBe(ASK)
    expect(send('sendmsg', [3, 1, 0])).toBe(ASK)
    expect(send('sendmmsg', [3, 1, 1, 0])).toBe(ASK)
    expect(send('sendmsg', [3, 1, 0], open)).toBe(ALLOW)
  })

  test('granted unix sockets are sockets like others', () => {
    expect(ask('socket', [1, 1, 0], open)).toBe(ALLOW)
    expect(ask('socketpair', [1, 2], open)).toBe(ALLOW)
    expect(ask('socket', [40, 1, 0], open)).toBe(EAFNOSUPPORT)
  })

  test.each([
    { name: 'TCGETS', request: 0x5401n, answer: ALLOW },
    { name: 'TIOCSTI', request: 0x5412n, answer: EPERM },
    { name: 'TIOCSTI behind high bits', request: 0x1_00005412n, answer: EPERM },
    { name: 'TIOCLINUX', request: 0x541cn, answer: EPERM },
    { name: 'TIOCSETD', request: 0x5423n, answer: EPERM },
    { name: 'TIOCSWINSZ', request: 0x5414n, answer: ALLOW },
    { name: 'FS_IOC_GETFLAGS', request: 0x80086601n, answer: ALLOW },
    { name: 'FS_IOC_SETFLAGS', request: 0x40086602n, answer: ENOTTY },
    { name: 'FS_IOC_SETFLAGS behind high bits', request: 0xdead_40086602n, answer: ENOTTY },
    { name: 'FS_IOC_FSSETXATTR', request: 0x401c5820n, answer: ENOTTY },
    { name: 'FS_IOC_ENABLE_VERITY', request: 0x40806685n, answer: ENOTTY },
    { name: 'BTRFS_IOC_SNAP_CREATE_V2', request: 0x50009417n, answer: ENOTTY },
    { name: 'BTRFS_IOC_SNAP_DESTROY', request: 0x5000940fn, answer: ENOTTY },
    { name: 'FICLONE', request: 0x40049409n, answer: ALLOW },
    { name: 'FICLONERANGE', request: 0x4020940dn, answer: ALLOW },
  ])('ioctl: $name', ({ request, answer }) => {
    expect(ask('ioctl', [0n, request])).toBe(answer)
  })

  test.each([
    { name: 'the query', persona: 0xffffffff, answer: ALLOW },
    { name: 'Linux', persona: 0, answer: ALLOW },
    { name: 'Linux with 32-bit names', persona: 0x8, answer: ALLOW },
    { name: 'the version of old', persona: 0x20000, answer: ALLOW },
    { name: 'addresses that are not random', persona: 0x40000, answer: EPERM },
    { name: 'memory that can be executed when it can be read', persona: 0x400000, answer: EPERM },
    { name: 'a page at zero', persona: 0x100000, answer: EPERM },
  ])('personality: $name', ({ persona, answer }) => {
    expect(ask('personality', [persona])).toBe(answer)
  })

  test('the core limit is kept, and asking for it works', () => {
    expect(ask('setrlimit', [4, 0x1000])).toBe(PRETENDED)
    expect(ask('setrlimit', [7, 0x1000])).toBe(ALLOW)
    expect(ask('setrlimit', [10, 0x1000])).toBe(PRETENDED)
    expect(ask('prlimit64', [0, 10, 0x1000, 0])).toBe(PRETENDED)
    expect(ask('prlimit64', [0, 10, 0, 0x1000])).toBe(ALLOW)
    expect(ask('prlimit64', [0, 4, 0x1000, 0])).toBe(PRETENDED)
    expect(ask('prlimit64', [0n, 4n, 0x1_00000000n, 0n])).toBe(PRETENDED)
    expect(ask('prlimit64', [0, 4, 0, 0x1000])).toBe(ALLOW)
    expect(ask('prlimit64', [0, 7, 0x1000, 0])).toBe(ALLOW)
  })

  test.each([
    { name: 'chmod', args: [0, 0o755], answer: ALLOW },
    { name: 'chmod', args: [0, 0o4755], answer: EPERM },
    { name: 'chmod', args: [0, 0o2755], answer: ALLOW },
    { name: 'fchmod', args: [3, 0o4755], answer: EPERM },
    { name: 'fchmodat', args: [3, 0, 0o6755], answer: EPERM },
    { name: 'fchmodat2', args: [3, 0, 0o4000, 0], answer: EPERM },
    { name: 'creat', args: [0, 0o4755], answer: EPERM },
    { name: 'open', args: [0, 0o101, 0o4755], answer: EPERM },
    { name: 'open', args: [0, 0, 0o4755], answer: ALLOW },
    { name: 'openat', args: [0, 0, 0o102, 0o644], answer: ALLOW },
    { name: 'openat', args: [0, 0, 0o102, 0o4644], answer: EPERM },
    { name: 'openat', args: [0, 0, 0o20200002, 0o4644], answer: EPERM },
    { name: 'openat', args: [0, 0, 0o2, 0o4644], answer: ALLOW },
    { name: 'mknodat', args: [0, 0, 0o104755, 0], answer: EPERM },
  ] as { name: InspectedCall; args: number[]; answer: number }[])(
    'setuid files: $name $args',
    ({ name, args, answer }) => {
      if (numberOf(name) === null) return
      expect(ask(name, args)).toBe(answer)
    },
  )

  test('every call with any arguments gets an answer that exists', () => {
    const known = new Set([ALLOW, KILL, EPERM, ENOTTY, ENOSYS, EPROTONOSUPPORT, EAFNOSUPPORT, PRETENDED])
    const any = fc.record({
      number: fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 0xffffffff })),
      arguments: fc.array(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), { minLength: 6, maxLength: 6 }),
    })
    fc.assert(
      fc.property(any, (call) => known.has(answerOf(closed, call, architecture))),
      { numRuns: 2000 },
    )
  })

  test('high halves of int arguments never change an answer', () => {
    const names = ['clone', 'socket', 'socketpair', 'ioctl', 'setrlimit', 'personality'] as const
    const low = fc.oneof(fc.integer({ min: 0, max: 64 }), fc.constantFrom(0x5412, 0x541c, 0x10000000, 0x20000, 262))
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(low, { minLength: 3, maxLength: 3 }),
        fc.nat(),
        (name, args, high) => {
          const raised = args.map((value) => BigInt(value) | (BigInt(high) << 32n))
          return ask(name, args) === ask(name, raised)
        },
      ),
    )
  })
})

test('the options are all that the filter depends on', () => {
  const options: FilterOptions = { architecture: 'x64', unixSockets: false, changes: false }
  expect(compileFilter(options)).toEqual(compileFilter({ ...options }))
})
