/** PURE. The seccomp filter of a sandbox, assembled as BPF bytes. */

import {
  type Architecture,
  BARE_CALLS,
  type BareCall,
  CHANGING_CALLS,
  INSPECTED_CALLS,
  type InspectedCall,
  LAST_KNOWN_CALL,
  LOOKING_CALLS,
  PROCESS_CALLS,
  REFUSED_CALLS,
  SHARED_CALLS,
  STARTING_CALLS,
} from './syscalls.ts'

/** What of the plan the filter depends on. */
export interface FilterOptions {
  readonly architecture: Architecture
  /** True when the plan grants unix sockets. */
  readonly unixSockets: boolean
  /** True when changes go through the init: calls that make them are sent there. */
  readonly changes: boolean
  /**
   * True if the init reports what the command looks for: calls that only look are sent there, too.
   * Only with `changes`.
   */
  readonly learns?: boolean
  /** True when the init judges program starts. Only with `changes`. */
  readonly programs?: boolean
  /** True without namespaces: opens, connections, signals and new processes go to the init as well. Only with `changes`. */
  readonly bare?: boolean
}

interface Instruction {
  readonly code: number
  readonly jt: number
  readonly jf: number
  readonly k: number
}

/** A run of system call numbers that share an answer. Its block ends in a return on every path. */
interface Segment {
  readonly from: number
  readonly block: readonly Instruction[]
}

const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const X32_BIT = 0x40000000

const EPERM = 1
const EACCES = 13
const ENOTTY = 25
const ENOSYS = 38
const EPROTONOSUPPORT = 93
const EAFNOSUPPORT = 97

const load = (offset: number): Instruction => ({ code: 0x20, jt: 0, jf: 0, k: offset })
const jump = (k: number): Instruction => ({ code: 0x05, jt: 0, jf: 0, k })
const equal = (k: number, jt: number, jf: number): Instruction => ({ code: 0x15, jt, jf, k })
const atLeast = (k: number, jt: number, jf: number): Instruction => ({ code: 0x35, jt, jf, k })
const anyBit = (k: number, jt: number, jf: number): Instruction => ({ code: 0x45, jt, jf, k })
const and = (k: number): Instruction => ({ code: 0x54, jt: 0, jf: 0, k })
const answer = (k: number): Instruction => ({ code: 0x06, jt: 0, jf: 0, k })

const ALLOW = answer(0x7fff0000)
/** The init answers (SECCOMP_RET_USER_NOTIF). */
const ASK = answer(0x7fc00000)
const KILL = answer(0x80000000)
const refuse = (errno: number): Instruction => answer(0x00050000 | errno)
/** Skips the call and reports success to the caller. */
const PRETEND = refuse(0)

const LOAD_NUMBER = load(0)
const LOAD_ARCHITECTURE = load(4)
/** The kernel reads only the low half of an int argument: a check of the high half is unsafe. */
const loadLow = (argument: number): Instruction => load(16 + 8 * argument)
const loadHigh = (argument: number): Instruction => load(20 + 8 * argument)

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACE_FLAGS = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
/** In clone these bits are the exit signal; in unshare 0x80 is CLONE_NEWTIME. */
const CLONE_NEWTIME = 0x80

/** TIOCSTI types into a terminal, TIOCLINUX pastes into one, TIOCSETD loads line disciplines. */
const REFUSED_IOCTLS = [0x5412, 0x541c, 0x5423]

/**
 * File system changes that need no write permission, so that neither Landlock nor the broker sees
 * them: FS_IOC_SETFLAGS (both sizes), FSSETXATTR, SETVERSION (both), ENABLE_VERITY, which closes a
 * file for good, SET_ENCRYPTION_POLICY, OCFS2_IOC_REFLINK, FAT_IOCTL_SET_ATTRIBUTES. The answer is
 * that of a file system without them.
 */
const FILE_SYSTEM_IOCTLS = [
  0x40086602, 0x40046602, 0x401c5820, 0x40087602, 0x40047602, 0x40806685, 0x800c6613, 0x40186f04, 0x40047211,
]
/** Those of btrfs make and remove whole trees by name (a snapshot of `x` as `.vscode`). */
const BTRFS_IOCTLS = 0x9400
/**
 * FICLONE, FICLONERANGE, FIDEDUPERANGE: their numbers lie among those of btrfs, and they write only
 * to what is open for writing, or the same content.
 */
const CLONE_IOCTLS = [0x40049409, 0x4020940d, 0xc0189436]
const IOCTL_TYPE = 0xff00

