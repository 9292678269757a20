/** Attacks on the kernel’s interfaces: refused calls, namespaces, sockets, other processes, /proc. */

import { REFUSED_CALLS } from '../../../src/sandbox/bwrap/syscalls.ts'
import { type Attack, does, mustFail, probe } from './attack.ts'

const EPERM = 1
const ENOSYS = 38

/** Calls that today’s kernels answer with ENOSYS by themselves: no control can succeed. The filter’s unit test has them. */
const GONE = new Set(
  'create_module query_module get_kernel_syms nfsservctl _sysctl uselib lookup_dcookie vserver'.split(' '),
)

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

const REFUSED: readonly Attack[] = REFUSED_CALLS.filter(
  (call) => !GONE.has(call.name) && call[architecture] !== null,
).map((call) =>
  probe(`call: ${call.name}`, call.why, 'privileged', `call ${call.name}`, [call.errno === 'EPERM' ? EPERM : ENOSYS]),
)

const CLONE_FLAGS: readonly (readonly [string, number])[] = [
  ['mount', 0x00020000],
  ['cgroup', 0x02000000],
  ['uts', 0x04000000],
  ['ipc', 0x08000000],
  ['user', 0x10000000],
  ['pid', 0x20000000],
  ['net', 0x40000000],
]

const NAMESPACES: readonly Attack[] = [
  ...CLONE_FLAGS.flatMap(([name, flag]) => [
    mustFail(`namespace: clone ${name}`, 'a new namespace by clone', 'privileged', `clone ${flag}`),
    mustFail(`namespace: unshare ${name}`, 'a new namespace by unshare', 'privileged', `unshare ${flag}`),
  ]),
  mustFail('namespace: unshare time', 'a new time namespace', 'privileged', 'unshare 0x80'),
  mustFail(
    'namespace: clone user, high bits',
    'bits that the kernel ignores must not hide the flag',
    'privileged',
    'clone 0x100000010000000',
  ),
  does('namespace: unshare tool', 'as root in a new namespace', 'unshare -Ur true', 'open'),
  does('namespace: enter pid 1', 'the init’s namespaces', 'nsenter -t 1 -u true', 'open'),
  does('namespace: bubblewrap', 'a sandbox in the sandbox', 'bwrap --ro-bind / / --unshare-user true', 'open'),
  does(
    'namespace: nesting limit',
    'a second lock behind the filter',
    '[ "$(cat /proc/sys/user/max_user_namespaces)" != 0 ]',
    'open',
  ),
]

const SOCKETS: readonly Attack[] = [
  mustFail('socket: unix', 'a unix socket', 'open', 'socket 1 1 0'),
  mustFail('socket: unix datagram', 'a unix socket', 'open', 'socket 1 2 0'),
  mustFail(
    'socket: unix, high bits',
    'bits that the kernel ignores must not hide the family',
    'open',
    'socket-high 1 1 0',
  ),
  mustFail('socket: datagram pair', 'sendto on a pair takes any address', 'open', 'pair 1 2'),
  mustFail('socket: raw pair', 'SOCK_RAW becomes a datagram socket', 'open', 'pair 1 3'),
  mustFail('socket: connect', 'a service’s socket', 'host-net', 'connect 1 "$SOCKETS/stream"'),
  mustFail('socket: abstract', 'a service’s abstract socket', 'host-net', 'connect-abstract 1 "$ABSTRACT"'),
  mustFail(
    'socket: pair to datagram service',
    'a service’s datagram socket by a pair',
    'host-net',
    'pair-sendto 2 "$SOCKETS/datagram"',
  ),
  mustFail(
    'socket: raw pair to datagram service',
    'a service’s datagram socket by a raw pair',
    'host-net',
    'pair-sendto 3 "$SOCKETS/datagram"',
  ),
  mustFail(
    'granted unix: host socket',
    'with unix sockets granted, the host’s stay out of reach',
    'host-net',
    'connect 1 "$SOCKETS/stream"',
    'unix',
  ),
  mustFail(
    'granted unix: host datagram socket',
    'with unix sockets granted, the host’s stay out of reach',
    'host-net',
    'connect 2 "$SOCKETS/datagram"',
    'unix',
  ),
  mustFail(
    'granted unix: abstract',
    'with unix sockets granted, the host’s stay out of reach',
    'host-net',
    'connect-abstract 1 "$ABSTRACT"',
    'unix',
  ),
  mustFail('socket: packet', 'raw frames', 'open', 'socket 17 3 0'),
  mustFail('socket: xdp', 'raw frames', 'privileged', 'socket 44 3 0'),
  mustFail('socket: raw', 'raw packets', 'privileged', 'socket 2 3 255'),
  probe('socket: vsock', 'the virtual machine’s host', 'privileged', 'socket 40 1 0', [97]),
  mustFail('socket: mptcp', 'a protocol beyond TCP and UDP', 'open', 'socket 2 1 262'),
  mustFail('socket: udplite', 'a protocol beyond TCP and UDP', 'open', 'socket 2 2 136'),
  ...(
    [
      ['sock_diag', 4],
      ['xfrm', 6],
      ['audit', 9],
      ['fib', 10],
      ['netfilter', 12],
      ['uevent', 15],
      ['generic', 16],
    ] as const
  ).map(([name, protocol]) =>
    mustFail(`socket: netlink ${name}`, 'kernel subsystems by netlink', 'privileged', `socket 16 3 ${protocol}`),
  ),
  does('network: host loopback', 'a service on the host’s 127.0.0.1', 'echo > "/dev/tcp/127.0.0.1/$PORT"', 'host-net'),
  does(
    'network: interfaces',
    'the host’s interfaces',
    'tail -n +3 /proc/net/dev | grep -v "lo:" | grep -q .',
    'host-net',
  ),
]

