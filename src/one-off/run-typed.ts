/** Runs a command outside a session: one that a person typed, or a program that Cordon starts. */

import type { RecordSource } from '../call/record/open.ts'
import type { CallRecord, SessionRecorder } from '../call/record/recorder.ts'
import { runToolCall, type Stages } from '../call/run-tool-call.ts'
import { confine, type Narrowing } from '../confine/confinement.ts'
import { canBeDenied, typedText, undeniable } from '../confine/entitlement.ts'
import type { Decision } from '../policy/decision.ts'
import type { RuleRef } from '../policy/policy.ts'
import type { AnsweredPolicy } from '../project/answers.ts'
import { openBackend } from '../run/open-backend.ts'
import { outcomeNotes } from '../run/outcome-notes.ts'
import { CommandRunner, type RunIo, type RunOutcome } from '../run/runner.ts'
import { agentBundle } from '../sandbox/bundles/built-in.ts'
import type { BundleChoice } from '../sandbox/bundles/bundle.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { ToolOutput } from '../tools/tool.ts'
import type { TypedCall } from './typed-call.ts'

/** What is run, and what the surface supplies. */
export interface ConfinedRun {
  readonly answered: AnsweredPolicy
  readonly machine: Machine
  readonly files: Files
  readonly argv: readonly string[]
  /** Canonical. */
  readonly cwd: string
  readonly narrowing: readonly Narrowing[]
  readonly io: RunIo
  /** An open runner; otherwise one is opened for this run. */
  readonly runner?: CommandRunner
  /** The tool's name in the record; `bash` by default. Other names are long-lived programs. */
  readonly tool?: string
  /** Where it is recorded; by default as typed by the person. */
  readonly record?: RecordSource | Pick<SessionRecorder, 'begin' | 'end'>
  /** Grants of this run, for the record. */
  readonly typedRules?: readonly RuleRef[]
  /** Called with the recorder before anything runs, for answers. */
  readonly onRecorder?: (recorder: Pick<SessionRecorder, 'answered'>) => void
}

export type ConfinedResult =
  | { readonly outcome: RunOutcome; readonly notes: readonly string[] }
  | { readonly denied: Decision }

/** The decision that keeps a typed command from running, or null. */
export async function typedDenial({
  answered,
  argv,
  cwd,
  machine,
  files,
}: Pick<ConfinedRun, 'answered' | 'argv' | 'cwd' | 'machine' | 'files'>): Promise<Decision | null> {
  if (!canBeDenied(answered, false)) return null
  const { decideTyped, readTyped } = await import('./typed-call.ts')
  const decision = decideTyped(readTyped(argv, cwd, machine, files), answered)
  return decision.decision === 'deny' ? decision : null
}

/** Runs it. Throws the launch error. */
export async function runConfined(run: ConfinedRun): Promise<ConfinedResult> {
  const { answered, machine, files, argv, cwd, io, tool = 'bash', record = { by: 'person' } } = run
  const { loaded, session } = answered
  const isServer = tool !== 'bash'
  const { stateDir } = machine
  const options = isServer ? { stateDir } : { stateDir, commands: 'one' as const }
  const runner = run.runner ?? new CommandRunner(machine, files, await openBackend(loaded.sandbox, options))
  const narrowing: readonly Narrowing[] = [{ kind: 'answers', facts: session }, ...run.narrowing]
  const confinement = confine(loaded, { command: { words: argv }, cwd, by: isServer ? 'agent' : 'person' }, narrowing)
  // Prepares the sandbox while the command is parsed and judged, which takes about as long.
  runner.expect(confinement, argv, io)
  const judge = canBeDenied(answered, isServer) ? await import('./typed-call.ts') : null
  const { openRecord } = await import('../call/record/open.ts')
  const own = 'by' in record ? openRecord(loaded, machine, record) : null
  const recorder = own ?? (record as Pick<SessionRecorder, 'begin' | 'end'>)
  if (own) run.onRecorder?.(own)
  const outcomes: RunOutcome[] = []
  const input = { command: argv }
  const command = typedText(argv)
  const stages: Stages<TypedCall | null, CallRecord, ToolOutput> = {
    // A person has no rate limit.
    history: null,
    parse: () => judge?.readTyped(argv, cwd, machine, files) ?? null,
    decide: (call) => {
      const decision =
        judge && call ? judge.decideTyped(call, answered, isServer) : undeniable(command, confinement.grants)
      return { ...decision, rules: [...decision.rules, ...(run.typedRules ?? [])] }
    },
    begin: (_, decision) =>
      recorder.begin({ tool, input, subject: command, decision, agent: 'person', approver: 'typed' }),
    approve: async () => ({ approved: true, remember: null }),
    run: async () => {
      const outcome = await runner.run(confinement, argv, io)
      outcomes.push(outcome)
      const { exitCode, cancelled } = outcome.result
      return { text: '', exitCode, isError: exitCode !== 0 && !cancelled }
    },
    // The output went to the person.
    scan: (_, output) => ({ output, notes: [], injection: null }),
    flagged: () => {},
    end: (written, result) => recorder.end(written, result, outcomes),
  }
  try {
    const signal = io.signal ?? new AbortController().signal
    const result = await runToolCall(stages, { tool, input, signal })
    if (result.status === 'denied') return { denied: result.decision }
    if (result.status === 'failed') throw result.error.cause
    return { outcome: outcomes[0]!, notes: outcomeNotes(outcomes[0]!) }
  } finally {
    await own?.sign()
    own?.close()
    if (!run.runner) await runner.close()
  }
}

/** Whether an agent runs with its bundle, so that its hook runs inside. */
export function isAgentInside([program = '']: readonly string[], chosen: readonly BundleChoice[]): boolean {
  const bundle = agentBundle(program)?.tool
  return bundle !== undefined && chosen.some(({ tool }) => tool === bundle)
}

/** The warning for an agent without its bundle; null otherwise. */
export function agentWithoutBundle([program = '']: readonly string[], chosen: readonly BundleChoice[]): string | null {
  const bundle = agentBundle(program)?.tool
  if (bundle === undefined || chosen.some(({ tool }) => tool === bundle)) return null
  return `${program} has neither its provider nor your settings inside the sandbox: the bundle "${bundle}" gives it both (cordon run --tool ${bundle} -- ${program} …, or cordon init, which writes it down)`
}
