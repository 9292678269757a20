/** Rules for the tools of MCP servers: by name, by the server's own hints, and by argument. PURE. */

import { posix } from 'node:path'
import { matchSegment, matchSegments } from '../files/glob.ts'
import { coversPath, type PathPattern, parsePathPattern } from '../files/path-pattern.ts'
import { secretOf } from '../files/secret-shapes.ts'
import { classifyAddress } from '../hosts/address.ts'
import { coversName, matchesDenied, parseHostPattern } from '../hosts/pattern.ts'
import { parseUrl } from '../hosts/url.ts'
import { type Decision, soleDecision } from './decision.ts'
import { readMcpName } from './mcp-names.ts'
import { compareVerdicts, type Verdict } from './order.ts'
import type { HostRule, Policy, RuleRef, Sourced } from './policy.ts'
import type { ReasonCode } from './reason.ts'

/** The condition on an argument: text by a glob, a path by file rules, an address by host rules. */
export type ArgumentRule = { readonly name: string } & (
  | { readonly kind: 'text'; readonly glob: string }
  | { readonly kind: 'path'; readonly pattern: PathPattern }
  | { readonly kind: 'url'; readonly scheme: string; readonly host: HostRule }
)

export interface McpToolRule extends RuleRef {
  /** A glob of names. */
  readonly tool: string
  readonly level: Verdict
  readonly args: readonly ArgumentRule[]
}

/** `[mcp.SERVER]`. */
export interface McpRules {
  readonly trustHints: boolean
  /** For tools that say of themselves that they only read; null: as any other. */
  readonly readOnly: Sourced<Verdict | null>
  /** For tools that say of themselves that they destroy, or do not say that they do not. */
  readonly destructive: Sourced<Verdict | null>
  readonly tools: readonly McpToolRule[]
}

/** A saved answer about the calls of one tool, by the whole name that it is called by. */
export interface ToolGrant extends McpToolRule {
  readonly called: string
}

/** A call of a server's tool, beside its name. */
export interface McpCall {
  readonly tool: string
  /** Rules of `[mcp.SERVER]`; null where there are none. */
  readonly rules: McpRules | null
  /** Two servers could be called so: what only one of them is granted is not granted. */
  readonly isAmbiguous: boolean
  /** Null where no one knows: then no argument meets a condition. */
  readonly input: Readonly<Record<string, unknown>> | null
  /** The server's description of the tool; null if it was not read. */
  readonly hints: Readonly<Record<string, unknown>> | null
  readonly canonical: (path: string) => string
}

/** What is judged of a tool that is called `mcp__SERVER__TOOL`. */
export function mcpCallOf(
  called: string,
  rules: ReadonlyMap<string, McpRules>,
  facts: Pick<McpCall, 'input' | 'hints' | 'canonical'>,
): McpCall {
  const { server, tool, isAmbiguous } = readMcpName(called)
  return { tool, isAmbiguous, rules: rules.get(server) ?? null, ...facts }
}

/** The same behind the gateway, whose names are its own: no two servers share one. */
export function gatewayCall(...given: Parameters<typeof mcpCallOf>): McpCall {
  return { ...mcpCallOf(...given), isAmbiguous: false }
}

/** `base` is what levels and modes say. Its denials apply, and a rule lifts an ask only where that was about the level. */
export function judgeMcpCall(
  base: Decision,
  called: string,
  call: McpCall,
  policy: Policy,
  saved: readonly ToolGrant[] = [],
): Decision {
  if (base.decision === 'deny') return base
  const found = ruleFor(called, call, policy, saved)
  if (found === null) return base
  const { level, rule, source } = found
  if (level === 'allow' && !(base.decision === 'ask' && base.reason.code === 'level-ask')) return base
  const code: ReasonCode = level === 'deny' ? 'denied-by-rule' : level === 'ask' ? 'level-ask' : 'granted'
  const words = { deny: 'denies', ask: 'asks about', allow: 'allows' }[level]
  const message = `${rule} ${words} ${called}.`
  return soleDecision(level, { kind: 'tool', text: called }, { code, message }, [{ rule, source }, ...base.rules])
}