const PROCESSES: readonly Attack[] = [
  mustFail('process: signal a host process', 'a process of the same user', 'host-pid', 'kill "$HOSTPID"'),
  does(
    'process: host environment',
    'the environment of a host process',
    'grep -a -q HOSTSECRET /proc/[0-9]*/environ',
    'host-pid',
  ),
  does(
    'process: host command lines',
    'the command lines of host processes',
    'grep -a -q "cordon-attack-sleep[e]r" /proc/[0-9]*/cmdline',
    'host-pid',
  ),
  does('process: init memory', 'the memory of pid 1', 'head -c 1 /proc/1/mem >/dev/null || exec 5</proc/1/mem', 'open'),
  does('process: init maps', 'the memory layout of pid 1', 'grep -q . /proc/1/maps', 'open'),
  does('process: init descriptors', 'the descriptors of pid 1', 'readlink /proc/1/fd/* | grep -q .', 'open'),
  does('process: init program', 'the program of pid 1', 'readlink /proc/1/exe', 'open'),
  does('process: init environment', 'the environment of pid 1', 'cat /proc/1/environ', 'open'),
  does('process: init root', 'the root of pid 1', 'ls /proc/1/root', 'open'),
  mustFail('process: shared memory', 'a System V segment of the host', 'host-ipc', 'shm "$SHMKEY"'),
  mustFail('process: become another user', 'setuid', 'privileged', 'setuid 1'),
  does(
    'process: capabilities',
    'effective capabilities',
    'grep -E "^Cap(Eff|Prm|Inh|Amb):" /proc/self/status | grep -qv "0000000000000000"',
    'open',
  ),
  does(
    'process: capability bound',
    'what an exec could regain',
    'grep "^CapBnd:" /proc/self/status | grep -qv "0000000000000000"',
    'open',
  ),
  mustFail('process: core limit', 'at a core limit of 0 a crash starts the host’s crash handler', 'open', 'core 0'),
  mustFail(
    'process: core limit by prlimit',
    'at a core limit of 0 a crash starts the host’s crash handler',
    'open',
    'core 1',
  ),
  mustFail(
    'process: flags of a file',
    'a change that needs no right to write, so that neither the wall nor the broker would see it',
    'open',
    'file-flags < "$P"',
  ),
  mustFail('process: personality', 'READ_IMPLIES_EXEC weakens every program', 'open', 'personality 0x0400000'),
  probe('process: foreign architecture', 'calls through the i386 entry have other numbers', 'open', 'foreign', [
    "'killed 159'",
    38,
  ]),
]

const PROC_WRITES = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/hostname',
  '/proc/sys/kernel/panic',
  '/proc/sys/kernel/randomize_va_space',
  '/proc/sys/vm/overcommit_memory',
  '/proc/sys/vm/drop_caches',
  '/proc/sys/net/ipv4/ip_forward',
  '/proc/sys/fs/file-max',
  '/proc/irq/default_smp_affinity',
  '/proc/self/uid_map',
  '/proc/self/oom_score_adj',
  '/proc/self/coredump_filter',
]

const PROC_READS = [
  'interrupts',
  'key-users',
  'kallsyms',
  'kpagecgroup',
  'kpagecount',
  'kpageflags',
  'slabinfo',
  'timer_list',
  'vmallocinfo',
]

const PROC: readonly Attack[] = [
  ...PROC_WRITES.map((path) =>
    mustFail(`proc: write ${path}`, 'root inside would be root to it', 'host-proc', `open-write ${path}`),
  ),
  ...PROC_READS.map((name) =>
    does(
      `proc: read ${name}`,
      'reveals the whole machine',
      `[ "$(head -c 8 /proc/${name} | wc -c)" -gt 0 ]`,
      'host-proc',
    ),
  ),
  does('proc: remount', 'a writable /proc', 'mount -o remount,rw /proc', 'privileged'),
  does('proc: mount another', 'a fresh /proc', 'mkdir -p pr && mount -t proc proc pr', 'open'),
]

/** On the sandbox’s own terminal, so that the filter stops it and not the missing terminal. */
const TERMINAL: readonly Attack[] = [
  probe('terminal: TIOCSTI', 'types into the terminal', 'privileged', 'ioctl-fd 0x5412', [EPERM], 'terminal'),
  probe(
    'terminal: TIOCSTI, high bits',
    'bits that the kernel ignores must not hide the request',
    'privileged',
    'ioctl-fd 0x100005412',
    [EPERM],
    'terminal',
  ),
  probe('terminal: TIOCLINUX', 'pastes into a console', 'privileged', 'ioctl-fd 0x541c', [EPERM], 'terminal'),
  probe('terminal: TIOCSETD', 'loads line disciplines', 'privileged', 'ioctl-fd 0x5423', [EPERM], 'terminal'),
]

export const KERNEL_ATTACKS: readonly Attack[] = [
  ...REFUSED,
  ...NAMESPACES,
  ...SOCKETS,
  ...PROCESSES,
  ...PROC,
  ...TERMINAL,
]
