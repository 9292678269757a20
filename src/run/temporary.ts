/**
 * Predicts two variables of a command before it runs: its folder for temporary files, and its
 * charset.
 */

import { matchSegment } from '../files/glob.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { foreignCharsets } from '../shell/read/unreadable-text.ts'
import type { Machine } from '../system/machine.ts'

/** The private /tmp of every sandbox. */
export const TEMPORARY = '/tmp'

/**
 * The TMPDIR of a command that Cordon runs; null if the manifest removes the variable, or it
 * differs for each command.
 */
export function temporaryOf({ sandbox }: LoadedPolicy): string | null {
  if (process.platform === 'darwin') return null
  return sandbox.envDenied.some(({ value }) => matchSegment(value, 'TMPDIR')) ? null : TEMPORARY
}

/**
 * Whether commands may run in a charset other than UTF-8 or C: the manifest names such a variable,
 * or the host sets its commands' variables (`inside`).
 */
export function isForeignCharset({ sandbox, policy }: LoadedPolicy, { env }: Machine, inside = false): boolean {
  const names = foreignCharsets(env)
  if (names.length === 0 || inside) return names.length > 0
  const declared = [...policy.commands.allow.flatMap((rule) => rule.envVars), ...(sandbox.envAllowlist ?? [])]
  return declared.some((name) => names.includes(typeof name === 'string' ? name : name.value))
}
