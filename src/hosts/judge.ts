/** Judges whether a request may go to a host, by the lists, the kind of host and its addresses. */

import {
  type AddressClass,
  canonicalAddress,
  classifyAddress,
  embeddedIpv4,
  isLoopbackHost,
  type SpecialRange,
  specialRangeOf,
} from './address.ts'
import { quote } from './host.ts'
import { coversName, crossesSuffix, type HostPattern, matchesDenied, matchesHost } from './pattern.ts'
import type { SuffixLookup } from './suffix.ts'
import { parseUrl, type UrlFacts } from './url.ts'

export type HostCode =
  | 'host-listed'
  | 'host-open'
  | 'host-denied'
  | 'host-unlisted'
  | 'port-unlisted'
  | 'host-metadata'
  | 'host-link-local'
  | 'host-private'
  | 'host-reserved'
  | 'host-below-suffix'
  | 'host-unresolved'
  | 'url-invalid'
  | 'too-many-hops'

/** The lists that bind a request; the policy's `HostRules` are of this shape. */
export interface HostJudgeRules<Rule extends { readonly pattern: HostPattern }> {
  /** Null leaves public hosts open on the web ports, `[]` is closed. */
  readonly allowed: readonly Rule[] | null
  readonly denied: readonly Rule[]
  /** Opens private, loopback and carrier-grade addresses and internal names; a list still has to name them. */
  readonly allowPrivate: boolean
  /** Whether an entry that names a port of this machine (`127.0.0.1:5432`, `localhost:3000`) opens it without `allowPrivate`. */
  readonly opensNamedLoopback?: boolean
  /** Addresses of this machine's own interfaces: as private as loopback, even where they are public ones. */
  readonly ownAddresses?: readonly string[]
  /** Ranges that a name may resolve into as into public addresses: the person's resolver answers with them. */
  readonly specialRanges?: readonly SpecialRange[]
  /** Given, an allowed wildcard does not reach below another public suffix (`*.amazonaws.com` into `*.s3.amazonaws.com`). */
  readonly suffixes?: SuffixLookup
}

interface HostRequest {
  readonly url: UrlFacts
  /** What DNS answered; absent before resolution. The address that is dialled must be one of these. */
  readonly resolved?: readonly string[]
}

export interface HostJudgement<Rule> {
  readonly verdict: 'allow' | 'deny'
  readonly code: HostCode
  readonly message: string
  /** The rule that decided; null when none did. */
  readonly matched: Rule | null
}

interface HopsJudgement<Rule> extends HostJudgement<Rule> {
  /** Index of the hop that decided; -1 for the first request. */
  readonly hop: number
  /** True when a hop went from an encrypted scheme to a plain one: allowed, and worth a line in the audit. */
  readonly downgraded: boolean
}

type Reach = 'open' | 'private' | 'closed'

const REACH: Readonly<Record<AddressClass, Reach>> = {
  public: 'open',
  private: 'private',
  loopback: 'private',
  cgnat: 'private',
  'link-local': 'closed',
  metadata: 'closed',
  multicast: 'closed',
  reserved: 'closed',
  invalid: 'closed',
}

/** Ports of public hosts that stay open without a list: the web's own and its registered alternatives. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443, 8000, 8008, 8080, 8443, 8888])
const MAX_HOPS = 20

/**
 * Judges one request. In this order: denied; metadata and other addresses that nothing opens;
 * private without permission; the allow list; then every resolved address, of which one bad one
 * denies the answer.
 */
