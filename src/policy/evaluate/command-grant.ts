/** The grants that cover a command: by its own words, or by those of the wrapper around it. */

import type { ChangeKind, CommandFact, Word } from '../../shell/facts.ts'
import { projectTools } from '../../shell/tables/project-tools.ts'
import type { SessionFacts } from '../call.ts'
import type { CommandPattern } from '../command-pattern.ts'
import type { CommandRule, Policy } from '../policy.ts'
import { grantMatches, variantsOf } from './command-match.ts'

/** The hazard of running elsewhere: a grant that names what runs there (`docker exec web npm test:*`) has answered it. */
export const ELSEWHERE = 'remote-command'

/** The grants that cover a command: one for each variant of its words, the most literal first; null when one is missing. */
export function grantsOf(policy: Policy, session: SessionFacts, fact: CommandFact): readonly CommandRule[] | null {
  const kind = kindGrant(policy, session, fact)
  if (kind !== null) return [kind]
  const variants = variantsOf(fact.argv)
  if (variants === null || fact.argv.length === 0) return null
  const found = variants.map((argv) => {
    const covers = ({ pattern }: CommandRule): boolean => grantMatches(pattern, argv) && namesPackage(pattern, argv)
    return mostLiteral([...policy.commands.allow.filter(covers), ...session.grants.commands.filter(covers)])
  })
  return found.every((rule) => rule !== null) ? found : null
}

/** The grant of a kind of change (`git push origin:kind`) that this command is of. */
function kindGrant(policy: Policy, session: SessionFacts, fact: CommandFact): CommandRule | null {
  if (fact.kind == null || fact.argv.length === 0) return null
  const forms = kindForms(fact.kind, session.repository).map((words) => words.join('\n'))
  const rules = [...policy.commands.allow, ...session.grants.commands]
  return rules.find(({ pattern }) => pattern.kind && forms.includes(pattern.words.join('\n'))) ?? null
}

/**
 * The words of a kind, with the address that the repository's configuration has now: a grant of
 * one address is not one of the next. The words as written mean the project's own repository.
 */
export function kindForms(
  { words, sending }: ChangeKind,
  repository: SessionFacts['repository'],
): readonly (readonly string[])[] {
  const destination = sending === null ? undefined : repository?.destination(sending)
  if (destination === null) return []
  if (destination === undefined) return [words]
  const { address, isOwn } = destination
  const named =
    words[0] === 'git' ? ['git', 'push', address] : [...words, '--repo', address.replace(/^git(?:hub|lab)\.com\//, '')]
  return isOwn ? [named, words] : [named]
}

/**
 * A grant may include its wrapper: `bundle exec rspec:*`, `timeout 60 npm test:*`. It then covers
 * the inner command, if its words reach into that: `timeout:*` covers nothing inside.
 */
export function wrapperGrants(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  wrappers: readonly CommandFact[],
): readonly CommandRule[] | null {
  const name = fact.argv[0]?.values?.[0]
  if (name === undefined) return null
  for (const wrapper of wrappers) {
    if (wrapper.hazards.some((hazard) => hazard.code !== ELSEWHERE)) continue
    // The last word that can be it: a container may be called like the command that runs in it.
    const start = wrapper.argv.findLastIndex(
      (word, index) => index > 0 && isSameWord(word, name) && word.span.start === fact.argv[0]?.span.start,
    )
    const grants = start < 0 ? null : grantsOf(policy, session, wrapper)
    if (grants?.every((rule) => rule.pattern.words.length > start)) return grants
  }
  return null
}

/** `dev:lint` is `lint` in the environment `dev` (hatch). */
function isSameWord(word: Word, name: string): boolean {
  const value = word.values?.[0] ?? ''
  return value === name || value.endsWith(`:${name}`)
}

/** Whether a wrapper runs the command on another machine or in a container, with other files. */
export function runsElsewhere(wrappers: readonly CommandFact[]): boolean {
  return wrappers.some((wrapper) => wrapper.hazards.some((hazard) => hazard.code === ELSEWHERE))
}

function mostLiteral(rules: readonly CommandRule[]): CommandRule | null {
  return rules.reduce<CommandRule | null>((best, rule) => {
    if (best === null) return rule
    const longer = rule.pattern.words.length - best.pattern.words.length
    if (longer !== 0) return longer > 0 ? rule : best
    return best.pattern.open && !rule.pattern.open ? rule : best
  }, null)
}

/** Scopes that belong to the makers of known tools; under any other one somebody else may use the tool's name. */
const scopes =
  /^@(?:angular|babel|biomejs|changesets|commitlint|eslint|graphql-codegen|nestjs|playwright|prisma|storybook|swc|tailwindcss|vue)\//

/**
 * A version or a tag. An address or another package (`eslint@npm:other`) decides what runs,
 * whatever name precedes it.
 */
const version = /(?<=.)@[\w.^~*+-]*$/

/** A package that is a known tool, by its name. */
const isProjectTool = (name: string): boolean => projectTools.has(name.replace(version, '').replace(scopes, ''))

/** A package of this module, not a fetched one. */
const isLocalPackage = (name: string): boolean => /^\.{1,2}(\/|$)|\.go$/.test(name) || !/[@.:]/.test(name)

const runners: readonly (readonly [words: readonly string[], isKnown: (name: string) => boolean])[] = [
  [['npx'], isProjectTool],
  [['bunx'], isProjectTool],
  [['pnpx'], isProjectTool],
  [['npm', 'x'], isProjectTool],
  [['npm', 'exec'], isProjectTool],
  [['pnpm', 'dlx'], isProjectTool],
  [['yarn', 'dlx'], isProjectTool],
  [['bun', 'x'], isProjectTool],
  [['pipx', 'run'], () => false],
  [['uv', 'tool', 'run'], () => false],
  [['uvx'], () => false],
  [['go', 'run'], isLocalPackage],
]

/** False when the command runs a package that the grant's own words do not reach, and that is not a known tool. */
export function namesPackage(pattern: CommandPattern, argv: readonly Word[]): boolean {
  const runner = runners.find(([words]) => words.every((word, index) => argv[index]?.values?.[0] === word))
  if (runner === undefined) return true
  const [words, isKnown] = runner
  const at = argv.findIndex(
    (word, index) => index >= words.length && !(word.values?.[0] ?? word.prefix).startsWith('-'),
  )
  if (at < 0 || pattern.words.length > at) return true
  const values = argv[at]?.values
  return values?.length === 1 && isKnown(values[0] ?? '')
}
