/** `cordon learn --from`: proposes grants from recorded calls, without running anything. */

import { resolve } from 'node:path'
import { suggestGrants } from '../approval/suggestion.ts'
import { type AuditLine, parseLine } from '../audit/event.ts'
import { queryAudit } from '../audit/read.ts'
import { type CallChecker, openChecker } from '../call/decide/check-call.ts'
import { typedText } from '../confine/entitlement.ts'
import { isInside } from '../files/baseline.ts'
import { matchesHost, parseHostPattern } from '../hosts/pattern.ts'
import { type LoadedPolicy, loadPolicy } from '../project/load/load.ts'
import { repositoryAt } from '../project/load/nearby.ts'
import { judgeTrust } from '../project/sign/trust.ts'
import { coverSecrets } from '../scan/redact/redact.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { LearnResult } from './learn.ts'
import { withLines, withoutGrants } from './manifest-text.ts'
import { type NeedPlaces, type Needs, readNeeds, whyNotGranted } from './needs.ts'
import { type ProposedLine, propose } from './proposal.ts'

/** A grant of the project's manifest that no recorded call used. */
export interface UnusedGrant {
  readonly kind: 'command' | 'host'
  readonly value: string
  /** File, line and column. */
  readonly source: string
}

export interface RecordedNeeds extends Needs {
  readonly calls: number
  /** Calls whose grants are unknown: without arguments, or before the manifest was signed. */
  readonly unknown: number
  readonly unused: readonly UnusedGrant[]
}

/** Lines of this project. */
export function recordLines(texts: readonly string[], root: string): readonly AuditLine[] {
  return projectLines(
    texts.flatMap((text) => (text.trim() === '' ? [] : (parseLine(text) ?? []))),
    root,
  )
}

export function projectLines(lines: readonly AuditLine[], root: string): readonly AuditLine[] {
  const own = new Set(lines.filter(({ project }) => project === root).map(({ call }) => call))
  return lines.filter((line) => line.call !== undefined && own.has(line.call))
}

const PERSON: ReadonlySet<unknown> = new Set(['terminal', 'elicitation', 'page', 'host'])
const CHANGERS: ReadonlySet<unknown> = new Set(['write', 'edit', 'multiedit', 'apply_patch', 'patch'])

/** Reads needs from the record. Only allowed calls count. */
export function recordedNeeds(
  lines: readonly AuditLine[],
  checker: CallChecker,
  places: Omit<NeedPlaces, 'isShown'>,
  signedAt: string | null,
): RecordedNeeds {
  const { loaded } = places
  const roots = [loaded.root, ...loaded.policy.additionalDirectories.map(({ value }) => value)]
  const isShown = (path: string) => roots.some((root) => isInside(path, root))
  const begun = lines.filter(({ type }) => type === 'begin')
  const sought = begun.flatMap((line) => {
    const { approver } = (line.decision ?? {}) as { approver?: unknown }
    const files = PERSON.has(approver) && Array.isArray(line.files) ? line.files : []
    const what = CHANGERS.has(line.tool) ? ('change' as const) : ('lookup' as const)
    return files.filter((path) => typeof path === 'string' && path.startsWith('/')).map((path) => ({ what, path }))
  })
  const refused = new Map<string, number>()
  for (const { refused_hosts: hosts } of lines)
    for (const host of Array.isArray(hosts) ? hosts : [])
      refused.set(String(host), (refused.get(String(host)) ?? 0) + 1)
  const observed = readNeeds(
    { exitCode: 1, sought, leftOut: 0, egress: [], violations: [], ports: [] },
    { ...places, isShown },
  )
  const hosts = [...refused].flatMap(([value, times]) =>
    'pattern' in parseHostPattern(value, null) && coverSecrets(value) === value
      ? [{ kind: 'host' as const, value, evidence: `${times} recorded calls were refused ${value}` }]
      : [],
  )
  return {
    ...observed,
    needs: [...observed.needs, ...hosts],
    calls: begun.length,
    ...unusedOf(lines, checker, loaded, signedAt),
  }
}

/** This many lines are read by a person. */
const MOST_OBSERVED = 16

