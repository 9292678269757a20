/** The state of a running sandbox: its init's messages, their result, and launch faults. */

import { constants } from 'node:os'
import { decodePath } from '../../files/path-bytes.ts'
import { monotonicMs } from '../../system/timing.ts'
import type { CapturedOutput, LaunchIo, LaunchResult, MissingPath } from '../backend.ts'
import { SandboxFault } from '../backend.ts'
import { FIRST_UNCHOSEN_PORT, type SandboxPlan, type SoughtPath } from '../plan.ts'
import { type Caller, type ProgramStart, parseCaller, parseProgram, parseStart, type RanProgram } from '../programs.ts'
import {
  limitViolation,
  type MetLimit,
  maskViolation,
  memoryViolation,
  unjudgedViolation,
  type Violation,
} from '../violation.ts'
import { type InitMessage, MESSAGE_BYTES, parseMessage } from './init-messages.ts'
import { type InitStep, STEP_MEANINGS, stepOf } from './steps.ts'

const SIGXCPU = 24

/** How a launch ended, besides the init's messages. */
interface LaunchEnd {
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly stdout: CapturedOutput | null
  readonly stderr: CapturedOutput | null
  /** The limits that the kernel counted as met. */
  readonly met: readonly MetLimit[]
  /** bubblewrap's own words and status; asked for only when the init never said anything. */
  readonly complaint: () => { readonly by: string; readonly text: string; readonly status: string }
}

/** One launch, as its init reports it. */
export class LaunchProgress {
  readonly #started = monotonicMs()
  readonly #plan: SandboxPlan
  readonly #onViolation: LaunchIo['onViolation']
  readonly #violations: Violation[] = []
  readonly #asked: MissingPath[] = []
  readonly #sought: SoughtPath[] = []
  #soughtLeftOut = 0
  readonly #programs: RanProgram[] = []
  #programsLeftOut = 0
  readonly #unlisted = new Set<number>()
  readonly #leftBehind: string[] = []
  readonly #met = new Set<MetLimit>()
  #timedOut = false
  #ready: { watched: boolean } | null = null
  #failed: Extract<InitMessage, { kind: 'failed' }> | null = null
  #ended: Extract<InitMessage, { kind: 'ended' }> | null = null

  constructor(plan: SandboxPlan, onViolation: LaunchIo['onViolation']) {
    this.#plan = plan
    this.#onViolation = onViolation
  }

  /** Passes each whole message in these bytes to its handler; returns the remaining bytes. */
  take(
    bytes: Buffer,
    pass: (message: InitMessage) => void = () => {},
    start: (number: number, start: ProgramStart | null) => void = () => {},
    caller: (caller: Caller) => void = () => {},
  ): Buffer {
    let at = 0
    for (; at + MESSAGE_BYTES <= bytes.length; at += MESSAGE_BYTES) {
      const message = parseMessage(bytes.subarray(at, at + MESSAGE_BYTES))
      if (!message) continue
      if ('bytes' in message) {
        const follows = Math.ceil(message.bytes / MESSAGE_BYTES) * MESSAGE_BYTES
        const from = at + MESSAGE_BYTES
        if (from + follows > bytes.length) break
        const said = bytes.subarray(from, from + message.bytes)
        if (message.kind === 'start') start(message.number, parseStart(said))
        else if (message.kind === 'caller') {
          const found = parseCaller(message.number, message.parent, said)
          if (found) caller(found)
        } else this.#noteText(message, said)
        at += follows
        continue
      }
      this.#note(message)
      pass(message)
    }
    return bytes.subarray(at)
  }