function ruleFor(
  called: string,
  call: McpCall,
  policy: Policy,
  saved: readonly ToolGrant[],
): (RuleRef & { level: Verdict }) | null {
  const { rules } = call
  const meeting = <Rule extends McpToolRule>(all: readonly Rule[]) => all.filter((one) => meets(one, call, policy))
  const written = meeting((rules?.tools ?? []).filter((one) => matchSegment(one.tool, call.tool)))
  const answered = meeting(saved.filter((one) => one.called === called))
  const denial = [...written, ...answered].find(({ level }) => level === 'deny')
  // As for every tool an answer of the person comes before a level that is written.
  const [answer] = answered
  if (denial ?? answer) return denial ?? answer!
  const [first, ...more] = written.filter(({ level }) => !(call.isAmbiguous && level === 'allow'))
  // The strictest of several: a broad grant does not lift what a narrower entry asks about.
  if (first) return more.reduce((worst, one) => (compareVerdicts(one.level, worst.level) > 0 ? one : worst), first)
  if (rules === null || !rules.trustHints || call.hints === null) return null
  const reads = call.hints.readOnlyHint === true
  const hinted = reads ? rules.readOnly : call.hints.destructiveHint === false ? null : rules.destructive
  return hinted?.value ? { level: hinted.value, rule: hinted.rule, source: hinted.source } : null
}

/** A grant applies where every named argument certainly meets its condition, a denial or an ask where each may. */
function meets({ level, args }: McpToolRule, { input, canonical }: McpCall, policy: Policy): boolean {
  return args.every((rule) => {
    const value = argumentOf(input, rule.name)
    const texts = Array.isArray(value) ? value : [value]
    const readable = texts.length > 0 && texts.every((text) => typeof text === 'string')
    if (!readable) return level !== 'allow'
    const met = (texts as string[]).map((text) => meetsOne(rule, text, policy, canonical))
    return level === 'allow' ? met.every((one) => one === true) : met.some((one) => one !== false)
  })
}

/** Undefined where there is none, or another name that a server may take for the same. */
function argumentOf(input: McpCall['input'], name: string): unknown {
  const plain = (text: string): string => text.toLowerCase().replace(/[_-]/g, '')
  const named = Object.keys(input ?? {}).filter((other) => plain(other) === plain(name))
  return named.length === 1 && named[0] === name ? input![name] : undefined
}

