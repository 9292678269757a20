/** Fields of the record about commands that ran: hosts, violations, changes and served ports. */

import type { AuditProgram, AuditViolation, EndEvent } from '../../audit/event.ts'
import { reportedName } from '../../files/reported-names.ts'
import type { CallChanges } from '../../run/kept-changes.ts'
import { programSummary } from '../../run/ran-programs.ts'
import type { RunOutcome } from '../../run/runner.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import type { ToolInput } from '../../tools/tool.ts'

/** The proxy reports as many hosts separately. */
const MAX_LISTED = 2_000

type RunFields = Pick<
  EndEvent,
  | 'hosts'
  | 'refused_hosts'
  | 'host_programs'
  | 'host_bytes'
  | 'violations'
  | 'programs'
  | 'programs_left_out'
  | 'quarantine'
  | 'changes'
  | 'served'
>

/** What the tool itself did, apart from its commands. */
export interface ToolEffects {
  readonly reached?: readonly string[] | undefined
  /** Hosts that were refused to it. */
  readonly refused?: readonly string[] | undefined
  /** Files that it wrote. */
  readonly written?: readonly string[] | undefined
  readonly changes?: readonly CallChanges[]
}

/** The fields of an end event; empty ones are omitted. */
export function runFields(
  outcomes: readonly RunOutcome[],
  { arguments: stores }: { readonly arguments: boolean },
  { reached = [], refused: own = [], written = [], changes = [] }: ToolEffects = {},
): RunFields {
  const hosts = [...new Set([...reached, ...outcomes.flatMap((outcome) => hostsOf(outcome, 'allow'))])]
  const refused = [...new Set([...own, ...outcomes.flatMap((outcome) => hostsOf(outcome, 'deny'))])]
  const violations = outcomes.flatMap((outcome) => violationsOf(outcome, stores)).slice(0, MAX_LISTED)
  const quarantine = [
    ...outcomes.flatMap(({ findings }) => findings.map(({ path, action }) => ({ path, action }))),
    ...written.filter((path) => reportedName(path) !== null).map((path) => ({ path, action: 'told' as const })),
  ]
  const served = outcomes.flatMap((outcome) => outcome.served)
  return {
    ...(hosts.length > 0 && { hosts: hosts.slice(0, MAX_LISTED) }),
    ...(refused.length > 0 && { refused_hosts: refused.slice(0, MAX_LISTED) }),
    ...hostProgramsOf(outcomes),
    ...hostBytesOf(outcomes),
    ...(violations.length > 0 && { violations }),
    ...programsOf(outcomes),
    ...(quarantine.length > 0 && { quarantine: quarantine.slice(0, MAX_LISTED) }),
    ...changesOf([...changes, ...outcomes.flatMap((outcome) => outcome.changes ?? [])]),
    ...(served.length > 0 && { served }),
  }
}

/** Process trees of several runs. */
function programsOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'programs' | 'programs_left_out'> {
  const all: AuditProgram[] = []
  let leftOut = 0
  for (const { programs } of outcomes) {
    const from = all.length
    all.push(
      ...(programs?.list ?? []).map(({ by, ...one }) => ({ ...one, ...(by !== undefined && { by: from + by }) })),
    )
    leftOut += programs?.leftOut ?? 0
  }
  return { ...(all.length > 0 && { programs: all }), ...(leftOut > 0 && { programs_left_out: leftOut }) }
}

/** Which programs reached for which hosts, allowed or not. */
function hostProgramsOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'host_programs'> {
  const found = new Map<string, Set<string>>()
  for (const { host, program } of outcomes.flatMap(({ egress }) => egress))
    if (host !== null && program !== null && found.size < MAX_LISTED)
      found.set(host, (found.get(host) ?? new Set()).add(program))
  if (found.size === 0) return {}
  return { host_programs: Object.fromEntries(Array.from(found, ([host, programs]) => [host, [...programs]])) }
}

