/** PURE. Messages between an interpreter and Cordon, one JSON line each. */

/** From inside. `run` names the program. */
export type InsideFrame =
  | { readonly kind: 'ready' }
  | { readonly kind: 'call'; readonly run: number; readonly id: number; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'out'; readonly run: number; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | {
      readonly kind: 'done'
      readonly run: number
      /** JSON of the program's value, or null. */
      readonly value: string | null
      readonly error: string | null
      readonly limit: ProgramLimit | null
      readonly files: readonly InsideFile[]
    }

export type ProgramLimit = 'time' | 'memory' | 'output' | 'processes' | 'calls'

export interface InsideFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** To inside. */
export type OutsideFrame =
  | {
      readonly kind: 'run'
      readonly run: number
      readonly code: string
      readonly tools: readonly ToolName[]
      readonly limits: { readonly milliseconds: number; readonly memoryBytes: number; readonly outputBytes: number }
    }
  | {
      readonly kind: 'answer'
      readonly run: number
      readonly id: number
      readonly ok: boolean
      readonly value: CallAnswer
    }
  | { readonly kind: 'stop'; readonly run: number }

/** A tool as programs call it, with the property that a bare argument sets. */
export interface ToolName {
  readonly name: string
  readonly first: string | null
}

/** The result of a guarded call. */
export interface CallAnswer {
  readonly text: string
  readonly data?: unknown
  readonly isError?: boolean
  /** Why it failed: `denied`, `refused`, or a fault code. */
  readonly code?: string
}

const LIMITS: ReadonlySet<unknown> = new Set<ProgramLimit>(['time', 'memory', 'output', 'processes', 'calls'])
const MAX_FILES = 16
/** A file name without paths, hidden files or terminal controls. */
export const FILE_NAME: RegExp = /^[\w][\w. +-]{0,99}$/

/** Parses a line from inside; null if invalid. */
export function parseFrame(line: string): InsideFrame | null {
  let value: Record<string, unknown>
  try {
    const parsed: unknown = JSON.parse(line)
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
    value = parsed as Record<string, unknown>
  } catch {
    return null
  }
  const { kind, run } = value
  if (kind === 'ready') return { kind }
  if (typeof run !== 'number' || !Number.isSafeInteger(run)) return null
  switch (kind) {
    case 'call': {
      const { id, tool, input } = value
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || typeof tool !== 'string') return null
      return { kind, run, id, tool: tool.slice(0, 200), input: input ?? {} }
    }
    case 'out': {
      const { stream, text } = value
      if ((stream !== 'stdout' && stream !== 'stderr') || typeof text !== 'string') return null
      return { kind, run, stream, text }
    }
    case 'done':
      return {
        kind,
        run,
        value: typeof value.value === 'string' ? value.value : null,
        error: typeof value.error === 'string' ? value.error : null,
        limit: LIMITS.has(value.limit) ? (value.limit as ProgramLimit) : null,
        files: Array.isArray(value.files) ? filesOf(value.files.slice(0, MAX_FILES)) : [],
      }
    default:
      return null
  }
}

/** Names must be unique: they become files of one folder. */
function filesOf(values: readonly unknown[]): InsideFile[] {
  const files = values.flatMap(fileOf)
  return files.filter(({ name }, index) => files.findIndex((other) => other.name === name) === index)
}

function fileOf(value: unknown): InsideFile[] {
  if (typeof value !== 'object' || value === null) return []
  const { name, base64 } = value as Record<string, unknown>
  if (typeof name !== 'string' || typeof base64 !== 'string' || !FILE_NAME.test(name)) return []
  return [{ name, bytes: Buffer.from(base64, 'base64') }]
}
