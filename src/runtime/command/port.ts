/** Commands for the bash tool: in the sandbox, captured, with background handles that die with the session. */

import type { SessionFacts } from '../../policy/call.ts'
import type { Decision } from '../../policy/decision.ts'
import type { LaunchIo } from '../../sandbox/backend.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { Fault } from '../../system/fault.ts'
import { monotonicMs } from '../../system/monotonic.ts'
import type { CommandOptions, CommandPort, CommandResult } from '../../tools/tool.ts'
import type { UndoCover } from '../decide/undo-cover.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { BackgroundCommands } from '../session/background-commands.ts'
import type { CallReach } from '../session/policy.ts'
import { outcomeNotes } from './outcome-notes.ts'
import type { RunIo, RunRequest } from './run-request.ts'
import type { CommandRunner, RunOutcome } from './runner.ts'
import { RunnerPool } from './runner-pool.ts'
import { type CommandGroup, planText, type TextPlan } from './text-plan.ts'

export interface CommandPortOptions {
  /** Whose commands they are, for undo. */
  readonly session?: string
  /** The policy that a command is placed by at this moment. */
  readonly placing: (reach: CallReach) => LoadedPolicy
  readonly facts: () => SessionFacts
  readonly openRunner: (loaded: LoadedPolicy) => CommandRunner
  readonly ownAddresses: () => readonly string[]
  readonly home: string
  readonly spillDirectory: string
  /** Told what undo turned out not to cover. */
  readonly cover: UndoCover
}

/** What one call's commands may reach, and who hears how they came out. */
export interface CommandCall {
  /** The command as it was decided, with what was found out about it then: nothing else is run. */
  readonly decided: {
    readonly command: string
    readonly facts: ShellFacts | null
    readonly relies?: Decision['relies']
  }
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

  function plan(command: string, how: CommandOptions, call: CommandCall): TextPlan {
    if (command !== call.decided.command)
      throw new Fault('unchecked-command', 'the command is not the one that was decided')
    const { facts, ownAddresses, home } = options
    const loaded = options.placing(call.reach)
    const place = { cwd: how.cwd, home, loaded, session: facts(), reach: call.reach, ownAddresses }
    return planText(command, call.decided.facts, place)
  }

  async function launchGroup(
    group: CommandGroup,
    how: CommandOptions,
    call: CommandCall,
    io: RunIo,
  ): Promise<RunOutcome> {
    const { text, patterns, grants, paths, envVars, rules } = group
    const { cwd, timeoutMs } = how
    const argv = ['/bin/bash', '-c', '--', text]
    const { relies } = call.decided
    const { session } = options
    const own = { ...(relies && { relies }), ...(session !== undefined && { session }) }
    const request = { argv, cwd, timeoutMs, patterns, grants, paths, envVars, rules, ...own }
    const loaded = options.placing(call.reach)
    try {
      const outcome = await launch(loaded, request, io)
      if (outcome.changes?.unkept.length) options.cover.noteUnkept(loaded.root, call.decided.command)
      return outcome
    } catch (error) {
      if (error instanceof Fault && error.code === 'undo-unavailable') options.cover.noteNoDoor()
      throw error
    }
  }

  async function run(command: string, how: CommandOptions, call: CommandCall): Promise<CommandResult> {
    const { groups, note } = plan(command, how, call)
    const io: RunIo = {
      stdout: 'capture',
      stderr: 'capture',
      signal: how.signal,
      spillDirectory: options.spillDirectory,
    }
    const started = monotonicMs()
    let whole: CommandResult | null = null
    let moved = ''
    for (const group of groups) {
      const status = whole?.exitCode ?? 0
      if ((group.when === 'success' && status !== 0) || (group.when === 'failure' && status === 0)) continue
      const left = { ...how, timeoutMs: Math.max(1, how.timeoutMs - (monotonicMs() - started)) }
      const outcome = await launchGroup({ ...group, text: `${moved}${group.text}` }, left, call, io)
      call.heard(outcome)
      whole = joined(whole, resultOf(outcome))
      if (whole.timedOut) break
      if (group.moves && whole.exitCode === 0) moved += `${group.text} && `
    }
    return note === null ? whole! : { ...whole!, notes: [...whole!.notes, note] }
  }

  return {
    launch,
    forCall: (call) => ({
      run: (command, how) => run(command, how, call),
      start: async (command, how) =>
        background.start(
          command,
          (io) => {
            // It may serve while it runs: one sandbox, and the hosts of the whole.
            const { whole, wholeNote } = plan(command, how, call)
            if (wholeNote !== null) io.onNotice?.(wholeNote)
            return launchGroup(whole, how, call, io)
          },
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

/** What two commands one after the other come to. */
function joined(before: CommandResult | null, after: CommandResult): CommandResult {
  if (before === null) return after
  return {
    ...after,
    stdout: before.stdout + after.stdout,
    stderr: before.stderr + after.stderr,
    truncated: before.truncated || after.truncated,
    spill: after.spill ?? before.spill,
    notes: [...new Set([...before.notes, ...after.notes])],
  }
}
