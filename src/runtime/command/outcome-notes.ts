/** What was stopped or put right while a command ran, in short sentences: the one summary of a run, for every surface. */

import { summarize } from '../../egress/event.ts'
import { inferViolations } from '../../sandbox/violation.ts'
import type { RunOutcome } from './runner.ts'
import { servedLine } from './served-port.ts'

/** A search through a tree opens every hidden file in it: the first few say it all. */
const MAX_NOTES = 20

/** The notes of a run: observed before inferred, each once. `stderr`: what to infer from, where it was not captured. */
export function outcomeNotes(
  { result, plan, findings, maskChanges, egress, served }: RunOutcome,
  stderr: string = result.stderr?.bytes.toString('utf8') ?? '',
): readonly string[] {
  const inferred = stderr === '' ? [] : inferViolations(stderr, plan)
  const violations = [...result.violations, ...inferred].map(({ certainty, message }) => `${certainty}: ${message}`)
  const notes = [
    ...(result.timedOut ? ['stopped: the time limit was reached'] : []),
    ...cut([...new Set(violations)]),
    ...findings.map((finding) => finding.message),
    ...maskChanges.map((change) => change.message),
    ...served.filter((port) => port.problem !== null).map(servedLine),
    ...summarize(egress),
  ]
  return [...new Set(notes)].slice(0, 2 * MAX_NOTES)
}

function cut(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_NOTES) return lines
  return [...lines.slice(0, MAX_NOTES), `and ${lines.length - MAX_NOTES} more were stopped`]
}
