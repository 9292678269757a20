/** The files that grants of commands carry along: `{ command = "backup:*", paths = ["~/backups/**"] }` (S3). */

import { exactPath } from '../../files/path-pattern.ts'
import type { CommandFact } from '../../shell/facts.ts'
import type { SessionFacts, ShellFact } from '../call.ts'
import type { CommandRule, PathRule, Policy } from '../policy.ts'
import { grantsOf } from './command-grant.ts'
import { isReadable } from './readable-command.ts'

/** The union over every command of a text: they run in one sandbox. */
export function carriedPaths(policy: Policy, session: SessionFacts, shell: ShellFact): readonly PathRule[] {
  const carries = (rule: CommandRule): boolean => rule.paths.length > 0
  const some = policy.commands.allow.some(carries) || session.grants.commands.some(carries)
  if (!some || 'rejection' in shell.analysis) return []
  return pathsOfGrants(shell.analysis.facts.commands.flatMap((fact) => grantsOf(policy, session, fact) ?? []))
}

/** What some grants carry along, their own as rules. */
export function pathsOfGrants(grants: readonly CommandRule[]): readonly PathRule[] {
  return [...new Set(grants)].flatMap(({ paths, rule, source }) =>
    paths.map((pattern) => ({ pattern, prompt: false, rule: `${rule}.paths`, source })),
  )
}

/**
 * The key of a kind (`ssh -i KEY HOST reads:kind`), which a grant of it opens to that command and to no other. Its sandbox has the
 * file, so this only holds where every other command of the text is known to run no code of somebody else.
 */
export function keyOfKind(fact: CommandFact, all: readonly CommandFact[]): string | null {
  const [, option, key] = fact.kind ?? []
  if (option !== '-i' || key === undefined) return null
  const at = all.indexOf(fact)
  // What it runs elsewhere is part of the kind.
  const others = all.filter((other, index) => index !== at && other.parent !== at)
  return others.every(isReadable) ? key : null
}

/** The key that a command may read because the grant of its kind names it. */
export function grantedKey(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  all: readonly CommandFact[],
): PathRule | null {
  const key = keyOfKind(fact, all)
  const grant = key === null ? undefined : grantsOf(policy, session, fact)?.[0]
  if (key === null || grant === undefined || !grant.pattern.kind) return null
  return { pattern: exactPath(key), prompt: false, rule: grant.rule, source: grant.source }
}
