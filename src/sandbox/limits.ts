/** PURE. The limits of a command, and how this machine enforces each. */

/** An absent limit is not a limit. */
export interface Limits {
  readonly timeoutMs?: number
  /** What set it, as a person knows it. */
  readonly timeoutBy?: string
  /** Per stream, in capture mode; the rest spills to a file. */
  readonly outputBytes?: number
  readonly memoryBytes?: number
  /** A part of the machine's memory, such as 0.75, where no `memoryBytes` is set: the init looks after it. */
  readonly memoryShare?: number
  readonly processes?: number
  /** Processor seconds of one process. */
  readonly cpuSeconds?: number
  /** Processors that the whole sandbox may keep busy, such as 1.5. */
  readonly cpus?: number
  /** The largest file that a command may write. */
  readonly fileBytes?: number
  /** Files that one process may have open. */
  readonly openFiles?: number
  /** The size of each private in-memory file system (/tmp, /dev/shm, a private home). */
  readonly scratchBytes?: number
}

export const DEFAULT_SCRATCH_BYTES: number = 2 * 1024 ** 3

/** The rest keeps the person's own programs running. */
export const DEFAULT_MEMORY_SHARE = 0.75

/** As many as databases ask for; a machine may allow a million to each process. */
export const DEFAULT_OPEN_FILES = 65_536

/** The controllers for a sandbox as a whole; null if the machine offers none to this user. */
export interface CgroupSupport {
  readonly version: 1 | 2
  readonly memory: boolean
  readonly pids: boolean
  readonly cpu: boolean
}

export interface ResourceLimit {
  readonly name: 'CPU' | 'FSIZE' | 'DATA' | 'CORE' | 'NPROC' | 'NOFILE'
  readonly limit: number
}

/** Numbers of RLIMIT_* on Linux (x86-64 and arm64 alike). */
export const RESOURCE_NUMBERS: Readonly<Record<ResourceLimit['name'], number>> = {
  CPU: 0,
  FSIZE: 1,
  DATA: 2,
  CORE: 4,
  NPROC: 6,
  NOFILE: 7,
}

/**
 * Per-process limits that the init sets. Memory is DATA, not AS: an address-space limit breaks WebAssembly.
 * CORE is 1, not 0: where core_pattern is a pipe, the kernel starts the host's crash handler at 0, and only 1 stops it.
 */
export function resourceLimits(limits: Limits, cgroup: CgroupSupport | null): ResourceLimit[] {
  const list: ResourceLimit[] = [{ name: 'CORE', limit: 1 }]
  if (limits.cpuSeconds !== undefined) list.push({ name: 'CPU', limit: limits.cpuSeconds })
  if (limits.fileBytes !== undefined) list.push({ name: 'FSIZE', limit: limits.fileBytes })
  if (limits.memoryBytes !== undefined && !cgroup?.memory) list.push({ name: 'DATA', limit: limits.memoryBytes })
  if (limits.openFiles !== undefined) list.push({ name: 'NOFILE', limit: limits.openFiles })
  // The init counts too, and its thread that makes changes.
  if (limits.processes !== undefined) list.push({ name: 'NPROC', limit: limits.processes + 2 })
  return list
}

/** The kernel gives the first 300 numbers of a pid namespace out once only: for a low limit they would be missed. */
const NUMBERED_FROM = 900

/**
 * The highest process number in the sandbox's own pid namespace. It enforces the process limit
 * without a control group, which would take longer to create than the whole sandbox. Null if
 * unsupported. Number 1 is the init.
 */
export function processNumbers(limits: Limits, numbered: boolean): number | null {
  const { processes } = limits
  return numbered && processes !== undefined && processes >= NUMBERED_FROM ? processes + 2 : null
}

/** The limits left for a control group to enforce; null for none. */
export function groupLimits(limits: Limits, numbered: boolean): Limits | null {
  const { processes, ...others } = limits
  const left: Limits = processNumbers(limits, numbered) === null ? limits : others
  return left.memoryBytes === undefined && left.processes === undefined && left.cpus === undefined ? null : left
}

/** Pid namespaces have their own limit of process numbers since Linux 6.14. */
export function numbersProcesses(release: string): boolean {
  const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(release) ?? []).map(Number)
  return major > 6 || (major === 6 && minor >= 14)
}

