/**
 * Runs one command through the addon `cordon-launch`, which blocks, and prepares spare sandboxes
 * ahead. A spare contains only its mounts; everything about one command comes with the setup
 * message. It is used only if the command would get the same layout now, and discarded otherwise.
 */

import { closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { trace } from '../../system/timing.ts'
import { type LaunchIo, type LaunchResult, type PlanUnderway, SandboxFault } from '../backend.ts'
import type { SandboxLayout } from '../layout.ts'
import type { SandboxPlan } from '../plan.ts'
import { parseStart } from '../programs.ts'
import { judgedMessage, MESSAGE_BYTES, parseMessage } from './init-messages.ts'
import { type BwrapSetup, compileFurnishing, compileLayout, O_PATH, openGroup } from './launch-compile.ts'
import { LaunchProgress } from './launch-progress.ts'
import { lookOf, SparePool } from './launch-spare.ts'

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

/** A layout that waits in the addon, under its number. */
interface WaitingLayout {
  readonly addon: LaunchAddon
  readonly number: number
}

let pool: SparePool<WaitingLayout> | null = null
let wish: Wish | null = null

/** From here on sandboxes are prepared ahead in this process. */
export function keepSpares(): void {
  // The init of a layout has no setup message, and ends with the connection.
  pool ??= new SparePool(({ addon, number }) => {
    addon.swap(number)
    addon.abandon()
  })
}

function nameOf({ words }: SpareRequest, umask: number): string {
  return `${umask}\0${words}`
}

/** Whether the addon has a layout equal to this one. A spare that differs is discarded. */
function takeSpare(wanted: SpareRequest): boolean {
  const layout = pool?.take(nameOf(wanted, process.umask()), () => lookAt(wanted))
  if (!layout) return false
  const { addon } = wanted
  addon.swap(layout.number)
  const waits = addon.waits() === 1
  if (!waits) addon.abandon()
  return waits
}

/** The next command may want a layout like this one's. The command is done: whatever fails here is not about it. */
function requestSpare(wanted: SpareRequest): void {
  if (!pool) return
  forgetWish()
  try {
    wish = { ...wanted, umask: process.umask(), init: openSync(`/proc/self/fd/${wanted.machine.init.fd}`, 'r') }
  } catch {
    // Then none is prepared.
  }
}

/** Prepares the wanted layout between two requests. */
export function prepareSpare(): void {
  if (!wish || !pool) return
  const { addon, words, umask, init } = wish
  const opened: number[] = []
  const own = process.umask(umask)
  const name = nameOf(wish, umask)
  pool.makeRoom(name)
  const number = pool.sandboxes.some((layout) => layout.number === 0) ? 1 : 0
  try {
    const look = lookAt(wish)
    opened.push(openSync('/dev/null', 'r+'), openSync('/', O_PATH | constants.O_DIRECTORY))
    const [nothing, root] = opened as [number, number]
    const fds = Int32Array.of(init, nothing, nothing, nothing, nothing, root)
    if (addon.start(Buffer.from(words), Buffer.from(fds.buffer)) === 0) {
      addon.swap(number)
      pool.add(name, look, { addon, number })
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
  const left = pool?.endOld() ?? null
  return left === null ? null : left / 1000
}

function forgetWish(): void {
  if (wish) closeSync(wish.init)
  wish = null
}

/** Its places, and the programs that make it: one that was installed since makes the next. */
function lookAt({ layout, machine }: Pick<SpareRequest, 'layout' | 'machine'>): string {
  const programs = [machine.init.path, machine.layer.program].map((path) => {
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${ctimeNs}`
  })
  return [...programs, lookOf(layout)].join('\n')
}
