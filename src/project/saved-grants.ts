/** Opens the saved grants of this user. */

import { SavedGrants } from '../approval/saved-grants.ts'
import type { Machine } from '../system/machine.ts'

export type { SavedGrant, SavedGrants } from '../approval/saved-grants.ts'

/** The saved grants in the user's own state directory. */
export function openSavedGrants(machine: Machine): SavedGrants {
  return new SavedGrants(machine.stateDir, Date.now)
}
