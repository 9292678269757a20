/** Runs a command that the person typed, on the one guarded way: a deny holds, an ask was answered by typing. */

import type { Decision } from '../../../policy/decision.ts'
import type { RuleRef } from '../../../policy/policy.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import type { ToolOutput } from '../../../tools/tool.ts'
import type { Confinement } from '../../confine/confinement.ts'
import type { LoadedPolicy } from '../../policy/load.ts'
import type { CallRecord, SessionRecorder } from '../../record/recorder.ts'
import { runToolCall, type Stages } from '../../run-tool-call.ts'
import { outcomeNotes } from '../outcome-notes.ts'
import type { CommandRunner, RunIo, RunOutcome } from '../runner.ts'
import type { TypedCall } from './call.ts'
import { hasWrittenDenials, typedText, undeniable } from './words.ts'

export interface TypedRun {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
  readonly runner: CommandRunner
  readonly argv: readonly string[]
  readonly confinement: Confinement
  readonly io: RunIo
  /** What the person granted with this run, for the record. */
  readonly typedRules?: readonly RuleRef[]
  /** Told where it is recorded, before anything runs: answers go there too. */
  readonly onRecorder?: (recorder: Pick<SessionRecorder, 'answered'>) => void
  /** How the record names what was run; `bash` unless told: a command. */
  readonly tool?: string
  /** Where it is recorded; a record of what the person typed in this project, unless told. */
  readonly recorder?: Pick<SessionRecorder, 'begin' | 'end'>
}

export type TypedResult =
  | { readonly outcome: RunOutcome; readonly notes: readonly string[] }
  | { readonly denied: Decision }

/** Runs it. Throws what kept it from being run. */
export async function runTyped(run: TypedRun): Promise<TypedResult> {
  const { loaded, machine, files, runner, argv, confinement, io, tool = 'bash' } = run
  // The sandbox is made ready while the command is read and judged, which takes about as long.
  runner.expect(confinement, argv, io)
  const judge = hasWrittenDenials(loaded.policy) ? await import('./call.ts') : null
  const { openRecord } = await import('../../record/open.ts')
  const own = run.recorder ? null : openRecord(loaded, machine, { by: 'person' })
  const recorder = run.recorder ?? own!
  if (own) run.onRecorder?.(own)
  const outcomes: RunOutcome[] = []
  const input = { command: argv }
  const command = typedText(argv)
  const stages: Stages<TypedCall | null, CallRecord, ToolOutput> = {
    // No agent, no history: a person may type as often as they like.
    history: null,
    parse: () => judge?.readTyped(argv, confinement.cwd, machine, files) ?? null,
    decide: (call) => {
      const decision =
        judge && call ? judge.decideTyped(call, loaded, machine) : undeniable(command, confinement.grants)
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
    tainted: () => {},
    end: (record, result) => recorder.end(record, result, outcomes),
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
  }
}
