/** Runs a wrapped command: judged again, with its own grants, in the caller's place. */

import { Writable } from 'node:stream'
import { outcomeOf } from '../../call/admission.ts'
import { reachOf } from '../../call/answer-reach.ts'
import { openRecord } from '../../call/record/open.ts'
import type { CallRecord } from '../../call/record/recorder.ts'
import { runToolCall, type Stages } from '../../call/run-tool-call.ts'
import type { Narrowing } from '../../confine/confinement.ts'
import { openSkillGate } from '../../custom/open-skill-gate.ts'
import { type Decision, denial } from '../../policy/decision.ts'
import type { Sourced } from '../../policy/policy.ts'
import { KeptChanges } from '../../run/kept-changes.ts'
import { openBackend } from '../../run/open-backend.ts'
import { openCommands } from '../../run/port.ts'
import { CommandRunner, type RunIo, type RunOutcome } from '../../run/runner.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { isOwnDirectory } from '../../system/state.ts'
import type { ToolOutput } from '../../tools/tool.ts'
import { type HookCall, openHookJudge, type ReadCall } from './judge.ts'
import { applyAllowed, asPatch } from './patch-command.ts'
import { reachScene } from './reach.ts'

export interface HookRun {
  readonly machine: Machine
  readonly files: Files
  readonly host: string
  readonly root: string
  readonly session: string | null
  readonly folders?: readonly string[]
  readonly unwritten?: readonly string[]
  readonly command: string
  /** The places that a person's yes to this command opens; the host asked. */
  readonly agreed?: readonly string[] | null
  readonly undo?: boolean
  readonly readOnly?: boolean
  readonly io: RunIo
}

export type HookRunResult =
  /** The text of an action by Cordon itself; a command's output went to its streams. */
  { readonly exitCode: number; readonly text: string; readonly notes: readonly string[] } | { readonly denied: string }

/** Runs the command. The host already answered an ask; nothing answers a denial. */
export async function runHookCommand(request: HookRun): Promise<HookRunResult> {
  const { machine, files, host, root, session, command, undo = false, readOnly = false } = request
  const hostFolders = (request.folders ?? []).filter((path) => isOwnDirectory(path) && files.canonical(path) === path)
  const around = { machine, files, host, root, session, hostFolders, unwritten: request.unwritten ?? [] }
  const place = { ...around, exact: true, cwd: machine.cwd, shell: true, inside: false }
  const opened = await openHookJudge(place)
  if ('closed' in opened) return { denied: opened.closed }
  const { judge } = opened
  const limits = judge.history?.ring().limits
  const admitted = await judge.history?.admit()
  const openFor = admitted && 'openFor' in admitted ? admitted.openFor : null
  const backend = await openBackend(judge.loaded.sandbox, { commands: 'one', stateDir: machine.stateDir })
  const { io, outputs } = heldStreams(request.io, judge.loaded.sandbox.limits.maxOutputBytes)
  const narrowing: readonly Narrowing[] = [
    { kind: 'answers', facts: judge.session },
    ...(limits ? [{ kind: 'ring', limits } as const] : []),
    ...(readOnly ? [{ kind: 'read-only', places: 'all' } as const] : []),
  ]
  const { unapproved } = await openSkillGate(judge.loaded.root, machine, files)
  const scripts = unapproved?.(files.canonical) ?? null
  const commands = openCommands({
    scope: () => ({ loaded: judge.loaded, facts: judge.session, narrowing, scripts }),
    runner: new CommandRunner(machine, files, backend),
    // The host reads them as if it had started the command.
    io,
    home: machine.home,
    cover: judge.cover,
    labels: () => judge.labels,
    single: true,
  })
  const recorder = openRecord(judge.loaded, machine, { by: 'host', host, session })
  const outcomes: RunOutcome[] = []
  const kept = new KeptChanges(machine.stateDir, () => ({
    roots: [judge.loaded.root],
    what: `apply_patch ${read[0]?.touches && 'writes' in read[0].touches ? read[0].touches.writes.map(({ given }) => given).join(' ') : ''}`,
    ...(session !== null && { session }),
  }))
  const call = asPatch({ kind: 'tool', tool: 'bash', input: { command } }) as HookCall & { kind: 'tool' }
  const isPatch = call.tool === 'apply_patch'
  let read: readonly ReadCall[] = []
  const stages: Stages<readonly ReadCall[], CallRecord, HookRunOutput> = {
    // The hook counted the call's rate; an open breaker still applies.
    history: null,
    parse: () => {
      read = judge.read([call])
      return read
    },
    decide: async (calls) => {
      await judge.prepare(calls)
      if (isPatch && readOnly) return denial('bash', { code: 'outside-roots', message: READ_ONLY }, 'tool', [])
      return stillCovered(judge.strictest(calls, openFor)!.decision, undo)
    },
    begin: ([first], decision) =>
      recorder.begin({
        ...call,
        subject: command,
        facts: first?.facts ?? null,
        decision,
        agent: host,
        approver: 'host',
      }),
    approve: async (_, decision) => {
      // An unasked command runs in the sandbox, but a patch does not.
      if (isPatch && !request.agreed) {
        const message = `no one was asked about this patch: ${decision.reason.message}`
        return { approved: false, refusal: { kind: 'absent', message }, remember: null }
      }
      return { approved: true, remember: null }
    },
    run: async ([call], decision, signal) => {
      if (decision.labels) await judge.history?.label(decision.labels)
      if (isPatch) {
        const { text, isError = false } = await applyAllowed(judge, call!, signal, kept)
        return { text, exitCode: isError ? 1 : 0, isError, notes: [] }
      }
      const { relies, judged, followed } = decision
      const reach = reachOf(
        reachScene(judge, { decision, facts: call!.facts }, { machine, files }),
        request.agreed ?? null,
      )
      // The command may read a session folder that it names.
      const readOnly = [...reach.readOnly, ...hostFolders.filter((path) => command.includes(path))]
      const port = commands.forCall({
        decided: {
          command,
          facts: call!.facts,
          ...(undo ? { relies: 'undo' as const } : relies && { relies }),
          ...(judged && { judged }),
          ...(followed && { followed }),
        },
        reach: { ...reach, readOnly },
        heard: (outcome) => void outcomes.push(outcome),
      })
      const { exitCode, notes } = await port.run(command, {
        cwd: files.canonical(machine.cwd),
        timeoutMs: Number.POSITIVE_INFINITY,
        ...(request.io.signal && { signal: request.io.signal }),
      })
      const cut = outputs.flatMap((output) => output.note() ?? [])
      return { text: '', exitCode, isError: exitCode !== 0, notes: [...notes, ...cut] }
    },
    // The host has the output itself; its result hook checks it.
    scan: (_, output) => ({ output, notes: output.notes, injection: null }),
    flagged: () => {},
    end: async (record, result) => {
      const changes = kept.end()
      recorder.end(record, result, outcomes, changes ? [changes] : [])
      if (admitted && 'probe' in admitted && result.status === 'done')
        await judge.history?.note(admitted, outcomeOf(result))
    },
  }
  try {
    const signal = request.io.signal ?? new AbortController().signal
    const result = await runToolCall(stages, { tool: 'bash', input: { command }, signal })
    if (result.status === 'done') {
      const redact = createRedactor()
      const { exitCode, text } = result.output
      return { exitCode, text, notes: result.notes.map((note) => redact.redact(note)) }
    }
    if (result.status === 'failed') throw result.error.cause
    return { denied: result.decision.reason.message }
  } finally {
    await commands.close()
    await recorder.sign()
    recorder.close()
  }
}

