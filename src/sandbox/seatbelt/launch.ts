/** Runs one command under sandbox-exec. Whatever cannot be made ends it; nothing runs without the profile. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { Readable, Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { errorCode } from '../../system/fault.ts'
import { monotonicMs } from '../../system/monotonic.ts'
import type { Captured, LaunchIo, LaunchResult, Output } from '../backend.ts'
import { Capture } from '../bwrap/launch-capture.ts'
import type { Limits } from '../limits.ts'
import type { SandboxPlan } from '../plan.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { readIdentities } from '../session.ts'
import { compileProfile } from './profile.ts'

/** Absolute: what lies on PATH may be anybody's. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'
const SHELL = '/bin/sh'
/** Makes the terminal outside, so that no program inside holds the person's own. */
const SCRIPT = '/usr/bin/script'
/** Said inside, before the command: without it, how it ended is not the command's own end. */
const STARTED = 'echo >&3; exec 3>&-; exec "$@"'

/** The program and arguments that run a plan: limits first, then the profile, then the command. */
export function launchWords(plan: SandboxPlan): readonly [string, ...string[]] {
  const inner = [SHELL, '-c', `${limitCommands(plan.limits)}exec "$0" "$@"`, SANDBOX_EXEC]
  const started = tellsStart(plan) ? [SHELL, '-c', STARTED, 'sh'] : []
  const words = [...inner, '-p', compileProfile(plan), '--', ...started, ...plan.argv]
  if (plan.terminal === null) return words as unknown as readonly [string, ...string[]]
  return [SCRIPT, '-q', '/dev/null', ...words]
}

/** A bare baseline has no shell to say it with, and a terminal's streams go through script. */
function tellsStart(plan: SandboxPlan): boolean {
  return plan.baseline !== 'none' && plan.terminal === null
}

/** A limit that cannot be set ends it before the command. Memory and processes are not held by limits of this kind on macOS. */
function limitCommands({ cpuSeconds, openFiles, fileBytes }: Limits): string {
  const wanted: readonly (readonly [string, number | undefined])[] = [
    ['-c', 0],
    ['-t', cpuSeconds === undefined ? undefined : Math.max(1, Math.ceil(cpuSeconds))],
    ['-f', fileBytes === undefined ? undefined : Math.max(1, Math.floor(fileBytes / 512))],
  ]
  const set = wanted.map(([option, value]) => (value === undefined ? '' : `ulimit ${option} ${value} || exit 71; `))
  // The system may allow fewer than that already.
  const files =
    openFiles === undefined ? '' : `ulimit -n ${openFiles} 2>/dev/null || ulimit -n "$(ulimit -Sn)" || exit 71; `
  return `${set.join('')}${files}`
}

/** Runs the plan to its end. */
export async function launchSeatbelt(plan: SandboxPlan, io: LaunchIo): Promise<LaunchResult> {
  io.signal?.throwIfAborted()
  requireSameFiles(plan)
  if (io.verify && !(await passes(io.verify)))
    throw new SandboxFault('mask-moved', 'a hidden file was moved while another command ran', {
      remedy: 'Run it again when the other command has ended.',
    })
  const begun = monotonicMs()
  const [program, ...args] = launchWords(plan)
  const child = spawn(program, args, {
    cwd: plan.cwd,
    env: plan.env as NodeJS.ProcessEnv,
    stdio: streamsFor(io),
    // A process group of its own, by which all of it is ended. A terminal's group is made by script.
    detached: io.terminal === undefined,
  })
  return attend(child, plan, io, begun)
}

async function passes(verify: NonNullable<LaunchIo['verify']>): Promise<boolean> {
  try {
    return await verify()
  } catch {
    return false
  }
}

function requireSameFiles(plan: SandboxPlan): void {
  const now = readIdentities([...plan.maskIdentities.keys()])
  for (const [path, { device, inode }] of plan.maskIdentities) {
    const found = now.get(path)
    if (found?.device !== device || found.inode !== inode)
      throw new SandboxFault('mask-moved', `${path} is hidden, and another file is in its place now`, { path })
  }
}

