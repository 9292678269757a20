/**
 * Runs one command through the addon `cordon-launch`, which blocks, and prepares spare sandboxes
 * ahead. A spare contains only its mounts; everything about one command comes with the setup
 * message. It is used only if the command would get the same layout now, and discarded otherwise.
 */

import { closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { monotonicMs, trace } from '../../system/timing.ts'
import { type LaunchIo, type LaunchResult, type PlanUnderway, SandboxFault } from '../backend.ts'
import type { SandboxLayout } from '../layout.ts'
import type { SandboxPlan } from '../plan.ts'
import { parseStart } from '../programs.ts'
import { judgedMessage, MESSAGE_BYTES, parseMessage } from './init-messages.ts'
import { type BwrapSetup, compileFurnishing, compileLayout, O_PATH, openGroup } from './launch-compile.ts'
import { LaunchProgress } from './launch-progress.ts'
import { KEPT_MS, lookOf } from './launch-spare.ts'

/** What native/launch/ gives Node. */
interface LaunchAddon {
  start(args: Buffer, fds: Buffer): number
  waits(): number
  swap(number: number): void
  /** `judge` gets each whole message about a program start, and returns the answer for the init. */
  attend(setup: Buffer, signals: Buffer, timeoutMs: number, streams: number, judge: (message: Buffer) => Buffer): Buffer
  abandon(): void
}

/** A layout that is being prepared. */
export interface PreparedSandbox {
  /** Sends the plan for this layout, and blocks until the command is done. */
  launch(plan: SandboxPlan, io: LaunchIo): LaunchResult
  /** There will be no command, or it is done: nothing is left either way. */
  abandon(): void
}

/** By number, where the architectures agree; loading `node:os` costs a start half a millisecond. */
const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
  SIGCONT: 18,
  SIGTSTP: 20,
}

/** The addon at this path; null where it was not built or this Node cannot load it: then the usual way serves. */
function loadAddon(path: string): LaunchAddon | null {
  const module = { exports: {} }
  try {
    process.dlopen(module, path)
    return module.exports as LaunchAddon
  } catch {
    return null
  }
}

function answerStart(message: Buffer, { judge }: LaunchIo): Buffer {
  const asked = parseMessage(message)
  if (asked?.kind !== 'start') return Buffer.alloc(0)
  let allowed = false
  try {
    const start = parseStart(message.subarray(MESSAGE_BYTES, MESSAGE_BYTES + asked.bytes))
    allowed = start !== null && judge?.(start) === true
  } catch {
    // If the judge fails, the start is refused.
  }
  return Buffer.from(judgedMessage(asked.number, allowed))
}

/** Whether nothing has to be read, written or answered by this process while the command runs. */
function mayBlock(io: LaunchIo): boolean {
  const passedOn = io.stdin === 'inherit' && io.stdout === 'inherit' && io.stderr === 'inherit'
  const known = (io.forwardSignals ?? []).every((name) => name in SIGNALS)
  return passedOn && known && !io.terminal && !io.signal && !io.verify && !io.judgeAsks
}

/**
 * Prepares a layout while this process completes the plan. Null, with nothing started, if the
 * launch may not block, or if a stream is a terminal, which needs a relay.
 */
export function prepareSandbox(
  { layout, limits, sockets }: Omit<PlanUnderway, 'complete'>,
  io: LaunchIo,
  machine: BwrapSetup,
): PreparedSandbox | null {
  const addon =
    !sockets && mayBlock(io)
      ? loadAddon(join(dirname(machine.init.path), `cordon-launch-${machine.architecture}`))
      : null
  if (!addon) return null
  const cgroup = openGroup(limits, machine)
  const shown = layout()
  const argv = compileLayout(shown, false, machine, cgroup)
  // The addon takes the words as one text: a NUL in one would make it two.
  if (argv.some((word) => word.includes('\0')))
    throw new SandboxFault('sandbox-plan', 'a path contains a NUL character')
  const words = `${argv.join('\0')}\0`
  const wanted = machine.layer.ahead && !cgroup ? { addon, words, layout: shown, machine } : null
  const ahead = wanted !== null && takeSpare(wanted)
  const fds = Int32Array.of(machine.init.fd, 0, 1, 2, machine.nothing, machine.root)
  const started = ahead ? 0 : addon.start(Buffer.from(words), Buffer.from(fds.buffer))
  trace(ahead ? 'took a spare sandbox' : 'started a sandbox')
  if (started !== 0) cgroup?.remove()
  if (started > 0) return null
  if (started < 0)
    throw new SandboxFault('sandbox-missing', `${argv[0]} could not be started (errno ${-started})`, {
      remedy: 'Run `cordon doctor`: it says what this machine is missing.',
    })
  return {
    launch: (plan, io) => {
      const progress = new LaunchProgress(plan, io.onViolation)
      const setup = Buffer.from(compileFurnishing(plan, machine, io))
      const signals = Buffer.from((io.forwardSignals ?? []).map((name) => SIGNALS[name]!))
      trace('ready to send the setup message')
      const answer = addon.attend(setup, signals, plan.limits.timeoutMs ?? 0, ahead ? 1 : 0, (message) =>
        answerStart(message, io),
      )
      trace('the command ended')
      const met = cgroup?.hits() ?? []
      cgroup?.remove()
      const said = 12 + answer.readUInt32LE(8)
      progress.take(answer.subarray(12, said))
      const result = progress.end({
        timedOut: answer.readUInt32LE(4) === 1,
        cancelled: false,
        stdout: null,
        stderr: null,
        met,
        complaint: () => ({
          by: machine.layer.title,
          text: answer.toString('utf8', said),
          status: `wait status ${answer.readInt32LE(0)}`,
        }),
      })
      if (wanted) requestSpare(wanted)
      return result
    },
    abandon: () => {
      addon.abandon()
      cgroup?.remove()
    },
  }
}

