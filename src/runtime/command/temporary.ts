/** The folder for temporary files that Cordon gives a command, and what may be said of it before the command runs. */

import { matchSegment } from '../../files/glob.ts'
import type { LoadedPolicy } from '../policy/load.ts'

/** A private /tmp, as every sandbox has one. */
export const TEMPORARY = '/tmp'

/** What TMPDIR will be for a command that Cordon runs; null where the manifest takes the variable away, or it is made for each command. */
export function temporaryOf({ sandbox }: LoadedPolicy): string | null {
  if (process.platform === 'darwin') return null
  return sandbox.envDenied.some(({ value }) => matchSegment(value, 'TMPDIR')) ? null : TEMPORARY
}
