/**
 * The macOS backend: sandbox-exec with a profile of the plan. Written against documented behaviour,
 * never run on a Mac by us. So a probe precedes the first launch of a process, and a failed check
 * closes the backend.
 */

import {
  type Backend,
  type Capability,
  type CompiledSandbox,
  type LaunchIo,
  type PlanUnderway,
  SandboxFault,
} from '../../backend.ts'
import type { SandboxPlan } from '../../plan.ts'
import { COMMON_CHECKS, probeByAttack, provenBy } from '../../probe-sandbox.ts'
import { type Assurance, type Support, UNHELD_CHANGES, UNJUDGED_PROGRAMS } from '../../report.ts'
import type { Place } from './place.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'programs',
  'moved-files',
  'listener',
  'servers',
  'terminal',
  'signals',
  'same-user',
])

/** A backend that probes itself first. */
export function createSeatbeltBackend(): Backend {
  let launcher: typeof import('./launch.ts') | null = null
  // Loaded late: on every other system it is never needed, and start-up counts.
  const load = async () => {
    launcher ??= await import('./launch.ts')
    return launcher
  }
  const bare: Pick<Backend, 'name' | 'launch'> = {
    name: 'seatbelt',
    launch: async (plan, io) => (await load()).launchSeatbelt(plan as SandboxPlan, io ?? {}, false),
  }
  const probe = async () => (await import('./backend.ts')).probeSeatbelt(bare)
  const prove = provenBy('the sandbox of this Mac', probe)
  return {
    name: bare.name,
    capabilities: CAPABILITIES,
    probe,
    compile: (plan): CompiledSandbox => {
      if (!launcher) throw new SandboxFault('sandbox-plan', 'a plan of macOS is compiled after its place was arranged')
      const [program, ...args] = launcher.launchWords(plan)
      return { program, args, setupMessage: args.at(args.indexOf('-p') + 1) ?? '' }
    },
    arrange: async (needs) => {
      await load()
      return (await import('./place.ts')).arrangePlace(needs)
    },
    launch: async (planned, io = {}) => {
      // A plan that is under way is completed before anything is waited for.
      const plan = 'complete' in planned ? planned.complete() : planned
      await prove()
      if (plan.network.kind === 'listener')
        handOver(plan.network.port, io, 'complete' in planned ? placeOf(planned) : null)
      return (await load()).launchSeatbelt(plan, io, true)
    },
    release: () => {},
  }
}

function placeOf({ arrangement }: PlanUnderway): Place | null {
  return (arrangement as Place | undefined) ?? null
}

/** The port was opened when the plan was created, and the profile names it. */
function handOver(port: number, io: LaunchIo, place: Place | null): void {
  if (!io.onListener || place?.listener?.port !== port)
    throw new SandboxFault('sandbox-network', 'the plan has a network, but no port was opened for it')
  io.onListener(place.listener.server, null)
}

/** Protections that no profile can give; reported, so that nobody relies on them. */
const LACKING: readonly Assurance[] = [
  {
    name: 'process isolation',
    status: 'degraded',
    detail: 'other processes are visible; none can be signalled or looked into',
  },
  {
    name: 'leftover processes',
    status: 'degraded',
    detail: 'what leaves its process group goes on after the command, under the same profile',
  },
  {
    name: 'masks as empty files',
    status: 'degraded',
    detail: 'a secret is refused instead',
  },
  {
    name: 'observed violations',
    status: 'degraded',
    detail: 'read from the system log after a command that failed, where this user may read it; some are not logged',
  },
  UNHELD_CHANGES,
  UNJUDGED_PROGRAMS,
  {
    name: 'open files',
    status: 'degraded',
    detail: 'limited for every process of a command, file watches among them; not tried from inside',
  },
  { name: 'own temporary folder', status: 'degraded', detail: 'TMPDIR is private to the command; /tmp is closed' },
]

/** Throws nothing: what failed is in the result. */
export function probeSeatbelt(backend: Pick<Backend, 'name' | 'launch'>): Promise<Support> {
  const unheld = ['memory', 'processes', 'cpus'] as const
  return probeByAttack(backend, { checks: COMMON_CHECKS, lacking: LACKING, cgroup: null, unheld })
}
