/** Runs one command in a sandbox with an init: starts it, feeds it, listens to its init, ends it, and says what happened. */

import type { ChildProcess } from 'node:child_process'
import { createServer, type Server, type Socket } from 'node:net'
import { constants } from 'node:os'
import { Writable } from 'node:stream'
import { monotonicMs, trace } from '../../system/timing.ts'
import type { LaunchIo, LaunchResult, Output } from '../backend.ts'
import { SandboxFault } from '../backend.ts'
import { Capture, feed } from '../capture.ts'
import type { SandboxPlan } from '../plan.ts'
import type { Caller, ProgramStart } from '../programs.ts'
import { NUMBERS } from '../protocol.ts'
import { CONTROL_FD, type SandboxLayer } from './args.ts'
import { type InitMessage, judgedMessage, wordMessage } from './init-messages.ts'
import { type BwrapSetup, compileFurnishing } from './launch-compile.ts'
import { faultOfStep, LaunchProgress } from './launch-progress.ts'
import {
  InsideServers,
  keepAlive,
  layoutName,
  type StartedSandbox,
  type Streams,
  startSandbox,
  streamsOf,
} from './launch-sandbox.ts'
import type { SpareSandboxes } from './launch-spare.ts'
import { relayTerminal, type TerminalRelay } from './launch-terminal.ts'
import { passOutput, type TerminalOutput } from './terminal-output.ts'

/** How long the init has to end the sandbox before its connection is cut, which also ends it. */
const QUIT_GRACE_MS = 1000
/** A signal to oneself is there at once; this is for the thread that takes it. */
const AFTER_STOP_MS = 20

/** Runs a plan. Resolves when the command and everything it started are gone. */
export async function launchSandbox(
  plan: SandboxPlan,
  io: LaunchIo,
  machine: BwrapSetup,
  spares: SpareSandboxes | null = null,
): Promise<LaunchResult> {
  const setup = compileFurnishing(plan, machine, io)
  if (plan.network.kind === 'listener' && !io.onListener)
    throw new SandboxFault('sandbox-network', 'the plan has a network listener, but nobody takes it')
  io.signal?.throwIfAborted()

  const name = spares ? layoutName(plan, io, machine) : null
  const spare = (name !== null && spares?.take(name, plan)) || null
  const layout = spare ?? startSandbox(plan, io, machine)
  trace(spare ? 'took a spare sandbox' : 'started a sandbox')
  const attended = attend(layout, plan, io, setup, machine.layer)
  // Nothing is left to do when bubblewrap itself goes, unless a control group is to be removed: a process that is done
  // need not wait for it.
  if (!layout.cgroup) attended.finally(() => keepAlive(layout, false)).catch(() => {})
  if (name !== null) spares?.follow(name, plan, () => startSandbox(plan, io, machine), attended)
  return attended
}

