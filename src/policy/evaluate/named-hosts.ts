/**
 * The hosts of commands, and of a text as a whole (S3). Its commands share one sandbox, so a host
 * of one is there for all. If one runs unreadable code, the text has only that one's hosts.
 */

import { classifyAddress } from '../../hosts/address.ts'
import { matchesDenied, reachesHost } from '../../hosts/pattern.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { CommandFact, HostUse } from '../../shell/facts.ts'
import type { SessionFacts } from '../call.ts'
import type { PartSubject } from '../decision.ts'
import type { PartQuestions } from '../order.ts'
import { type HostRule, type Policy, ref } from '../policy.ts'
import { isReadable, mayRunOtherCode } from './carried-paths.ts'
import { grantsOf } from './command-grant.ts'
import { wordsOf } from './command-part.ts'
import { repositoryDoubt, type TextFacts } from './git-place.ts'
import { hostsOfCommand, keepsHosts, knownTool } from './network-use.ts'
import { always, type Scene } from './scene.ts'

/**
 * P10: contained mode asks about a host that a command names, and a denied host is denied. The
 * proxy enforces both in every mode.
 */
export function hostUseQuestions(scene: Scene, use: HostUse, fact: CommandFact): PartQuestions[] {
  const { policy, session, stance } = scene
  const contained = stance.mode.value === 'contained'
  if (contained && COMPUTED_HOST.test(use.url)) return [unreadableHost(use, fact, 'a part of it is computed')]
  const web = asWeb(use.url)
  const parsed = parseUrl(web)
  if ('problem' in parsed) return contained && /^https?:/i.test(web) ? [unreadableHost(use, fact, parsed.problem)] : []
  if (isOwnLoopback(parsed.url.host)) return []
  const { host, port } = parsed.url
  const denied = policy.commands.deniedDomains.find(({ pattern }) => matchesDenied(pattern, host, port))
  if (denied) return [deniedHost(use, fact, denied)]
  if (!contained) return []
  const words = fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? [])
  const rules = [
    ...hostsOfCommand(policy, grantsOf(policy, session, fact) ?? [], words),
    ...policy.commands.defaultDomains,
    ...session.grants.hosts,
  ]
  const rule = rules.find((candidate) => reachesHost(candidate.pattern, host, port, policy.http.suffixes))
  // The web's own ports go without saying.
  const named = /^(?:git\+)?https?:|^[^:/]+(?:[/?#]|$)/i.test(use.url) ? host : `${host}:${port}`
  const subject: PartSubject = { kind: 'host', text: named, span: use.span }
  if (rule) {
    return [
      always(subject, {
        decision: 'allow',
        reason: { code: 'granted', message: `"${rule.pattern.text}" grants ${host}.` },
        rules: [ref(rule)],
      }),
    ]
  }
  return [
    always(subject, {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` connects to ${named}, which is not allowed yet.`,
        remedy: `Grant it with domains = ["${named}"] at a command pattern, or under default_domains.`,
      },
      rules: [ref(stance.mode)],
    }),
  ]
}

/** An address with an expansion before its first slash: its value decides the machine. */
const COMPUTED_HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*[$`]/i

/** Nobody is asked about a host that the proxy would stop anyway (N2). */
function deniedHost(use: HostUse, fact: CommandFact, rule: HostRule): PartQuestions {
  return always(
    { kind: 'host', text: use.url, span: use.span },
    {
      decision: 'deny',
      reason: {
        code: 'host-denied',
        message: `\`${wordsOf(fact)}\` connects to a host that "${rule.pattern.text}" denies.`,
        remedy: 'Do without it, or ask the user to change that rule.',
      },
      rules: [ref(rule)],
    },
  )
}

