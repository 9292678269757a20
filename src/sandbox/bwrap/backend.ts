/** The Linux backend: cordon-init, in a layout that bubblewrap or a container engine prepares. */

import { createHash } from 'node:crypto'
import { accessSync, closeSync, constants, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { readOwnFile, writeOwnFile } from '../../system/state.ts'
import { type Backend, type Capability, type CompiledSandbox, type PlanUnderway, SandboxFault } from '../backend.ts'
import { numbersProcesses } from '../limits.ts'
import { type CgroupHost, openCgroups } from '../limits-cgroup.ts'
import { handsOutSockets } from '../plan.ts'
import { compileArguments, type SandboxLayer } from './args.ts'
import { launchSandbox } from './launch.ts'
import { type PreparedSandbox, prepareSandbox } from './launch-blocking.ts'
import { type BwrapSetup, compileFurnishing, compileLayout, O_PATH } from './launch-compile.ts'
import { SpareSandboxes } from './launch-spare.ts'
import type { Architecture } from './syscalls.ts'

export interface InitBackendOptions {
  /** A path, where the usual place is not meant. */
  readonly init?: string
  /** False: per-process limits only. */
  readonly cgroups?: boolean
  /**
   * The caller runs `one` command, and may block until it is done; or `many`, whose sandboxes are
   * prepared ahead. Absent: neither.
   */
  readonly commands?: 'one' | 'many'
  /** Where it is remembered that the native files are those that were built; without it they are hashed once a process. */
  readonly stateDir?: string
}

export interface BwrapOptions extends InitBackendOptions {
  /** A path, where the usual places are not meant. */
  readonly bwrap?: string
}

/** Capabilities that the init provides. */
export const INIT_CAPABILITIES: ReadonlySet<Capability> = new Set([
  'programs',
  'observed-masks',
  'lifted-masks',
  'moved-files',
  'stand-ins',
  'listener',
  'refusals',
  'servers',
  'unix-sockets',
  'terminal',
  'signals',
  'same-user',
  'watched-limits',
  'held-changes',
  'sought-paths',
  'judged-programs',
  'reported-callers',
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
      return { program, args, setupMessage: compileFurnishing(plan, found) }
    },
    expect: (planned, io) => {
      expected?.begun?.abandon()
      expected =
        options.commands === 'one' ? { layout: planned.layout, begun: prepareSandbox(planned, io, find()) } : null
    },
    launch: async (planned, io = {}) => {
      if (!('complete' in planned)) return launchSandbox(planned, io, find(), spares)
      // Bubblewrap works while the plan is completed.
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

/** The programs and addons that may be there; the init always is. */
const NAMES = ['init', 'launch', 'client', 'serve'] as const

/** Verified hashes of this process, by folder. */
const hashed = new Map<string, string>()

/**
 * Refuses files that differ from `SHA256SUMS` beside them: a half-written package, another build, a
 * damaged disk. The state directory remembers verified files by inode, size and times, so that a
 * start checks only those.
 */
export function mustBeBuilt(folder: string, architecture: Architecture, stateDir: string | null): void {
  const names = NAMES.map((name) => `cordon-${name}-${architecture}`)
  const files = names.map((name) => ({ name, id: identityOf(join(folder, name)) }))
  const identity = [folder, ...files.map(({ id }) => id)].join('\n')
  if (hashed.get(folder) === identity) return
  const memory = stateDir === null ? null : join(stateDir, 'native-files')
  if (memory === null || remembered(memory) !== identity) {
    const sums = sumsIn(folder)
    for (const { name, id } of files) {
      const sum = sums.get(name)
      if (sum !== undefined || id !== null) mustMatch(join(folder, name), sum, id === null)
    }
    if (memory !== null) remember(memory, identity)
  }
  hashed.set(folder, identity)
}

/** A process that changes a file changes its time of change, whatever other times they set. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ') : null
}

function sumsIn(folder: string): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)
    return new Map([...lines].map(([, sum, name]) => [name!, sum!]))
  } catch {
    return new Map()
  }
}

function mustMatch(path: string, sum: string | undefined, isMissing: boolean): void {
  if (!isMissing && sum === createHash('sha256').update(readFileSync(path)).digest('hex')) return
  const what = isMissing ? 'is missing' : sum === undefined ? 'is not among the files' : 'is not the file'
  throw new SandboxFault(
    'sandbox-init-changed',
    `${path} ${what} that the build of Cordon created, so nothing can run`,
    {
      remedy: 'Install Cordon again; in a checkout, run `npm run build`.',
      path,
    },
  )
}

function remembered(memory: string): string | null {
  try {
    const known = readOwnFile(memory)
    return known && Buffer.from(known).toString('utf8')
  } catch {
    return null
  }
}

/** Where it cannot be written, the files are hashed again next time. */
function remember(memory: string, identity: string): void {
  try {
    writeOwnFile(memory, identity)
  } catch {
    return
  }
}
