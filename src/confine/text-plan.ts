/** Plans how a text runs: whole, or in parts so that hosts stay separate (S3). PURE. */

import type { SessionFacts } from '../policy/call.ts'
import { pathsOfGrants } from '../policy/evaluate/carried-paths.ts'
import { grantsOf } from '../policy/evaluate/command-grant.ts'
import { grantMatches } from '../policy/evaluate/command-match.ts'
import type { TextFacts } from '../policy/evaluate/git-place.ts'
import { hostsOfText, type TextHosts } from '../policy/evaluate/named-hosts.ts'
import { hostsOfCommand } from '../policy/evaluate/network-use.ts'
import type { CommandRule, HostRule } from '../policy/policy.ts'
import { takeStance } from '../policy/stance.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { CommandFact, ShellFacts } from '../shell/facts.ts'
import { splitText, type TextPart } from '../shell/read/split.ts'
import { analyze } from '../shell/walk/analyze.ts'
import { asWord, type Entitlement, shorten } from './entitlement.ts'

/** A text that runs in one sandbox, with its entitlement. */
export interface CommandGroup extends Entitlement {
  readonly text: string
  readonly when: TextPart['when']
  readonly moves: boolean
  /** It has hosts only because connections are judged by the program that makes them. */
  readonly relies: boolean
}

export interface TextPlan {
  /** In order; a single one if the text runs as a whole. */
  readonly groups: readonly CommandGroup[]
  /** A note for the agent. */
  readonly note: string | null
  /** The whole text in one sandbox, with whatever hosts it then loses. */
  readonly whole: CommandGroup
  readonly wholeNote: string | null
}

export interface TextPlace {
  readonly cwd: string
  readonly home: string
  readonly loaded: LoadedPolicy
  readonly session: SessionFacts
  /** Hosts that a person approved for this text. */
  readonly agreed: readonly HostRule[]
  /** Connections are judged by the program that makes them. */
  readonly byProgram?: boolean
}

/** Plans a text from the facts of its decision. */
export function planText(command: string, decided: ShellFacts | null, place: TextPlace): TextPlan {
  const all = readCommands(decided ?? NOTHING, place)
  // The person saw the whole text.
  const whole = groupOf(command, all, [...all.hosts.hosts, ...place.agreed], place, { when: 'always', moves: false })
  const wholeNote = all.hosts.withheld.length === 0 ? null : withheldNote(all.hosts)
  if (wholeNote === null) return { groups: [whole], note: null, whole, wholeNote }
  // A part alone does not show which directory earlier parts changed to.
  const isDoubtful = all.hosts.commands.some(({ doubt }) => doubt !== null)
  const groups = isDoubtful ? null : partByPart(command, place)
  return groups === null
    ? { groups: [whole], note: wholeNote, whole, wholeNote }
    : { groups, note: null, whole, wholeNote }
}

const NOTHING: TextFacts = { commands: [], hazards: [], redirects: [] }

interface TextCommands {
  readonly facts: readonly CommandFact[]
  readonly hosts: TextHosts
}

function readPart(text: string, place: TextPlace): TextCommands {
  const { cwd, home } = place
  const analysis = analyze(text, { cwd, home, variables: { HOME: home, PWD: cwd } })
  return readCommands('facts' in analysis ? analysis.facts : NOTHING, place)
}

function readCommands(text: TextFacts, { loaded, session, agreed, byProgram = false }: TextPlace): TextCommands {
  const answered = { ...session, grants: { ...session.grants, hosts: [...session.grants.hosts, ...agreed] } }
  const view = { contained: isContained(loaded, session), byProgram }
  return { facts: text.commands, hosts: hostsOfText(loaded.policy, answered, text, view) }
}

