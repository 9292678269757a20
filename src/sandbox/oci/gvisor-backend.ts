/** gVisor as the backend of ordinary commands: its own kernel in user space, without an init of ours and without a way out. */

import type { Backend, Capability, CompiledSandbox } from '../backend.ts'
import { createInitBackend, type InitBackendOptions } from '../bwrap/backend.ts'
import { type CgroupHost, openCgroups } from '../limits-cgroup.ts'
import type { SandboxPlan } from '../plan.ts'
import { type AttackCheck, COMMON_CHECKS, probeByAttack, provenBy } from '../probe-sandbox.ts'
import { type Assurance, type Support, UNHELD_CHANGES, UNJUDGED_PROGRAMS } from '../report.ts'
import { gvisorWords, launchGvisor } from './gvisor-launch.ts'
import { runcLayer } from './sandbox-layer.ts'

/**
 * Not `moved-files`: masks are mounted by their paths, so while another command runs nothing is started. Not `listener`: a socket of
 * this kernel cannot be handed out of that one.
 */
const CAPABILITIES: ReadonlySet<Capability> = new Set(['programs'])

const CHECKS: readonly AttackCheck[] = [
  ...COMMON_CHECKS,
  {
    name: 'the host’s kernel',
    detail: 'answers no system call of the command',
    attack: '[ "$(uname -r)" = "$KERNEL" ]',
  },
  {
    name: 'capabilities',
    detail: 'none, and none to regain',
    attack: 'grep "^Cap" /proc/self/status | grep -qv 0000000000000000',
  },
  {
    name: 'nested user namespaces',
    detail: 'refused, so that no mask is taken away in one',
    attack: 'unshare --user --map-root-user --mount umount "$P/.env" || unshare --user true',
  },
  {
    name: 'process isolation',
    detail: 'other processes are not visible',
    attack: '[ "$(ls -d /proc/[0-9]* | wc -l)" -gt 16 ]',
  },
]

const LACKING: readonly Assurance[] = [
  { name: 'network listener', status: 'degraded', detail: 'commands have no network at all, whatever is granted' },
  { name: 'mask watch', status: 'degraded', detail: 'a secret is refused, and opens are not observed' },
  { name: 'commands at once', status: 'degraded', detail: 'one at a time: masks are mounted by path' },
  { name: 'terminal', status: 'degraded', detail: 'a command at a terminal does not run' },
  {
    name: 'open files',
    status: 'degraded',
    detail: 'limited in the configuration of every command; not tried from inside',
  },
  {
    name: 'file watches',
    status: 'degraded',
    detail: 'kept by gVisor and not by this machine; how many is not limited',
  },
  UNHELD_CHANGES,
  UNJUDGED_PROGRAMS,
]

const WITHOUT_GROUP: Assurance = {
  name: 'limits for the whole sandbox',
  status: 'degraded',
  detail: 'no control group can be created here: neither memory nor processes are limited',
  remedy: 'Run Cordon where it may create control groups (as root, or in a delegated cgroup v2 scope).',
}

/** Throws nothing: what failed is in the result. */
export function probeGvisor(
  backend: Pick<Backend, 'name' | 'launch'>,
  support: CgroupHost['support'] | null,
): Promise<Support> {
  const limited = support?.memory && support.pids
  return probeByAttack(backend, {
    checks: CHECKS,
    lacking: limited ? LACKING : [...LACKING, WITHOUT_GROUP],
    cgroup: support,
    ...(limited ? { shareByGroup: true as const } : { unheld: ['memory', 'processes', 'cpus'] as const }),
  })
}

/** A backend that probes itself first. */
export function createGvisorBackend(): Backend {
  let groups: { readonly host: CgroupHost | null } | null = null
  const cgroups = (): CgroupHost | null => {
    groups ??= { host: openCgroups() }
    return groups.host
  }
  const name = 'runsc'
  const bare: Pick<Backend, 'name' | 'launch'> = {
    name,
    launch: (plan, io) => launchGvisor(plan as SandboxPlan, io ?? {}, cgroups()),
  }
  const probe = () => probeGvisor(bare, cgroups()?.support ?? null)
  const prove = provenBy('gVisor (runsc)', probe)
  return {
    name,
    capabilities: CAPABILITIES,
    probe,
    compile: (plan): CompiledSandbox => {
      const [program, ...args] = gvisorWords(plan, cgroups(), null)
      return { program, args, setupMessage: '' }
    },
    launch: async (planned, io = {}) => {
      // A plan that is under way is completed before anything is waited for.
      const plan = 'complete' in planned ? planned.complete() : planned
      await prove()
      return bare.launch(plan, io)
    },
    release: () => {},
  }
}

/** The engines that commands can run in. */
export const COMMAND_ENGINES = ['runc', 'runsc'] as const

export type CommandEngine = (typeof COMMAND_ENGINES)[number]

/** A missing or failing engine runs nothing. */
export function createContainerBackend(engine: CommandEngine, options: InitBackendOptions = {}): Backend {
  if (engine === 'runsc') return createGvisorBackend()
  return createInitBackend(engine, runcLayer, options)
}
