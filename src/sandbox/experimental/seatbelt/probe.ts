/** Probes macOS by attacks from inside its sandbox. */

import { COMMON_CHECKS, probeByAttack } from '../../attack-probe.ts'
import type { Backend } from '../../backend.ts'
import { type Assurance, type Support, UNHELD_CHANGES, UNJUDGED_PROGRAMS } from '../../report.ts'

/** What no profile can give; said, so that no one relies on it. */
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
