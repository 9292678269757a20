/**
 * Probes the backend without namespaces by attacks from inside, and reports what it leaves open.
 */

import type { Backend } from '../backend.ts'
import { causeHere } from '../bwrap/probe.ts'
import { type AttackCheck, COMMON_CHECKS, probeByAttack } from '../probe-sandbox.ts'
import type { Assurance, Support } from '../report.ts'

const CHECKS: readonly AttackCheck[] = [
  ...COMMON_CHECKS,
  { name: 'signals', detail: 'reach nobody outside', attack: 'kill -0 "$HOSTPID"' },
  {
    name: 'other processes',
    detail: 'cannot be inspected',
    attack: 'cat "/proc/$HOSTPID/cmdline" "/proc/$HOSTPID/environ"',
  },
  { name: 'kernel settings', detail: 'cannot be changed', attack: ': >> /proc/sys/kernel/core_pattern' },
  {
    name: 'shared memory',
    detail: '/dev/shm and /tmp are closed',
    attack: 'touch /dev/shm/cordon-probe || touch /tmp/cordon-probe',
  },
  {
    name: 'capabilities',
    detail: 'none',
    attack: 'grep "^Cap\\(Eff\\|Prm\\|Inh\\|Amb\\)" /proc/self/status | grep -qv 0000000000000000',
  },
  {
    name: 'no new privileges',
    detail: 'setuid programs gain nothing',
    attack: '! grep -q "NoNewPrivs:.1" /proc/self/status',
  },
  { name: 'system call filter', detail: 'loaded', attack: '! grep -q "Seccomp:.2" /proc/self/status' },
]

/** Protections that need namespaces. docs/guides/containers.md describes each. */
const LACKING: readonly Assurance[] = [
  {
    name: 'names outside',
    status: 'degraded',
    detail:
      'whether a file exists, its size and its times can be looked up by its path; it can be neither read nor listed',
  },
  {
    name: 'process isolation',
    status: 'degraded',
    detail: 'the numbers of other processes are visible',
  },
  { name: 'masks as empty files', status: 'degraded', detail: 'a secret is refused instead' },
  {
    name: 'own temporary folder',
    status: 'degraded',
    detail:
      'TMPDIR is private to the command; /tmp, /var/tmp and /dev/shm are closed, and shared memory by number is refused',
  },
  {
    name: 'own network',
    status: 'degraded',
    detail: 'servers of a command are on the loopback of this machine, where others reach them; there are no datagrams',
  },
  {
    name: 'files that stand in',
    status: 'degraded',
    detail: 'the CA of the session is given by variables alone; sockets of this machine cannot be granted',
  },
  { name: 'limits for the whole sandbox', status: 'degraded', detail: 'memory is limited for each process by itself' },
]

/** Never throws: failures are in the result. `refused`: why namespaces are unavailable. */
export async function probeLandlock(
  backend: Pick<Backend, 'name' | 'launch'>,
  refused: string | null,
): Promise<Support> {
  const cause = refused === null ? null : causeHere()
  const namespaces: Assurance = {
    name: 'namespaces',
    status: 'degraded',
    detail: refused === null ? 'not asked for' : `refused by this machine: ${refused}`,
    ...(cause && { remedy: cause.remedy }),
    ...(cause && cause.repair.length > 0 && { repair: cause.repair }),
  }
  const found = await probeByAttack(backend, {
    checks: CHECKS,
    lacking: [...LACKING, namespaces],
    cgroup: null,
    unheld: ['memory', 'cpus'],
  })
  if (found.usable) return found
  return { ...found, assurances: [...found.assurances.map(withRemedy), namespaces] }
}

function withRemedy(one: Assurance): Assurance {
  if (one.name !== 'sandbox') return one
  const remedy =
    'Allow user namespaces, or use Linux 6.2 or newer with Landlock (lsm=landlock,… at boot), and allow seccomp notification and process_vm_readv in containers.'
  return { ...one, remedy }
}
