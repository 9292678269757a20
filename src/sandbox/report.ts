/** PURE. A plan and its protections on this machine, as data and in words. */

import { type CgroupSupport, type Enforcement, type LimitReport, reportLimits } from './limits.ts'
import type { SandboxPlan } from './plan.ts'
import type { RepairStep } from './repair.ts'

/** One promise, and whether this machine keeps it. */
export interface Assurance {
  readonly name: string
  readonly status: Enforcement
  readonly detail: string
  readonly remedy?: string
  /** What `cordon doctor --fix` would do, as root. */
  readonly repair?: readonly RepairStep[]
}

/** The result of probing this machine. `usable` false: nothing runs. */
export interface Support {
  readonly backend: string
  readonly usable: boolean
  readonly assurances: readonly Assurance[]
  readonly cgroup: CgroupSupport | null
  /** Whether a pid namespace can enforce the process limit. */
  readonly numbered: boolean
  /** Limits that this platform has nothing for. */
  readonly unheld?: readonly LimitReport['limit'][]
  /** The control group, not an init, enforces a share of the machine's memory. */
  readonly shareByGroup?: true
}

/** A plan for people and programs. */
export interface PlanReport {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly baseline: string
  readonly readOnly: readonly string[]
  readonly readWrite: readonly string[]
  readonly private: readonly string[]
  readonly masks: readonly string[]
  readonly pins: readonly string[]
  readonly network: string
  /** Programs that are judged when they start; null: rules about programs are decided by text alone. */
  readonly programs: readonly string[] | null
  /** Hosts that it may reach, each with a note. */
  readonly hosts: readonly string[]
  /** Ports of servers inside that the host's loopback reaches. */
  readonly servers: readonly number[]
  readonly unixSockets: boolean
  /** Sockets of the host that Cordon connects it to. */
  readonly sockets: readonly string[]
  readonly environment: readonly string[]
  readonly skipped: SandboxPlan['skipped']
  readonly promises: readonly Assurance[]
}

/** For a sandbox that does not judge changes while a command runs. */
export const UNHELD_CHANGES: Assurance = {
  name: 'changes',
  status: 'degraded',
  detail: 'protected files that a command creates are removed after it ends; nothing can be undone',
}

/** Of a sandbox that does not judge the programs that a command starts. */
export const UNJUDGED_PROGRAMS: Assurance = {
  name: 'programs',
  status: 'degraded',
  detail: 'denials are decided on the text of a command alone, not on each program that it starts',
}

function limitAssurance(report: LimitReport): Assurance {
  return { name: `limit: ${report.limit}`, status: report.status, detail: report.how }
}

/** The plan with enforced, degraded or absent for each promise on this machine. Values of variables are left out. */
export function describePlan(plan: SandboxPlan, support: Support, hosts: readonly string[] = []): PlanReport {
  const { memoryShare } = plan.limits
  const limits =
    support.shareByGroup && memoryShare !== undefined ? { memoryBytes: memoryShare, ...plan.limits } : plan.limits
  return {
    argv: plan.argv,
    cwd: plan.cwd,
    baseline: plan.baseline,
    readOnly: plan.binds.filter((bind) => bind.mode === 'read-only').map((bind) => bind.path),
    readWrite: plan.binds.filter((bind) => bind.mode === 'read-write').map((bind) => bind.path),
    private: plan.scratch,
    masks: plan.masks,
    pins: plan.pins.map((pin) => (pin.mode === 'read-only' ? pin.path : `${pin.path} (pinned)`)),
    network: plan.network.kind === 'none' ? 'none' : `only 127.0.0.1:${plan.network.port}, answered by Cordon`,
    programs: plan.programs && listed(plan.programs.lines),
    hosts,
    servers: plan.servers,
    unixSockets: plan.unixSockets,
    sockets: [...new Set(plan.sockets.map(({ target }) => target))],
    environment: Object.keys(plan.env).sort(),
    skipped: plan.skipped,
    promises: [
      ...(support.usable
        ? support.assurances
        : support.assurances.map((assurance) => ({ ...assurance, status: 'absent' as const }))),
      ...reportLimits(limits, support.cgroup, plan.uid, support.numbered).map((report) =>
        limitAssurance(
          support.unheld?.includes(report.limit)
            ? { ...report, status: 'absent', how: 'this system has no such limit for a command' }
            : report,
        ),
      ),
    ],
  }
}

/** The table of program starts, for a person. */
function listed(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    if (line === '*') return ['every program']
    const text = line.slice(2).replaceAll('\t', ' ')
    return line.startsWith('n ') ? [text] : line.startsWith('s ') ? [`any with "${text}" in its words`] : []
  })
}

const MARKS: Readonly<Record<Enforcement, string>> = { enforced: 'enforced', degraded: 'DEGRADED', absent: 'ABSENT  ' }
const SHOWN = 20

/** Paths and arguments may contain anything; a terminal must not get it raw. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text))

function list(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [`${title}: none`]
  const more = items.length > SHOWN ? [`  … and ${items.length - SHOWN} more`] : []
  return [`${title}:`, ...items.slice(0, SHOWN).map((item) => `  ${quote(item)}`), ...more]
}

/** The report as lines for a terminal. */
export function formatPlan(report: PlanReport): string {
  return [
    `command: ${report.argv.map(quote).join(' ')}`,
    `in: ${quote(report.cwd)}`,
    `baseline: ${report.baseline}`,
    ...list('read-only', report.readOnly),
    ...list('read-write', report.readWrite),
    ...list('private', report.private),
    ...list('hidden', report.masks),
    ...list('protected', report.pins),
    ...(report.programs === null
      ? ['rules about programs: none, or by text alone']
      : list('judged by text and by process', report.programs)),
    `network: ${report.network}`,
    ...list('hosts', report.hosts),
    ...(report.servers.length > 0 ? [`reachable from this machine, on 127.0.0.1: ${report.servers.join(', ')}`] : []),
    `unix sockets: ${report.unixSockets ? 'inside only' : 'refused'}`,
    ...(report.sockets.length > 0 ? list('connected to by Cordon, outside of the sandbox', report.sockets) : []),
    ...list('environment', report.environment),
    ...report.skipped.map(({ path, grant, reason }) => `skipped: ${grant} ${quote(path)} (${reason})`),
    'promises:',
    ...report.promises.map(({ name, status, detail }) => `  ${MARKS[status]}  ${name}: ${detail}`),
    '',
  ].join('\n')
}
