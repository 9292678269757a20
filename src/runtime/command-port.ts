/** Commands for the bash tool: in the sandbox, captured, with background handles that die with the session. */

import type { SessionFacts } from '../policy/call.ts'
import { grantsOf } from '../policy/command-part.ts'
import type { CommandRule } from '../policy/policy.ts'
import { analyze } from '../shell/analyze.ts'
import type { BackgroundOutput, CommandOptions, CommandPort, CommandResult } from '../tools/tool.ts'
import type { CommandRunner, RunOutcome, RunRequest } from './command-runner.ts'
import { egressRules } from './egress-rules.ts'
import type { LoadedPolicy } from './load-policy.ts'
import { outcomeNotes } from './outcome-notes.ts'

interface Background {
  readonly handle: string
  readonly command: string
  readonly abort: AbortController
  readonly ended: Promise<void>
  output: { stdout: string; stderr: string; truncated: boolean; notes: readonly string[] }
  exitCode: number | null
}

export interface CommandPortOptions {
  readonly loaded: LoadedPolicy
  readonly runner: CommandRunner
  readonly facts: () => SessionFacts
  readonly ownAddresses: () => readonly string[]
  readonly home: string
  readonly spillDirectory: string
}

/** Opens the command port of one session. */
export function openCommandPort(options: CommandPortOptions): CommandPort & { close(): Promise<void> } {
  const background = new Map<string, Background>()
  let count = 0

  async function launch(command: string, how: CommandOptions, signal: AbortSignal): Promise<RunOutcome> {
    const request: RunRequest = {
      argv: ['/bin/bash', '-c', '--', command],
      cwd: how.cwd,
      timeoutMs: how.timeoutMs,
      ...carriedAlong(command, how.cwd, options),
    }
    return options.runner.run(request, {
      stdout: 'capture',
      stderr: 'capture',
      signal,
      spillDirectory: options.spillDirectory,
    })
  }

  async function run(command: string, how: CommandOptions): Promise<CommandResult> {
    return resultOf(await launch(command, how, how.signal))
  }

  async function start(command: string, how: CommandOptions): Promise<string> {
    const handle = `bg_${++count}`
    const abort = new AbortController()
    const entry: Background = {
      handle,
      command,
      abort,
      exitCode: null,
      output: { stdout: '', stderr: '', truncated: false, notes: [] },
      ended: launch(command, how, abort.signal).then(
        (outcome) => {
          const { stdout, stderr, truncated, notes, exitCode } = resultOf(outcome)
          entry.output = { stdout, stderr, truncated, notes }
          entry.exitCode = exitCode
        },
        (error) => {
          entry.output = { stdout: '', stderr: String(error), truncated: false, notes: [] }
          entry.exitCode = 125
        },
      ),
    }
    background.set(handle, entry)
    return handle
  }

  return {
    run,
    start,
    list: () => [...background.values()].map(describe),
    read: (handle) => {
      const entry = background.get(handle)
      return entry ? { ...describe(entry), ...entry.output } : null
    },
    kill: async (handle) => {
      const entry = background.get(handle)
      if (!entry) return false
      entry.abort.abort()
      await entry.ended
      return true
    },
    close: async () => {
      for (const entry of background.values()) entry.abort.abort()
      await Promise.all([...background.values()].map((entry) => entry.ended))
      background.clear()
    },
  }
}

function describe(entry: Background): Pick<BackgroundOutput, 'handle' | 'command' | 'running' | 'exitCode'> {
  return { handle: entry.handle, command: entry.command, running: entry.exitCode === null, exitCode: entry.exitCode }
}

function resultOf(outcome: RunOutcome): CommandResult {
  const { stdout, stderr, exitCode, timedOut } = outcome.result
  return {
    exitCode,
    stdout: stdout?.bytes.toString('utf8') ?? '',
    stderr: stderr?.bytes.toString('utf8') ?? '',
    timedOut,
    truncated: (stdout?.truncated ?? false) || (stderr?.truncated ?? false),
    spill: stdout?.spill ?? stderr?.spill ?? null,
    notes: outcomeNotes(outcome),
  }
}

/** S3: a compound command gets the union of its segments' hosts and variables, and the bundles of their patterns. */
function carriedAlong(
  command: string,
  cwd: string,
  { loaded, facts, ownAddresses, home }: CommandPortOptions,
): Pick<RunRequest, 'patterns' | 'envVars' | 'rules'> {
  const analysis = analyze(command, { cwd, home, variables: { HOME: home, PWD: cwd } })
  const commands = 'facts' in analysis ? analysis.facts.commands : []
  const session = facts()
  const grants: CommandRule[] = commands.flatMap((fact) => grantsOf(loaded.policy, session, fact) ?? [])
  const direct = commands.filter((fact) => fact.via.every((via) => via.kind === 'wrapper'))
  const words = direct.map((fact) => fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? []))
  const contained = (session.mode ?? loaded.policy.mode.value) === 'contained'
  const patterns = [...grants.map((grant) => grant.pattern.words), ...(contained ? words : [])]
  const programs = [...new Set(patterns.flatMap((pattern) => pattern.slice(0, 1)))]
  const rules = egressRules(loaded.policy, shorten(command), grants, programs, ownAddresses())
  // Without a grant a command has no network in contained mode beyond what bundles give its programs (P10).
  return { patterns, envVars: grants.flatMap((grant) => grant.envVars), rules }
}

function shorten(command: string): string {
  const line = command.split('\n')[0]!
  return line.length > 60 || line !== command ? `${line.slice(0, 60)} …` : line
}
