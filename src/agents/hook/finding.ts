/** Remembers what was found in a result of a host's tool: in the audit, and in the session (A3). */

import { openRecord } from '../../call/record/open.ts'
import { type HookPlace, openHookJudge, sessionKey } from './judge.ts'
import type { ResultFinding } from './result.ts'
import { noteLoose } from './session.ts'

/** Writes down what was found; from now on the session counts as tainted, where the manifest says that this matters. */
export async function rememberFinding(place: HookPlace, tool: string, finding: ResultFinding): Promise<void> {
  const opened = await openHookJudge(place)
  if ('closed' in opened) return
  const { loaded, history } = opened.judge
  if (finding.injection) await history?.taint()
  const recorder = openRecord(loaded, place.machine, { by: 'host', host: place.host, session: place.session })
  try {
    if (finding.injection) recorder.tainted(null, tool, finding.score)
    if (finding.masked !== null) recorder.note({ type: 'warning', tool, message: 'secrets in the result were masked' })
  } finally {
    recorder.close()
  }
}

/** Writes down that a command ran outside the sandbox; the session's next call, and every one after it, is denied. */
export async function rememberLoose(place: HookPlace, tool: string, command: string): Promise<void> {
  const opened = await openHookJudge(place)
  if ('closed' in opened) return
  const { loaded } = opened.judge
  noteLoose(sessionKey(place, loaded), command, Date.now())
  const recorder = openRecord(loaded, place.machine, { by: 'host', host: place.host, session: place.session })
  try {
    recorder.note({ type: 'warning', tool, message: `a command ran outside the sandbox: ${command.slice(0, 200)}` })
  } finally {
    recorder.close()
  }
}