export interface CgroupValue {
  readonly controller: 'memory' | 'pids' | 'cpu'
  readonly file: string
  readonly value: string
  /** Not every kernel has the file (swap accounting). */
  readonly optional: boolean
}

/** The longest there is: what starts and ends within its share is not slowed down. */
const CPU_PERIOD_US = 1_000_000

/** What to write into a control group, in this order. */
export function cgroupValues(limits: Limits, cgroup: CgroupSupport): CgroupValue[] {
  const values: CgroupValue[] = []
  const add = (controller: CgroupValue['controller'], file: string, value: string | number, optional = false) =>
    values.push({ controller, file, value: String(value), optional })
  const v2 = cgroup.version === 2
  if (limits.memoryBytes !== undefined && cgroup.memory) {
    add('memory', v2 ? 'memory.max' : 'memory.limit_in_bytes', limits.memoryBytes)
    if (v2) add('memory', 'memory.swap.max', 0, true)
    else add('memory', 'memory.memsw.limit_in_bytes', limits.memoryBytes, true)
  }
  // bwrap's monitor, the init and its thread that makes changes live in the group as well.
  if (limits.processes !== undefined && cgroup.pids) add('pids', 'pids.max', limits.processes + 3)
  if (limits.cpus !== undefined && cgroup.cpu) {
    const quota = Math.max(1000, Math.round(limits.cpus * CPU_PERIOD_US))
    if (v2) add('cpu', 'cpu.max', `${quota} ${CPU_PERIOD_US}`)
    else {
      add('cpu', 'cpu.cfs_period_us', CPU_PERIOD_US)
      add('cpu', 'cpu.cfs_quota_us', quota)
    }
  }
  return values
}

export type Enforcement = 'enforced' | 'degraded' | 'absent'

export interface LimitReport {
  readonly limit: 'memory' | 'processes' | 'cpus' | 'cpuSeconds' | 'fileBytes' | 'openFiles'
  readonly status: Enforcement
  readonly how: string
}

/** Reports of each requested limit whether and how it is enforced. */
export function reportLimits(
  limits: Limits,
  cgroup: CgroupSupport | null,
  uid: number,
  numbered: boolean,
): LimitReport[] {
  const reports: LimitReport[] = []
  if (limits.memoryBytes !== undefined)
    reports.push(
      cgroup?.memory
        ? { limit: 'memory', status: 'enforced', how: `cgroup v${cgroup.version}, whole sandbox` }
        : { limit: 'memory', status: 'degraded', how: 'RLIMIT_DATA, each process by itself' },
    )
  else if (limits.memoryShare !== undefined) {
    const share = `${Math.round(limits.memoryShare * 100)} % of the machine's memory, whole sandbox`
    reports.push({
      limit: 'memory',
      status: 'enforced',
      how: `${share}: the init looks, the more often the nearer it is`,
    })
  }
  if (processNumbers(limits, numbered) !== null)
    reports.push({ limit: 'processes', status: 'enforced', how: 'pid namespace, whole sandbox' })
  else if (limits.processes !== undefined)
    reports.push(
      cgroup?.pids
        ? { limit: 'processes', status: 'enforced', how: `cgroup v${cgroup.version}, whole sandbox` }
        : uid === 0
          ? {
              limit: 'processes',
              status: 'absent',
              how: 'RLIMIT_NPROC does not bind root and no pids cgroup can be created',
            }
          : { limit: 'processes', status: 'enforced', how: 'RLIMIT_NPROC in its own user namespace' },
    )
  if (limits.cpus !== undefined)
    reports.push(
      cgroup?.cpu
        ? { limit: 'cpus', status: 'enforced', how: `cgroup v${cgroup.version}, whole sandbox` }
        : { limit: 'cpus', status: 'absent', how: 'no cpu cgroup can be created' },
    )
  if (limits.cpuSeconds !== undefined)
    reports.push({ limit: 'cpuSeconds', status: 'enforced', how: 'RLIMIT_CPU, each process by itself' })
  if (limits.fileBytes !== undefined)
    reports.push({ limit: 'fileBytes', status: 'enforced', how: 'RLIMIT_FSIZE, each file' })
  if (limits.openFiles !== undefined)
    reports.push({
      limit: 'openFiles',
      status: 'enforced',
      how: `RLIMIT_NOFILE ${limits.openFiles}, each process by itself`,
    })
  return reports
}
