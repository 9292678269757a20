/** Plans, confines and runs command texts part by part; background handles end with the session. */

import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { type CallReach, type Confinement, confine, type Decided, type Narrowing } from '../confine/confinement.ts'
import { type CommandGroup, planText, type TextPlan } from '../confine/text-plan.ts'
import type { FlowWatch } from '../egress/route/gate.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import type { UnapprovedScripts } from '../policy/programs/table.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { LabelPlace } from '../project/session-labels.ts'
import type { ShellFacts } from '../shell/facts.ts'
import { changingPrograms } from '../shell/tables/programs/registry.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { monotonicMs } from '../system/timing.ts'
import type { BackgroundOutput, CommandOptions, CommandPort, CommandResult } from '../tools/tool.ts'
import type { WatchedRun } from './flow-watch.ts'
import { outcomeNotes } from './outcome-notes.ts'
import type { CommandRunner, RunIo, RunOutcome } from './runner.ts'
import type { UndoCover } from './undo-cover.ts'

/** A stream that keeps unread output. */
export class CommandOutput extends Writable {
  readonly #cap: number
  readonly #decoder = new StringDecoder('utf8')
  #unread: Buffer[] = []
  #bytes = 0
  #dropped = false

  constructor(cap: number) {
    super()
    this.#cap = cap
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#unread.push(chunk)
    this.#bytes += chunk.length
    // Keep the newest output; a chatty command must not fill the memory.
    while (this.#bytes > this.#cap) {
      const first = this.#unread[0]!
      const excess = this.#bytes - this.#cap
      if (first.length <= excess) this.#unread.shift()
      else this.#unread[0] = first.subarray(excess)
      this.#bytes -= Math.min(first.length, excess)
      this.#dropped = true
    }
    done()
  }

