/** One recorded call as the page opens it. Secrets are masked already; the server makes every text visible. */

import { typedText } from '../confine/entitlement.ts'
import type { AuditLine, AuditTrail } from './audit-trail.ts'

/** Programs by who started them; equal neighbours are counted. */
export interface ProgramNode {
  readonly name: string
  readonly times: number
  readonly children: readonly ProgramNode[]
}

export interface ReachedHost {
  readonly host: string
  readonly refused: boolean
  /** Bytes from the command and to it; null if they were not counted. */
  readonly up: number | null
  readonly down: number | null
  readonly programs: readonly string[]
}

export interface CallView {
  readonly time: string
  /** Null: it has not ended, or nobody saw its end. */
  readonly ended: string | null
  readonly ms: number | null
  readonly tool: string
  readonly agent: string
  readonly project: string
  readonly session: string
  /** What was asked for, as far as it is kept. */
  readonly command: string | null
  /** The input, for `/api/explain`; null if it is not kept. */
  readonly input: unknown
  /** The programs that the command names, or the path. */
  readonly summary: string | null
  readonly verdict: string
  readonly reason: string
  readonly message: string | null
  readonly rules: readonly string[]
  readonly worst: string | null
  readonly answer: string | null
  readonly outcome: string | null
  readonly exitCode: number | null
  readonly programs: readonly ProgramNode[]
  readonly programsLeftOut: number
  readonly hosts: readonly ReachedHost[]
  readonly files: readonly string[]
  readonly stopped: readonly string[]
  readonly undo: string | null
  /** A line for `cordon policy test`. */
  readonly testCase: string | null
  /** Whether a rule could cover it: its own kind of grant. */
  readonly offers: readonly { readonly kind: string; readonly value: string }[]
  /** Its lines, and those of calls of its programs. */
  readonly lines: readonly AuditLine[]
}

type Fields = Readonly<Record<string, unknown>>

const MAX_LINES = 50
const MAX_PROGRAMS = 500

export function callView(trail: AuditTrail, session: string, call: string): CallView | null {
  if (!trail.sessions().includes(session)) return null
  const lines = trail.query({ session, text: call }).filter((line) => line.call === call || line.within === call)
  const own = lines.filter((line) => line.call === call)
  const begin = own.find(({ type }) => type === 'begin' || type === 'denied')
  if (!begin) return null
  const end = own.find(({ type }) => type === 'end')
  const effects = own.filter(({ type }) => type === 'end' || type === 'background')
  const decision = fields(begin.decision)
  const input = begin.args ?? null
  const command = commandOf(begin) ?? trail.subjects(own).get(call) ?? null
  const changes = fields(effects.find((line) => line.changes !== undefined)?.changes)
  const hosts = effects.flatMap(hostsOf)
  return {
    time: begin.time,
    ended: end?.time ?? null,
    ms: numberOf(end?.duration_ms),
    tool: text(begin.tool) ?? '',
    agent: text(begin.agent) ?? '',
    project: text(begin.project) ?? '',
    session,
    command,
    // A typed command is recorded as words, and explained as an agent would write it.
    input: Array.isArray(fields(input).command) ? null : input,
    summary: text(begin.summary),
    verdict: text(decision.verdict) ?? '',
    reason: text(decision.reason) ?? '',
    message: text(decision.message),
    rules: texts(decision.rules),
    worst: text(fields(decision.worst).text) ?? text(fields(decision.worst).bound),
    answer: answerOf(own, decision),
    outcome: begin.type === 'denied' ? 'denied' : text(end?.outcome),
    exitCode: numberOf(end?.exit_code),
    programs: effects.flatMap((line) => programTree(line.programs)),
    programsLeftOut: effects.reduce((sum, line) => sum + (numberOf(line.programs_left_out) ?? 0), 0),
    hosts,
    files: [...new Set(own.flatMap((line) => texts(line.files)))],
    stopped: effects.flatMap(stoppedIn),
    undo: text(changes.undo),
    testCase: testCaseOf(begin, decision),
    offers: hosts.filter(({ refused }) => refused).map(({ host }) => ({ kind: 'host', value: host })),
    lines: lines.slice(-MAX_LINES),
  }
}

/** The whole command where arguments are kept; a typed one is recorded as words. */
function commandOf({ args, subject }: AuditLine): string | null {
  const { command } = fields(args)
  if (Array.isArray(command)) return typedText(command.map(String))
  return text(command) ?? text(subject)
}

function answerOf(own: readonly AuditLine[], decision: Fields): string | null {
  const given = own.findLast(({ type }) => type === 'approval')
  if (!given) return text(decision.approver)
  const scope = given.approved === true ? `yes, ${text(given.scope) ?? 'once'}` : 'no'
  return `${scope}, by ${text(given.approver) ?? 'nobody'}`
}

function hostsOf(line: AuditLine): ReachedHost[] {
  const bytes = fields(line.host_bytes)
  const programs = fields(line.host_programs)
  const host = (refused: boolean) => (name: string) => {
    const { up, down } = fields(bytes[name])
    return { host: name, refused, up: numberOf(up), down: numberOf(down), programs: texts(programs[name]) }
  }
  return [...texts(line.hosts).map(host(false)), ...texts(line.refused_hosts).map(host(true))]
}

function stoppedIn({ violations }: AuditLine): string[] {
  if (!Array.isArray(violations)) return []
  return violations.map(fields).map(({ kind, subject, count }) => {
    const times = numberOf(count) ?? 1
    return `${text(kind) ?? ''} ${text(subject) ?? ''}${times > 1 ? ` (${times} times)` : ''}`
  })
}

function programTree(value: unknown): ProgramNode[] {
  const list = (Array.isArray(value) ? value : []).slice(0, MAX_PROGRAMS).map(fields)
  const below = (by: number | null): ProgramNode[] => {
    const nodes: { name: string; times: number; children: ProgramNode[] }[] = []
    for (const [at, program] of list.entries()) {
      // INVARIANT: a program is listed after the one that started it, so this ends.
      const parent = numberOf(program.by)
      if ((parent !== null && parent < at ? parent : null) !== by) continue
      const node = { name: text(program.name) ?? 'a program', times: 1, children: below(at) }
      const last = nodes.at(-1)
      const isSame = last?.name === node.name && last.children.length + node.children.length === 0
      if (isSame) last.times++
      else nodes.push(node)
    }
    return nodes
  }
  return below(null)
}

/** In ASCII, so that what is copied is what was recorded. */
function testCaseOf({ tool, args }: AuditLine, { verdict, approver }: Fields): string | null {
  // A person's own command is decided otherwise than an agent's.
  if (args === undefined || typeof tool !== 'string' || approver === 'typed') return null
  const { command } = fields(args)
  const call = tool === 'bash' && typeof command === 'string' ? { command } : { tool, input: args }
  return JSON.stringify({ ...call, expect: verdict }).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
