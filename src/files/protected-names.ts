/** The table of protected files: what programs run by themselves, and what decides where code and credentials come from. */

import { protectedMachineNames } from './protected-machine.ts'
import { protectedProjectNames } from './protected-project.ts'
import type { ProtectedName } from './protected-row.ts'

export type { ProtectedKind, ProtectedName } from './protected-row.ts'

/** Names that are protected wherever they stand, under the home directory, or at one absolute place. */
export const protectedNames: readonly ProtectedName[] = [...protectedProjectNames, ...protectedMachineNames]
