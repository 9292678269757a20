/** Runs one command in a bubblewrap sandbox: starts it, feeds it, listens to its init, ends it, and says what happened. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import type { Server, Socket } from 'node:net'
import { constants } from 'node:os'
import { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { LaunchIo, LaunchResult, Output } from './backend.ts'
import { CONTROL_FD, INIT_FD, IPC_FD, STDIO_FD } from './bwrap/args.ts'
import { goMessage, type InitMessage, quitMessage, signalMessage } from './bwrap/orders.ts'
import { INIT_STEPS } from './bwrap/steps.ts'
import { Capture } from './launch-capture.ts'
import { compileFurnishing, compileRoom, type Machine } from './launch-compile.ts'
import { faultOfStep, SandboxFault } from './launch-fault.ts'
import { LaunchProgress } from './launch-progress.ts'
import { InsideServers } from './launch-servers.ts'
import { relayTerminal } from './launch-terminal.ts'
import { makeCgroup } from './limits-cgroup.ts'
import { handsOutSockets, type SandboxPlan } from './plan.ts'

/** How long the init has to end the sandbox before bubblewrap is killed, which ends it too. */
const QUIT_GRACE_MS = 1000

/** Runs a plan. Resolves when the command and everything it started are gone. */
export async function launchSandbox(plan: SandboxPlan, io: LaunchIo, machine: Machine): Promise<LaunchResult> {
  if (io.begun) return io.begun.launch(plan)
  const orders = compileFurnishing(plan, machine, io)
  if (plan.network.kind === 'listener' && !io.onListener)
    throw new SandboxFault('sandbox-network', 'the plan has a network listener, but nobody takes it')
  io.signal?.throwIfAborted()

  const cgroup = machine.cgroups ? makeCgroup(machine.cgroups, plan.limits) : null
  const [program, ...args] = compileRoom(plan, handsOutSockets(plan), machine, cgroup)
  const child = spawn(program, args, {
    stdio: stdioOf(plan, io, machine),
    env: {},
    cwd: '/',
    // A group of its own: Ctrl-C at the caller's terminal reaches the caller, which decides what to pass on.
    detached: true,
  })
  const attended = attend(child, plan, io, orders)
  // Nothing is left to do when bubblewrap itself goes, unless a control group is to be removed: a process that is done
  // need not wait for it.
  if (cgroup) child.once('exit', () => cgroup.remove())
  else attended.finally(() => release(child)).catch(() => {})
  return attended
}

/** Lets this process end before the child has. */
function release(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
  for (const stream of child.stdio) (stream as Socket | null)?.unref?.()
}

/** A terminal of the caller is never handed in: programs inside could read from it and write escape codes past the relay. */
function passable(fd: number): number | 'pipe' {
  return isatty(fd) ? 'pipe' : fd
}

/** bubblewrap's own descriptors carry only its complaints; the command's follow from STDIO_FD on. */
function stdioOf(plan: SandboxPlan, io: LaunchIo, machine: Machine): StdioOptions {
  const output = (choice: Output | undefined, fd: number) =>
    choice === 'inherit' ? passable(fd) : choice === 'discard' || choice === undefined ? machine.nothing : 'pipe'
  const none = io.stdin === undefined || io.stdin === 'none'
  const input = io.stdin === 'inherit' ? passable(0) : none ? machine.nothing : 'pipe'
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe']
  stdio[CONTROL_FD] = 'pipe'
  stdio[INIT_FD] = machine.init.fd
  stdio[STDIO_FD] = io.terminal ? 'pipe' : input
  stdio[STDIO_FD + 1] = io.terminal ? 'pipe' : output(io.stdout, 1)
  stdio[STDIO_FD + 2] = output(io.stderr, 2)
  if (handsOutSockets(plan)) stdio[IPC_FD] = 'ipc'
  return stdio
}

/** The command's ends of its streams, as this process holds them; null where it holds none. */
export interface Streams {
  readonly stdin: Socket | null
  readonly stdout: Socket | null
  readonly stderr: Socket | null
}

function streamsOf(child: ChildProcess): Streams {
  const at = (fd: number) => (child.stdio[fd] as Socket | null | undefined) ?? null
  return { stdin: at(STDIO_FD), stdout: at(STDIO_FD + 1), stderr: at(STDIO_FD + 2) }
}

