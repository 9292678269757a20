/** Faults of the sandbox: the command did not run inside, so it did not run. */

import { constants } from 'node:os'
import type { SandboxPlan } from '../plan.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { type InitStep, STEP_MEANINGS, stepOf } from './steps.ts'

function errnoName(errno: number): string {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`
}

function subjectOf(step: InitStep, index: number, plan: SandboxPlan): string | undefined {
  if (step === 'MASK') return plan.masks[index]
  if (step === 'PIN') return plan.pins[index]?.path
  if (step === 'PLACE') return plan.binds[index]?.path
  if (step === 'DIRECTORY') return plan.cwd
  if (step === 'EXEC') return plan.argv[0]
  if (step === 'STREAM') return ['stdin', 'stdout', 'stderr'][index]
  return undefined
}

/** How a kernel says that it lacks something. Whatever else fails (no process, memory or disk left) may work the next time. */
const LACKING: ReadonlySet<string> = new Set(['ENOSYS', 'EOPNOTSUPP', 'EINVAL', 'EPERM', 'EACCES', 'EBUSY', 'E2BIG'])

/** The fault for a step at which the init gave up. */
export function faultOfStep(failed: { step: number; errno: number; index: number }, plan: SandboxPlan): SandboxFault {
  const step = stepOf(failed.step)
  if (step === null) return new SandboxFault('sandbox-failed', `the sandbox failed at an unknown step ${failed.step}`)
  const { code, what, remedy } = STEP_MEANINGS[step]
  const path = subjectOf(step, failed.index, plan)
  const name = errnoName(failed.errno)
  const message = `${what}${path === undefined ? '' : `: ${JSON.stringify(path)}`} (${name})`
  const about = path === undefined ? {} : { path }
  // Only what a kernel lacks may be done without: else the process that uses up the machine would switch it off.
  if ((step === 'BROKER' || step === 'PROGRAMS') && !LACKING.has(name))
    return new SandboxFault('sandbox-processes', message, { remedy: STEP_MEANINGS.FORK.remedy })
  if (step !== 'EXEC') return new SandboxFault(code, message, { remedy, ...about })
  const missing = failed.errno === constants.errno.ENOENT || failed.errno === constants.errno.ENOTDIR
  return missing
    ? new SandboxFault(
        'command-not-found',
        `the command was not found inside the sandbox: ${JSON.stringify(path)} (${name})`,
        {
          remedy:
            'Check the name and its interpreter line, and that a grant or a bundle shows the program to the sandbox.',
          ...about,
        },
      )
    : new SandboxFault(code, message, { remedy, ...about })
}

/** The fault for the process that lays sandboxes out and ended before the init could say anything. */
export function faultOfLayer(title: string, text: string, status: string): SandboxFault {
  const said = text.trim().slice(0, 2000)
  const place = unshown(said)
  if (place) return place
  const namespaces = /namespace|uid map|Operation not permitted|setting up/i.test(said)
  return new SandboxFault(
    namespaces ? 'sandbox-userns' : 'sandbox-failed',
    `${title} could not make the sandbox (${status})${said === '' ? '' : `: ${said}`}`,
    { remedy: 'Run `cordon doctor`: it says what this machine is missing and how to allow it.' },
  )
}

/** Of a place that bubblewrap could not show: doctor would find nothing, for it checks the machine. */
function unshown(said: string): SandboxFault | null {
  const found =
    /(?:Can't (?:find source path|get type of source|chdir to|bind mount|open) )(\/.*?)(?: on \S+)?: (Permission denied|No such file or directory|Not a directory)/.exec(
      said,
    )
  if (!found) return null
  const [, path = '', why] = found
  const isClosed = why === 'Permission denied'
  return new SandboxFault('sandbox-failed', `${path} cannot be shown to the command: ${why?.toLowerCase()}`, {
    path,
    remedy: isClosed
      ? 'It, or a folder above it, is closed to you: work as its owner, or open it with chmod.'
      : 'It no longer exists: run the command again, or remove the line that names it from the manifest.',
  })
}