/** PER_LINUX with or without the flags that setarch and old programs use, and the query. */
const PERSONALITIES = [0x0, 0x8, 0x20000, 0x20008, 0xffffffff]

const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_STREAM = 1
const SOCK_DGRAM = 2
const SOCK_SEQPACKET = 5
/** 0 (by type), ICMP, TCP, UDP, ICMPv6; others load protocol modules. */
const INTERNET_PROTOCOLS = [0, 1, 6, 17, 58]
const RLIMIT_CORE = 4
/** Nothing is limited by it: the init keeps in it which program a process is (native/programs/callers.c). */
const RLIMIT_LOCKS = 10

/** Matches the accumulator against values: `hit` for any of them, otherwise `miss`. */
function oneOf(values: readonly number[], hit: Instruction, miss: Instruction): Instruction[] {
  return [...values.map((value, i) => equal(value, values.length - i, 0)), miss, hit]
}

/** A thread is not a separate process. */
const CLONE_THREAD = 0x10000

function cloneBlock(bare: boolean): Instruction[] {
  const rest = bare ? [anyBit(CLONE_THREAD, 1, 0), ASK, ALLOW] : [ALLOW]
  return [loadLow(0), anyBit(NAMESPACE_FLAGS, 0, 1), refuse(EPERM), ...rest]
}

function ioctlBlock(bare: boolean): Instruction[] {
  const each = (values: readonly number[], hit: Instruction) => values.flatMap((value) => [equal(value, 0, 1), hit])
  return [
    loadLow(1),
    ...each(bare ? [...REFUSED_IOCTLS, ...OWNER_IOCTLS] : REFUSED_IOCTLS, refuse(EPERM)),
    ...each(CLONE_IOCTLS, ALLOW),
    ...each(FILE_SYSTEM_IOCTLS, refuse(ENOTTY)),
    and(IOCTL_TYPE),
    ...each([BTRFS_IOCTLS], refuse(ENOTTY)),
    ALLOW,
  ]
}

function unshareBlock(): Instruction[] {
  return [loadLow(0), anyBit(NAMESPACE_FLAGS | CLONE_NEWTIME, 0, 1), refuse(EPERM), ALLOW]
}

/**
 * In the machine's own network only connect() may choose a socket's target: the init performs it. A
 * datagram names its own.
 */
const CONNECTED_INTERNET: readonly Instruction[] = [
  loadLow(1),
  and(0xf),
  equal(SOCK_STREAM, 1, 0),
  refuse(EACCES),
  loadLow(2),
  ...oneOf([0, 6], ALLOW, refuse(EPROTONOSUPPORT)),
]

/** MSG_FASTOPEN connects while it sends. */
const sendBlock = (flags: number, rest: readonly Instruction[]): Instruction[] => [
  loadLow(flags),
  anyBit(0x20000000, 0, 1),
  refuse(EPERM),
  ...rest,
]

/** PR_SET_DUMPABLE: the init could not read what such a process asks for. */
const PRCTL_BLOCK = [loadLow(0), equal(4, 0, 1), PRETEND, ALLOW]

/** F_SETOWN and F_SETOWN_EX: the kernel would send signals in the caller's name, to any process. */
const FCNTL_BLOCK = [loadLow(1), ...oneOf([8, 15], refuse(EPERM), ALLOW)]
/** FIOSETOWN and SIOCSPGRP, the same of sockets. */
const OWNER_IOCTLS = [0x8901, 0x8902]

function socketBlock(unixSockets: boolean, changes: boolean, bare: boolean): Instruction[] {
  const internet = bare
    ? CONNECTED_INTERNET
    : [loadLow(2), ...oneOf(INTERNET_PROTOCOLS, ALLOW, refuse(EPROTONOSUPPORT))]
  // NETLINK_ROUTE only: getaddrinfo and os.networkInterfaces() list addresses with it; other netlink families are attack surface.
  const netlink = [loadLow(2), equal(0, 0, 1), ALLOW, refuse(EPROTONOSUPPORT)]
  const family = (value: number, block: readonly Instruction[]) => [equal(value, 0, block.length), ...block]
  return [
    loadLow(0),
    ...family(AF_UNIX, unixSockets ? (changes ? localTypes(bare) : [ALLOW]) : [refuse(EPERM)]),
    ...family(AF_INET, internet),
    ...family(AF_INET6, internet),
    ...family(AF_NETLINK, netlink),
    refuse(EAFNOSUPPORT),
  ]
}

