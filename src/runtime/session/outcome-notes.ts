/** What was stopped or put right while a command ran, in short sentences for its result. */

import { summarize } from '../../egress/event.ts'
import { inferViolations } from '../../sandbox/violation.ts'
import type { RunOutcome } from '../command/runner.ts'
import { servedLine } from '../command/served-port.ts'

const MAX_NOTES = 20

/** The notes of a run: observed before inferred, each once. */
export function outcomeNotes(
  { result, plan, findings, maskChanges, egress, served }: RunOutcome,
  stderr: string = result.stderr?.bytes.toString('utf8') ?? '',
): readonly string[] {
  const inferred = stderr === '' ? [] : inferViolations(stderr, plan)
  const notes = [
    ...(result.timedOut ? ['stopped: the time limit was reached'] : []),
    ...[...result.violations, ...inferred].map((violation) => `${violation.certainty}: ${violation.message}`),
    ...findings.map((finding) => finding.message),
    ...maskChanges.map((change) => change.message),
    ...served.filter((port) => port.problem !== null).map(servedLine),
    ...summarize(egress),
  ]
  return [...new Set(notes)].slice(0, MAX_NOTES)
}
