/** The Linux backend: cordon-init, in a layout that bubblewrap or a container engine prepares. */

import { accessSync, closeSync, constants, openSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import type { Backend, Capability, CompiledSandbox, PlanUnderway } from '../backend.ts'
import { numbersProcesses } from '../limits.ts'
import { type CgroupHost, openCgroups } from '../limits-cgroup.ts'
import { handsOutSockets } from '../plan.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { compileArguments } from './args.ts'
import { launchSandbox } from './launch.ts'
import { type PreparedSandbox, prepareSandbox } from './launch-blocking.ts'
import { type BwrapSetup, compileFurnishing, compileLayout, O_PATH } from './launch-compile.ts'
import { SpareSandboxes } from './launch-spare.ts'
import type { SandboxLayer } from './layer.ts'
import { mustBeBuilt } from './native-files.ts'
import type { Architecture } from './syscalls.ts'

export interface InitBackendOptions {
  /** A path, where the usual place is not meant. */
  readonly init?: string
  /** False: per-process limits only. */
  readonly cgroups?: boolean
  /**
   * What the caller has: `one` command, for which the process may be blocked until it is done; or `many`, one after
   * another, whose sandboxes are prepared ahead. Without a word neither is done.
   */
  readonly commands?: 'one' | 'many'
  /** Where it is remembered that the native files are those that were built; without it they are hashed once a process. */
  readonly stateDir?: string
}

export interface BwrapOptions extends InitBackendOptions {
  /** A path, where the usual places are not meant. */
  readonly bwrap?: string
}

/** What the init does for its own space. */
export const INIT_CAPABILITIES: ReadonlySet<Capability> = new Set([
  'programs',
  'observed-masks',
  'lifted-masks',
  'moved-files',
  'stand-ins',
  'listener',
  'servers',
  'unix-sockets',
  'terminal',
  'signals',
  'same-user',
  'watched-limits',
  'held-changes',
  'sought-paths',
  'judged-programs',
  'told-callers',
])

const BWRAP_FOLDERS = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin']

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The bubblewrap that the Debian package and the archive bring, then the system's, then one on the PATH. A relative entry
 * could be the project's, and `npx` and `npm run` put the project's node_modules/.bin first; a command that could write it
 * is refused it (see compileLayout).
 */
export function findBwrap(): string {
  const own = findNative(`bwrap-${process.arch}`)
  if (own) return own
  const system = BWRAP_FOLDERS.map((folder) => join(folder, 'bwrap')).find(isExecutable)
  if (system) return system
  const others = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
  const found = others.map((folder) => join(folder, 'bwrap')).find((path) => isExecutable(path) && !isOfPackage(path))
  if (found) return realpathSync.native(found)
  throw new SandboxFault('sandbox-missing', 'bubblewrap (bwrap) is not installed, and nothing runs without a sandbox', {
    remedy: `Install it: ${INSTALL_BWRAP}.`,
  })
}

const INSTALL_BWRAP = 'apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap'

function isOfPackage(path: string): boolean {
  return [path, realpathSync.native(path)].some((place) => place.includes('/node_modules/'))
}

/** A native file, seen from the chunks of the bundled program, from the library, and from the sources of a checkout. */
function findNative(name: string): string | undefined {
  const places = ['../native', '../../../native', '../../../dist/native']
  return places.map((place) => join(import.meta.dirname, place, name)).find(isExecutable)
}

function findInit(architecture: Architecture): string {
  const name = `cordon-init-${architecture}`
  const found = findNative(name)
  if (found) return found
  throw new SandboxFault('sandbox-init-missing', `${name} is not built, and nothing runs without it`, {
    remedy: 'Run native/build.sh; it needs a C compiler (apt install gcc libc6-dev).',
  })
}

function architectureOf(arch: string): Architecture {
  if (arch === 'x64' || arch === 'arm64') return arch
  throw new SandboxFault('sandbox-architecture', `there is no system call filter for ${arch}, only for x64 and arm64`)
}

/** Sandboxes of bubblewrap's. */
export function createBwrapBackend(options: BwrapOptions = {}): Backend {
  return createInitBackend(
    'bwrap',
    () => {
      const program = options.bwrap ?? findBwrap()
      return {
        title: 'bubblewrap',
        program,
        ahead: true,
        install: INSTALL_BWRAP,
        words: (layout, channel) => [program, ...compileArguments(layout, channel)],
      }
    },
    options,
  )
}

/** Its own backend state: the opened init and the control groups it found. Nothing is opened before it is needed. */
export function createInitBackend(
  name: string,
  findLayer: () => SandboxLayer,
  options: InitBackendOptions = {},
): Backend {
  let machine: BwrapSetup | null = null
  let groups: { readonly host: CgroupHost | null } | null = null
  let expected: { readonly layout: PlanUnderway['layout']; readonly begun: PreparedSandbox | null } | null = null
  const spares = options.commands === 'many' ? new SpareSandboxes() : null
  const cgroups = (): CgroupHost | null => {
    groups ??= { host: options.cgroups === false ? null : openCgroups() }
    return groups.host
  }
  const find = (): BwrapSetup => {
    if (machine) return machine
    const architecture = architectureOf(process.arch)
    const path = options.init ?? findInit(architecture)
    if (options.init === undefined) mustBeBuilt(dirname(path), architecture, options.stateDir ?? null)
    machine = {
      architecture,
      layer: findLayer(),
      init: { path, fd: openSync(path, constants.O_RDONLY) },
      nothing: openSync('/dev/null', constants.O_RDWR),
      root: openSync('/', O_PATH | constants.O_DIRECTORY),
      cgroups,
      numbered: options.cgroups !== false && numbersProcesses(readFileSync('/proc/sys/kernel/osrelease', 'latin1')),
    }
    return machine
  }
  const backend: Backend = {
    name,
    capabilities: INIT_CAPABILITIES,
    probe: async () => {
      // Most runs ask nothing of the machine.
      const { probeSandbox } = await import('./probe.ts')
      return probeSandbox(
        backend,
        () => find().cgroups()?.support ?? null,
        () => find().numbered,
        () => machine?.layer.program ?? null,
      )
    },
    compile: (plan): CompiledSandbox => {
      const found = find()
      const [program, ...args] = compileLayout(plan, handsOutSockets(plan), found, null)
      return { program, args, orders: compileFurnishing(plan, found) }
    },
    expect: (planned, io) => {
      expected?.begun?.abandon()
      expected =
        options.commands === 'one' ? { layout: planned.layout, begun: prepareSandbox(planned, io, find()) } : null
    },
    launch: async (planned, io = {}) => {
      if (!('complete' in planned)) return launchSandbox(planned, io, find(), spares)
      // Bubblewrap works while the rest of the plan is made.
      const ready = expected?.layout === planned.layout && !io.verify && !io.judgeAsks ? expected.begun : null
      if (ready) expected = null
      const begun = ready ?? (options.commands === 'one' ? prepareSandbox(planned, io, find()) : null)
      if (!begun) return launchSandbox(planned.complete(), io, find(), spares)
      try {
        return begun.launch(planned.complete(), io)
      } finally {
        begun.abandon()
      }
    },
    release: () => {
      spares?.close()
      expected?.begun?.abandon()
      expected = null
      // A process that goes on to serve others keeps nothing open of its one command.
      if (options.commands !== 'one' || !machine) return
      for (const fd of [machine.init.fd, machine.nothing, machine.root]) closeSync(fd)
      machine = null
    },
  }
  return backend
}
