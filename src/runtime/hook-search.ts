/** A host's own search reads every file below a directory, so what may not be read there has to be known before. */

import { join } from 'node:path'
import { secretOf } from '../files/secret-shapes.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Decision, PartDecision, Reason } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate.ts'
import type { Policy } from '../policy/policy.ts'
import type { Files } from '../system/files.ts'

/** A bigger tree takes longer than a hook may. */
const MAX_ENTRIES = 40_000

/** The denial of a search that would read what may not be read; null when nothing of it is there. */
export function filesNotToRead(
  directory: string,
  policy: Policy,
  session: SessionFacts,
  files: Files,
): Decision | null {
  const suspect = (path: string): boolean => policy.reads.deny.length > 0 || secretOf(path, policy) !== null
  const pending = [directory]
  let seen = 0
  for (let at = 0; at < pending.length; at++) {
    for (const { name, isDirectory } of files.entries?.(pending[at]!) ?? listed(pending[at]!, files)) {
      if (++seen > MAX_ENTRIES) {
        return denial(directory, {
          code: 'secret',
          message: `${directory} holds more than ${MAX_ENTRIES} files, too many to know whether secrets are among them.`,
          remedy: REMEDY,
        })
      }
      const path = join(pending[at]!, name)
      if (isDirectory) pending.push(path)
      if (!suspect(path)) continue
      const { decision, reason } = evaluate(policy, session, readOf(path))
      if (decision !== 'allow') {
        return denial(path, {
          code: reason.code,
          message: `The search would read ${path}: ${reason.message}`,
          remedy: REMEDY,
        })
      }
    }
  }
  return null
}