const READ_ONLY = 'The host’s sandbox is read-only, and this is a patch.'

/** Undo allowed it in the hook without a question, so a new ask is not answered. */
function stillCovered(decision: Decision, undo: boolean): Decision {
  if (!undo || decision.decision !== 'ask' || decision.relies === 'undo') return decision
  const message = `It was allowed because undo covers it, which no longer applies: ${decision.reason.message} Call it again to have it asked.`
  return denial('bash', { code: decision.reason.code, message }, 'tool', decision.rules)
}

/** The caller's streams, limited if a limit is set; otherwise unchanged. */
function heldStreams(
  io: RunIo,
  { value, source }: Sourced<number>,
): { readonly io: RunIo; readonly outputs: readonly HeldOutput[] } {
  if (source === 'built-in' || io.terminal) return { io, outputs: [] }
  const hold = (name: 'stdout' | 'stderr'): HeldOutput | null => {
    const target = io[name] === 'inherit' ? process[name] : io[name]
    return target instanceof Writable ? new HeldOutput(target, value, name) : null
  }
  const stdout = hold('stdout')
  const stderr = hold('stderr')
  return {
    io: { ...io, ...(stdout && { stdout }), ...(stderr && { stderr }) },
    outputs: [stdout, stderr].filter((output) => output !== null),
  }
}

interface HookRunOutput extends ToolOutput {
  readonly exitCode: number
  readonly notes: readonly string[]
}

class HeldOutput extends Writable {
  readonly #target: Writable
  readonly #cap: number
  readonly #name: string
  #total = 0

  constructor(target: Writable, cap: number, name: 'stdout' | 'stderr') {
    super()
    this.#target = target
    this.#cap = cap
    this.#name = name
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const space = Math.max(0, this.#cap - this.#total)
    this.#total += chunk.length
    if (space === 0) done()
    // A host that stopped reading must not block the command.
    else this.#target.write(chunk.subarray(0, space), () => done())
  }

  note(): string | null {
    const more = this.#total - this.#cap
    return more > 0
      ? `${more} more bytes of ${this.#name} were left out: limits.max_output_bytes is ${this.#cap}`
      : null
  }
}