/**
 * Unix sockets that reach nothing before connect(), which the init performs
 * (native/broker/connect.c). A message of a datagram socket brings its own address, so the init
 * sends it as well (native/broker/datagrams.c). SOCK_RAW would become SOCK_DGRAM.
 */
const localTypes = (bare: boolean): readonly Instruction[] => [
  loadLow(1),
  and(0xf),
  equal(SOCK_DGRAM, 0, 1),
  bare ? refuse(EPERM) : ASK,
  ...oneOf([SOCK_STREAM, SOCK_SEQPACKET], ALLOW, refuse(EPERM)),
]

function socketpairBlock(unixSockets: boolean, changes: boolean, bare: boolean): Instruction[] {
  const types = unixSockets && !changes ? [ALLOW] : localTypes(bare || !changes)
  return [loadLow(0), equal(AF_UNIX, 0, types.length), ...types, refuse(EAFNOSUPPORT)]
}

/** sendto() with an address. */
const ADDRESSED_BLOCK = [loadLow(4), equal(0, 0, 3), loadHigh(4), equal(0, 0, 1), ALLOW, ASK]

/** The core limit stays at 1 (see limits.ts); programs that set it to 0 for safety get success. */
const SETRLIMIT_BLOCK = [loadLow(0), ...oneOf([RLIMIT_CORE, RLIMIT_LOCKS], PRETEND, ALLOW)]
/** Asking for the limit (no new value) goes through. */
const prlimitBlock = (bare: boolean): Instruction[] => [
  // The sandbox may not see other processes.
  ...(bare
    ? [loadLow(0), equal(0, 6, 0), loadLow(2), equal(0, 0, 3), loadHigh(2), equal(0, 0, 1), ALLOW, refuse(EPERM)]
    : []),
  loadLow(1),
  equal(RLIMIT_CORE, 2, 0),
  equal(RLIMIT_LOCKS, 1, 0),
  ALLOW,
  loadLow(2),
  equal(0, 0, 2),
  loadHigh(2),
  equal(0, 1, 0),
  PRETEND,
  ALLOW,
]

/** Root's setuid file in a project would make any user of the machine root: the bit is never set, by any broker. */
const S_ISUID = 0o4000
/** O_CREAT and O_TMPFILE: without them open ignores its mode. */
const CREATING = 0o100 | 0o20000000

/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC: with none of them nothing is changed, and reads cost nothing. O_TMPFILE goes with one. */
const CHANGING = 0o1 | 0o2 | 0o100 | 0o1000

function modeBlock(argument: number, otherwise: Instruction): Instruction[] {
  return [loadLow(argument), anyBit(S_ISUID, 0, 1), refuse(EPERM), otherwise]
}

function openBlock(flags: number, mode: number, changes: boolean, looks: boolean): Instruction[] {
  const rest = looks ? [ASK] : changes ? [loadLow(flags), anyBit(CHANGING, 0, 1), ASK, ALLOW] : [ALLOW]
  return [loadLow(flags), anyBit(CREATING, 0, 3), loadLow(mode), anyBit(S_ISUID, 0, 1), refuse(EPERM), ...rest]
}

/** Calls that send, where their flags are, and what a datagram socket with an address needs with namespaces. */
const SENDING_BLOCKS: readonly (readonly [BareCall, number, readonly Instruction[]])[] = [
  ['sendto', 3, ADDRESSED_BLOCK],
  ['sendmsg', 2, [ASK]],
  ['sendmmsg', 3, [ASK]],
]

/** Checked only where there are not namespaces. */
const BARE_BLOCKS: readonly (readonly [BareCall, readonly Instruction[]])[] = [
  ['prctl', PRCTL_BLOCK],
  ['fcntl', FCNTL_BLOCK],
]

