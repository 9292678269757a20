/**
 * Where data may go: labels say what a session has read, and flow rules say which label may reach
 * which receiver. PURE.
 */

import { isInside } from '../../files/baseline.ts'
import { literalPrefix } from '../../files/path-pattern.ts'
import { secretOf } from '../../files/secret-shapes.ts'
import { type HostPattern, matchesDenied, matchesHost, parseDeniedPattern } from '../../hosts/pattern.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import type { SessionFacts, ToolCall } from '../call.ts'
import { combine, type Decision, type PartDecision } from '../decision.ts'
import { type DataLabel, FILES, type FlowRule, isDataLabel, type Labels, NO_LABELS } from '../labels.ts'
import { readMcpName } from '../mcp-names.ts'
import { isInsideRoots } from '../path-part.ts'
import { type Policy, ref } from '../policy.ts'
import type { Stance } from '../stance.ts'
import { isReadable } from './carried-paths.ts'
import { hostsOfText, mayReachOut } from './named-hosts.ts'
import { subcommands } from './network-use.ts'

/** What labelled data would reach, by a name and, for a program of several hosts, by each of them. */
interface Receiver {
  readonly part: PartDecision
  readonly name: string
  readonly hosts: readonly string[]
}

/** What a call reads: each label with its first source. */
function labelsRead(
  parts: readonly PartDecision[],
  policy: Policy,
  session: SessionFacts,
  facts: ShellFacts | null,
): Labels {
  const read = new Map<string, string>()
  const add = (label: string, source: string): unknown => read.has(label) || read.set(label, source)
  for (const { label, kind, text, decision } of parts) {
    if (decision === 'deny') continue
    if (label !== undefined) add(label, text)
    else if (kind === 'host') add(hostIn(text), text)
    else if (kind === 'tool' && text.startsWith('mcp_')) add(serverOf(text), text)
  }
  if (facts === null) return read
  // What commands are shown by name may be read without being named.
  const shown = session.grants.reads.filter(({ source }) => source === 'cordon grants')
  for (const { pattern } of [...policy.reads.allow, ...shown]) {
    const place = literalPrefix(pattern)
    if (!mayRead(facts, place)) continue
    if (policy.maskSecrets && secretOf(pattern.absolute, policy) !== null) {
      if (session.isShown?.(pattern.absolute) !== true) add('secret', pattern.text)
    } else if (shown.some((rule) => rule.pattern === pattern) && !isInsideRoots(policy, session, place))
      add('outside', pattern.text)
  }
  return read
}

/** Whether a text may read a place that it does not name: by code, by names from its input, or with a whole tree. */
function mayRead({ commands }: ShellFacts, place: string): boolean {
  const reads = commands.flatMap(({ paths }) => paths.filter(({ access }) => access === 'read'))
  const isBlind =
    commands.some((fact) => !isReadable(fact) || fact.argv.some(({ dynamic }) => dynamic.includes('input'))) ||
    reads.some(({ path }) => path === null)
  return isBlind || reads.some(({ path, recursive }) => recursive && path !== null && isInside(place, path))
}

/**
 * A decision with what the call reads, and a part for each flow of this or earlier data that asks
 * or is denied.
 */
export function followFlows(
  decision: Decision,
  policy: Policy,
  session: SessionFacts,
  call: ToolCall,
  stance: Stance,
): Decision {
  if (decision.decision === 'deny') return decision
  const analysis = call.shell?.analysis
  const facts = analysis && 'facts' in analysis ? analysis.facts : null
  const rules = flowRules(policy, session)
  const read = [...labelsRead(decision.segments, policy, session, facts)].filter(([label]) => isFollowed(label, rules))
  // What a question of this very call is about is answered with it.
  const asked = new Set(decision.segments.flatMap(({ label, decision }) => (decision === 'ask' && label) || []))
  const labels = new Map([...read, ...(session.labels ?? NO_LABELS)])
  if (labels.size === 0) return decision
  const isAnswered = (label: string): boolean => asked.has(label as DataLabel) && session.labels?.has(label) !== true
  // Only a question is answered with the read: a denial stays.
  const parts = flowParts(rules, labels, receiversOf(decision, policy, session, call, stance), stance).filter(
    (part) => part.decision === 'deny' || !isAnswered(part.flow!.label),
  )
  return {
    ...decision,
    ...(parts.length > 0 && combine([...decision.segments, ...parts])),
    ...(read.length > 0 && { labels: read.map(([label, source]) => ({ label, source })) }),
    followed: [...new Set([...labels.keys(), ...asked])],
  }
}