/** Groups neighbours as long as none loses a host; null if a single part loses one. */
function partByPart(command: string, place: TextPlace): CommandGroup[] | null {
  const parts = splitText(command)
  if (parts === null) return null
  const groups: { first: TextPart; end: number; look: TextCommands }[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    const together =
      last && mayFollow(last.first, part) ? readPart(command.slice(last.first.start, part.end), place) : null
    if (together && together.hosts.withheld.length === 0)
      groups[groups.length - 1] = { first: last!.first, end: part.end, look: together }
    else {
      const look = readPart(part.text, place)
      if (look.hosts.withheld.length > 0) return null
      groups.push({ first: part, end: part.end, look })
    }
  }
  return groups.map(({ first, end, look }) =>
    groupOf(command.slice(first.start, end), look, look.hosts.hosts, place, first),
  )
}

/** Whether a part can be skipped only together with the first part of its group. */
function mayFollow(first: TextPart, part: TextPart): boolean {
  if (first.moves || part.moves) return false
  return first.when === 'always' || (first.when === 'success' && part.when === 'success')
}

function groupOf(
  text: string,
  { facts, hosts: { limited, relies } }: TextCommands,
  hosts: readonly HostRule[],
  { loaded, session, agreed }: TextPlace,
  { when, moves }: Pick<TextPart, 'when' | 'moves'>,
): CommandGroup {
  const rules = limited.rules.filter((rule) => !agreed.includes(rule))
  const own = (words: readonly string[]): readonly HostRule[] => hostsOfUse(loaded, session, words)
  const byProgram = rules.length > 0 && { limited: { rules, programs: limited.programs, own } }
  return { text, when, moves, relies, ...entitleText(text, facts, hosts, loaded, session), ...byProgram }
}

/** The entitlement of a text whose commands were read. */
function entitleText(
  text: string,
  commands: readonly CommandFact[],
  hosts: readonly HostRule[],
  loaded: LoadedPolicy,
  session: SessionFacts,
): Entitlement {
  const { policy } = loaded
  const granting = (facts: readonly CommandFact[]): readonly CommandRule[] =>
    facts.flatMap((fact) => grantsOf(policy, session, fact) ?? [])
  const grants = granting(commands)
  // Bundles apply to what the text runs itself, not to what a shell inside it runs.
  const direct = commands.filter((fact) => fact.via.every((via) => via.kind === 'wrapper'))
  const words = direct.map((fact) => fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? []))
  const patterns = [
    ...granting(direct).map((grant) => grant.pattern.words),
    ...(isContained(loaded, session) ? words : []),
  ]
  const line = text.split('\n')[0]!
  return {
    name: shorten(line, line !== text),
    whole: text,
    patterns,
    grants: [...new Set(grants.map((grant) => grant.pattern.text))],
    paths: pathsOfGrants(grants),
    envVars: grants.flatMap((grant) => grant.envVars),
    hosts,
    programs: [...new Set(patterns.flatMap((pattern) => pattern.slice(0, 1)))],
  }
}

/** The hosts of a program that is started, by its real words. */
function hostsOfUse(loaded: LoadedPolicy, session: SessionFacts, words: readonly string[]): readonly HostRule[] {
  const { policy } = loaded
  const grants = [...policy.commands.allow, ...session.grants.commands].filter(({ pattern }) =>
    grantMatches(pattern, words.map(asWord)),
  )
  const answered = session.grants.hosts.filter(({ pattern }) => words.some((word) => word.includes(pattern.host)))
  return [
    ...hostsOfCommand(policy, grants, isContained(loaded, session) || grants.length > 0 ? words : []),
    ...answered,
  ]
}

/** In contained mode a command's words are enough to select bundles and their hosts. */
function isContained({ policy }: LoadedPolicy, session: SessionFacts): boolean {
  return takeStance(policy, session, 'bash').mode.value === 'contained'
}

function withheldNote({ unread, withheld }: TextHosts): string {
  const hosts = withheld.map((rule) => rule.pattern.text)
  const named = hosts.length > 3 ? `${hosts.slice(0, 3).join(', ')} and ${hosts.length - 3} more` : hosts.join(', ')
  const why = unread === null ? '' : `: ${unread}`
  return `it could not reach ${named}${why}. Run what needs the network as a separate command.`
}