  /** The result. Throws a fault where the command did not run. */
  end({ timedOut, cancelled, stdout, stderr, met, complaint }: LaunchEnd): LaunchResult {
    if (this.#failed) throw faultOfStep(this.#failed, this.#plan)
    if (!this.#ready && !timedOut && !cancelled) {
      const { by, text, status } = complaint()
      throw faultOfLayer(by, text, status)
    }
    // A sandbox that ended without a word was killed: by us, or by the kernel for want of memory.
    const signal = this.#ended ? this.#ended.signal : constants.signals.SIGKILL
    const code = this.#ended?.code ?? null
    const exitCode = code ?? 128 + (signal ?? 0)
    for (const limit of met) this.#meet(limit, 'observed')
    this.#meetProcessorTime(exitCode, code === null, timedOut || this.#timedOut || cancelled)
    return {
      code,
      signal: signal === null ? null : signalName(signal),
      exitCode,
      timedOut: timedOut || this.#timedOut,
      cancelled,
      stdout,
      stderr,
      violations: this.#violations,
      asked: this.#asked,
      unlisted: [...this.#unlisted],
      leftBehind: this.#leftBehind,
      ...(this.#programs.length > 0 && { programs: { list: this.#programs, leftOut: this.#programsLeftOut } }),
      ...(this.#plan.learns && { sought: { list: this.#sought, leftOut: this.#soughtLeftOut } }),
      masksWatched: this.#ready?.watched ?? false,
      milliseconds: monotonicMs() - this.#started,
    }
  }

  /** A message that a text follows. */
  #noteText(message: Extract<InitMessage, { readonly bytes: number }>, text: Buffer): void {
    if (message.kind === 'asked')
      this.#asked.push({ what: message.what, name: text.toString('latin1'), port: message.port })
    else if (message.kind === 'left') this.#leftBehind.push(decodePath(text))
    else if (message.kind === 'start' || message.kind === 'caller') return
    else if (message.kind === 'program') this.#noteProgram(message, text)
    else if (message.kind === 'unjudged') this.#violate(unjudgedViolation(decodePath(text)))
    else if (message.what === null) this.#soughtLeftOut += message.count
    else this.#sought.push({ what: message.what, path: decodePath(text) })
  }

  #noteProgram({ pid, parent }: Extract<InitMessage, { readonly kind: 'program' }>, text: Buffer): void {
    if (pid === null) this.#programsLeftOut = parent
    else this.#programs.push(parseProgram(pid, parent, text))
  }

  #note(message: InitMessage): void {
    if (message.kind === 'failed') this.#failed ??= message
    else if (message.kind === 'timeout') this.#timedOut = true
    else if (message.kind === 'ready') this.#ready = { watched: message.watched }
    else if (message.kind === 'ended') this.#ended = message
    else if (message.kind === 'server' && !message.listed && message.port < FIRST_UNCHOSEN_PORT)
      this.#unlisted.add(message.port)
    else if (message.kind === 'memory') this.#violate(memoryViolation(message.mebibytes, message.ended))
    else if (message.kind === 'processes') this.#meet('processes', 'observed')
    else if (message.kind === 'mask') this.#violateMask(this.#plan.masks[message.index], message.event)
  }

  /**
   * By SIGXCPU, which nothing else sends, and by SIGKILL a second later; a shell reports its
   * child's signal as 128 and its number.
   */
  #meetProcessorTime(exitCode: number, signalled: boolean, otherwise: boolean): void {
    if (this.#plan.limits.cpuSeconds === undefined || otherwise || this.#met.size > 0) return
    if (exitCode === 128 + SIGXCPU) this.#meet('cpu', signalled ? 'observed' : 'inferred')
    else if (exitCode === 128 + constants.signals.SIGKILL) this.#meet('cpu', 'inferred')
  }

  #meet(limit: MetLimit, certainty: Violation['certainty']): void {
    if (this.#met.has(limit)) return
    this.#met.add(limit)
    this.#violate(limitViolation(limit, this.#plan.limits, certainty))
  }

  #violateMask(path: string | undefined, event: 'opened' | 'lifted'): void {
    if (path !== undefined) this.#violate(maskViolation(path, event))
  }

  #violate(violation: Violation): void {
    this.#violations.push(violation)
    this.#onViolation?.(violation)
  }
}

/** Looked up only when a command was ended by a signal: loading node:os takes a while. */
function signalName(number: number): NodeJS.Signals {
  const entry = Object.entries(constants.signals).find(([, value]) => value === number)
  return (entry?.[0] ?? 'SIGKILL') as NodeJS.Signals
}

/** Faults of the sandbox: the command did not run inside, so it did not run. */
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
const LACKING: ReadonlySet<string> = new Set(['ENOSYS', 'ENOTSUP', 'EINVAL', 'EPERM', 'EACCES', 'EBUSY', 'E2BIG'])

export function faultOfStep(failed: { step: number; errno: number; index: number }, plan: SandboxPlan): SandboxFault {
  const step = stepOf(failed.step)
  if (step === null) return new SandboxFault('sandbox-failed', `the sandbox failed at an unknown step ${failed.step}`)
  const { code, what, remedy } = STEP_MEANINGS[step]
  const path = subjectOf(step, failed.index, plan)
  const name = errnoName(failed.errno)
  const message = `${what}${path === undefined ? '' : `: ${JSON.stringify(path)}`} (${name})`
  const about = path === undefined ? {} : { path }
  // Only features that the kernel lacks may be skipped; otherwise a process could exhaust the
  // machine to switch the step off.
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
    `${title} could not create the sandbox (${status})${said === '' ? '' : `: ${said}`}`,
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
