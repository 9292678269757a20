/** What an answer grants or closes from now on: in the manifest where it can be written there, else among the saved grants. */

import type { SavedAnswer } from '../approval/approve.ts'
import type { SavedGrants } from '../approval/saved-grants.ts'
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

/** Remembers one answer; the manifest's part of it, where it was for always. */
export async function remember(
  remembered: SavedAnswer,
  { saved, project, session, now, amend }: RememberPlace,
): Promise<AmendResult | null> {
  const { grant, scope, seconds, verdict } = remembered
  const amended = scope === 'always' ? await amend(remembered) : null
  if (amended && 'loaded' in amended) return amended
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
  return amended
}