/** The narrowest grants for what observe mode did not ask, the most frequent first. */
async function observedLines(
  lines: readonly AuditLine[],
  { loaded, machine, files }: Pick<RecordParts, 'loaded' | 'machine' | 'files'>,
): Promise<readonly ProposedLine[]> {
  const { root, policy } = loaded
  const asking = { ...loaded, policy: { ...policy, observe: null } }
  const checker = await openChecker(asking, machine, files, undefined, { alone: true })
  const resolved = (given: string): string => files.canonical(resolve(root, given))
  const places = {
    root,
    home: machine.home,
    resolve: resolved,
    repository: (path: string) => repositoryAt(path, files),
  }
  const found = new Map<string, { line: ProposedLine; calls: number }>()
  for (const { type, tool, args, decision } of lines) {
    const { reason } = (decision ?? {}) as { reason?: unknown }
    if (type !== 'begin' || reason !== 'observed' || args === undefined || typeof tool !== 'string') continue
    const call = checker.check({ tool, input: inputOf(args), cwd: root })
    const [offer] = call.decision.decision === 'ask' ? suggestGrants(call.decision, call.facts, places) : []
    for (const { kind, value: written } of offer === undefined ? [] : [offer, ...(offer.also ?? [])]) {
      if (kind === 'tool') continue
      const isPath = kind === 'read' || kind === 'write'
      const value = isPath ? resolve(root, written.replace(/\/\*\*$/, '')) : written
      const key = `${kind} ${value}`
      const calls = (found.get(key)?.calls ?? 0) + 1
      const evidence = [`${calls} recorded calls would have been asked about`]
      found.set(key, { calls, line: { kind, value, why: call.decision.reason.message, evidence } })
    }
  }
  return [...found.values()]
    .toSorted((one, other) => other.calls - one.calls)
    .slice(0, MOST_OBSERVED)
    .map(({ line }) => line)
}

/** How often recorded calls used a rule, by its source (of a host: source and pattern), and when last. */
export interface RecordedUse {
  readonly uses: Readonly<Record<string, { readonly times: number; readonly last: string }>>
  readonly known: number
  readonly unknown: number
}

/**
 * Decides recorded calls again to see which grants they used. Without arguments the recorded rules
 * are used, if the manifest is still the signed one.
 */
function useOf(
  lines: readonly AuditLine[],
  checker: CallChecker,
  { policy, root }: NeedPlaces['loaded'],
  signedAt: string | null,
): RecordedUse {
  const uses = new Map<string, { times: number; last: string }>()
  const note = (sources: Iterable<string>, time: string) => {
    for (const source of new Set(sources)) uses.set(source, { times: (uses.get(source)?.times ?? 0) + 1, last: time })
  }
  let [known, unknown] = [0, 0]
  for (const { type, tool, args, time, decision } of lines) {
    if (type !== 'begin') continue
    const { approver, rules = [] } = (decision ?? {}) as { approver?: unknown; rules?: unknown }
    if (args !== undefined && typeof tool === 'string') {
      known++
      const decided = checker.check({ tool, input: inputOf(args), cwd: root }).decision
      const used = [...decided.rules, ...decided.segments.flatMap((part) => part.rules)]
      note(
        used.map(({ source }) => source),
        time,
      )
      // Typed commands need no grant.
    } else if (approver !== 'typed') {
      if (signedAt !== null && time > signedAt && Array.isArray(rules)) {
        known++
        note(
          rules.flatMap((rule) => / \((.*)\)$/.exec(String(rule))?.[1] ?? []),
          time,
        )
      } else unknown++
    }
  }
  const { defaultDomains, toolDomains, allow } = policy.commands
  // Grants are also for what a text starts; the record has a program and its subcommand.
  if (policy.everyProgram.value)
    for (const { programs, time } of lines) {
      const ran = (Array.isArray(programs) ? programs : []).map(({ name }) => String(name).split(' '))
      const used = allow.filter(({ pattern }) =>
        ran.some((words) => words.every((word, at) => pattern.words[at] === undefined || pattern.words[at] === word)),
      )
      note(
        used.map(({ source }) => source),
        time,
      )
    }
  const granted = [...defaultDomains, ...[...toolDomains.values()].flat(), ...allow.flatMap(({ domains }) => domains)]
  for (const { hosts, time } of lines) {
    const reached = Array.isArray(hosts) ? hosts.map(String) : []
    const used = granted.filter(({ pattern }) => reached.some((host) => matchesName(pattern, host)))
    // A bundle's hosts have one source.
    note(
      used.map(({ source, pattern }) => hostKey(source, pattern.text)),
      time,
    )
  }
  return { uses: Object.fromEntries(uses), known, unknown }
}

