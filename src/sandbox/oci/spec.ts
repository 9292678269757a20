/** The configuration of an OCI runtime for one container, as data. */

import { REFUSED_CALLS } from '../bwrap/syscalls.ts'
import type { ResourceLimit } from '../limits.ts'
import type { ContainerRoot } from './container-root.ts'
import { CONTAINER_PLACES, ENTRY_ENVIRONMENT, WORK } from './layout-spec.ts'

interface SpecRequest {
  readonly argv: readonly string[]
  readonly layout: ContainerRoot
  /** The host's directory of input files, read-only. */
  readonly in: string
  /** Files on the host that the container may fill. */
  readonly outs: readonly { readonly path: string; readonly name: string }[]
  readonly fileBytes: number
  readonly rlimits: readonly ResourceLimit[]
  /** False if the runtime is its own kernel, which needs no filter inside. */
  readonly seccomp: boolean
}

interface Mount {
  readonly destination: string
  readonly type: string
  readonly source: string
  readonly options: readonly string[]
}

const bind = (source: string, destination: string, mode: 'ro' | 'rw'): Mount => ({
  destination,
  type: 'bind',
  source,
  options: ['bind', mode, 'nosuid', 'nodev'],
})

const scratch = (destination: string, bytes: number): Mount => ({
  destination,
  type: 'tmpfs',
  source: 'tmpfs',
  options: ['nosuid', 'nodev', 'mode=1777', `size=${bytes}`, 'nr_inodes=65536'],
})

/** Paths that show more of the machine and its devices than a program needs. */
const MASKED_PATHS: readonly string[] = [
  ...[
    'acpi',
    'asound',
    'interrupts',
    'kcore',
    'keys',
    'latency_stats',
    'sched_debug',
    'scsi',
    'timer_list',
    'timer_stats',
  ],
].map((name) => `/proc/${name}`)

/**
 * No capability, no new privileges, an empty network namespace, no own cgroup (the container stays
 * in Cordon's), and without the calls that the OS sandbox refuses.
 */
export function containerSpec(request: SpecRequest): object {
  const { argv, layout, outs, fileBytes, rlimits } = request
  const none = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] }
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: argv,
      env: Object.entries(ENTRY_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      cwd: WORK,
      capabilities: none,
      noNewPrivileges: true,
      rlimits: [
        { type: 'RLIMIT_NOFILE', soft: 1024, hard: 1024 },
        ...rlimits.map(({ name, limit }) => ({ type: `RLIMIT_${name}`, soft: limit, hard: limit })),
      ],
    },
    root: { path: 'rootfs', readonly: true },
    hostname: 'localhost',
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'mode=755', 'size=65536'] },
      ...layout.shown.map((path) => bind(path, path, 'ro')),
      scratch('/tmp', fileBytes),
      scratch('/dev/shm', fileBytes),
      scratch(WORK, fileBytes),
      bind(request.in, CONTAINER_PLACES.in, 'ro'),
      ...outs.map(({ path, name }) => bind(path, `${CONTAINER_PLACES.out}/${name}`, 'rw')),
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      maskedPaths: MASKED_PATHS,
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      ...(request.seccomp && { seccomp: refusedCalls() }),
    },
  }
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACE_FLAGS = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]

/** `ENOSYS` where a program should fall back, as in the OS sandbox. Other architectures are refused by the runtime itself. */
export function refusedCalls(more: readonly object[] = []): object {
  const named = (errno: 'EPERM' | 'ENOSYS') =>
    REFUSED_CALLS.filter((call) => call.errno === errno).map(({ name }) => name)
  const refuse = (names: readonly string[], errnoRet: number) => ({ names, action: 'SCMP_ACT_ERRNO', errnoRet })
  return {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      refuse([...named('EPERM'), 'unshare'], 1),
      refuse(named('ENOSYS'), 38),
      ...NAMESPACE_FLAGS.map((flag) => ({
        ...refuse(['clone'], 1),
        args: [{ index: 0, value: flag, valueTwo: flag, op: 'SCMP_CMP_MASKED_EQ' }],
      })),
      ...more,
    ],
  }
}
