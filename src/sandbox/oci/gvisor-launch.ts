/** Runs one command in gVisor. Any failure ends it; nothing runs outside. */

import { spawn } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import { constants, totalmem } from 'node:os'
import type { Readable } from 'node:stream'
import { isInside } from '../../files/baseline.ts'
import { encodePath } from '../../files/path-bytes.ts'
import { errorCode } from '../../system/fault.ts'
import { attendChild, childStreams } from '../attended-child.ts'
import { type LaunchIo, type LaunchResult, SandboxFault } from '../backend.ts'
import { Capture } from '../capture.ts'
import { type Limits, type ResourceLimit, resourceLimits } from '../limits.ts'
import { type Cgroup, type CgroupHost, makeCgroup } from '../limits-cgroup.ts'
import type { SandboxPlan } from '../plan.ts'
import { readIdentities } from '../session.ts'
import { limitViolation } from '../violation.ts'
import { confinedArgv, ENGINE_STATE } from './confined.ts'
import { layoutMounts, type SpecMount } from './layout-spec.ts'
import { layOutWords, requireProgram } from './sandbox-layer.ts'
import { refusedCalls } from './spec.ts'

const INSTALL_RUNSC = 'apt install runsc, or gvisor.dev'
const CLOSED = { folder: `${ENGINE_STATE}/layout/empty`, file: `${ENGINE_STATE}/layout/closed` }
/** What gVisor itself says comes here, where the command cannot. */
const SAID_FD = 3
const SAID = `${ENGINE_STATE}/layout/said`

/** The sentry and its threads are in the group as well. */
const OWN = { processes: 200, memoryBytes: 64 * 1024 ** 2 }

const PREPARED = 'prepared'

/** Ends the words of the engine so that its own complaint is distinguished from the command's. */
const ENGINE = `mkdir ${CLOSED.folder} && : >${CLOSED.file} && chmod 0 ${CLOSED.file} && echo ${PREPARED} >&3 || exit 125
"$@" 3>&-
status=$?
cat ${SAID} >&3 2>/dev/null
exit $status`

/** The words that run a plan. Throws a fault if gVisor cannot enforce it. */
export function gvisorWords(plan: SandboxPlan, host: CgroupHost | null, cgroup: Cgroup | null): [string, ...string[]] {
  const runsc = requireProgram('runsc', INSTALL_RUNSC)
  const writable = plan.binds.find(({ path, mode }) => mode === 'read-write' && isInside(runsc, path))
  if (writable)
    throw new SandboxFault('sandbox-missing', `runsc was found only at ${runsc}, where commands may write`, {
      remedy: `Install it for the system: ${INSTALL_RUNSC}.`,
    })
  const rlimits = resourceLimits(plan.limits, host?.support ?? null).filter(({ name }) => name !== 'NPROC')
  const spec = orFault(() => gvisorSpec(plan, isFolder, CLOSED, rlimits, softFiles()))
  const engine = [
    ...['/bin/sh', '-c', ENGINE, 'engine', runsc, '--ignore-cgroups', '--network=none', '--platform=systrap'],
    ...['--overlay2=none', '--oci-seccomp', '--log', SAID, '--log-format=json', '--root', `${ENGINE_STATE}/state`],
    ...['run', '--bundle', `${ENGINE_STATE}/layout`, 'cordon'],
  ]
  return confinedArgv({ argv: layOutWords(spec, plan.links, engine), user: null, cgroup })
}

function orFault<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SandboxFault('sandbox-plan', error.message, { cause: error, remedy: 'Change the grants or the command.' })
  }
}

