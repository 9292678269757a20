/** Commands for the bash tool: in the sandbox, captured, with background handles that die with the session. */

import { parseUrl } from '../../hosts/url.ts'
import type { SessionFacts } from '../../policy/call.ts'
import { grantsOf } from '../../policy/command-grant.ts'
import type { CommandRule } from '../../policy/policy.ts'
import { takeStance } from '../../policy/stance.ts'
import type { LaunchIo } from '../../sandbox/backend.ts'
import { analyze } from '../../shell/analyze.ts'
import type { CommandOptions, CommandPort, CommandResult } from '../../tools/tool.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { BackgroundCommands } from '../session/background-commands.ts'
import { outcomeNotes } from '../session/outcome-notes.ts'
import type { CallReach } from '../session/policy.ts'
import { egressRules } from './egress-rules.ts'
import type { CommandRunner, RunIo, RunOutcome, RunRequest } from './runner.ts'
import { RunnerPool } from './runner-pool.ts'

export interface CommandPortOptions {
  /** The policy that a command is placed by at this moment. */
  readonly placing: (reach: CallReach) => LoadedPolicy
  readonly facts: () => SessionFacts
  readonly openRunner: (loaded: LoadedPolicy) => CommandRunner
  readonly ownAddresses: () => readonly string[]
  readonly home: string
  readonly spillDirectory: string
}

/** What one call's commands may reach, and who hears how they came out. */
export interface CommandCall {
  readonly reach: CallReach
  readonly heard: (outcome: RunOutcome) => void
  /** The same for a command in the background, after the call itself has ended. */
  readonly heardLater?: (outcome: RunOutcome) => void
}

/** The commands of one session. */
export interface SessionCommands {
  /** The port as one call sees it. */
  forCall(call: CommandCall): CommandPort
  /** Runs a program of a custom tool under a policy of its own. */
  launch(loaded: LoadedPolicy, request: RunRequest, io: LaunchIo): Promise<RunOutcome>
  close(): Promise<void>
}

/** Opens the commands of one session. */
export function openCommands(options: CommandPortOptions): SessionCommands {
  const background = new BackgroundCommands()
  const runners = new RunnerPool(options.openRunner)
  const closing = new AbortController()
  const foreground = new Set<Promise<unknown>>()

  async function launch(loaded: LoadedPolicy, request: RunRequest, io: RunIo): Promise<RunOutcome> {
    const { signal } = closing
    signal.throwIfAborted()
    const running = runners.use(loaded, (runner) =>
      runner.run(request, { ...io, signal: io.signal ? AbortSignal.any([io.signal, signal]) : signal }),
    )
    foreground.add(running)
    try {
      return await running
    } finally {
      foreground.delete(running)
    }
  }

  function launchText(command: string, how: CommandOptions, call: CommandCall, io: RunIo): Promise<RunOutcome> {
    const loaded = options.placing(call.reach)
    const request: RunRequest = {
      argv: ['/bin/bash', '-c', '--', command],
      cwd: how.cwd,
      timeoutMs: how.timeoutMs,
      ...carriedAlong(command, how.cwd, loaded, call.reach, options),
    }
    return launch(loaded, request, io)
  }

  async function run(command: string, how: CommandOptions, call: CommandCall): Promise<CommandResult> {
    const outcome = await launchText(command, how, call, {
      stdout: 'capture',
      stderr: 'capture',
      signal: how.signal,
      spillDirectory: options.spillDirectory,
    })
    call.heard(outcome)
    return resultOf(outcome)
  }

  return {
    launch,
    forCall: (call) => ({
      run: (command, how) => run(command, how, call),
      start: async (command, how) =>
        background.start(
          command,
          (io) => launchText(command, how, call, io),
          (outcome) => call.heardLater?.(outcome),
        ),
      list: () => background.list(),
      read: (handle) => background.read(handle),
      kill: (handle) => background.kill(handle),
    }),
    close: async () => {
      closing.abort()
      await background.ended()
      await Promise.allSettled(foreground)
      await runners.close()
    },
  }
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
  loaded: LoadedPolicy,
  reach: CallReach,
  { facts, ownAddresses, home }: CommandPortOptions,
): Pick<RunRequest, 'patterns' | 'envVars' | 'rules'> {
  const analysis = analyze(command, { cwd, home, variables: { HOME: home, PWD: cwd } })
  const commands = 'facts' in analysis ? analysis.facts.commands : []
  const session = facts()
  const grants: CommandRule[] = commands.flatMap((fact) => grantsOf(loaded.policy, session, fact) ?? [])
  const direct = commands.filter((fact) => fact.via.every((via) => via.kind === 'wrapper'))
  const words = direct.map((fact) => fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? []))
  const contained = takeStance(loaded.policy, session, 'bash').mode.value === 'contained'
  const patterns = [...grants.map((grant) => grant.pattern.words), ...(contained ? words : [])]
  const programs = [...new Set(patterns.flatMap((pattern) => pattern.slice(0, 1)))]
  const rules = egressRules(loaded, shorten(command), grants, programs, ownAddresses)
  // A host that a person agreed to is there for the commands that name it; others do not get it with them.
  const named = new Set(commands.flatMap((fact) => fact.hosts.map((use) => hostOf(use.url))))
  const answered = session.grants.hosts.filter(({ pattern }) => named.has(pattern.host))
  return {
    patterns,
    envVars: grants.flatMap((grant) => grant.envVars),
    rules: { ...rules, allowed: [...(rules.allowed ?? []), ...reach.hosts, ...answered] },
  }
}

function hostOf(url: string): string {
  const parsed = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`)
  return 'problem' in parsed ? '' : parsed.url.host
}

function shorten(command: string): string {
  const line = command.split('\n')[0]!
  return line.length > 60 || line !== command ? `${line.slice(0, 60)} …` : line
}
