/** Rules for the tools of MCP servers: by name, by the server's own hints, and by argument. PURE. */

import { posix } from 'node:path'
import { matchSegment, matchSegments } from '../files/glob.ts'
import { coversPath, type PathPattern } from '../files/path-pattern.ts'
import { secretOf } from '../files/secret-shapes.ts'
import { classifyAddress } from '../hosts/address.ts'
import { matchesDenied, matchesHost } from '../hosts/pattern.ts'
import { parseUrl } from '../hosts/url.ts'
import { type Decision, soleDecision } from './decision.ts'
import { compareVerdicts, type Verdict } from './order.ts'
import type { HostRule, Policy, RuleRef, Sourced } from './policy.ts'
import type { ReasonCode } from './reason.ts'

/** The condition on an argument: text by a glob, a path by file rules, an address by host rules. */
export type ArgumentRule = { readonly name: string } & (
  | { readonly kind: 'text'; readonly glob: string }
  | { readonly kind: 'path'; readonly pattern: PathPattern }
  | { readonly kind: 'url'; readonly host: HostRule }
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

export interface McpCall {
  readonly server: string
  readonly tool: string
  /** `mcp__SERVER__TOOL`. */
  readonly called: string
  /** Null if unknown: then no argument meets a condition. */
  readonly input: Readonly<Record<string, unknown>> | null
  /** The server's description of the tool; null if it was not read. */
  readonly hints: Readonly<Record<string, unknown>> | null
}

/** What paths of arguments are looked up by. */
export interface McpScene {
  readonly policy: Policy
  readonly canonical: (path: string) => string
}

/** `base` comes from levels and modes. A rule lifts an ask about the level, never a denial. */
export function judgeMcpCall(base: Decision, rules: McpRules | undefined, call: McpCall, scene: McpScene): Decision {
  if (base.decision === 'deny' || rules === undefined) return base
  const found = ruleFor(rules, call, scene)
  if (found === null) return base
  const { level, rule, source } = found
  if (level === 'allow' && !(base.decision === 'ask' && base.reason.code === 'level-ask')) return base
  const code: ReasonCode = level === 'deny' ? 'denied-by-rule' : level === 'ask' ? 'level-ask' : 'granted'
  const words = { deny: 'denies', ask: 'asks about', allow: 'allows' }[level]
  const message = `${rule} ${words} ${call.called}.`
  return soleDecision(level, { kind: 'tool', text: call.called }, { code, message }, [{ rule, source }, ...base.rules])
}

function ruleFor(rules: McpRules, call: McpCall, scene: McpScene): (RuleRef & { level: Verdict }) | null {
  const matching = rules.tools.filter((one) => matchSegment(one.tool, call.tool) && meets(one, call, scene))
  const [first, ...more] = matching
  // The strictest of several: a broad grant does not lift the ask of a narrower entry.
  if (first) return more.reduce((worst, one) => (compareVerdicts(one.level, worst.level) > 0 ? one : worst), first)
  if (!rules.trustHints || call.hints === null) return null
  const reads = call.hints.readOnlyHint === true
  const hinted = reads ? rules.readOnly : call.hints.destructiveHint === false ? null : rules.destructive
  return hinted?.value ? { level: hinted.value, rule: hinted.rule, source: hinted.source } : null
}

/** A grant applies where every named argument certainly meets its condition, a denial or an ask where each may. */
function meets({ level, args }: McpToolRule, { input }: McpCall, scene: McpScene): boolean {
  return args.every((rule) => {
    const value = input !== null && Object.hasOwn(input, rule.name) ? input[rule.name] : undefined
    const texts = Array.isArray(value) ? value : [value]
    const readable = texts.length > 0 && texts.every((text) => typeof text === 'string')
    if (!readable) return level !== 'allow'
    const met = (texts as string[]).map((text) => meetsOne(rule, text, scene))
    return level === 'allow' ? met.every((one) => one === true) : met.some((one) => one !== false)
  })
}

/** Null for a value that can be read in more than one way. */
function meetsOne(rule: ArgumentRule, text: string, { policy, canonical }: McpScene): boolean | null {
  // Signs without a shape, and those that only look like others.
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(text) || text !== text.normalize('NFKC')) return null
  switch (rule.kind) {
    case 'text': {
      const parts = text.split('/')
      if (/[\\%]/.test(text) || parts.some((part) => part === '..' || part === '.')) return null
      return matchSegments(rule.glob.split('/'), parts)
    }
    case 'path': {
      const { root, home, reads, writes } = policy
      const given = text === '~' || text.startsWith('~/') ? home + text.slice(1) : text
      const path = canonical(posix.resolve(root, given))
      const closed = [...reads.deny, ...writes.deny].some(({ pattern }) => coversPath(pattern, path))
      if (closed || secretOf(path, { home }) !== null) return null
      return coversPath(rule.pattern, path)
    }
    case 'url': {
      const parsed = parseUrl(text)
      if ('problem' in parsed) return null
      const { host, port, path, kind, hadUserinfo } = parsed.url
      const { http, commands } = policy
      const denied = [...http.denied, ...commands.deniedDomains].some(({ pattern }) =>
        matchesDenied(pattern, host, port),
      )
      const isPrivate = kind !== 'name' && classifyAddress(host) !== 'public' && !http.allowPrivate
      if (denied || isPrivate || hadUserinfo || /%|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(path)) return null
      const { pattern, paths } = rule.host
      const listed = paths === undefined || paths.some((glob) => matchSegments(glob.split('/'), path.split('/')))
      return matchesHost(pattern, host, port) && listed
    }
  }
}
