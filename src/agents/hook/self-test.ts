/** The call that tests an installation, which the audit log then skips. */

import { canonicalJson } from '../../system/json.ts'
import { sha256 } from '../../system/sha256.ts'

/** No manifest allows this, and no agent needs it. */
export const SELF_TEST_COMMAND = 'sudo cordon-self-test'

/** Whether an audit line is about that call, by the hash of its command. */
export function isSelfTest(line: Readonly<Record<string, unknown>>): boolean {
  return line.args_hash === sha256(canonicalJson({ command: SELF_TEST_COMMAND }))
}
