/**
 * The hosts of one command: of its grants, the defaults, and of its tool if this use needs them.
 */

import { matchSegment } from '../../files/glob.ts'
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

export interface KnownTool {
  readonly programs: readonly string[]
  /** It looks for code in no folder that a command may write. */
  readonly closed: boolean
  /** Uses that do not run the project's code; null: all. A grant's hosts for other uses are for that code too. */
  readonly alone: readonly string[] | null
}

const TOOLS: readonly KnownTool[] = [
  { programs: ['git', 'git-lfs', 'gh', 'glab'], closed: true, alone: null },
  { programs: ['cargo'], closed: true, alone: 'build check clippy fetch update install add search publish'.split(' ') },
  { programs: ['go'], closed: true, alone: 'build install get mod vet list work'.split(' ') },
  { programs: ['npm', 'npx'], closed: false, alone: 'install i ci add update audit outdated view publish'.split(' ') },
  { programs: ['pip', 'pip3', 'pip3.*'], closed: false, alone: null },
  { programs: ['curl', 'wget'], closed: false, alone: null },
  { programs: ['ssh', 'scp', 'sftp'], closed: false, alone: null },
]

/** The tool that a program is, by its plain name. */
export function knownTool(name: string): KnownTool | null {
  return TOOLS.find(({ programs }) => programs.some((program) => matchSegment(program, name))) ?? null
}

/** Whether hosts that a grant gives this use of a tool are for the tool alone. */
export function keepsHosts({ alone }: KnownTool, words: readonly string[]): boolean {
  return alone === null || usesNetwork(alone, words)
}