/** Ports of other protocols than the web's; an unlisted scheme names no machine (`s3`, `file`). */
const PORTS: Readonly<Record<string, number>> = {
  ssh: 22,
  sftp: 22,
  scp: 22,
  git: 9418,
  ftp: 21,
  ftps: 990,
  rsync: 873,
  svn: 3690,
  telnet: 23,
  gopher: 70,
  dict: 2628,
  smtp: 25,
  smtps: 465,
  imap: 143,
  imaps: 993,
  ldap: 389,
  ldaps: 636,
  rtmp: 1935,
  rtsp: 554,
  ws: 80,
  wss: 443,
}

/** The address as one of the web, so that its host and port are judged like any other: `ssh://git@h/x` is `https://h:22`. */
function asWeb(url: string): string {
  const plain = url.replace(/^(?:git|hg|svn|bzr)\+(?=\w+:\/\/)/i, '')
  const match = /^([a-z][a-z0-9+.-]*):\/\/(?:[^@/]*@)?(\[[^\]]+\]|[^/:?#]+)(?::(\d+))?/i.exec(plain)
  if (match === null) return `https://${plain}`
  const port = PORTS[(match[1] ?? '').toLowerCase()]
  return port === undefined ? plain : `https://${match[2]}:${match[3] ?? port}`
}

function unreadableHost(use: HostUse, fact: CommandFact, problem: string): PartQuestions {
  return always(
    { kind: 'host', text: use.url, span: use.span },
    {
      decision: 'ask',
      reason: {
        code: 'host-not-granted',
        message: `\`${wordsOf(fact)}\` connects to a host that cannot be read from the command: ${problem}.`,
        remedy: 'Write the address plainly.',
      },
      rules: [{ rule: 'hazard unknowable', source: 'built-in' }],
    },
  )
}

// Inside the sandbox, loopback is the sandbox's own.
function isOwnLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || classifyAddress(host) === 'loopback'
}

/** One command of a text with what it has by itself. */
interface CommandHosts {
  readonly fact: CommandFact
  readonly hosts: readonly HostRule[]
  /** Hosts of its tool that it goes without, because a shell starts it or its words may make it run something else. */
  readonly lost: readonly HostRule[]
  readonly readable: boolean
  /** Why it may run code that its words do not show, where that is its place. */
  readonly doubt: string | null
  /** Those of its hosts that are for its program alone, where connections are judged by the program that makes them. */
  readonly limited: readonly HostRule[]
  /** It has hosts that it would have lost by its words. */
  readonly relied: boolean
}

export interface TextHosts {
  readonly commands: readonly CommandHosts[]
  /** What the text has when it runs as a whole. */
  readonly hosts: readonly HostRule[]
  /** What some of its commands would have, and the text as a whole has not. */
  readonly withheld: readonly HostRule[]
  /** What in the text runs code that cannot be read, for a person; null where nothing does. */
  readonly unread: string | null
  /** Those of its hosts that are for some of its programs alone, and these programs. */
  readonly limited: { readonly rules: readonly HostRule[]; readonly programs: readonly string[] }
  /** Some of its hosts are only there because connections are judged by program. */
  readonly relies: boolean
}

/** What a text has is known by more than its words. */
export interface HostView {
  /** A tool's own hosts come by the words of a command, and need no grant that names it. */
  readonly contained: boolean
  /** Connections are judged by the program that makes them. */
  readonly byProgram: boolean
}

