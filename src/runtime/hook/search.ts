/** A host's own search reads every file below a directory, so what may not be read there has to be known before. */

import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { secretOf } from '../../files/secret-shapes.ts'
import type { SessionFacts } from '../../policy/call.ts'
import { type Decision, denial } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate.ts'
import type { Policy } from '../../policy/policy.ts'

/** A bigger tree takes longer than a hook may. */
const MAX_ENTRIES = 40_000

const REMEDY =
  'Search a narrower directory or a single file, or search with a shell command: that runs in the sandbox, where such files are masked.'

/** The denial of a search that would read what may not be read; null when nothing of it is there. */
export function filesNotToRead(directory: string, policy: Policy, session: SessionFacts): Decision | null {
  const pending = [directory]
  let seen = 0
  for (const place of pending) {
    for (const entry of entries(place)) {
      if (++seen > MAX_ENTRIES) {
        const message = `${directory} holds more than ${MAX_ENTRIES} files, too many to know whether secrets are among them.`
        return denial(directory, { code: 'secret', message, remedy: REMEDY }, 'read')
      }
      const path = join(place, entry.name)
      // Links are not followed by the hosts' searches; the repository itself is left out by them.
      if (entry.isDirectory()) {
        if (entry.name !== '.git') pending.push(path)
        continue
      }
      if (policy.reads.deny.length === 0 && secretOf(path, policy) === null) continue
      const { decision, reason } = evaluate(policy, session, readOf(path))
      if (decision === 'allow') continue
      const message = `The search would read ${path}: ${reason.message}`
      return denial(path, { code: reason.code, message, remedy: REMEDY }, 'read')
    }
  }
  return null
}

function entries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // What Cordon may not list, the host may not either: it runs as the same user.
    return []
  }
}

function readOf(path: string): Parameters<typeof evaluate>[2] {
  const fact = { given: path, path }
  return { tool: 'grep', reads: [fact], writes: [], lists: [], hosts: [], shell: null, requireConfirmation: false }
}