export function judgeHost<Rule extends { readonly pattern: HostPattern }>(
  request: HostRequest,
  rules: HostJudgeRules<Rule>,
): HostJudgement<Rule> {
  const { url, resolved } = request
  const denied = rules.denied.find((rule) => matchesDenied(rule.pattern, url.host, url.port))
  if (denied) return deny('host-denied', `${quote(url.host)} is denied by "${denied.pattern.text}"`, denied)

  const reach = url.kind === 'name' ? judgeName(url.host) : judgeAddress(url.host, rules.ownAddresses)
  const named = rules.opensNamedLoopback === true ? namedLoopback(url, rules.allowed ?? []) : null
  const barred = named ? null : barredBy<Rule>(reach, quote(url.host), rules.allowPrivate)
  if (barred) return barred

  const listed = named
    ? listedBy(named)
    : rules.allowed === null
      ? judgeOpen<Rule>(url, reach.reach)
      : judgeList(url, rules.allowed, rules.suffixes)
  if (listed.verdict === 'deny' || resolved === undefined) return listed

  if (resolved.length === 0) return deny('host-unresolved', `${quote(url.host)} resolves to no address`)
  for (const text of resolved) {
    const address = canonicalAddress(text) ?? text
    const rule = rules.denied.find((candidate) => matchesDenied(candidate.pattern, address, url.port))
    const subject = `${quote(address)}, which ${quote(url.host)} resolves to,`
    if (rule) return deny('host-denied', `${subject} is denied by "${rule.pattern.text}"`, rule)
    // Only as the answer for a name: in a URL, such an address could mean any earlier question.
    if (url.kind === 'name' && isOpened(address, rules.specialRanges)) continue
    if (named && classifyAddress(address) === 'loopback') continue
    const closed = barredBy<Rule>(judgeAddress(address, rules.ownAddresses), subject, rules.allowPrivate)
    if (closed) return closed
  }
  return listed
}

/**
 * Judges a request and its redirects, each relative to the one before. `resolved` applies to hops
 * to the same host; another host must be judged again once it is resolved.
 */
export function judgeHops<Rule extends { readonly pattern: HostPattern }>(
  first: HostRequest,
  hops: readonly string[],
  rules: HostJudgeRules<Rule>,
): HopsJudgement<Rule> {
  let judgement = judgeHost(first, rules)
  let previous = first.url
  let downgraded = false
  if (judgement.verdict === 'deny') return { ...judgement, hop: -1, downgraded }
  for (const [hop, text] of hops.entries()) {
    if (hop >= MAX_HOPS) return { ...deny('too-many-hops', `more than ${MAX_HOPS} redirects`), hop, downgraded }
    const parsed = parseUrl(text, previous)
    if ('problem' in parsed) return { ...deny('url-invalid', parsed.problem), hop, downgraded }
    downgraded ||= isEncrypted(previous) && !isEncrypted(parsed.url)
    const known = parsed.url.host === first.url.host ? first.resolved : undefined
    judgement = judgeHost(known === undefined ? { url: parsed.url } : { url: parsed.url, resolved: known }, rules)
    if (judgement.verdict === 'deny') return { ...judgement, hop, downgraded }
    previous = parsed.url
  }
  return { ...judgement, hop: hops.length - 1, downgraded }
}

interface RequestJudgement {
  readonly reach: Reach
  readonly code: HostCode
  readonly what: string
  readonly remedy?: string
}

const OPEN: RequestJudgement = { reach: 'open', code: 'host-open', what: 'a public host' }
const INTERNAL: RequestJudgement = { reach: 'private', code: 'host-private', what: 'an internal name' }
const METADATA: RequestJudgement = { reach: 'closed', code: 'host-metadata', what: 'a cloud metadata service' }
const OWN: RequestJudgement = { reach: 'private', code: 'host-private', what: "one of this machine's own addresses" }

function judgeName(host: string): RequestJudgement {
  const name = classifyName(host)
  if (name === 'public') return OPEN
  return name === 'metadata' ? METADATA : INTERNAL
}

function judgeAddress(address: string, own: readonly string[] | undefined): RequestJudgement {
  const name = classifyAddress(address)
  const reach = REACH[name]
  if (reach === 'open') return own !== undefined && isOwn(address, own) ? OWN : OPEN
  if (name === 'metadata') return METADATA
  if (name === 'link-local') return { reach, code: 'host-link-local', what: 'a link-local address' }
  if (reach === 'private') return { reach, code: 'host-private', what: `a ${name} address` }
  const what = name === 'invalid' ? 'not an address' : `a ${name} address`
  const range = specialRangeOf(address)
  if (range === null) return { reach, code: 'host-reserved', what }
  const remedy = `; where your own resolver answers so, special_ranges = ["${range}"] under [network] of ~/.config/cordon/cordon.toml opens it to names`
  return { reach, code: 'host-reserved', what, remedy }
}

/** The entry that names this port of this machine, by whichever of its names. */
function namedLoopback<Rule extends { readonly pattern: HostPattern }>(
  { host, port }: UrlFacts,
  allowed: readonly Rule[],
): Rule | null {
  if (!isLoopbackHost(host)) return null
  return (
    allowed.find(({ pattern }) => !pattern.wildcard && pattern.port === port && isLoopbackHost(pattern.host)) ?? null
  )
}