async function attend(
  layout: StartedSandbox,
  plan: SandboxPlan,
  io: LaunchIo,
  setup: Uint8Array,
  layer: SandboxLayer,
): Promise<LaunchResult> {
  const { child } = layout
  const progress = new LaunchProgress(plan, io.onViolation)
  const closed = closeOf(child, layer)
  const control = child.stdio[CONTROL_FD] as Socket | undefined
  const cleanups: (() => void)[] = []
  let timedOut = false
  let cancelled = false
  let changed = false
  let servers: Server[] = []
  let countdown: Countdown | null = null
  try {
    if (!control)
      return await closed.then(() => Promise.reject(new SandboxFault('sandbox-failed', 'no control channel')))
    control.on('error', () => {})
    control.write(setup)
    trace('sent the setup message')
    if (child.pid !== undefined) io.onStarted?.(child.pid)
    const inside = new InsideServers(plan.servers, control, io)
    cleanups.push(() => inside.close())
    const refuse = () => {
      changed = true
      control.write(wordMessage('quit'))
    }
    const outputs: TerminalOutput[] = []
    /** Whether a signal or a limit ends it. Then a terminal that is stopped, as by Ctrl-S, is not waited for. */
    let isEnding = false
    let isOver = false
    const dropRest = () => {
      if (isEnding && isOver) for (const output of outputs) output.drop()
    }
    const ended = new Promise<void>((resolve) => {
      const judge = (number: number, start: ProgramStart | null) => {
        countdown?.pause()
        void judgeStart(io, start).then((allowed) => {
          countdown?.resume()
          control.write(judgedMessage(number, allowed))
        })
      }
      listenTo(control, progress, { judge, caller: (one) => io.onCaller?.(one) }, (message) => {
        inside.take(message)
        // Ctrl-Z was for the terminal inside; the process that waits for this process learns of it by this process.
        if (message.kind === 'stopped' && io.terminal) process.kill(0, 'SIGTSTP')
        if (message.kind === 'ended' || message.kind === 'failed') {
          // One that caught the signal and ended by itself wants its last words read.
          if (message.kind === 'ended' && message.code !== null) isEnding = false
          isOver = true
          dropRest()
          resolve()
        }
        if (message.kind === 'gate')
          void passGate(io).then((good) => (good ? control.write(wordMessage('go')) : refuse()))
      })
    })

    const end = () => {
      isEnding = true
      control.write(wordMessage('quit'))
      const timer = setTimeout(() => {
        // The init ends with its connection, whatever became of bubblewrap.
        control.destroy()
        child.kill('SIGKILL')
      }, QUIT_GRACE_MS)
      cleanups.push(() => clearTimeout(timer))
    }
    if (plan.limits.timeoutMs !== undefined) {
      const limit = new Countdown(plan.limits.timeoutMs, () => {
        timedOut = true
        end()
      })
      countdown = limit
      cleanups.push(() => limit.end())
    }
    const abort = () => {
      cancelled = true
      end()
    }
    io.signal?.addEventListener('abort', abort, { once: true })
    cleanups.push(() => io.signal?.removeEventListener('abort', abort))
    if (io.signal?.aborted) abort()
    const streams = streamsOf(layout)
    const relay = io.terminal ? relayTerminal(streams, control, io.terminal) : null
    if (relay) {
      cleanups.push(relay.end)
      outputs.push(relay.output)
    }
    const onEnding = () => {
      isEnding = true
      dropRest()
    }
    cleanups.push(passSignals(control, io.forwardSignals ?? [], relay, onEnding))
    const way = layer.bare && plan.network.kind === 'listener' ? openWay(io, servers) : null
    child.on('message', (word, handle) => {
      if (word === 'way') return takeWay(way, handle as Socket | undefined)
      if (typeof word === 'number' && word < 0) return connectedTo(plan, io, -word - 1, handle as Socket | undefined)
      if (typeof word === 'number') return inside.connected(word, handle as Socket)
      const server = handle as Server | undefined
      if (!server) return
      servers.push(server)
      io.onListener?.(server, word === 'listener' ? null : Number(word))
    })

    const diagnosis = new Capture(child.stderr!, 'bwrap', undefined, undefined)
    const captures = connect(streams, plan, io, outputs, cleanups)

    // The init reports the end when everything else is dead. Its own end need not be awaited:
    // releasing the watch on the masks alone takes the kernel 15 ms.
    const ending = Promise.all([ended, endOf(streams.stdout), endOf(streams.stderr)])
    const status = await Promise.race([closed, ending.then(() => null)])
    trace('the command ended')
    await Promise.all(outputs.map((output) => output.flushed()))
    const stdout = captures.stdout?.finish() ?? null
    const stderr = captures.stderr?.finish() ?? null
    if (changed) throw faultOfStep({ step: NUMBERS.step.MASK, errno: constants.errno.ESTALE, index: -1 }, plan)
    const complaint = () => ({
      by: layer.title,
      text: diagnosis.finish().bytes.toString('utf8'),
      status: status ?? 'no exit status',
    })
    return progress.end({ timedOut, cancelled, stdout, stderr, met: layout.cgroup?.hits() ?? [], complaint })
  } finally {
    for (const cleanup of cleanups.reverse()) cleanup()
    for (const server of servers) server.close()
    servers = []
  }
}

/** A time limit that pauses while program starts wait for an answer: a person may be asked. */
class Countdown {
  readonly #then: () => void
  #left: number
  #since = monotonicMs()
  #waiting = 0
  #timer: NodeJS.Timeout | null

  constructor(ms: number, then: () => void) {
    this.#left = ms
    this.#then = then
    this.#timer = setTimeout(then, ms)
  }

