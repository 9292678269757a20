/** A command as a child of this process, for backends without an init: its streams, its time, its signals, its end. */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import { type Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { monotonicMs } from '../system/timing.ts'
import type { CapturedOutput, LaunchIo, Output, SandboxFault } from './backend.ts'
import { Capture, feed } from './capture.ts'
import type { Limits } from './limits.ts'

interface Attendance {
  readonly child: ChildProcess
  readonly limits: Limits
  readonly io: LaunchIo
  /** Sends a signal to all of it; SIGKILL ends all of it. */
  readonly kill: (signal: NodeJS.Signals) => void
  /** The fault of a program that cannot be started. */
  readonly unstartable: (error: Error) => SandboxFault
}

export interface ChildEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly cancelled: boolean
  readonly stdout: CapturedOutput | null
  readonly stderr: CapturedOutput | null
  readonly milliseconds: number
}

/** The three streams of a child that gets no terminal. A pipe or a file of this process is passed on as it is; a terminal never is. */
export function childStreams(io: LaunchIo): Extract<StdioOptions, unknown[]> {
  const own = (fd: number) => (isatty(fd) ? 'pipe' : fd)
  const input = io.stdin === undefined || io.stdin === 'none' ? 'ignore' : io.stdin === 'inherit' ? own(0) : 'pipe'
  const output = (choice: Output | undefined, fd: number) =>
    choice === undefined || choice === 'discard' ? 'ignore' : choice === 'inherit' ? own(fd) : 'pipe'
  return [input, output(io.stdout, 1), output(io.stderr, 2)]
}

/** Waits for its end, and kills its remaining processes. */
export async function attendChild({ child, limits, io, kill, unstartable }: Attendance): Promise<ChildEnd> {
  const started = monotonicMs()
  const cleanups: (() => void)[] = []
  let timedOut = false
  let cancelled = false
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', (error) => reject(unstartable(error)))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const captures = {
    stdout: attach(child.stdout, io.stdout, 'stdout', limits, io),
    stderr: attach(child.stderr, io.stderr, 'stderr', limits, io),
  }
  if (child.stdin) feed(child.stdin, io.stdin, cleanups)
  if (limits.timeoutMs !== undefined) {
    const timer = setTimeout(() => {
      timedOut = true
      kill('SIGKILL')
    }, limits.timeoutMs)
    cleanups.push(() => clearTimeout(timer))
  }
  const abort = () => {
    cancelled = true
    kill('SIGKILL')
  }
  io.signal?.addEventListener('abort', abort, { once: true })
  cleanups.push(() => io.signal?.removeEventListener('abort', abort))
  if (io.signal?.aborted) abort()
  for (const name of io.forwardSignals ?? []) {
    const forward = () => kill(name)
    process.on(name, forward)
    cleanups.push(() => process.off(name, forward))
  }
  try {
    const { code, signal } = await ended
    // Killing the rest of its group also ends the streams.
    kill('SIGKILL')
    await closed
    return {
      code,
      signal,
      timedOut,
      cancelled,
      stdout: captures.stdout?.finish() ?? null,
      stderr: captures.stderr?.finish() ?? null,
      milliseconds: monotonicMs() - started,
    }
  } finally {
    for (const cleanup of cleanups.reverse()) cleanup()
  }
}

function attach(
  stream: Readable | null,
  choice: Output | undefined,
  name: 'stdout' | 'stderr',
  limits: Limits,
  io: LaunchIo,
): Capture | null {
  if (!stream) return null
  stream.on('error', () => {})
  if (choice === 'capture') return new Capture(stream, name, limits.outputBytes, io.spillDirectory)
  if (choice === 'inherit') stream.pipe(process[name], { end: false })
  else if (choice instanceof Writable) stream.pipe(choice, { end: false })
  return null
}