  /** Everything since the last call; an incomplete character waits for its rest. */
  take(): { readonly text: string; readonly dropped: boolean } {
    const text = this.#decoder.write(Buffer.concat(this.#unread))
    const taken = { text, dropped: this.#dropped }
    this.#unread = []
    this.#bytes = 0
    this.#dropped = false
    return taken
  }

  /** The last bytes, without taking them; notes are inferred from error messages. */
  tail(): string {
    return Buffer.concat(this.#unread).toString('utf8')
  }
}

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

/** Concurrent background commands; each has its own sandbox. */
const MAX_RUNNING = 32
/** Ended ones are kept for reading; the oldest are dropped first. */
const MAX_KEPT = 100
/** Unread bytes of each stream of a background command. */
const MAX_UNREAD = 1024 * 1024
/** The exit code of a command that could not run. */
const FAULT_EXIT = 125

/** The background commands of one session. */
class BackgroundCommands {
  readonly #entries = new Map<string, Background>()
  #count = 0

  /** Starts one; `heard` receives its outcome. */
  start(command: string, launch: (io: RunIo) => Promise<RunOutcome>, heard: (outcome: RunOutcome) => void): string {
    if ([...this.#entries.values()].filter((entry) => entry.exitCode === null).length >= MAX_RUNNING) {
      throw new Fault('too-many-commands', `${MAX_RUNNING} commands run in the background already`, {
        remedy: 'End one with { "action": "kill", "handle": "…" }.',
      })
    }
    this.#forget()
    const entry: Background = {
      handle: `bg_${++this.#count}`,
      command,
      abort: new AbortController(),
      stdout: new CommandOutput(MAX_UNREAD),
      stderr: new CommandOutput(MAX_UNREAD),
      ended: Promise.resolve(),
      notes: [],
      exitCode: null,
    }
    const { stdout, stderr, abort } = entry
    const onNotice = (line: string) => {
      entry.notes = [...entry.notes, line]
    }
    entry.ended = launch({ stdout, stderr, signal: abort.signal, onNotice }).then(
      (outcome) => {
        entry.notes = outcomeNotes(outcome, stderr.tail())
        entry.exitCode = outcome.result.exitCode
        heard(outcome)
      },
      (error) => {
        entry.notes = [messageOf(error)]
        entry.exitCode = FAULT_EXIT
      },
    )
    this.#entries.set(entry.handle, entry)
    return entry.handle
  }

  list(): Pick<BackgroundOutput, 'handle' | 'command' | 'running' | 'exitCode'>[] {
    return [...this.#entries.values()].map(describe)
  }

  /** Its output since the last call; null without one of this name. */
  read(handle: string): BackgroundOutput | null {
    const entry = this.#entries.get(handle)
    if (!entry) return null
    const stdout = entry.stdout.take()
    const stderr = entry.stderr.take()
    const truncated = stdout.dropped || stderr.dropped
    return { ...describe(entry), stdout: stdout.text, stderr: stderr.text, truncated, notes: entry.notes }
  }

  /** Ends one; false without one of this name. */
  async kill(handle: string): Promise<boolean> {
    const entry = this.#entries.get(handle)
    if (!entry) return false
    entry.abort.abort()
    await entry.ended
    return true
  }

  /** Resolves when all have ended; the caller ends them. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#entries.values()].map((entry) => entry.ended))
    this.#entries.clear()
  }

  #forget(): void {
    for (const [handle, entry] of this.#entries) {
      if (this.#entries.size < MAX_KEPT) return
      if (entry.exitCode !== null) this.#entries.delete(handle)
    }
  }
}

function describe(entry: Background): Pick<BackgroundOutput, 'handle' | 'command' | 'running' | 'exitCode'> {
  return { handle: entry.handle, command: entry.command, running: entry.exitCode === null, exitCode: entry.exitCode }
}

/** The confinement settings of this moment. */
export interface Scope {
  readonly loaded: LoadedPolicy
  readonly facts: SessionFacts
  readonly narrowing: readonly Narrowing[]
  readonly scripts?: UnapprovedScripts | null
}

export interface CommandPortOptions {
  /** The session that owns the commands, for undo. */
  readonly session?: string
  readonly scope: () => Scope
  readonly runner: CommandRunner
  /** The streams of a foreground command. */
  readonly io: RunIo
  readonly home: string
  /** Records gaps that undo turned out to have. */
  readonly cover: UndoCover
  /** Where the labels of the session are. */
  readonly labels?: () => LabelPlace
  /** The process is here for one command, and closes this after it. */
  readonly single?: true
}

/** The grants of one call's commands, and the listeners for their outcome. */
export interface CommandCall {
  /** The decided command with the facts of the decision: nothing else runs. */
  readonly decided: {
    readonly command: string
    readonly facts: ShellFacts | null
    readonly relies?: Decision['relies']
    readonly judged?: Decision['judged']
    readonly followed?: Decision['followed']
  }
  readonly reach: CallReach
  readonly heard: (outcome: RunOutcome) => void
  /** The same for a background command, after the call has ended. */
  readonly onLateOutcome?: (outcome: RunOutcome) => void
}

/** The commands of one session. */
export interface SessionCommands {
  /** The port for one call. */
  forCall(call: CommandCall): CommandPort
  /** The confinement of a program that Cordon itself starts, such as a tool's script. */
  confine(decided: Decided, narrowing: readonly Narrowing[]): Confinement
  run(confinement: Confinement, argv: readonly string[], io: RunIo): Promise<RunOutcome>
  close(): Promise<void>
}

/** Opens the commands of one session. */
export function openCommands(options: CommandPortOptions): SessionCommands {
  const { runner, session } = options
  const background = new BackgroundCommands()
  const closing = new AbortController()
  const foreground = new Set<Promise<unknown>>()

  function confined(decided: Decided, narrowing: readonly Narrowing[]): Confinement {
    const scope = options.scope()
    const own = session === undefined ? decided : { ...decided, session }
    return confine(scope.loaded, own, [...scope.narrowing, ...narrowing])
  }

  async function launch(
    confinement: Confinement,
    argv: readonly string[],
    io: RunIo,
    followed: readonly string[] = [],
  ): Promise<RunOutcome> {
    closing.signal.throwIfAborted()
    const flow =
      options.labels && (await watchOf({ place: options.labels(), scope: options.scope, confinement, followed }))
    closing.signal.throwIfAborted()
    const signals = [io.signal, options.single ? undefined : closing.signal].filter((signal) => signal !== undefined)
    const running = runner.run(confinement, argv, {
      ...io,
      ...(flow && { flow }),
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    })
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
    const { loaded, facts } = options.scope()
    const byProgram = runner.reportsCallers && options.cover.judges
    const place = { cwd: how.cwd, home: options.home, loaded, session: facts, agreed: call.reach.hosts, byProgram }
    return planText(command, call.decided.facts, place)
  }

  async function launchGroup(
    group: CommandGroup,
    text: string,
    { cwd, timeoutMs }: CommandOptions,
    { decided, reach }: CommandCall,
    io: RunIo,
  ): Promise<RunOutcome> {
    const { command, relies, judged, facts } = decided
    const { facts: session, scripts = null } = options.scope()
    const changing = () => changingPrograms().split('\n')
    const of = { session, commands: facts?.commands ?? [], changing, scripts }
    const confinement = confined(
      { command: group, cwd, text: of, ...(relies && { relies }), ...((judged || group.relies) && { judged: true }) },
      [
        { kind: 'reach', reach },
        { kind: 'time', ms: timeoutMs, by: 'the timeout of the call' },
      ],
    )
    try {
      const outcome = await launch(confinement, ['/bin/bash', '-c', '--', text], io, decided.followed)
      if (outcome.changes?.unkept.length) options.cover.noteUnkept(confinement.root, command)
      if (outcome.changes?.isFull) options.cover.noteFull(confinement.root)
      return outcome
    } catch (error) {
      if (error instanceof Fault && (error.code === 'undo-unavailable' || error.code === 'programs-unjudged'))
        options.cover.noteNoBroker()
      throw error
    }
  }

  async function run(command: string, how: CommandOptions, call: CommandCall): Promise<CommandResult> {
    const { groups, note } = plan(command, how, call)
    const io: RunIo = { ...options.io, ...(how.signal && { signal: how.signal }) }
    const started = monotonicMs()
    let whole: CommandResult | null = null
    let moved = ''
    for (const group of groups) {
      const status = whole?.exitCode ?? 0
      if ((group.when === 'success' && status !== 0) || (group.when === 'failure' && status === 0)) continue
      const left = { ...how, timeoutMs: Math.max(1, how.timeoutMs - (monotonicMs() - started)) }
      const outcome = await launchGroup(group, `${moved}${group.text}`, left, call, io)
      call.heard(outcome)
      whole = joined(whole, resultOf(outcome))
      if (whole.timedOut) break
      if (group.moves && whole.exitCode === 0) moved += `${group.text} && `
    }
    return note === null ? whole! : { ...whole!, notes: [...whole!.notes, note] }
  }

  return {
    confine: confined,
    run: (confinement, argv, io) => launch(confinement, argv, io),
    forCall: (call) => ({
      run: (command, how) => run(command, how, call),
      start: async (command, how) =>
        background.start(
          command,
          (io) => {
            // It may serve while it runs: one sandbox, with the hosts of the whole.
            const { whole, wholeNote } = plan(command, how, call)
            if (wholeNote !== null) io.onNotice?.(wholeNote)
            return launchGroup(whole, whole.text, how, call, io)
          },
          (outcome) => call.onLateOutcome?.(outcome),
        ),
      list: () => background.list(),
      read: (handle) => background.read(handle),
      kill: (handle) => background.kill(handle),
    }),
    close: async () => {
      closing.abort()
      await background.ended()
      await Promise.allSettled(foreground)
      await runner.close()
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

/** Loaded for the commands of a session. */
async function watchOf(run: WatchedRun): Promise<FlowWatch> {
  const { watchFlows } = await import('./flow-watch.ts')
  return watchFlows(run)
}

/** The combined result of two commands in sequence. */
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
