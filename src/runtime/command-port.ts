/** Commands for the bash tool: in the sandbox, captured, with background handles that die with the session. */

import { parseUrl } from '../hosts/url.ts'
import type { SessionFacts } from '../policy/call.ts'
import { grantsOf } from '../policy/command-grant.ts'
import type { CommandRule } from '../policy/policy.ts'
import { takeStance } from '../policy/stance.ts'
import type { LaunchIo } from '../sandbox/backend.ts'
import { analyze } from '../shell/analyze.ts'
import { Fault, messageOf } from '../system/fault.ts'
import type { BackgroundOutput, CommandOptions, CommandPort, CommandResult } from '../tools/tool.ts'
import { CommandOutput } from './command-output.ts'
import type { CommandRunner, RunIo, RunOutcome, RunRequest } from './command-runner.ts'
import { egressRules } from './egress-rules.ts'
import type { LoadedPolicy } from './load-policy.ts'
import { outcomeNotes } from './outcome-notes.ts'
import type { CallReach } from './session-policy.ts'

interface Background {
  readonly handle: string
  readonly command: string
  readonly abort: AbortController
  readonly stdout: CommandOutput
  readonly stderr: CommandOutput
  ended: Promise<void>
  notes: readonly string[]
  exitCode: number | null
}

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

/** Commands in the background at one time; each is a sandbox of its own. */
const MAX_RUNNING = 32
/** Ended ones are kept for reading, the oldest forgotten first. */
const MAX_KEPT = 100
/** Unread output of each stream of a background command. */
const MAX_UNREAD = 1024 * 1024

/** Opens the commands of one session. */
export function openCommands(options: CommandPortOptions): SessionCommands {
  const background = new Map<string, Background>()
  const runners = new RunnerPool(options.openRunner)
  const closing = new AbortController()
  const foreground = new Set<Promise<unknown>>()
  let count = 0

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

  function start(command: string, how: CommandOptions, call: CommandCall): string {
    if ([...background.values()].filter((entry) => entry.exitCode === null).length >= MAX_RUNNING) {
      throw new Fault('too-many-commands', `${MAX_RUNNING} commands run in the background already`, {
        remedy: 'End one with { "action": "kill", "handle": "…" }.',
      })
    }
    forget(background)
    const abort = new AbortController()
    const entry: Background = {
      handle: `bg_${++count}`,
      command,
      abort,
      stdout: new CommandOutput(MAX_UNREAD),
      stderr: new CommandOutput(MAX_UNREAD),
      ended: Promise.resolve(),
      notes: [],
      exitCode: null,
    }
    const { stdout, stderr } = entry
    const onNotice = (line: string) => {
      entry.notes = [...entry.notes, line]
    }
    entry.ended = launchText(command, how, call, { stdout, stderr, signal: abort.signal, onNotice }).then(
      (outcome) => {
        entry.notes = outcomeNotes(outcome, stderr.tail())
        entry.exitCode = outcome.result.exitCode
        call.heardLater?.(outcome)
      },
      (error) => {
        entry.notes = [messageOf(error)]
        entry.exitCode = 125
      },
    )
    background.set(entry.handle, entry)
    return entry.handle
  }

  return {
    launch,
    forCall: (call) => ({
      run: (command, how) => run(command, how, call),
      start: async (command, how) => start(command, how, call),
      list: () => [...background.values()].map(describe),
      read: (handle) => {
        const entry = background.get(handle)
        return entry ? readEntry(entry) : null
      },
      kill: async (handle) => {
        const entry = background.get(handle)
        if (!entry) return false
        entry.abort.abort()
        await entry.ended
        return true
      },
    }),
    close: async () => {
      closing.abort()
      await Promise.allSettled([...background.values()].map((entry) => entry.ended))
      await Promise.allSettled(foreground)
      background.clear()
      await runners.close()
    },
  }
}

/** Runners by the policy they were made for; making one looks through the whole project. */
class RunnerPool {
  readonly #open: (loaded: LoadedPolicy) => CommandRunner
  readonly #runners = new Map<LoadedPolicy, { readonly runner: CommandRunner; users: number }>()

  constructor(open: (loaded: LoadedPolicy) => CommandRunner) {
    this.#open = open
  }

  async use<T>(loaded: LoadedPolicy, work: (runner: CommandRunner) => Promise<T>): Promise<T> {
    const known = this.#runners.get(loaded)
    const entry = known ?? { runner: this.#open(loaded), users: 0 }
    if (!known) this.#runners.set(loaded, entry)
    entry.users++
    try {
      return await work(entry.runner)
    } finally {
      entry.users--
      await this.#trim()
    }
  }

  async close(): Promise<void> {
    const all = [...this.#runners.values()]
    this.#runners.clear()
    await Promise.all(all.map(({ runner }) => runner.close()))
  }

  async #trim(): Promise<void> {
    const idle = [...this.#runners].filter(([, entry]) => entry.users === 0)
    for (const [loaded, { runner }] of idle.slice(0, Math.max(0, this.#runners.size - MAX_RUNNERS))) {
      this.#runners.delete(loaded)
      await runner.close()
    }
  }
}

const MAX_RUNNERS = 3

function forget(background: Map<string, Background>): void {
  for (const [handle, entry] of background) {
    if (background.size < MAX_KEPT) return
    if (entry.exitCode !== null) background.delete(handle)
  }
}

function readEntry(entry: Background): BackgroundOutput {
  const stdout = entry.stdout.take()
  const stderr = entry.stderr.take()
  const truncated = stdout.dropped || stderr.dropped
  return { ...describe(entry), stdout: stdout.text, stderr: stderr.text, truncated, notes: entry.notes }
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
  const rules = egressRules(loaded.policy, shorten(command), grants, programs, ownAddresses)
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
