/**
 * Compiles a plan for this machine: the words that create the layout, and the init's setup message.
 */

import { isInside } from '../../files/baseline.ts'
import { type LaunchIo, SandboxFault } from '../backend.ts'
import type { SandboxLayout } from '../layout.ts'
import { groupLimits, type Limits, processNumbers, resourceLimits } from '../limits.ts'
import { type Cgroup, type CgroupHost, makeCgroup } from '../limits-cgroup.ts'
import type { SandboxPlan } from '../plan.ts'
import { readIdentities } from '../session.ts'
import type { SandboxLayer } from './args.ts'
import { compileFilter } from './seccomp.ts'
import { compileSetupMessage } from './setup-message.ts'
import type { Architecture } from './syscalls.ts'

/** Node has no name for it; the same on x64 and arm64. */
export const O_PATH = 0o10000000

/** The programs that a launch needs, found once. */
export interface BwrapSetup {
  readonly architecture: Architecture
  readonly layer: SandboxLayer
  readonly init: { readonly path: string; readonly fd: number }
  /** An open /dev/null: Node leaves descriptors above 2 closed where they are ignored. */
  readonly nothing: number
  /** The host's root directory, opened for its path alone. */
  readonly root: number
  /** Looked for when a limit needs them. */
  readonly cgroups: () => CgroupHost | null
  /** Whether a pid namespace can enforce the process limit. */
  readonly numbered: boolean
}

const STDIN_TERMINAL = 1
const STDOUT_TERMINAL = 2
const STDERR_TERMINAL = 4

/**
 * The program that creates a layout, with its arguments, in its control group. Throws a fault for
 * an impossible layout.
 */
export function compileLayout(
  layout: SandboxLayout,
  channel: boolean,
  machine: BwrapSetup,
  cgroup: Cgroup | null,
): readonly [program: string, ...args: string[]] {
  const { title, program, install, words } = machine.layer
  const writable = layout.binds.find(({ path, mode }) => mode === 'read-write' && isInside(program, path))
  if (writable)
    throw new SandboxFault(
      'sandbox-missing',
      `${title} was found only at ${program}, where commands may write: what they left there would run outside the sandbox`,
      { remedy: `Install it for the system: ${install}.` },
    )
  const argv = orFault(() => words(layout, channel))
  if (!cgroup) return argv
  const enter = machine.layer.enter?.(cgroup.procs) ?? ([machine.init.path, 'enter', ...cgroup.procs, '--'] as const)
  return [...enter, ...argv]
}

/** The control group that a layout needs; null when none of its limits does, or none can be had. */
export function openGroup(limits: Limits, machine: BwrapSetup): Cgroup | null {
  const left = groupLimits(limits, machine.numbered)
  const host = left && machine.cgroups()
  return left && host ? makeCgroup(host, withOwn(left, machine.layer)) : null
}

/** What lays the layout out stays in the group, and is not to be paid for by the command. */
function withOwn(limits: Limits, { own }: SandboxLayer): Limits {
  if (!own) return limits
  const { processes, memoryBytes } = limits
  return {
    ...limits,
    ...(processes !== undefined && { processes: processes + own.processes }),
    ...(memoryBytes !== undefined && { memoryBytes: memoryBytes + own.memoryBytes }),
  }
}

/** The setup message for the init. Throws a fault for a plan that it cannot express. */
export function compileFurnishing(
  plan: SandboxPlan,
  machine: Pick<BwrapSetup, 'architecture' | 'cgroups' | 'numbered'> & { readonly layer?: Pick<SandboxLayer, 'bare'> },
  io: Pick<LaunchIo, 'terminal' | 'stderr' | 'verify'> = {},
): Uint8Array {
  const terminalFds = io.terminal
    ? STDIN_TERMINAL | STDOUT_TERMINAL | (io.stderr === undefined ? STDERR_TERMINAL : 0)
    : 0
  const bare = machine.layer?.bare === true
  return orFault(() =>
    compileSetupMessage({
      plan,
      filter: compileFilter({
        architecture: machine.architecture,
        unixSockets: plan.unixSockets,
        changes: plan.changes !== null,
        ...(plan.learns && { learns: true }),
        ...(plan.programs && { programs: true }),
        ...(bare && { bare }),
      }),
      limits: resourceLimits(
        plan.limits,
        groupLimits(plan.limits, machine.numbered) && (machine.cgroups()?.support ?? null),
      ),
      processNumbers: processNumbers(plan.limits, machine.numbered),
      terminalFds,
      gate: io.verify !== undefined,
      bare,
      bound: readIdentities(plan.binds.map(({ path }) => path)),
    }),
  )
}

function orFault<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SandboxFault('sandbox-plan', error.message, { cause: error, remedy: 'Change the grants or the command.' })
  }
}
