/** Remembers what was found in a result of a host's tool: in the audit, and in the session (A3). */

import { type HookPlace, openHookJudge, sessionKey } from './judge.ts'
import { hookRecorder } from './record.ts'
import type { ResultFinding } from './result.ts'
import { noteTaint } from './session.ts'

/** Writes down what was found; from now on the session counts as tainted, where the manifest says that this matters. */
export async function rememberFinding(
  place: HookPlace,
  tool: string,
  finding: ResultFinding,
  now: number,
): Promise<void> {
  const opened = await openHookJudge(place)
  if ('closed' in opened) return
  const { loaded } = opened.judge
  if (finding.injection) noteTaint(sessionKey(place, loaded), now)
  const recorder = hookRecorder(loaded, place.machine, place.host, place.session)
  try {
    if (finding.injection) recorder.tainted(tool, finding.score)
    if (finding.masked !== null) recorder.note({ type: 'warning', tool, message: 'secrets in the result were masked' })
  } finally {
    recorder.close()
  }
}
