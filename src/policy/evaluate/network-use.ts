/**
 * The hosts of one command: of its grants, the defaults, and of its tool if this use needs them.
 */

import type { CommandRule, HostRule, Policy } from '../policy.ts'

/** Options before a subcommand that take the next word as value. */
const VALUED: ReadonlySet<string> = new Set(
  '-C -c --git-dir --work-tree --namespace --config-env --prefix --workspace -w --filter -F --dir --cwd --manifest-path --config -Z --project --directory'.split(
    ' ',
  ),
)
/** A use without a subcommand: `yarn` alone installs. */
const BARE = '-'

/** True when a use of a program, by the words after its name, is one of the listed ones; a list that is not there lists all. */
export function usesNetwork(listed: readonly string[] | undefined, words: readonly string[]): boolean {
  if (listed === undefined) return true
  const plain = subcommands(words)
  return listed.some((entry) => {
    if (entry === BARE) return plain.length === 0
    return entry.split(' ').every((word, at) => plain[at] === word)
  })
}

/** The hosts of a command by its grants and its own words, the program first. `words` is empty where no tool may be meant. */
export function hostsOfCommand(
  policy: Pick<Policy, 'commands'>,
  grants: readonly CommandRule[],
  words: readonly string[],
): HostRule[] {
  const inherits = grants.length === 0 || grants.some((grant) => grant.inheritDefaultDomains)
  const programs = new Set([...words.slice(0, 1), ...grants.flatMap((grant) => grant.pattern.words.slice(0, 1))])
  const tools = [...programs].flatMap((program) => policy.commands.toolDomains.get(program) ?? [])
  return [
    ...grants.flatMap((grant) => grant.domains),
    ...(inherits ? policy.commands.defaultDomains : []),
    ...tools.filter((rule) => usesNetwork(rule.commands, words.slice(1))),
  ]
}

/** The words of a use that are not options, at most three: its subcommand first. */
export function subcommands(words: readonly string[]): string[] {
  const plain: string[] = []
  for (let at = 0; at < words.length && plain.length < 3; at++) {
    const word = words[at]!
    if (VALUED.has(word) && plain.length === 0) at++
    else if (!word.startsWith('-') && !(word.startsWith('+') && plain.length === 0)) plain.push(word)
  }
  return plain
}