export function hostsOfText(policy: Policy, session: SessionFacts, text: TextFacts, view: HostView): TextHosts {
  const each = text.commands.map((fact) => hostsOfFact(policy, session, text, fact, view))
  const all = unique(each.length === 0 ? policy.commands.defaultDomains : each.flatMap(({ hosts }) => hosts))
  const lost = unique(each.flatMap((one) => one.lost))
  // Data that bash evaluates outside any command has what every command has.
  const evaluated = text.hazards.length > 0 ? [policy.commands.defaultDomains] : []
  const unreadable = [...each.filter(({ readable }) => !readable).map(({ hosts }) => hosts), ...evaluated]
  const unsafe = (rule: HostRule): boolean =>
    unreadable.some((own) => own.every((other) => keyOf(other) !== keyOf(rule)))
  const closed = keysOf(each.filter(isClosed).flatMap(({ limited }) => limited))
  const hosts = all.filter((rule) => closed.has(keyOf(rule)) || !unsafe(rule))
  // What one command has everywhere is not limited by another.
  const open = keysOf(each.flatMap((one) => one.hosts.filter((rule) => !one.limited.includes(rule))))
  const rules = view.byProgram
    ? unique(each.flatMap(({ limited }) => limited)).filter((rule) => !open.has(keyOf(rule)) || unsafe(rule))
    : []
  return {
    commands: each,
    hosts,
    withheld: [...all.filter((rule) => !hosts.includes(rule)), ...lost],
    unread: unreadText(each, text),
    limited: {
      rules,
      programs: [...new Set(each.flatMap(({ fact, limited }) => (limited.length > 0 ? [nameOf(fact)] : [])))],
    },
    relies: view.byProgram && hosts.some((rule) => unsafe(rule) || each.some(({ relied }) => relied)),
  }
}

function hostsOfFact(
  policy: Policy,
  session: SessionFacts,
  text: TextFacts,
  fact: CommandFact,
  { contained, byProgram }: HostView,
): CommandHosts {
  const tool = byProgram && fact.resolves !== 'builtin' ? knownTool(nameOf(fact)) : null
  const grants = grantsOf(policy, session, fact) ?? []
  const direct = fact.via.every((via) => via.kind === 'wrapper')
  const words = (contained && (direct || tool?.closed)) || grants.length > 0 ? knownWords(fact) : []
  const all = [...hostsOfCommand(policy, grants, words), ...answeredHosts(session, fact)]
  const doubt = all.length === 0 ? null : repositoryDoubt(policy, session, fact, text)
  // A shell never lifts the bundle of what it starts, unless that is judged when it connects.
  const alone = doubt === null && !mayRunOtherCode(fact) && fact.via.every((via) => via.kind !== 'shell')
  const lost = alone || tool?.closed ? [] : all.filter((rule) => isToolHost(policy, rule))
  const hosts = all.filter((rule) => !lost.includes(rule))
  const { defaultDomains } = policy.commands
  const own = (rule: HostRule): boolean =>
    !defaultDomains.includes(rule) && (isToolHost(policy, rule) || keepsHosts(tool!, knownWords(fact).slice(1)))
  return {
    fact,
    hosts,
    lost,
    readable: doubt === null && isReadable(fact),
    doubt,
    limited: tool === null ? [] : hosts.filter(own),
    relied: !alone && tool?.closed === true && all.some((rule) => isToolHost(policy, rule)),
  }
}

function isClosed({ fact }: CommandHosts): boolean {
  return knownTool(nameOf(fact))?.closed === true
}

/** Its program, where that is plain. */
function nameOf({ argv }: CommandFact): string {
  const values = argv[0]?.values
  return values?.length === 1 ? values[0]! : ''
}

function keysOf(rules: readonly HostRule[]): ReadonlySet<string> {
  return new Set(rules.map(keyOf))
}

function unreadText(commands: readonly CommandHosts[], { hazards }: TextFacts): string | null {
  const first = commands.find(({ readable }) => !readable)
  if (first?.doubt != null) return first.doubt
  if (first === undefined) return hazards[0] === undefined ? null : hazards[0].message
  const words = first.fact.argv.map((word) => word.text).join(' ')
  return `\`${words.length > 60 ? `${words.slice(0, 60)} …` : words}\` runs code that cannot be read`
}

/** Whether a text could send what it reads: it names a machine, or has a host and unread code. */
export function mayReachOut(policy: Policy, session: SessionFacts, text: TextFacts): boolean {
  if (text.commands.some(({ hosts, effect }) => hosts.length > 0 || effect.startsWith('remote'))) return true
  const view = { contained: true, byProgram: false }
  return hostsOfText(policy, session, text, view).commands.some(({ hosts, readable }) => !readable && hosts.length > 0)
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
