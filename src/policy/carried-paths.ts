/** The files that grants of commands carry along: `{ command = "backup:*", paths = ["~/backups/**"] }` (S3). */

import type { SessionFacts, ShellFact } from './call.ts'
import { grantsOf } from './command-grant.ts'
import type { CommandRule, PathRule, Policy } from './policy.ts'

/** The union over every command of a text: they run in one sandbox. */
export function carriedPaths(policy: Policy, session: SessionFacts, shell: ShellFact): readonly PathRule[] {
  const some = [...policy.commands.allow, ...session.grants.commands].some((rule) => rule.paths.length > 0)
  if (!some || 'rejection' in shell.analysis) return []
  return pathsOfGrants(shell.analysis.facts.commands.flatMap((fact) => grantsOf(policy, session, fact) ?? []))
}

/** What some grants carry along, as rules of their own. */
export function pathsOfGrants(grants: readonly CommandRule[]): readonly PathRule[] {
  return [...new Set(grants)].flatMap(({ paths, rule, source }) =>
    paths.map((pattern) => ({ pattern, prompt: false, rule: `${rule}.paths`, source })),
  )
}