/** Null for a value that can be read in more than one way. */
function meetsOne(rule: ArgumentRule, text: string, policy: Policy, canonical: McpCall['canonical']): boolean | null {
  // Signs without a shape, and those that only look like others.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(text) || text !== text.normalize('NFKC')) return null
  switch (rule.kind) {
    case 'text': {
      if (/[\\%]|(?:^|\/)\.\.?(?:\/|$)/.test(text)) return null
      const glob = rule.glob.split('/')
      const parts = /^\*$|[,;|]/.test(rule.glob) ? [text] : text.split(/[,;|]/)
      // A server may take a text for a list: a grant needs each part.
      if (matchSegments(glob, text.split('/')))
        return parts.every((part) => matchSegments(glob, part.trim().split('/'))) ? true : null
      // Many servers do not mind case, blanks, further slashes, or a name around an address.
      const plain = (one: string): string[] => one.trim().toLowerCase().split('/').filter(Boolean)
      const words = [text, ...text.split(/[\s,;|<>()"']+/).filter(Boolean)]
      return words.some((word) => matchSegments(plain(rule.glob), plain(word))) ? null : false
    }
    case 'path': {
      const { root, home, reads, writes } = policy
      // An address, an escape, another's home, a variable, a command or several paths: a server may know more in it.
      if (/[\\%{}`;|<>,]|^~[^/]|^\$|\$\(|^[a-z][\w+.-]+:/i.test(text)) return null
      const given = text === '~' || text.startsWith('~/') ? home + text.slice(1) : text
      const path = canonical(posix.resolve(root, given))
      const closed = [...reads.deny, ...writes.deny].some(({ pattern }) => coversPath(pattern, path))
      if (closed || secretOf(path, { home }) !== null) return null
      return coversPath(rule.pattern, path)
    }
    case 'url': {
      const parsed = parseUrl(text)
      if ('problem' in parsed) return null
      const { scheme, host, port, path, kind, hadUserinfo } = parsed.url
      const { http, commands } = policy
      const denied = [...http.denied, ...commands.deniedDomains].some(({ pattern }) =>
        matchesDenied(pattern, host, port),
      )
      const isPrivate = kind !== 'name' && classifyAddress(host) !== 'public' && !http.allowPrivate
      if (denied || isPrivate || hadUserinfo || /%|\/\/|(?:^|\/)\.\.?(?:[/;]|$)/.test(path)) return null
      const { pattern, paths } = rule.host
      const listed = paths === undefined || paths.some((glob) => matchSegments(glob.split('/'), path.split('/')))
      if (!listed || !coversName(pattern, host)) return false
      // Another scheme or port is not what was written, and may reach the same.
      const wanted = pattern.port ?? (rule.scheme === 'https' ? 443 : 80)
      return scheme === rule.scheme && port === wanted ? true : null
    }
  }
}

/** A condition as it is written: `repo=acme/*`, `path=./docs/**`, `url=https://HOST/PATH`; null for any other text. */
export function readCondition(
  text: string,
): { readonly name: string; readonly kind: ArgumentRule['kind']; readonly pattern: string } | null {
  const [, name, pattern] = /^([\w.$-]{1,100})=(.+)$/s.exec(text) ?? []
  if (name === undefined || pattern === undefined) return null
  if (/^(?:\.?\/|~\/)/.test(pattern)) return { name, kind: 'path', pattern: pattern.replace(/^\.\//, '') }
  return { name, kind: /^https?:\/\/[^/]+/.test(pattern) ? 'url' : 'text', pattern }
}

/** A condition as a person reads it. */
export function conditionText(rule: ArgumentRule): string {
  switch (rule.kind) {
    case 'text':
      return `${rule.name}=${rule.glob}`
    case 'path':
      return `${rule.name}=${rule.pattern.text}`
    case 'url':
      return `${rule.name}=${rule.scheme}://${rule.host.pattern.text}${rule.host.paths?.[0] ?? ''}`
  }
}

/** The parts of a condition about addresses. */
export function splitUrlPattern(pattern: string): {
  readonly scheme: string
  readonly host: string
  readonly path: string | null
} {
  const [, scheme = '', host = '', path = null] = /^(https?):\/\/([^/]+)(\/.*)?$/s.exec(pattern) ?? []
  return { scheme, host, path }
}

/** `mcp__SERVER__TOOL`, and conditions behind it; null for a text that grants nothing. */
export function readToolGrant(
  value: string,
  place: { readonly root: string; readonly home: string },
): Pick<ToolGrant, 'called' | 'tool' | 'args'> | null {
  const [called = '', ...conditions] = value.split(' ')
  if (!/^mcp_[\w.:-]{1,200}$/.test(called)) return null
  const args = conditions.flatMap((text): ArgumentRule[] => {
    const found = readCondition(text)
    if (found?.kind === 'text') return [{ name: found.name, kind: 'text', glob: found.pattern }]
    if (found?.kind === 'path') {
      const parsed = parsePathPattern(found.pattern, { ...place, files: null })
      return 'pattern' in parsed ? [{ name: found.name, kind: 'path', pattern: parsed.pattern }] : []
    }
    const { scheme, host, path } = splitUrlPattern(found?.pattern ?? '')
    const parsed = parseHostPattern(host, null)
    if (found === null || !('pattern' in parsed)) return []
    const paths = path === null ? {} : { paths: [path] }
    const rule = { pattern: parsed.pattern, rule: 'saved grant', source: 'cordon grants', ...paths }
    return [{ name: found.name, kind: 'url', scheme, host: rule }]
  })
  return args.length < conditions.length ? null : { called, tool: readMcpName(called).tool, args }
}