/** Whether a label changes anything. */
export function isFollowed(label: string, rules: readonly FlowRule[]): boolean {
  return isDataLabel(label) || rules.some(({ from }) => matchesName(from, label, true))
}

function flowParts(
  rules: readonly FlowRule[],
  labels: Labels,
  receivers: readonly Receiver[],
  stance: Stance,
): readonly PartDecision[] {
  return receivers.flatMap((receiver) =>
    Array.from(labels, ([label, source]) => flowPart(rules, receiver, label, source, stance)).filter(
      (part) => part !== null,
    ),
  )
}

export function flowRules(
  policy: Pick<Policy, 'flows'>,
  { grants }: Pick<SessionFacts, 'grants'>,
): readonly FlowRule[] {
  return [...policy.flows, ...(grants.flows ?? [])]
}

/** The rule that decides whether a label may reach a receiver; null where it may without a rule. */
export function flowRule(
  rules: readonly FlowRule[],
  label: string,
  { name, hosts }: Pick<Receiver, 'name' | 'hosts'>,
): FlowRule | null {
  const meant = rules.filter(({ from, level }) => matchesName(from, label, level !== 'allow'))
  const reached = [name, ...hosts]
  const denied = meant.find(({ level, to }) => level === 'deny' && reached.some((one) => matchesName(to, one, true)))
  if (denied) return denied
  const allowed = meant.find(({ level, to }) => level === 'allow' && matchesName(to, name))
  if (allowed) return null
  const asked = meant.find(({ level, to }) => level === 'ask' && reached.some((one) => matchesName(to, one, true)))
  if (asked) return asked
  return isDataLabel(label) && name !== FILES
    ? { from: label, to: '*', level: 'ask', rule: 'flows', source: 'built-in' }
    : null
}

function flowPart(
  rules: readonly FlowRule[],
  receiver: Receiver,
  label: string,
  source: string,
  stance: Stance,
): PartDecision | null {
  const rule = label === receiver.name && !isDataLabel(label) ? null : flowRule(rules, label, receiver)
  if (rule === null || (rule.level === 'ask' && rule.source === 'built-in' && stance.answersAsks)) return null
  const { kind, command, span, text } = receiver.part
  const reason = {
    code: 'flow' as const,
    message: flowMessage(label, source, receiver.name === FILES ? text : receiver.name),
    remedy: `Do it without that data; the user decides, or writes "${label} -> ${receiver.name}" under [flows].`,
  }
  const subject = { kind: kind === 'read' || kind === 'list' ? ('tool' as const) : kind, text }
  const at = { ...(span && { span }), ...(command !== undefined && { command }) }
  const observed = stance.observes !== null && rule.level === 'ask'
  return {
    ...subject,
    ...at,
    decision: observed ? 'allow' : rule.level,
    reason: observed ? { code: 'observed', message: `Observe mode did not ask: ${reason.message}` } : reason,
    rules: [ref(rule)],
    step: 1,
    flow: { label, source, to: receiver.name },
  }
}

/** Names the file or page, so that a person knows what the question is about. */
export function flowMessage(label: string, source: string, to: string): string {
  const words: Readonly<Record<string, string>> = {
    secret: 'the secret',
    outside: 'files outside the project, first',
    neighbour: 'a neighbouring repository, first',
    instructions: 'text with instructions aimed at the agent, in',
  }
  return `This session has read ${words[label] ?? `answers of ${label}, first`} ${source}, and ${to} could receive it.`
}

