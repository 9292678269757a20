/**
 * The lines of the audit log: one JSON line before a call runs and one after, one for every denial,
 * chained by hashes (A1).
 */

/** The version of the line format. */
const AUDIT_VERSION = 1

/** How a decision came about. */
export interface AuditDecision {
  readonly verdict: 'allow' | 'ask' | 'deny'
  /** The reason code. */
  readonly reason: string
  /** Only if arguments are stored: it may name them. */
  readonly message?: string
  /** `rule (source)`, deciding ones first. */
  readonly rules?: readonly string[]
  /** Of an ask: the maximum cost of a wrong yes (P11). */
  readonly worst?: { readonly bound: string; readonly labels: readonly string[]; readonly text?: string }
  /** Labels of what the call reads (A3). */
  readonly reads?: readonly string[]
  /** `LABEL -> RECEIVER`, of a flow that asks or is denied. */
  readonly flows?: readonly string[]
  /**
   * Who answered an ask: `terminal`, `elicitation`, `grant:ID`, `auto`, `host`, `typed`; or null.
   */
  readonly approver?: string | null
}

/** A line before a call runs, or, as `denied`, instead of it. */
interface CallEvent {
  readonly type: 'begin' | 'denied'
  /** Joins a begin with its end. */
  readonly call: string
  /** The call whose program started this one. */
  readonly within?: string
  readonly agent?: string
  /** The root of the project. */
  readonly project?: string
  readonly tool: string
  /** SHA-256 of the canonical arguments. */
  readonly args_hash: string
  /** Programs and subcommands, or the path of a file tool. */
  readonly summary?: string
  /** The arguments themselves, only where `[audit] arguments = true`. */
  readonly args?: unknown
  /** The command, path or URL in short; where arguments are stored. */
  readonly subject?: string
  readonly decision: AuditDecision
  /** The origin of the tool: Cordon's own, a custom one with trusted bytes, or another. */
  readonly trust?: 'built-in' | 'trusted' | 'untrusted' | 'mismatch'
  readonly labels?: readonly string[]
  readonly files?: readonly string[]
  readonly hosts?: readonly string[]
}

/** The line after a call. */
export interface EndEvent {
  readonly type: 'end'
  readonly call: string
  readonly duration_ms: number
  readonly exit_code?: number | null
  readonly signal?: string | null
  readonly outcome: 'ok' | 'failed' | 'timeout' | 'cancelled' | 'fault'
  /** How stdout was parsed, and how much of it there was. */
  readonly output?: { readonly parsed: string; readonly bytes: number; readonly truncated: boolean }
  readonly files?: readonly string[]
  readonly hosts?: readonly string[]
  /** Hosts that it reached for and did not get. */
  readonly refused_hosts?: readonly string[]
  /** Which programs reached for a host, where that is known. */
  readonly host_programs?: Readonly<Record<string, readonly string[]>>
  /** Bytes that went to each host that it reached, and came from it. */
  readonly host_bytes?: Readonly<Record<string, { readonly up: number; readonly down: number }>>
  /** Attempts that the kernel or the proxy stopped. */
  readonly violations?: readonly AuditViolation[]
  /** The programs that ran, where starts are judged: the first of them, and how many more there were. */
  readonly programs?: readonly AuditProgram[]
  readonly programs_left_out?: number
  /** Files it left that would have run later: reverted, or quarantined. */
  readonly quarantine?: readonly { readonly path: string; readonly action: string }[]
  /** Files it created, changed and removed: numbers, some names, and the call for `cordon undo`. */
  readonly changes?: AuditChanges
  /** Of a fault or a failure. */
  readonly error_code?: string
  /** Ports that the command served on this machine's loopback, and the result of each. */
  readonly served?: readonly AuditPort[]
  readonly error?: string
}

export interface AuditProgram {
  readonly name: string
  /** A hash of its words. */
  readonly words: string
  /** The position of the program that started it. */
  readonly by?: number
}

interface AuditChanges {
  readonly undo: string | null
  readonly made: number
  readonly changed: number
  readonly removed: number
  /** What could not be kept. */
  readonly lost: number
  readonly names: readonly string[]
}

interface AuditPort {
  readonly port: number
  readonly problem: string | null
  readonly connections: number
  readonly up: number
  readonly down: number
}

export interface AuditViolation {
  readonly seen: 'observed' | 'inferred'
  readonly kind: 'file' | 'host' | 'syscall' | 'limit' | 'program'
  readonly subject: string
  /** The patterns that granted the command; one without a star only where arguments are stored. */
  readonly pattern?: string
  /** How often, where that was counted. */
  readonly count?: number
  /** Of a host: why it was refused. */
  readonly code?: string
}

const NOTES = ['session', 'mode', 'approval', 'review', 'grant', 'taint', 'background', 'warning'] as const
const LOG_LINES = ['checkpoint', 'rotated', 'recovered', 'closed'] as const

/** Every type of a line that is written. */
export const EVENT_TYPES: readonly AuditEvent['type'][] = ['begin', 'denied', 'end', ...NOTES, ...LOG_LINES]

/** Anything else of a session: its start, modes, answers, grants, taint. */
export interface NoteEvent {
  readonly type: (typeof NOTES)[number]
  readonly [field: string]: unknown
}

/** Lines that the log writes about itself. */
interface LogEvent {
  readonly type: (typeof LOG_LINES)[number]
  readonly [field: string]: unknown
}

export type AuditEvent = CallEvent | EndEvent | NoteEvent | LogEvent

/** A line as it was read: the event with its place in the chain. */
export interface AuditLine {
  readonly v: number
  readonly seq: number
  readonly time: string
  readonly session: string
  readonly type: string
  readonly prev: string
  readonly [field: string]: unknown
}

/** Session ids name files: letters, digits, dashes. */
export const SESSION_ID: RegExp = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/

/** The chain start of a session's first line: a line moved to another session does not fit. */
export function genesis(session: string): string {
  return `cordon-audit-v1\0${session}`
}

/** The signed text of a checkpoint. */
export function checkpointMessage(session: string, seq: number, prev: string): string {
  return `cordon-audit-checkpoint-v1\0${session}\0${seq}\0${prev}`
}

/** The text of a line without its newline. `payload` is the event as JSON, already without secrets. */
export function formatLine(seq: number, time: string, session: string, payload: string, prev: string): string {
  const body = payload === '{}' ? '' : `,${payload.slice(1, -1)}`
  return `{"v":${AUDIT_VERSION},"seq":${seq},"time":"${time}","session":"${session}"${body},"prev":"${prev}"}`
}

/** Reads a line; null when it is not one. */
export function parseLine(text: string): AuditLine | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const line = value as Partial<AuditLine> | null
  const known =
    typeof line === 'object' &&
    line !== null &&
    typeof line.v === 'number' &&
    Number.isSafeInteger(line.seq) &&
    typeof line.time === 'string' &&
    typeof line.session === 'string' &&
    typeof line.type === 'string' &&
    typeof line.prev === 'string'
  return known ? (line as AuditLine) : null
}

/** Masks every text in an event; the slow and sure way. */
export function redactDeep(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, redactDeep(field, redact)]))
}
