/** What a recorded history says about a manifest: hosts that were refused, places that a person let it reach, grants that no one used. */

import { type AuditLine, parseLine } from '../audit/event.ts'
import type { CallChecker } from '../call/decide/check-call.ts'
import { typedText } from '../confine/typed-words.ts'
import { isInside } from '../files/baseline.ts'
import { matchesHost, parseHostPattern } from '../hosts/pattern.ts'
import { coverSecrets } from '../scan/redact/redact.ts'
import type { NeedPlaces, Needs } from './needs.ts'
import { readNeeds } from './needs.ts'

/** A grant of the project's manifest that no recorded call used. */
export interface UnusedGrant {
  readonly kind: 'command' | 'host'
  readonly value: string
  /** File, line and column. */
  readonly source: string
}

export interface RecordedNeeds extends Needs {
  readonly calls: number
  /** Calls of which it cannot be known which grants of the manifest they used: without arguments, and from before it was signed. */
  readonly unknown: number
  readonly unused: readonly UnusedGrant[]
}

/** The lines of a record that belong to this project. */
export function recordLines(texts: readonly string[], root: string): readonly AuditLine[] {
  const lines = texts.flatMap((text) => (text.trim() === '' ? [] : (parseLine(text) ?? [])))
  const own = new Set(lines.filter(({ project }) => project === root).map(({ call }) => call))
  return lines.filter((line) => line.call !== undefined && own.has(line.call))
}

const PERSON: ReadonlySet<unknown> = new Set(['terminal', 'elicitation', 'page', 'host'])
const CHANGERS: ReadonlySet<unknown> = new Set(['write', 'edit', 'multiedit', 'apply_patch', 'patch'])

/** Reads them. Only what somebody let through counts as a need: what was denied was not to be. */
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

/**
 * Decides the recorded calls again, and sees which grants had a part in it. Without their arguments the rules that were recorded
 * say it, as long as the manifest was the one that is signed now: rules are known by their place in it.
 */
function unusedOf(
  lines: readonly AuditLine[],
  checker: CallChecker,
  { policy, root, ownManifest }: NeedPlaces['loaded'],
  signedAt: string | null,
): Pick<RecordedNeeds, 'unused' | 'unknown'> {
  const used = new Set<string>()
  let [known, unknown] = [0, 0]
  for (const { type, tool, args, time, decision } of lines) {
    if (type !== 'begin') continue
    const { approver, rules = [] } = (decision ?? {}) as { approver?: unknown; rules?: unknown }
    if (args !== undefined && typeof tool === 'string') {
      known++
      const decided = checker.check({ tool, input: inputOf(args), cwd: root }).decision
      for (const { source } of [...decided.rules, ...decided.segments.flatMap((part) => part.rules)]) used.add(source)
      // What a person types needs no grant.
    } else if (approver !== 'typed') {
      if (signedAt !== null && time > signedAt && Array.isArray(rules)) {
        known++
        for (const rule of rules) used.add(/ \((.*)\)$/.exec(String(rule))?.[1] ?? '')
      } else unknown++
    }
  }
  if (!ownManifest || known === 0) return { unused: [], unknown }
  const reached = lines.flatMap(({ hosts }) => (Array.isArray(hosts) ? hosts.map(String) : []))
  const hosts = policy.commands.defaultDomains
    .filter(({ pattern }) => !reached.some((host) => matchesName(pattern, host)))
    .map(({ pattern, source }) => ({ kind: 'host' as const, value: pattern.text, source }))
  // A call that cannot be read may have used any of them.
  const commands =
    unknown > 0
      ? []
      : policy.commands.allow
          .filter(({ source }) => !used.has(source))
          .map(({ pattern, source }) => ({ kind: 'command' as const, value: pattern.text, source }))
  return { unused: [...commands, ...hosts].filter(({ source }) => source.startsWith('cordon.toml')), unknown }
}

/** What a person typed is recorded as words. */
function inputOf(args: unknown): unknown {
  const { command } = args as { readonly command?: unknown }
  return Array.isArray(command) ? { command: typedText(command.map(String)) } : args
}

function matchesName(pattern: Parameters<typeof matchesHost>[0], host: string): boolean {
  const [name = '', port] = host.split(':')
  return matchesHost(pattern, name, port === undefined ? (pattern.port ?? 443) : Number(port))
}
