/** The call with which an installation is tried, and by which the record knows it for no agent's. */

import { canonicalJson } from '../../system/json.ts'
import { sha256 } from '../../system/sha256.ts'

/** No manifest allows this, and no agent has a use for it. */
export const SELF_TEST_COMMAND = 'sudo cordon-self-test'

/** Whether a line of the record is about that call: it has the hash of what was asked for, whatever else it may hold. */
export function isSelfTest(line: Readonly<Record<string, unknown>>): boolean {
  return line.args_hash === sha256(canonicalJson({ command: SELF_TEST_COMMAND }))
}