/** A layout, as one is started for a command. */
interface SpareRequest {
  readonly addon: LaunchAddon
  /** The program and its arguments, each with its NUL. */
  readonly words: string
  readonly layout: SandboxLayout
  readonly machine: BwrapSetup
}

interface Wish extends SpareRequest {
  readonly umask: number
  /** The very file that was verified, still open. */
  readonly init: number
}

interface PreparedLayout {
  /** The addon's number of it. */
  readonly number: number
  readonly addon: LaunchAddon
  readonly words: string
  readonly umask: number
  readonly look: string
  readonly since: number
}

/** Commands take turns between few kinds of sandboxes; the addon has as many places. */
const MOST_SPARES = 2

let kept: { wish: Wish | null; readonly laid: Set<PreparedLayout> } | null = null

/** From here on sandboxes are prepared ahead in this process. */
export function keepSpares(): void {
  kept ??= { wish: null, laid: new Set() }
}

/** Whether the addon has a layout equal to this one. A spare that differs is discarded. */
function takeSpare({ addon, ...wanted }: SpareRequest): boolean {
  const umask = process.umask()
  const laid = [...(kept?.laid ?? [])].find((layout) => layout.words === wanted.words && layout.umask === umask)
  if (!laid) return false
  kept!.laid.delete(laid)
  addon.swap(laid.number)
  const fits = !isOld(laid) && laid.look === lookAt(wanted) && addon.waits() === 1
  if (!fits) addon.abandon()
  return fits
}

/** The next command may want a layout like this one's. The command is done: whatever fails here is not about it. */
function requestSpare(wanted: SpareRequest): void {
  if (!kept) return
  forgetWish()
  try {
    kept.wish = { ...wanted, umask: process.umask(), init: openSync(`/proc/self/fd/${wanted.machine.init.fd}`, 'r') }
  } catch {
    // Then none is prepared.
  }
}

/** Prepares the wanted layout between two requests. */
export function prepareSpare(): void {
  const wish = kept?.wish
  if (!wish) return
  const { addon, words, umask, init } = wish
  const opened: number[] = []
  const own = process.umask(umask)
  const number = freeNumber(wish)
  try {
    const look = lookAt(wish)
    opened.push(openSync('/dev/null', 'r+'), openSync('/', O_PATH | constants.O_DIRECTORY))
    const [nothing, root] = opened as [number, number]
    const fds = Int32Array.of(init, nothing, nothing, nothing, nothing, root)
    if (addon.start(Buffer.from(words), Buffer.from(fds.buffer)) === 0) {
      addon.swap(number)
      kept!.laid.add({ number, addon, words, umask, look, since: monotonicMs() })
    }
  } catch {
    // The next command starts its own sandbox, and reports the problem.
  } finally {
    process.umask(own)
    for (const fd of opened) closeSync(fd)
    forgetWish()
  }
}

/** For how many seconds the oldest layout is kept; null without one. */
export function secondsAhead(): number | null {
  endOldSpares()
  const [oldest] = kept?.laid ?? []
  return oldest ? (oldest.since + KEPT_MS - monotonicMs()) / 1000 : null
}

/** Ends sandboxes that were prepared long ago. */
function endOldSpares(): void {
  for (const layout of kept?.laid ?? []) if (isOld(layout)) end(layout)
}

/** Its init has no setup message, and ends with the connection. */
function end(layout: PreparedLayout): void {
  layout.addon.swap(layout.number)
  layout.addon.abandon()
  kept!.laid.delete(layout)
}

/** Where the addon has place: that of a layout of the same kind, or of the oldest. */
function freeNumber({ words }: Wish): number {
  const laid = kept!.laid
  for (const layout of laid) if (layout.words === words) end(layout)
  const [oldest] = laid
  if (oldest && laid.size >= MOST_SPARES) end(oldest)
  const taken = new Set([...laid].map(({ number }) => number))
  return taken.has(0) ? 1 : 0
}

function forgetWish(): void {
  if (kept?.wish) closeSync(kept.wish.init)
  if (kept) kept.wish = null
}

function isOld({ since }: PreparedLayout): boolean {
  return monotonicMs() - since >= KEPT_MS
}

/** Its places, and the programs that make it: one that was installed since makes the next. */
function lookAt({ layout, machine }: Pick<SpareRequest, 'layout' | 'machine'>): string {
  const programs = [machine.init.path, machine.layer.program].map((path) => {
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${ctimeNs}`
  })
  return [...programs, lookOf(layout)].join('\n')
}
