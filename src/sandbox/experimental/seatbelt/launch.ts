/** Runs one command under sandbox-exec. Any failure ends it; nothing runs without the profile. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import { errorCode } from '../../../system/fault.ts'
import { attendChild, type ChildEnd, childStreams } from '../../attended-child.ts'
import { type CapturedOutput, type LaunchIo, type LaunchResult, SandboxFault } from '../../backend.ts'
import type { Limits } from '../../limits.ts'
import type { SandboxPlan } from '../../plan.ts'
import { readIdentities } from '../../session.ts'
import type { Violation } from '../../violation.ts'
import { compileProfile, type RefusalMark, readRefusals, refusalPredicate } from './profile.ts'

/** Absolute: PATH is not trusted. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec'
const SHELL = '/bin/sh'
/** Creates the terminal outside, so that no program inside has the person's own. */
const SCRIPT = '/usr/bin/script'
/** Said inside, before the command: without it, how it ended is not the command's own end. */
const STARTED = 'echo >&3; exec 3>&-; exec "$@"'

/** The program and arguments that run a plan: limits first, then the profile, then the command. */
export function launchWords(plan: SandboxPlan, mark: RefusalMark | null = null): readonly [string, ...string[]] {
  const inner = [SHELL, '-c', `${limitCommands(plan.limits)}exec "$0" "$@"`, SANDBOX_EXEC]
  const started = reportsStart(plan) ? [SHELL, '-c', STARTED, 'sh'] : []
  const words = [...inner, '-p', compileProfile(plan, mark), '--', ...started, ...plan.argv]
  if (plan.terminal === null) return words as unknown as readonly [string, ...string[]]
  return [SCRIPT, '-q', '/dev/null', ...words]
}

/** A bare baseline has no shell to say it with, and a terminal's streams go through script. */
function reportsStart(plan: SandboxPlan): boolean {
  return plan.baseline !== 'none' && plan.terminal === null
}

/** If a limit cannot be set, nothing runs. On macOS they do not cover memory and processes. */
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

/** Runs the plan to its end. `observed`: refusals are read from the log afterwards. */
export async function launchSeatbelt(plan: SandboxPlan, io: LaunchIo, observed: boolean): Promise<LaunchResult> {
  io.signal?.throwIfAborted()
  requireSameFiles(plan)
  if (io.verify && !(await passes(io.verify)))
    throw new SandboxFault('mask-moved', 'a hidden file was moved while another command ran', {
      remedy: 'Run it again when the other command has ended.',
    })
  const mark: RefusalMark | null = observed ? `cordon-${randomBytes(12).toString('hex')}` : null
  const [program, ...args] = launchWords(plan, mark)
  const child = spawn(program, args, {
    cwd: plan.cwd,
    env: plan.env as NodeJS.ProcessEnv,
    stdio: streamsFor(io),
    // Its own process group, to kill all of it. For a terminal, script creates the group.
    detached: io.terminal === undefined,
  })
  return attend(child, plan, io, mark)
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
  return [...childStreams(io), 'pipe']
}

async function attend(
  child: ChildProcess,
  plan: SandboxPlan,
  io: LaunchIo,
  mark: RefusalMark | null,
): Promise<LaunchResult> {
  let started = false
  child.stdio[3]?.on('data', () => {
    started = true
  })
  const kill = (signal: NodeJS.Signals) => {
    if (child.pid === undefined) return
    try {
      process.kill(io.terminal ? child.pid : -child.pid, signal)
    } catch {
      // Nothing of it is left.
    }
  }
  const end = await attendChild({ child, limits: plan.limits, io, kill, unstartable })
  const { code, signal, stderr } = end
  if (reportsStart(plan) && !started && !end.timedOut && !end.cancelled) throw unstarted(code, stderr)
  const violations = mark !== null && isWorthAsking(end, io) ? await readKernelLog(mark, end.milliseconds) : []
  for (const violation of violations) io.onViolation?.(violation)
  return {
    ...end,
    exitCode: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
    violations,
    asked: [],
    unlisted: [],
    leftBehind: [],
    masksWatched: false,
  }
}

/** The log takes its time: a command that did well, or failed and said nothing (a search without a match), does not pay for it. */
function isWorthAsking({ code, cancelled, stderr }: ChildEnd, io: LaunchIo): boolean {
  if (cancelled) return false
  return io.onViolation !== undefined || (code !== 0 && stderr?.total !== 0)
}

/** A profile that does not compile, or a program that is not a sandbox-exec. */
function unstarted(code: number | null, stderr: CapturedOutput | null): SandboxFault {
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

/** Absolute: PATH is not trusted, and zsh has its own `log`. */
const LOG = '/usr/bin/log'
const TIME_MS = 2_000
const MAX_BYTES = 1024 * 1024

/** The refusals of a launch that took so long; none when the log is not readable, slow or odd. */
async function readKernelLog(mark: RefusalMark, milliseconds: number): Promise<readonly Violation[]> {
  const text = await output([
    'show',
    '--style',
    'ndjson',
    // A duration instead of a time of day: time zones and clock changes do not matter.
    '--last',
    `${Math.ceil(milliseconds / 1000) + 2}s`,
    '--predicate',
    refusalPredicate(mark),
  ])
  return text === null ? [] : readRefusals(text, mark)
}

/** The program's output, up to the cap; null if it failed or was too slow. */
function output(args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(LOG, args, { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/', env: { PATH: '/usr/bin:/bin' } })
    const chunks: Buffer[] = []
    let length = 0
    const end = (text: string | null) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      child.stdout.destroy()
      resolve(text)
    }
    const whole = () => Buffer.concat(chunks).toString('utf8')
    const timer = setTimeout(() => end(null), TIME_MS)
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      length += chunk.length
      // A command that has much refused cannot hide the first of it.
      if (length >= MAX_BYTES) end(whole())
    })
    child.stdout.on('error', () => end(null))
    child.once('error', () => end(null))
    child.once('close', (code) => end(code === 0 ? whole() : null))
  })
}
