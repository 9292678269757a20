/**
 * The hosts of a command text (S3). Its commands share one sandbox, so a host of one is there for all: where one of them
 * runs code that no one can read, the text has only the hosts that this one has by itself.
 */

import { parseUrl } from '../../hosts/url.ts'
import type { CommandFact } from '../../shell/facts.ts'
import type { SessionFacts } from '../call.ts'
import type { HostRule, Policy } from '../policy.ts'
import { grantsOf } from './command-grant.ts'
import { repositoryDoubt, type TextFacts } from './git-place.ts'
import { hostsOfCommand } from './network-use.ts'
import { isReadable, mayRunOtherCode } from './readable-command.ts'

/** One command of a text with what it has by itself. */
export interface CommandHosts {
  readonly fact: CommandFact
  readonly hosts: readonly HostRule[]
  /** Hosts of its tool that it goes without, because a shell starts it or its words may make it run something else. */
  readonly lost: readonly HostRule[]
  readonly readable: boolean
  /** Why it may run code that its words do not show, where that is its place. */
  readonly doubt: string | null
}

export interface TextHosts {
  readonly commands: readonly CommandHosts[]
  /** What the text has when it runs as a whole. */
  readonly hosts: readonly HostRule[]
  /** What some of its commands would have, and the text as a whole has not. */
  readonly withheld: readonly HostRule[]
  /** What in the text runs code that cannot be read, for a person; null where nothing does. */
  readonly unread: string | null
}

/** `contained`: a tool's own hosts come by the words of a command, and need no grant that names it. */
export function hostsOfText(policy: Policy, session: SessionFacts, text: TextFacts, contained: boolean): TextHosts {
  const each = text.commands.map((fact): CommandHosts => {
    const grants = grantsOf(policy, session, fact) ?? []
    const direct = fact.via.every((via) => via.kind === 'wrapper')
    const words = (contained && direct) || grants.length > 0 ? knownWords(fact) : []
    const all = [...hostsOfCommand(policy, grants, words), ...answeredHosts(session, fact)]
    // A shell never lifts the bundle of what it starts.
    const doubt = all.length === 0 ? null : repositoryDoubt(policy, session, fact, text)
    const alone = doubt === null && !mayRunOtherCode(fact) && fact.via.every((via) => via.kind !== 'shell')
    const lost = alone ? [] : all.filter((rule) => isToolHost(policy, rule))
    const hosts = all.filter((rule) => !lost.includes(rule))
    return { fact, hosts, lost, readable: doubt === null && isReadable(fact), doubt }
  })
  const all = unique(each.length === 0 ? policy.commands.defaultDomains : each.flatMap(({ hosts }) => hosts))
  const lost = unique(each.flatMap((one) => one.lost))
  // Data that bash evaluates outside any command has what every command has.
  const evaluated = text.hazards.length > 0 ? [policy.commands.defaultDomains] : []
  const unreadable = [...each.filter(({ readable }) => !readable).map(({ hosts }) => hosts), ...evaluated]
  const hosts = all.filter((rule) => unreadable.every((own) => own.some((other) => keyOf(other) === keyOf(rule))))
  return {
    commands: each,
    hosts,
    withheld: [...all.filter((rule) => !hosts.includes(rule)), ...lost],
    unread: unreadText(each, text),
  }
}

function unreadText(commands: readonly CommandHosts[], { hazards }: TextFacts): string | null {
  const first = commands.find(({ readable }) => !readable)
  if (first?.doubt != null) return first.doubt
  if (first === undefined) return hazards[0] === undefined ? null : hazards[0].message
  const words = first.fact.argv.map((word) => word.text).join(' ')
  return `\`${words.length > 60 ? `${words.slice(0, 60)} …` : words}\` runs code that cannot be read`
}

/** True for a text that names another machine, or has a host and runs code that no one can read: it could send on what it reads. */
export function mayReachOut(policy: Policy, session: SessionFacts, text: TextFacts): boolean {
  if (text.commands.some(({ hosts, effect }) => hosts.length > 0 || effect.startsWith('remote'))) return true
  return hostsOfText(policy, session, text, true).commands.some(({ hosts, readable }) => !readable && hosts.length > 0)
}

function isToolHost(policy: Policy, rule: HostRule): boolean {
  return [...policy.commands.toolDomains.values()].some((rules) => rules.includes(rule))
}

/** A host that a person agreed to is there for the commands that name it; others do not get it with them. */
function answeredHosts(session: SessionFacts, fact: CommandFact): HostRule[] {
  const named = new Set(fact.hosts.map((use) => hostIn(use.url)))
  return session.grants.hosts.filter(({ pattern }) => named.has(pattern.host))
}

function hostIn(url: string): string {
  const parsed = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`)
  return 'problem' in parsed ? '' : parsed.url.host
}

function knownWords(fact: CommandFact): string[] {
  return fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? [])
}

function unique(rules: readonly HostRule[]): HostRule[] {
  return [...new Map(rules.map((rule) => [keyOf(rule), rule])).values()]
}

function keyOf({ pattern, methods, paths, maxRequests, maxUpload, signs }: HostRule): string {
  return JSON.stringify([
    pattern.text,
    methods ?? null,
    paths ?? null,
    maxRequests ?? null,
    maxUpload ?? null,
    signs ?? null,
  ])
}
