/** PURE. The limits on open files and on inotify, as a command in the sandbox saw them. */

import { DEFAULT_OPEN_FILES } from '../limits.ts'
import type { Assurance } from '../report.ts'

/** The machine's limits per user; null if unknown. */
export interface WatchFacts {
  readonly watches: number | null
  readonly instances: number | null
}

const MARK = 'limits'

/**
 * A sh script that prints how many files may be open, opens one more, and prints what is left of
 * inotify; run under `DEFAULT_OPEN_FILES`.
 */
export const LIMITS_SCRIPT: string = [
  `if ( ulimit -Hn ${DEFAULT_OPEN_FILES + 1} ) 2>/dev/null; then raised=yes; else raised=no; fi`,
  'watches=$(cat /proc/sys/user/max_inotify_watches 2>/dev/null)',
  'instances=$(cat /proc/sys/user/max_inotify_instances 2>/dev/null)',
  `echo "${MARK} $(ulimit -Hn) $raised \${watches:-none} \${instances:-none}"`,
].join('\n')

/** Whether the limits work, from the script's output. A missing line means no. */
export function limitAssurances(output: string, machine: WatchFacts): readonly Assurance[] {
  const [, files = '', raised = '', watches = '', instances = ''] =
    new RegExp(`^${MARK} (\\S+) (\\S+) (\\S+) (\\S+)$`, 'm').exec(output) ?? []
  return [openFiles(files, raised), fileWatches(number(watches), number(instances), machine)]
}

function openFiles(files: string, raised: string): Assurance {
  const name = 'open files'
  const most = number(files)
  if (raised === 'no' && most !== null && most <= DEFAULT_OPEN_FILES)
    return { name, status: 'enforced', detail: `at most ${most} in each process` }
  const found = files === '' ? 'the limit could not be read inside' : `a process inside may have ${files}`
  return {
    name,
    status: 'degraded',
    detail: `${found}, ${DEFAULT_OPEN_FILES} were expected`,
    remedy: 'Lower the hard limit of open files before Cordon starts: ulimit -Hn 65536.',
  }
}

function fileWatches(watches: number | null, instances: number | null, machine: WatchFacts): Assurance {
  const name = 'file watches'
  if (isHalf(watches, machine.watches) && isHalf(instances, machine.instances))
    return {
      name,
      status: 'enforced',
      detail: `at most ${watches} inotify watches and ${instances} instances, half of this user's`,
    }
  return {
    name,
    status: 'degraded',
    detail: 'a command can use up all inotify watches of this user, and an editor then gets none',
    remedy: 'Use a kernel that counts inotify by user namespace (CONFIG_INOTIFY_USER, Linux 4.11 or newer).',
  }
}

function isHalf(inside: number | null, machine: number | null): boolean {
  return inside !== null && machine !== null && inside <= Math.floor(machine / 2)
}

function number(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null
}
