/** How a command text runs: as a whole, or part by part where a host of one part is not for the code of another (S3). */

import type { EgressRules } from '../../egress/rules.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { HostRule, PathRule } from '../../policy/policy.ts'
import { pathsOfGrants } from '../../policy/shell/carried-paths.ts'
import { grantsOf } from '../../policy/shell/command-grant.ts'
import { hostsOfText, type TextHosts } from '../../policy/shell/text-hosts.ts'
import { takeStance } from '../../policy/stance.ts'
import { analyze } from '../../shell/analyze.ts'
import type { CommandFact, ShellFacts } from '../../shell/facts.ts'
import { splitText, type TextPart } from '../../shell/split.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import type { CallReach } from '../session/policy.ts'
import { egressRules } from './network/egress-rules.ts'

/** A text that runs in one sandbox. */
export interface CommandGroup {
  readonly text: string
  readonly when: TextPart['when']
  readonly moves: boolean
  /** The words of the patterns that grant its commands: they decide which bundles come along. */
  readonly patterns: readonly (readonly string[])[]
  /** The same patterns as they are written, for the record. */
  readonly grants: readonly string[]
  readonly paths: readonly PathRule[]
  readonly envVars: readonly string[]
  readonly rules: EgressRules
}

export interface TextPlan {
  /** In their order; one where the text runs as a whole. */
  readonly groups: readonly CommandGroup[]
  /** What an agent should know about it. */
  readonly note: string | null
  /** The text in one sandbox, whatever it costs it. */
  readonly whole: CommandGroup
  readonly wholeNote: string | null
}

export interface TextPlace {
  readonly cwd: string
  readonly home: string
  readonly loaded: LoadedPolicy
  readonly session: SessionFacts
  readonly reach: CallReach
  readonly ownAddresses: () => readonly string[]
}

/** Plans a text by what was found out about it when it was decided. */
export function planText(command: string, decided: ShellFacts | null, place: TextPlace): TextPlan {
  const all = lookAt(decided?.commands ?? [], place)
  const agreed = place.reach.hosts
  // Who was asked about this text saw all of it.
  const whole = groupOf(command, all, [...all.hosts.hosts, ...agreed], place, { when: 'always', moves: false })
  const wholeNote = all.hosts.withheld.length === 0 ? null : withheldNote(all.hosts)
  if (wholeNote === null) return { groups: [whole], note: null, whole, wholeNote }
  const groups = partByPart(command, place)
  return groups === null
    ? { groups: [whole], note: wholeNote, whole, wholeNote }
    : { groups, note: null, whole, wholeNote }
}

interface Look {
  readonly facts: readonly CommandFact[]
  readonly hosts: TextHosts
}

/** A part of a text by itself. */
function lookAtPart(text: string, place: TextPlace): Look {
  const { cwd, home } = place
  const analysis = analyze(text, { cwd, home, variables: { HOME: home, PWD: cwd } })
  return lookAt('facts' in analysis ? analysis.facts.commands : [], place)
}

function lookAt(facts: readonly CommandFact[], { loaded, session, reach }: TextPlace): Look {
  const answered = { ...session, grants: { ...session.grants, hosts: [...session.grants.hosts, ...reach.hosts] } }
  return { facts, hosts: hostsOfText(loaded.policy, answered, facts, isContained(loaded, session)) }
}

function isContained(loaded: LoadedPolicy, session: SessionFacts): boolean {
  return takeStance(loaded.policy, session, 'bash').mode.value === 'contained'
}

/** Neighbours stay together while none of them loses a host by it; null where one part alone does. */
function partByPart(command: string, place: TextPlace): CommandGroup[] | null {
  const parts = splitText(command)
  if (parts === null) return null
  const groups: { first: TextPart; end: number; look: Look }[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    const together =
      last && mayFollow(last.first, part) ? lookAtPart(command.slice(last.first.start, part.end), place) : null
    if (together && together.hosts.withheld.length === 0)
      groups[groups.length - 1] = { first: last!.first, end: part.end, look: together }
    else {
      const look = lookAtPart(part.text, place)
      if (look.hosts.withheld.length > 0) return null
      groups.push({ first: part, end: part.end, look })
    }
  }
  return groups.map(({ first, end, look }) =>
    groupOf(command.slice(first.start, end), look, look.hosts.hosts, place, first),
  )
}

/** Whether a part can be skipped together with the one that its group begins with, and never without it. */
function mayFollow(first: TextPart, part: TextPart): boolean {
  if (first.moves || part.moves) return false
  return first.when === 'always' || (first.when === 'success' && part.when === 'success')
}

function groupOf(
  text: string,
  { facts }: Look,
  hosts: readonly HostRule[],
  { loaded, session, ownAddresses }: TextPlace,
  { when, moves }: Pick<TextPart, 'when' | 'moves'>,
): CommandGroup {
  const grants = facts.flatMap((fact) => grantsOf(loaded.policy, session, fact) ?? [])
  const direct = facts.filter((fact) => fact.via.every((via) => via.kind === 'wrapper'))
  const words = direct.map((fact) => fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? []))
  // A bundle comes along for what the text itself runs: a shell inside it never counts.
  const carrying = direct.flatMap((fact) => grantsOf(loaded.policy, session, fact) ?? [])
  const patterns = [...carrying.map((grant) => grant.pattern.words), ...(isContained(loaded, session) ? words : [])]
  const programs = [...new Set(patterns.flatMap((pattern) => pattern.slice(0, 1)))]
  return {
    text,
    when,
    moves,
    patterns,
    grants: [...new Set(grants.map((grant) => grant.pattern.text))],
    paths: pathsOfGrants(grants),
    envVars: grants.flatMap((grant) => grant.envVars),
    rules: egressRules(loaded, shorten(text), hosts, programs, ownAddresses),
  }
}

function withheldNote({ commands, withheld }: TextHosts): string {
  const hosts = withheld.map((rule) => rule.pattern.text)
  const named = hosts.length > 3 ? `${hosts.slice(0, 3).join(', ')} and ${hosts.length - 3} more` : hosts.join(', ')
  const code =
    commands
      .find(({ readable }) => !readable)
      ?.fact.argv.map((word) => word.text)
      .join(' ') ?? ''
  const shown = code.length > 60 ? `${code.slice(0, 60)} …` : code
  return `it had no way to ${named}: \`${shown}\` runs code that cannot be read. Run what needs the network as a command of its own.`
}

function shorten(command: string): string {
  const line = command.split('\n')[0]!
  return line.length > 60 || line !== command ? `${line.slice(0, 60)} …` : line
}
