/** Runs one command for a process that has nothing else to do meanwhile: the addon `cordon-launch` starts it and waits. */

import { dirname, join } from 'node:path'
import type { LaunchIo, LaunchResult, PlanUnderway } from '../backend.ts'
import type { SandboxPlan } from '../plan.ts'
import { parseStart } from '../programs.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { judgedMessage, MESSAGE_BYTES, parseMessage } from './init-messages.ts'
import { requestSpare, takeSpare } from './launch-ahead.ts'
import { type BwrapSetup, compileFurnishing, compileLayout, openGroup } from './launch-compile.ts'
import { LaunchProgress } from './launch-progress.ts'

/** What native/launch/ gives Node. */
export interface LaunchAddon {
  start(args: Buffer, fds: Buffer): number
  waits(): number
  swap(number: number): void
  /** `judge` is given each message about a program start, whole, and returns what is said to the init. */
  attend(
    orders: Buffer,
    signals: Buffer,
    timeoutMs: number,
    streams: number,
    judge: (message: Buffer) => Buffer,
  ): Buffer
  abandon(): void
}

/** A layout that is being prepared. */
export interface PreparedSandbox {
  /** Hands over the plan, whose layout this is, and blocks until the command is done. The streams are those of the layout. */
  launch(plan: SandboxPlan, io: LaunchIo): LaunchResult
  /** There will be no command, or it is done: nothing is left either way. */
  abandon(): void
}

/** By number, where the architectures agree; `node:os`, which knows them too, takes a start half a millisecond. */
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
    // A start whose judge fails is refused.
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
 * Has a layout prepared, while this process goes on to make the plan of what is put into it. Null, with nothing
 * started, when the launch may not block, and when a terminal is among the streams: that has to be relayed.
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
  if (started !== 0) cgroup?.remove()
  if (started > 0) return null
  if (started < 0)
    throw new SandboxFault('sandbox-missing', `${argv[0]} could not be started (errno ${-started})`, {
      remedy: 'Run `cordon doctor`: it says what this machine is missing.',
    })
  return {
    launch: (plan, io) => {
      const progress = new LaunchProgress(plan, io.onViolation)
      const orders = Buffer.from(compileFurnishing(plan, machine, io))
      const signals = Buffer.from((io.forwardSignals ?? []).map((name) => SIGNALS[name]!))
      const answer = addon.attend(orders, signals, plan.limits.timeoutMs ?? 0, ahead ? 1 : 0, (message) =>
        answerStart(message, io),
      )
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