  pause(): void {
    if (this.#waiting++ > 0 || this.#timer === null) return
    clearTimeout(this.#timer)
    this.#left -= monotonicMs() - this.#since
  }

  resume(): void {
    if (--this.#waiting > 0 || this.#timer === null) return
    this.#since = monotonicMs()
    this.#timer = setTimeout(this.#then, Math.max(0, this.#left))
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** Without its own network a command's connections come one by one, to a server that listens nowhere. */
function openWay(io: LaunchIo, servers: Server[]): Server {
  const server = createServer({ pauseOnConnect: false })
  servers.push(server)
  io.onListener?.(server, null)
  return server
}

function takeWay(way: Server | null, socket: Socket | undefined): void {
  if (way && socket) way.emit('connection', socket)
  else socket?.destroy()
}

/** A connection to the path of one of the plan's sockets. */
function connectedTo(
  { sockets }: SandboxPlan,
  { onLocal }: LaunchIo,
  number: number,
  socket: Socket | undefined,
): void {
  const target = sockets[number]?.target
  socket?.on('error', () => socket.destroy())
  if (target === undefined || !onLocal) socket?.destroy()
  else if (socket) onLocal(socket, target)
}

/** These end a program that does not catch them. */
const ENDING: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])

/**
 * Passes signals on to the command; SIGTSTP stops both, like a shell's child, unless nothing could
 * continue this process.
 */
function passSignals(
  control: Socket,
  names: readonly NodeJS.Signals[],
  relay: TerminalRelay | null,
  onEnding: () => void,
): () => void {
  const goOn = () => {
    relay?.goOn()
    control.write(wordMessage('signal', constants.signals.SIGCONT))
  }
  const stop = () => {
    control.write(wordMessage('signal', constants.signals.SIGSTOP), () => {
      relay?.suspend()
      process.off('SIGTSTP', stop)
      process.kill(process.pid, 'SIGTSTP')
      // The process stops here; without a shell to say "fg" the kernel ignores the signal.
      setTimeout(() => {
        if (!ended) process.on('SIGTSTP', stop)
        goOn()
      }, AFTER_STOP_MS)
    })
  }
  let ended = false
  const handlers = names.map((name): readonly [NodeJS.Signals, () => void] => {
    if (name === 'SIGTSTP') return [name, stop]
    if (name === 'SIGCONT') return [name, goOn]
    const pass = () => {
      if (ENDING.has(name)) onEnding()
      control.write(wordMessage('signal', constants.signals[name]))
    }
    return [name, pass]
  })
  for (const [name, handler] of handlers) process.on(name, handler)
  return () => {
    ended = true
    for (const [name, handler] of handlers) process.off(name, handler)
  }
}

/** A failed scan counts as one that found something. */
async function passGate(io: LaunchIo): Promise<boolean> {
  try {
    return (await io.verify?.()) === true
  } catch {
    return false
  }
}

function closeOf(child: ChildProcess, { title, install }: SandboxLayer): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(
        new SandboxFault('sandbox-missing', `${title} could not be started: ${error.message}`, {
          cause: error,
          remedy: `Install it (${install}) and run \`cordon doctor\`.`,
        }),
      ),
    )
    child.once('close', (code, signal) => resolve(signal === null ? `exit ${code}` : `ended by ${signal}`))
  })
}

function listenTo(
  control: Socket,
  progress: LaunchProgress,
  programs: {
    readonly judge: (number: number, start: ProgramStart | null) => void
    readonly caller: (caller: Caller) => void
  },
  answer: (message: InitMessage) => void,
): void {
  let rest: Buffer = Buffer.alloc(0)
  control.on('data', (chunk: Buffer) => {
    rest = progress.take(
      rest.length === 0 ? chunk : Buffer.concat([rest, chunk]),
      answer,
      programs.judge,
      programs.caller,
    )
  })
}

/** A start without a judge, or with a failing one, is refused. */
async function judgeStart({ judge }: LaunchIo, start: ProgramStart | null): Promise<boolean> {
  try {
    return start !== null && judge !== undefined && (await judge(start)) === true
  } catch {
    return false
  }
}

function endOf(stream: Socket | null): Promise<void> {
  return new Promise((resolve) => {
    if (!stream || stream.readableEnded || stream.destroyed) resolve()
    else stream.once('close', resolve).once('end', resolve)
  })
}

interface Captures {
  readonly stdout: Capture | null
  readonly stderr: Capture | null
}

/** `outputs` gets those that go to somebody else's stream. */
function connect(
  streams: Streams,
  plan: SandboxPlan,
  io: LaunchIo,
  outputs: TerminalOutput[],
  cleanups: (() => void)[],
): Captures {
  const { outputBytes } = plan.limits
  const one = (stream: Socket | null, choice: Output | undefined, name: 'stdout' | 'stderr'): Capture | null => {
    if (!stream) return null
    stream.on('error', () => {})
    if (choice === 'capture') return new Capture(stream, name, outputBytes, io.spillDirectory)
    const to = choice === 'inherit' ? process[name] : choice
    if (to instanceof Writable) {
      const output = passOutput(stream, to)
      outputs.push(output)
      cleanups.push(output.end)
    }
    return null
  }
  if (io.terminal) return { stdout: null, stderr: one(streams.stderr, io.stderr, 'stderr') }
  // Reading its input sees that it is gone.
  if (streams.stdin) feed(streams.stdin.resume(), io.stdin, cleanups)
  return { stdout: one(streams.stdout, io.stdout, 'stdout'), stderr: one(streams.stderr, io.stderr, 'stderr') }
}
