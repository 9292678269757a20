/** What may be said of a command's variables before it runs: its folder for temporary files, and its charset. */

import { matchSegment } from '../files/glob.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { foreignCharsets } from '../shell/read/unreadable-text.ts'
import type { Machine } from '../system/machine.ts'

/** A private /tmp, as every sandbox has one. */
export const TEMPORARY = '/tmp'

/** What TMPDIR will be for a command that Cordon runs; null where the manifest takes the variable away, or it is made for each command. */
export function temporaryOf({ sandbox }: LoadedPolicy): string | null {
  if (process.platform === 'darwin') return null
  return sandbox.envDenied.some(({ value }) => matchSegment(value, 'TMPDIR')) ? null : TEMPORARY
}

/**
 * True where commands may run in another charset than UTF-8 or C: the manifest names a variable that says so, or it is the
 * host that sets its commands' variables (`inside`).
 */
export function isForeignCharset({ sandbox, policy }: LoadedPolicy, { env }: Machine, inside = false): boolean {
  const names = foreignCharsets(env)
  if (names.length === 0 || inside) return names.length > 0
  const declared = [...policy.commands.allow.flatMap((rule) => rule.envVars), ...(sandbox.envAllowlist ?? [])]
  return declared.some((name) => names.includes(typeof name === 'string' ? name : name.value))
}