function streamsFor(io: LaunchIo): StdioOptions {
  if (io.terminal) return ['inherit', 'inherit', io.stderr === undefined ? 'inherit' : 'pipe']
  // A pipe or a file is passed on as it is; a terminal never is.
  const own = (fd: number) => (isatty(fd) ? 'pipe' : fd)
  const input = io.stdin === undefined || io.stdin === 'none' ? 'ignore' : io.stdin === 'inherit' ? own(0) : 'pipe'
  const output = (choice: Output | undefined, fd: number) =>
    choice === undefined || choice === 'discard' ? 'ignore' : choice === 'inherit' ? own(fd) : 'pipe'
  return [input, output(io.stdout, 1), output(io.stderr, 2), 'pipe']
}

async function attend(child: ChildProcess, plan: SandboxPlan, io: LaunchIo, begun: number): Promise<LaunchResult> {
  const cleanups: (() => void)[] = []
  let timedOut = false
  let cancelled = false
  let started = false
  child.stdio[3]?.on('data', () => {
    started = true
  })
  const killAll = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(io.terminal ? child.pid : -child.pid, signal)
    } catch {
      // Nothing of it is left.
    }
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', (error) => reject(unstartable(error)))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const captures = {
    stdout: attach(child.stdout, io.stdout, 'stdout', plan, io),
    stderr: attach(child.stderr, io.stderr, 'stderr', plan, io),
  }
  feed(child, io.stdin, cleanups)
  if (plan.limits.timeoutMs !== undefined) {
    const timer = setTimeout(() => {
      timedOut = true
      killAll('SIGKILL')
    }, plan.limits.timeoutMs)
    cleanups.push(() => clearTimeout(timer))
  }
  const abort = () => {
    cancelled = true
    killAll('SIGKILL')
  }
  io.signal?.addEventListener('abort', abort, { once: true })
  cleanups.push(() => io.signal?.removeEventListener('abort', abort))
  for (const name of io.forwardSignals ?? []) {
    const forward = () => killAll(name)
    process.on(name, forward)
    cleanups.push(() => process.off(name, forward))
  }
  try {
    const { code, signal } = await ended
    // What it left in its group goes with it; then the streams end, too.
    killAll('SIGKILL')
    await closed
    const [stdout, stderr] = [captures.stdout?.finish() ?? null, captures.stderr?.finish() ?? null]
    if (tellsStart(plan) && !started && !timedOut && !cancelled) throw unstarted(code, stderr)
    return {
      code,
      signal,
      exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
      timedOut,
      cancelled,
      stdout,
      stderr,
      violations: [],
      asked: [],
      unlisted: [],
      masksWatched: false,
      milliseconds: monotonicMs() - begun,
    }
  } finally {
    for (const cleanup of cleanups.reverse()) cleanup()
  }
}

/** A profile that does not compile, or a program that is no sandbox-exec. */
function unstarted(code: number | null, stderr: Captured | null): SandboxFault {
  const said = stderr?.bytes.toString('utf8', 0, 500).trim()
  return new SandboxFault(
    'sandbox-failed',
    `sandbox-exec did not take the profile (exit ${code})${said ? `: ${said}` : ''}`,
    {
      remedy: 'Nothing ran. Please report it with the output of `cordon doctor --json`.',
    },
  )
}

function unstartable(error: Error): SandboxFault {
  return new SandboxFault(
    'sandbox-missing',
    `${SANDBOX_EXEC} cannot be started (${errorCode(error) ?? error.message})`,
    {
      cause: error,
      remedy: 'It is part of macOS; nothing runs without it.',
    },
  )
}

function attach(
  stream: Readable | null,
  choice: Output | undefined,
  name: 'stdout' | 'stderr',
  plan: SandboxPlan,
  io: LaunchIo,
): Capture | null {
  if (!stream) return null
  stream.on('error', () => {})
  if (choice === 'capture') return new Capture(stream, name, plan.limits.outputBytes, io.spillDirectory)
  if (choice === 'inherit') stream.pipe(process[name], { end: false })
  else if (choice instanceof Writable) stream.pipe(choice, { end: false })
  return null
}

function feed(child: ChildProcess, source: LaunchIo['stdin'], cleanups: (() => void)[]): void {
  const { stdin } = child
  if (!stdin) return
  stdin.on('error', () => {})
  if (typeof source === 'string' && source !== 'inherit') return void stdin.end(source)
  if (source instanceof Uint8Array) return void stdin.end(source)
  const from = source === 'inherit' ? process.stdin : source
  if (!(from instanceof Readable)) return void stdin.end()
  from.pipe(stdin)
  cleanups.push(() => {
    from.unpipe(stdin)
    if (from === process.stdin) from.pause()
  })
}
