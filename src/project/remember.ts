/** What an answer grants or closes from now on: in the manifest where it can be written there, else among the saved grants. */

import type { SavedAnswer } from '../approval/approve.ts'
import type { SavedGrants } from '../approval/saved-grants.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import type { AmendResult } from './amend.ts'

export interface RememberPlace {
  readonly saved: SavedGrants
  /** The root of the project. */
  readonly project: string
  readonly session: string
  readonly now: () => number
  /** Writes an "always" into the manifest and signs it again, or says why it was not. */
  readonly amend: (remembered: SavedAnswer) => Promise<AmendResult>
}

/** One grant that is remembered; `amended` is null where it was not for always. */
export interface Remembered {
  readonly grant: Suggestion
  readonly amended: AmendResult | null
}

/** Remembers an answer, one grant after the other: each may change the manifest. */
export async function* remember(
  answer: SavedAnswer,
  { saved, project, session, now, amend }: RememberPlace,
): AsyncGenerator<Remembered> {
  const { scope, seconds, verdict } = answer
  for (const grant of [answer.grant, ...(answer.grant.also ?? [])]) {
    const amended = scope === 'always' ? await amend({ ...answer, grant }) : null
    if (amended === null || 'why' in amended)
      saved.add({
        project,
        session,
        kind: grant.kind,
        value: grant.value,
        verdict,
        // What cannot be written into the manifest still applies to the project's sessions.
        scope: scope === 'always' ? 'project' : scope,
        expires: scope === 'time' && seconds !== null ? now() + seconds * 1000 : null,
      })
    yield { grant, amended }
  }
}