async function attend(child: ChildProcess, plan: SandboxPlan, io: LaunchIo, orders: Uint8Array): Promise<LaunchResult> {
  const progress = new LaunchProgress(plan, io.onViolation)
  const closed = closeOf(child)
  const control = child.stdio[CONTROL_FD] as Socket | undefined
  const cleanups: (() => void)[] = []
  let timedOut = false
  let cancelled = false
  let changed = false
  let servers: Server[] = []
  try {
    if (!control)
      return await closed.then(() => Promise.reject(new SandboxFault('sandbox-failed', 'no control channel')))
    control.on('error', () => {})
    control.write(orders)
    const inside = new InsideServers(plan.servers, control, io.onServer)
    cleanups.push(() => inside.close())
    const refuse = () => {
      changed = true
      control.write(quitMessage())
    }
    const ended = new Promise<void>((resolve) => {
      listenTo(control, progress, (message) => {
        inside.take(message)
        if (message.kind === 'ended' || message.kind === 'failed') resolve()
        if (message.kind === 'gate') void passGate(io).then((good) => (good ? control.write(goMessage()) : refuse()))
      })
    })

    const end = () => {
      control.write(quitMessage())
      const timer = setTimeout(() => child.kill('SIGKILL'), QUIT_GRACE_MS)
      cleanups.push(() => clearTimeout(timer))
    }
    if (plan.limits.timeoutMs !== undefined) {
      const timer = setTimeout(() => {
        timedOut = true
        end()
      }, plan.limits.timeoutMs)
      cleanups.push(() => clearTimeout(timer))
    }
    const abort = () => {
      cancelled = true
      end()
    }
    io.signal?.addEventListener('abort', abort, { once: true })
    cleanups.push(() => io.signal?.removeEventListener('abort', abort))
    if (io.signal?.aborted) abort()
    for (const name of io.forwardSignals ?? []) {
      const forward = () => control.write(signalMessage(constants.signals[name]))
      process.on(name, forward)
      cleanups.push(() => process.off(name, forward))
    }
    child.on('message', (word, handle) => {
      if (typeof word === 'number') return inside.connected(word, handle as Socket)
      const server = handle as Server | undefined
      if (!server) return
      servers.push(server)
      io.onListener?.(server)
    })

    const streams = streamsOf(child)
    const diagnosis = new Capture(child.stderr!, 'bwrap', undefined, undefined)
    const captures = connect(streams, plan, io, cleanups)
    if (io.terminal) cleanups.push(relayTerminal(streams, control, io.terminal))

    // The init tells the end when everything else is dead. Its own end, and the kernel's clearing up after it, need not
    // be waited for: releasing the watch on the masks alone takes the kernel 15 ms.
    const told = Promise.all([ended, endOf(streams.stdout), endOf(streams.stderr)])
    const status = await Promise.race([closed, told.then(() => null)])
    const stdout = captures.stdout?.finish() ?? null
    const stderr = captures.stderr?.finish() ?? null
    if (changed) throw faultOfStep({ step: INIT_STEPS.MASK, errno: constants.errno.ESTALE, index: -1 }, plan)
    const complaint = () => ({
      text: diagnosis.finish().bytes.toString('utf8'),
      status: status ?? 'no exit status',
    })
    return progress.end({ timedOut, cancelled, stdout, stderr, complaint })
  } finally {
    for (const cleanup of cleanups.reverse()) cleanup()
    for (const server of servers) server.close()
    servers = []
  }
}

/** A look that fails is a look that found something. */
async function passGate(io: LaunchIo): Promise<boolean> {
  try {
    return (await io.verify?.()) === true
  } catch {
    return false
  }
}

function closeOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) =>
      reject(
        new SandboxFault('sandbox-missing', `bubblewrap could not be started: ${error.message}`, {
          cause: error,
          remedy: 'Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) and run `cordon doctor`.',
        }),
      ),
    )
    child.once('close', (code, signal) => resolve(signal === null ? `exit ${code}` : `ended by ${signal}`))
  })
}

function listenTo(control: Socket, progress: LaunchProgress, answer: (message: InitMessage) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  control.on('data', (chunk: Buffer) => {
    rest = progress.take(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), answer)
  })
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

function connect(streams: Streams, plan: SandboxPlan, io: LaunchIo, cleanups: (() => void)[]): Captures {
  const { outputBytes } = plan.limits
  const one = (stream: Socket | null, choice: Output | undefined, name: 'stdout' | 'stderr'): Capture | null => {
    if (!stream) return null
    stream.on('error', () => {})
    if (choice === 'capture') return new Capture(stream, name, outputBytes, io.spillDirectory)
    if (choice === 'inherit') stream.pipe(process[name], { end: false })
    else if (choice instanceof Writable) stream.pipe(choice, { end: false })
    return null
  }
  if (io.terminal) return { stdout: null, stderr: one(streams.stderr, io.stderr, 'stderr') }
  if (streams.stdin) feed(streams.stdin, io.stdin, cleanups)
  return { stdout: one(streams.stdout, io.stdout, 'stdout'), stderr: one(streams.stderr, io.stderr, 'stderr') }
}

function feed(stdin: Socket, source: LaunchIo['stdin'], cleanups: (() => void)[]): void {
  // A command that does not read its input to the end is no fault. Reading sees that it is gone.
  stdin.on('error', () => {}).resume()
  if (source === 'inherit') {
    process.stdin.pipe(stdin)
    cleanups.push(() => {
      process.stdin.unpipe(stdin)
      process.stdin.pause()
      process.stdin.unref?.()
    })
  } else if (source instanceof Readable) {
    source.pipe(stdin)
    cleanups.push(() => source.unpipe(stdin))
  } else if (source !== undefined) stdin.end(source)
}