function segments(options: FilterOptions): Segment[] {
  const { architecture, unixSockets, changes } = options
  const learns = changes && options.learns === true
  const bare = changes && options.bare === true
  const looks = learns || bare
  const starts = changes && options.programs === true
  const change = changes ? ASK : ALLOW
  const blocks = new Map<number, readonly Instruction[]>()
  for (const call of REFUSED_CALLS) {
    const number = call[architecture]
    if (number !== null) blocks.set(number, [refuse(call.errno === 'EPERM' ? EPERM : ENOSYS)])
  }
  const inspected: Record<InspectedCall, readonly Instruction[]> = {
    clone: cloneBlock(bare),
    unshare: unshareBlock(),
    socket: socketBlock(unixSockets, changes, bare),
    socketpair: socketpairBlock(unixSockets, changes, bare),
    ioctl: ioctlBlock(bare),
    personality: [loadLow(0), ...oneOf(PERSONALITIES, ALLOW, refuse(EPERM))],
    setrlimit: SETRLIMIT_BLOCK,
    prlimit64: prlimitBlock(bare),
    chmod: modeBlock(1, change),
    fchmod: modeBlock(1, change),
    fchmodat: modeBlock(2, change),
    fchmodat2: modeBlock(2, change),
    open: openBlock(1, 2, changes, looks),
    creat: modeBlock(1, change),
    openat: openBlock(2, 3, changes, looks),
    mknod: modeBlock(1, change),
    mknodat: modeBlock(2, change),
  }
  for (const call of bare ? SHARED_CALLS : []) {
    const number = call[architecture]
    if (number !== null) blocks.set(number, [refuse(ENOSYS)])
  }
  const addressed = changes && unixSockets && !bare
  for (const [name, flags, block] of bare || starts || addressed ? SENDING_BLOCKS : []) {
    const rest = addressed ? block : [ALLOW]
    blocks.set(BARE_CALLS[name][architecture], bare || starts ? sendBlock(flags, rest) : rest)
  }
  for (const [name, block] of bare ? BARE_BLOCKS : []) blocks.set(BARE_CALLS[name][architecture], block)
  for (const call of [
    ...(changes ? CHANGING_CALLS : []),
    ...(learns ? LOOKING_CALLS : []),
    ...(starts ? STARTING_CALLS : []),
    ...(bare ? PROCESS_CALLS : []),
  ]) {
    const number = call[architecture]
    if (number !== null) blocks.set(number, [ASK])
  }
  for (const [name, block] of Object.entries(inspected)) {
    const number = INSPECTED_CALLS[name as InspectedCall][architecture]
    if (number !== null) blocks.set(number, block)
  }

  const list: Segment[] = []
  let next = 0
  for (const number of [...blocks.keys()].sort((a, b) => a - b)) {
    if (number > next) list.push({ from: next, block: [ALLOW] })
    list.push({ from: number, block: blocks.get(number)! })
    next = number + 1
  }
  list.push({ from: next, block: [ALLOW] }, { from: LAST_KNOWN_CALL + 1, block: [refuse(ENOSYS)] })
  return list
}

/** A binary search over the segments. Each half is self-contained, so jumps only ever skip a whole half. */
function search(list: readonly Segment[]): Instruction[] {
  if (list.length === 1) return [...list[0]!.block]
  const middle = list.length >> 1
  const low = search(list.slice(0, middle))
  const high = search(list.slice(middle))
  const from = list[middle]!.from
  // Conditional jumps reach 255 instructions.
  if (low.length <= 255) return [atLeast(from, low.length, 0), ...low, ...high]
  return [atLeast(from, 0, 1), jump(low.length), ...low, ...high]
}

/** How a filter is called. */
export function filterName({ architecture, unixSockets, changes, learns, programs, bare }: FilterOptions): string {
  return `${architecture} ${unixSockets} ${changes}${learns ? ' learns' : ''}${programs ? ' programs' : ''}${bare ? ' bare' : ''}`
}

/** The filter as instructions: architecture first, because the same number means different calls on different ones. */
export function assembleFilter(options: FilterOptions): Instruction[] {
  const guard = [LOAD_ARCHITECTURE, equal(AUDIT_ARCH[options.architecture], 1, 0), KILL, LOAD_NUMBER]
  const x32 = options.architecture === 'x64' ? [atLeast(X32_BIT, 0, 1), refuse(ENOSYS)] : []
  return [...guard, ...x32, ...search(segments(options))]
}

/** Filters in base64, by name; the build puts here what every start would have to assemble. */
declare const BUILT_FILTERS: Readonly<Record<string, string>> | undefined

const compiled = new Map<string, Uint8Array>()

/** The filter as `struct sock_filter[]`, little endian. Each is compiled once. */
export function compileFilter(options: FilterOptions): Uint8Array {
  const name = filterName(options)
  const known = compiled.get(name)
  if (known) return known
  const built = typeof BUILT_FILTERS === 'object' ? BUILT_FILTERS[name] : undefined
  if (built !== undefined) {
    const bytes = Buffer.from(built, 'base64')
    compiled.set(name, bytes)
    return bytes
  }
  const program = assembleFilter(options)
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  program.forEach(({ code, jt, jf, k }, i) => {
    view.setUint16(i * 8, code, true)
    view.setUint8(i * 8 + 2, jt)
    view.setUint8(i * 8 + 3, jf)
    view.setUint32(i * 8 + 4, k >>> 0, true)
  })
  compiled.set(name, bytes)
  return bytes
}