/** Everything that a call sends data to, beyond the question whether it may be reached at all. */
function receiversOf(
  { segments }: Decision,
  policy: Policy,
  session: SessionFacts,
  call: ToolCall,
  stance: Stance,
): readonly Receiver[] {
  const open = segments.filter(({ decision }) => decision !== 'deny')
  const named = open.filter(({ kind }) => kind === 'host').map((part) => toHost(part, hostIn(part.text)))
  const servers = call.tool.startsWith('mcp_')
    ? open.filter(({ kind }) => kind === 'tool').map((part) => ({ part, name: serverOf(call.tool), hosts: [] }))
    : []
  const analysis = call.shell?.analysis
  const facts = analysis && 'facts' in analysis ? analysis.facts : null
  const [first] = open.filter(({ kind }) => kind === 'command' || kind === 'syntax')
  const texts =
    facts && first && mayReachOut(policy, session, facts)
      ? textHosts(policy, session, facts).map((host) => toHost(first, host))
      : []
  const changes = facts ? open.flatMap((part) => changeOf(part, facts, policy)) : []
  const changed = new Map([...named, ...texts, ...servers, ...changes].map((one) => [one.name, one]))
  return [...changed.values(), ...keptFiles(open, stance)]
}

const toHost = (part: PartDecision, host: string): Receiver => ({ part, name: host, hosts: [] })

/** Hosts of the whole text, but for those of tools that only fetch by name from public registries. */
function textHosts(policy: Policy, session: SessionFacts, facts: ShellFacts): readonly string[] {
  const view = { contained: true, byProgram: false }
  const tools = new Set([...policy.commands.toolDomains.values()].flat())
  const { hosts } = hostsOfText(policy, session, facts, view)
  return hosts.filter((rule) => !tools.has(rule)).map(({ pattern }) => pattern.text)
}

/** A command that changes something elsewhere, by its own words: `git push`. */
function changeOf(part: PartDecision, { commands }: ShellFacts, policy: Policy): readonly Receiver[] {
  const fact = part.kind === 'command' && part.command !== undefined ? commands[part.command] : undefined
  if (fact === undefined || (fact.effect !== 'remote-write' && fact.effect !== 'destructive')) return []
  const words = fact.argv.flatMap((word) => word.values?.slice(0, 1) ?? [])
  const [program = ''] = words
  const hosts = (policy.commands.toolDomains.get(program) ?? []).map(({ pattern }) => pattern.text)
  return [{ part, name: [program, ...subcommands(words.slice(1)).slice(0, 1)].join(' '), hosts }]
}

/** Writes and commands, which only a rule about `files` restricts. */
function keptFiles(open: readonly PartDecision[], { kind }: Stance): readonly Receiver[] {
  if (kind !== 'write' && kind !== 'command' && kind !== 'network') return []
  const part = open.find(({ reason: { code } }) => code !== 'harmless' && code !== 'baseline')
  return part === undefined ? [] : [{ part, name: FILES, hosts: [] }]
}

export function serverOf(called: string): string {
  return `mcp:${readMcpName(called).server || called}`
}

export function hostIn(text: string): string {
  const parsed = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  return 'problem' in parsed ? text : parsed.url.host
}

/** `*` is every receiver but files, `*.example.com` every host below; a denial means the domain as well. */
function matchesName(written: string, name: string, broad = false): boolean {
  if (written === name || written === '*') return written === name || name !== FILES
  if (written.endsWith('*') && !written.startsWith('*')) return name.startsWith(written.slice(0, -1))
  const pattern = patternOf(written)
  if (pattern === null || name === FILES || /[\s:]/.test(name)) return false
  const port = pattern.port ?? 443
  if (!broad) return matchesHost(pattern, name, port)
  return matchesDenied(pattern, name, port) || (pattern.wildcard && name === pattern.host)
}

const patterns = new Map<string, HostPattern | null>()

function patternOf(written: string): HostPattern | null {
  const known = patterns.get(written)
  if (known !== undefined) return known
  // A wildcard here grants no host, so it needs no list of public suffixes.
  const base = written.replace(/^\*\./, '')
  const parsed = isDataLabel(written) ? { problem: '' } : parseDeniedPattern(base, null)
  const pattern =
    'pattern' in parsed ? { ...parsed.pattern, wildcard: parsed.pattern.wildcard || base !== written } : null
  patterns.set(written, pattern)
  return pattern
}
