/** The call that tests an installation, which the audit log then skips. */

import { sha256 } from '../../system/addon.ts'
import { canonicalJson } from '../../system/json.ts'

/** No manifest allows this, and no agent needs it. */
export const SELF_TEST_COMMAND = 'sudo cordon-self-test'

let known: string | null = null

/** Whether an audit line is about that call, by the hash of its command. */
export function isSelfTest(line: Readonly<Record<string, unknown>>): boolean {
  known ??= sha256(canonicalJson({ command: SELF_TEST_COMMAND }))
  return line.args_hash === known
}