/** Grants of the project's manifest that no recorded call used. */
function unusedOf(
  lines: readonly AuditLine[],
  checker: CallChecker,
  loaded: NeedPlaces['loaded'],
  signedAt: string | null,
): Pick<RecordedNeeds, 'unused' | 'unknown'> {
  const { uses, known, unknown } = useOf(lines, checker, loaded, signedAt)
  if (!loaded.ownManifest || known === 0) return { unused: [], unknown }
  const { defaultDomains, allow } = loaded.policy.commands
  const grants = [
    // An unreadable call may have used any grant.
    ...(unknown > 0 ? [] : allow.map((rule) => ({ kind: 'command' as const, key: rule.source, ...rule }))),
    ...defaultDomains.map((rule) => ({ kind: 'host' as const, key: hostKey(rule.source, rule.pattern.text), ...rule })),
  ]
  const unused = grants.filter(({ source, key }) => source.startsWith('cordon.toml') && !Object.hasOwn(uses, key))
  return { unused: unused.map(({ kind, pattern, source }) => ({ kind, value: pattern.text, source })), unknown }
}

function hostKey(source: string, host: string): string {
  return `${source} ${host}`
}

/** The use of every rule by lines of one project. */
export async function recordedUse(
  lines: readonly AuditLine[],
  places: Pick<RecordParts, 'loaded' | 'machine' | 'files'>,
): Promise<RecordedUse> {
  const { loaded, machine, files } = places
  const checker = await openChecker(loaded, machine, files, undefined, { alone: true })
  return useOf(lines, checker, loaded, await signedAt(places))
}

/** Typed commands are recorded as words. */
function inputOf(args: unknown): unknown {
  const { command } = args as { readonly command?: unknown }
  return Array.isArray(command) ? { command: typedText(command.map(String)) } : args
}

function matchesName(pattern: Parameters<typeof matchesHost>[0], host: string): boolean {
  const [name = '', port] = host.split(':')
  return matchesHost(pattern, name, port === undefined ? (pattern.port ?? 443) : Number(port))
}

export interface RecordedProposal extends LearnResult, Pick<RecordedNeeds, 'calls' | 'unknown' | 'unused'> {}

export interface RecordParts {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
  readonly manifestText: string | null
  /** Propose no additions: only take out what was never used. */
  readonly onlyUnused?: boolean
}

/** Proposes from audit files, and on request from this machine's record. */
export async function proposeFromRecord(
  texts: readonly string[],
  ownRecord: boolean,
  { loaded, machine, files, manifestText, onlyUnused = false }: RecordParts,
): Promise<RecordedProposal> {
  const own = ownRecord ? queryAudit(machine.stateDir).map((line) => JSON.stringify(line)) : []
  const lines = recordLines([...texts, ...own], loaded.root)
  const places = { loaded, machine, files, grantee: null }
  const found = recordedNeeds(
    lines,
    await openChecker(loaded, machine, files, undefined, { alone: true }),
    places,
    await signedAt(places),
  )
  const proposal = propose(found, 0, {
    command: [],
    loaded,
    home: machine.home,
    isGrantable: (folder, how) => whyNotGranted(folder, how, loaded, machine) === null,
    registryHosts: () => [],
  })
  const narrowed = manifestText === null ? null : withoutGrants(manifestText, found.unused)
  const observed = onlyUnused ? [] : await observedLines(lines, places)
  const isNew = ({ kind, value }: ProposedLine): boolean =>
    !proposal.lines.some((line) => line.kind === kind && line.value === value)
  const proposed = [...(onlyUnused ? [] : proposal.lines), ...observed.filter(isNew)]
  const { text, left } = withLines(narrowed, proposed, places)
  const kept = proposed.filter((line) => !left.some((one) => one.line === line))
  return {
    lines: kept,
    dropped: [],
    withheld: [...found.withheld, ...left.map(({ line, reason }) => ({ subject: line.value, why: reason }))],
    ports: [],
    warnings: proposal.warnings,
    proof: kept.length === 0 ? 'nothing-needed' : 'recorded',
    exitCode: 0,
    runs: 0,
    text: kept.length === 0 && narrowed === manifestText ? null : text,
    calls: found.calls,
    unknown: found.unknown,
    unused: found.unused,
  }
}

/** When the current manifest was signed, or null. */
async function signedAt({
  loaded,
  machine,
  files,
}: Pick<RecordParts, 'loaded' | 'machine' | 'files'>): Promise<string | null> {
  const outcome = await loadPolicy({ machine, files, root: loaded.root, choice: { kind: 'project' } })
  const trust = 'loaded' in outcome ? judgeTrust(outcome.loaded, machine, files)?.trust : undefined
  return trust?.status === 'signed' ? trust.signedAt : null
}