function isOwn(address: string, own: readonly string[]): boolean {
  const inner = embeddedIpv4(address) ?? address
  return own.some((candidate) => (canonicalAddress(candidate) ?? candidate) === inner)
}

function isOpened(address: string, opened: readonly SpecialRange[] = []): boolean {
  const range = opened.length === 0 ? null : specialRangeOf(address)
  return range !== null && opened.includes(range)
}

function barredBy<Rule>(judged: RequestJudgement, subject: string, allowPrivate: boolean): HostJudgement<Rule> | null {
  if (judged.reach === 'open' || (judged.reach === 'private' && allowPrivate)) return null
  const remedy =
    judged.reach === 'private' ? '; it needs allow_private_hosts = true' : (judged.remedy ?? '; no setting opens it')
  return deny(judged.code, `${subject} is ${judged.what}${remedy}`)
}

function judgeOpen<Rule>(url: UrlFacts, reach: Reach): HostJudgement<Rule> {
  // A private host that was opened on purpose is a development server, and those listen anywhere.
  if (reach === 'private' || WEB_PORTS.has(url.port)) {
    return { verdict: 'allow', code: 'host-open', message: `no list limits ${quote(url.host)}`, matched: null }
  }
  return deny('port-unlisted', `port ${url.port} of ${quote(url.host)} is not a web port; list "${entryFor(url)}"`)
}

function judgeList<Rule extends { readonly pattern: HostPattern }>(
  url: UrlFacts,
  allowed: readonly Rule[],
  suffixes: SuffixLookup | undefined,
): HostJudgement<Rule> {
  let spread: Rule | null = null
  for (const rule of allowed) {
    if (!matchesHost(rule.pattern, url.host, url.port)) continue
    if (rule.pattern.wildcard && suffixes && crossesSuffix(rule.pattern, url.host, suffixes)) {
      spread = rule
      continue
    }
    return listedBy(rule)
  }
  const subject = quote(url.host)
  if (spread) {
    const message = `"${spread.pattern.text}" does not reach ${subject}: anyone can register names there; list the host itself`
    return deny('host-below-suffix', message, spread)
  }
  if (allowed.some((rule) => coversName(rule.pattern, url.host))) {
    return deny('port-unlisted', `${subject} is listed, but not for port ${url.port}; list "${entryFor(url)}"`)
  }
  return deny('host-unlisted', `${subject} is not on the list of allowed hosts`)
}

function listedBy<Rule extends { readonly pattern: HostPattern }>(rule: Rule): HostJudgement<Rule> {
  return { verdict: 'allow', code: 'host-listed', message: `listed by "${rule.pattern.text}"`, matched: rule }
}

/** The entry that would list this host and port. */
function entryFor(url: UrlFacts): string {
  return `${url.kind === 'ipv6' ? `[${url.host}]` : url.host}:${url.port}`
}

function isEncrypted(url: UrlFacts): boolean {
  return url.scheme === 'https' || url.scheme === 'wss'
}

function deny<Rule>(code: HostCode, message: string, matched: Rule | null = null): HostJudgement<Rule> {
  return { verdict: 'deny', code, message, matched }
}

export type NameClass = 'public' | 'internal' | 'metadata'

/** Names of cloud metadata services, themselves and everything below; no setting opens them. */
const METADATA_NAMES: ReadonlySet<string> = names(`
    metadata metadata.google.internal metadata.goog metadata.azure.internal
    metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com
    api.metadata.cloud.ibm.com rancher-metadata instance-data instance-data.ec2.internal`)

/** Domains that no public registry hands out, or that resolve inside the house; themselves and everything below. */
const INTERNAL_NAMES: ReadonlySet<string> = names(`
    localhost localdomain localdomain4 localdomain6 localnet local internal intranet intra lan
    home home.arpa corp mail workgroup private priv svc kubernetes.default consul docker lxd incus
    fritz.box`)

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Classifies a canonical name. A single label is internal: the resolver's search list decides. */
export function classifyName(host: string): NameClass {
  if (isBelow(host, METADATA_NAMES)) return 'metadata'
  return !host.includes('.') || isBelow(host, INTERNAL_NAMES) ? 'internal' : 'public'
}

function isBelow(host: string, domains: ReadonlySet<string>): boolean {
  for (let at = 0; ; ) {
    if (domains.has(at === 0 ? host : host.slice(at))) return true
    const dot = host.indexOf('.', at)
    if (dot < 0) return false
    at = dot + 1
  }
}
