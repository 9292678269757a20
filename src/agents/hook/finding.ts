/** Records findings in a host tool's result: in the audit log, and in the session (A3). */

import { openRecord } from '../../call/record/open.ts'
import { type HookPlace, openHookJudge, sessionKey } from './judge.ts'
import type { ResultFinding } from './result.ts'
import { noteLoose } from './session.ts'

/** Records a finding, and labels the session. */
export async function rememberFinding(place: HookPlace, tool: string, finding: ResultFinding): Promise<void> {
  const opened = await openHookJudge(place)
  if ('closed' in opened) return
  const { loaded, history } = opened.judge
  if (finding.injection) await history?.label([{ label: 'instructions', source: tool }])
  const recorder = openRecord(loaded, place.machine, { by: 'host', host: place.host, session: place.session })
  try {
    if (finding.injection) recorder.flagged(null, tool, finding.score)
    if (finding.masked !== null) recorder.note({ type: 'warning', tool, message: 'secrets in the result were masked' })
  } finally {
    recorder.close()
  }
}

/** Records that a command ran outside the sandbox; every later call of the session is denied. */
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