function hostBytesOf(outcomes: readonly RunOutcome[]): Pick<EndEvent, 'host_bytes'> {
  const found = new Map<string, { up: number; down: number }>()
  for (const { verdict, host, up, down } of outcomes.flatMap(({ egress }) => egress)) {
    if (verdict !== 'allow' || host === null || (found.size >= MAX_LISTED && !found.has(host))) continue
    const known = found.get(host) ?? { up: 0, down: 0 }
    found.set(host, { up: known.up + up, down: known.down + down })
  }
  return found.size === 0 ? {} : { host_bytes: Object.fromEntries(found) }
}

function hostsOf({ egress }: RunOutcome, wanted: 'allow' | 'deny'): string[] {
  return egress.flatMap(({ verdict, host }) => (verdict === wanted && host !== null ? [host] : []))
}

function violationsOf({ result, egress, grants }: RunOutcome, stores: boolean): AuditViolation[] {
  // A pattern without a star is the command itself.
  const recorded = grants.filter((pattern) => stores || pattern.includes('*'))
  const granted = recorded.length === 0 ? {} : { pattern: recorded.join(', ') }
  const denied = egress.filter((event) => event.verdict === 'deny')
  return [
    ...result.violations.map((violation) => ({
      seen: violation.certainty,
      ...(violation.limit !== undefined
        ? { kind: 'limit' as const, subject: violation.limit }
        : violation.program !== undefined
          ? { kind: 'program' as const, subject: stores ? violation.message : violation.program }
          : violation.path === undefined
            ? { kind: 'syscall' as const, subject: violation.message }
            : { kind: 'file' as const, subject: violation.path }),
      ...granted,
    })),
    ...deniedHosts(denied).map((violation) => ({ ...violation, ...granted })),
    ...(result.timedOut ? [{ seen: 'observed' as const, kind: 'limit' as const, subject: 'time', ...granted }] : []),
  ]
}

/** One entry per host, so that many refusals of one do not push out another. */
function deniedHosts(denied: RunOutcome['egress']): AuditViolation[] {
  const hosts = Map.groupBy(denied, (event) => event.host ?? 'unknown')
  return Array.from(hosts, ([subject, events]) => ({
    seen: 'observed' as const,
    kind: 'host' as const,
    subject,
    count: events.reduce((sum, event) => sum + event.count, 0),
  }))
}

const MAX_CHANGES = 200

/** All changes of a call. */
function changesOf(changes: readonly CallChanges[]): Pick<EndEvent, 'changes'> {
  const all = changes.filter(({ call }) => call !== null)
  if (all.length === 0) return {}
  const sum = (of: 'made' | 'changed' | 'removed' | 'lost') => all.reduce((total, one) => total + one[of].length, 0)
  const names = all.flatMap(({ made, changed, removed }) => [
    ...made.map((path) => `+${path}`),
    ...changed.map((path) => `~${path}`),
    ...removed.map((path) => `-${path}`),
  ])
  return {
    changes: {
      undo: all.at(-1)!.call,
      made: sum('made'),
      changed: sum('changed'),
      removed: sum('removed'),
      lost: sum('lost'),
      names: names.slice(0, MAX_CHANGES),
    },
  }
}

const MOST_PROGRAMS = 8

/** The summary; null if the tool's name says it all. */
export function callSummary(input: ToolInput, facts: ShellFacts | null): string | null {
  if (Array.isArray(input.command)) return programSummary(input.command as readonly string[])
  if (facts) return programsNamed(facts)
  return typeof input.path === 'string' ? input.path : null
}

function programsNamed({ commands }: ShellFacts): string | null {
  const named = commands.flatMap(({ argv }) => {
    const words = argv.map(({ values }) => (values?.length === 1 ? values[0]! : ''))
    return words.length === 0 ? [] : [programSummary(words)]
  })
  const each = [...new Set(named)]
  const more = each.length > MOST_PROGRAMS ? [`and ${each.length - MOST_PROGRAMS} more`] : []
  return each.length === 0 ? null : [...each.slice(0, MOST_PROGRAMS), ...more].join(', ')
}