function isFolder(path: string): boolean {
  return lstatSync(Buffer.from(encodePath(path)), { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Programs size their tables by the soft limit: it is not raised. */
function softFiles(): number {
  const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
  return found === undefined ? 1024 : Number(found)
}

/** The group also enforces a share of the memory, because no init could check it. */
function groupedLimits(limits: Limits): Limits {
  const { memoryShare, memoryBytes, ...others } = limits
  const bytes = memoryBytes ?? (memoryShare === undefined ? undefined : Math.floor(memoryShare * totalmem()))
  return { ...others, ...(bytes !== undefined && { memoryBytes: bytes }) }
}

/** Runs the plan to its end. */
export async function launchGvisor(given: SandboxPlan, io: LaunchIo, host: CgroupHost | null): Promise<LaunchResult> {
  io.signal?.throwIfAborted()
  const plan = { ...given, limits: groupedLimits(given.limits) }
  requireInPlace(plan)
  const { processes, memoryBytes, cpus } = plan.limits
  const cgroup =
    host &&
    makeCgroup(host, {
      ...(processes !== undefined && { processes: processes + OWN.processes }),
      ...(memoryBytes !== undefined && { memoryBytes: memoryBytes + OWN.memoryBytes }),
      ...(cpus !== undefined && { cpus }),
    })
  try {
    const [program, ...args] = gvisorWords(plan, host, cgroup)
    const child = spawn(program, args, {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
      stdio: [...childStreams(io), 'pipe'],
      detached: true,
    })
    const said = new Capture(child.stdio[SAID_FD] as Readable, 'said', undefined, undefined)
    let passed: NodeJS.Signals | null = null
    const kill = (signal: NodeJS.Signals) => {
      // Nothing hands a signal to a program inside: what would end a command ends the sandbox.
      if (!ENDING.has(signal)) return
      if (signal !== 'SIGKILL') passed = signal
      child.kill('SIGKILL')
    }
    const end = await attendChild({ child, limits: plan.limits, io, kill, unstartable })
    requireStarted(said.finish().bytes.toString('utf8'), end.code, plan)
    const { code, signal } = passed === null ? statusOf(end) : { code: null, signal: passed }
    const met = cgroup?.hits() ?? []
    return {
      ...end,
      code,
      signal,
      exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
      violations: met.map((limit) => limitViolation(limit, plan.limits, 'observed')),
      asked: [],
      unlisted: [],
      leftBehind: [],
      masksWatched: false,
    }
  } finally {
    cgroup?.removeLater()
  }
}

const ENDING: ReadonlySet<string> = new Set(['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

/** gVisor reports a signal as 128 and its number, as shells do. */
function statusOf({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }) {
  const name = Object.entries(constants.signals).find(([, number]) => number + 128 === code)?.[0]
  return name === undefined ? { code, signal } : { code: null, signal: name as NodeJS.Signals }
}

/** Nothing else runs meanwhile (see the capabilities), so the checked paths are mounted. */
function requireInPlace(plan: SandboxPlan): void {
  const now = readIdentities([...plan.masks, ...plan.pins.map(({ path }) => path)])
  for (const path of plan.masks) {
    const [seen, found] = [plan.maskIdentities.get(path), now.get(path)]
    if (!found || (seen && (seen.device !== found.device || seen.inode !== found.inode)))
      throw new SandboxFault('mask-moved', `${path} is hidden, and is not where it was seen`, { path })
  }
  for (const { path } of plan.pins)
    if (!now.has(path))
      throw new SandboxFault('pin-moved', `${path} is protected, and is not where it was seen`, { path })
  // gVisor would make it, and on the host.
  const places = [...plan.binds.map(({ path }) => path), ...plan.scratch].filter((place) => isInside(plan.cwd, place))
  const nearest = places.sort((a, b) => b.length - a.length)[0]
  if (!isFolder(plan.cwd) && (nearest === undefined || !plan.scratch.includes(nearest)))
    throw new SandboxFault('working-directory', `the working directory ${plan.cwd} is not there`, { path: plan.cwd })
}

const MISSING = /error finding executable|failed to load .*: (?:no such file|not a directory)/
const UNFIT = /failed to load .*: /

/** What gVisor complained of before there was a command. */
function requireStarted(said: string, code: number | null, plan: SandboxPlan): void {
  const complaint = said.split('\n').findLast((line) => line.includes('"level":"error"')) ?? null
  if (code === 0 || code === null || (complaint === null && said.startsWith(PREPARED))) return
  const [path] = plan.argv
  if (complaint !== null && MISSING.test(complaint))
    throw new SandboxFault(
      'command-not-found',
      `the command was not found inside the sandbox: ${JSON.stringify(path)}`,
      {
        remedy:
          'Check the name and its interpreter line, and that a grant or a bundle shows the program to the sandbox.',
      },
    )
  if (complaint !== null && UNFIT.test(complaint))
    throw new SandboxFault('command-not-executable', `the command could not be started: ${JSON.stringify(path)}`, {
      remedy: 'Check the permissions and the interpreter line.',
    })
  throw new SandboxFault(
    'sandbox-failed',
    `gVisor could not create the sandbox: ${(complaint ?? said).slice(0, 500)}`,
    {
      remedy: 'Run `cordon doctor`: it says what this machine is missing.',
    },
  )
}

function unstartable(error: Error): SandboxFault {
  return new SandboxFault('sandbox-missing', `gVisor could not be started (${errorCode(error) ?? error.message})`, {
    cause: error,
    remedy: `It needs runsc (${INSTALL_RUNSC}) and unshare and setpriv of util-linux.`,
  })
}

/** The sources of masks, created by the launch: an empty folder, and an unreadable file. */
interface MaskSources {
  readonly folder: string
  readonly file: string
}

/** Mounts of gVisor's are the sandbox's own, and each takes it a connection: a tree with more secrets than this wants another backend. */
const MAX_MOUNTS = 1000

/** gVisor reads a mount's rights from these words, and applies them to everything below. */
function bind(source: string, destination: string, mode: 'ro' | 'rw'): SpecMount {
  return { destination, type: 'bind', source, options: ['rbind', 'nosuid', 'nodev', mode] }
}

const S_ISUID = 0o4000
const CREATING = [0o100, 0o20000000]
const bits = (index: number, mask: number) => ({ index, value: mask, valueTwo: mask, op: 'SCMP_CMP_MASKED_EQ' })
const refuseSetuid = (names: readonly string[], args: readonly object[]) => ({
  names,
  action: 'SCMP_ACT_ERRNO',
  errnoRet: 1,
  args,
})

/** Root's setuid file in a project would make any user of the machine root: the bit is never set, as in the OS sandbox. */
const SETUID_CALLS: readonly object[] = [
  refuseSetuid(['chmod', 'fchmod', 'creat', 'mknod'], [bits(1, S_ISUID)]),
  refuseSetuid(['fchmodat', 'fchmodat2', 'mknodat'], [bits(2, S_ISUID)]),
  ...CREATING.flatMap((flag) => [
    refuseSetuid(['open'], [bits(1, flag), bits(2, S_ISUID)]),
    refuseSetuid(['openat'], [bits(2, flag), bits(3, S_ISUID)]),
  ]),
]

/** Text that JSON and the runtime carry without a change. */
function requireText(path: string): void {
  if (/[\u{d800}-\u{dfff}\0]/u.test(path))
    throw new RangeError(`gVisor cannot name ${JSON.stringify(path)}: its bytes are no text; use backend = "bwrap"`)
}

function planMounts(plan: SandboxPlan, isFolder: (path: string) => boolean, sources: MaskSources): SpecMount[] {
  const layout = layoutMounts(plan).filter(({ type }) => type !== 'devpts')
  const shown = layout.map((mount) =>
    mount.type === 'bind' ? bind(mount.source, mount.destination, mount.options.includes('rro') ? 'ro' : 'rw') : mount,
  )
  const isHidden = (path: string) => plan.masks.some((mask) => isInside(path, mask))
  const pinned = plan.pins
    .filter(({ path }) => !isHidden(path))
    .map(({ path, mode }) => bind(path, path, mode === 'read-only' ? 'ro' : 'rw'))
  const hidden = plan.masks.map((path) => bind(isFolder(path) ? sources.folder : sources.file, path, 'ro'))
  // Parents before children; at one path first shows, then pins, then masks. The sort is stable.
  return [...shown, ...pinned, ...hidden].sort((a, b) =>
    a.destination < b.destination ? -1 : a.destination > b.destination ? 1 : 0,
  )
}

/** Throws a RangeError for a plan that gVisor cannot enforce. */
function gvisorSpec(
  plan: SandboxPlan,
  isFolder: (path: string) => boolean,
  sources: MaskSources,
  rlimits: readonly ResourceLimit[],
  softFiles: number,
): object {
  const mounts = planMounts(plan, isFolder, sources)
  if (mounts.length > MAX_MOUNTS)
    throw new RangeError(
      `gVisor would need ${mounts.length} mounts, at most ${MAX_MOUNTS} are possible; use backend = "bwrap"`,
    )
  for (const { source, destination } of mounts) for (const path of [source, destination]) requireText(path)
  for (const word of [...plan.argv, ...Object.entries(plan.env).flat()])
    if (word.includes('\0')) throw new RangeError('a word of the command, or a variable, contains a NUL character')
  // gVisor adds a HOME if there is none.
  const argv = plan.env.HOME === undefined ? ['/usr/bin/env', '-u', 'HOME', '--', ...plan.argv] : plan.argv
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: argv,
      env: Object.entries(plan.env).map(([name, value]) => `${name}=${value}`),
      cwd: plan.cwd,
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
      rlimits: rlimits.map(({ name, limit }) => ({
        type: `RLIMIT_${name}`,
        soft: name === 'NOFILE' ? Math.min(limit, softFiles) : limit,
        hard: limit,
      })),
    },
    root: { path: 'rootfs', readonly: true },
    hostname: plan.hostname,
    mounts,
    // In a user namespace of gVisor's own a program would have the rights to take a mask away.
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: refusedCalls(SETUID_CALLS),
    },
  }
}
