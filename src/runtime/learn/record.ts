/** What a recorded history says about a manifest: hosts that were refused, places that a person let it reach, grants that nobody used. */

import { type AuditLine, parseLine } from '../../audit/event.ts'
import { isInside } from '../../files/baseline.ts'
import { matchesHost, parseHostPattern } from '../../hosts/pattern.ts'
import { coverSecrets } from '../../scan/redact/cover.ts'
import { typedText } from '../command/typed-words.ts'
import type { CallChecker } from '../decide/check-call.ts'
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
  /** Calls whose arguments were not recorded: which grants they used cannot be known. */
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
  return { ...observed, needs: [...observed.needs, ...hosts], calls: begun.length, ...unusedOf(lines, checker, loaded) }
}

/** Decides the recorded calls again, and sees which grants had a part in it. */
function unusedOf(
  lines: readonly AuditLine[],
  checker: CallChecker,
  { policy, root, ownManifest }: NeedPlaces['loaded'],
): Pick<RecordedNeeds, 'unused' | 'unknown'> {
  const used = new Set<string>()
  let unknown = 0
  for (const { type, tool, args } of lines) {
    if (type !== 'begin') continue
    if (args === undefined || typeof tool !== 'string') unknown++
    else {
      const { rules, segments } = checker.check({ tool, input: inputOf(args), cwd: root }).decision
      for (const { source } of [...rules, ...segments.flatMap((segment) => segment.rules)]) used.add(source)
    }
  }
  if (!ownManifest) return { unused: [], unknown }
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
