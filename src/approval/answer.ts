/** Answers and grants as a program or another process gave them: parsed, since a malformed one would be saved. */

import type { Answer } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

/** What a grant can be about. */
export const GRANT_KINDS = ['command', 'read', 'write', 'host', 'directory', 'port', 'tool'] as const
export type GrantKind = (typeof GRANT_KINDS)[number]

/** An answer as a program or another process gave it; null for what is none. */
export function parseAnswer(given: unknown): Answer | null {
  if (typeof given !== 'object' || given === null) return null
  const { kind, grant, seconds, message, by } = given as Readonly<Record<string, unknown>>
  if (by !== undefined && typeof by !== 'string') return null
  const from = by === undefined ? {} : { by }
  switch (kind) {
    case 'once':
    case 'deny':
      return { ...from, kind }
    case 'session':
    case 'always':
    case 'deny-always': {
      const parsed = parseSuggestion(grant)
      return parsed && { ...from, kind, grant: parsed }
    }
    case 'time': {
      const parsed = parseSuggestion(grant)
      const lasts = typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
      return parsed && lasts ? { ...from, kind, grant: parsed, seconds } : null
    }
    case 'deny-message':
      return typeof message === 'string' ? { ...from, kind, message } : null
    default:
      return null
  }
}

/** A suggestion as a program or another process gave it; null for what is none, or would stand for nothing. */
function parseSuggestion(given: unknown): Suggestion | null {
  if (typeof given !== 'object' || given === null) return null
  const { kind, value, admits = '', also } = given as Readonly<Record<string, unknown>>
  const known = GRANT_KINDS.find((name) => name === kind)
  if (known === undefined || typeof value !== 'string' || value === '' || typeof admits !== 'string') return null
  if (also === undefined) return { kind: known, value, admits }
  const others = Array.isArray(also) ? also.map(parseSuggestion) : [null]
  return others.some((other) => other === null)
    ? null
    : { kind: known, value, admits, also: others.flatMap((other) => other ?? []) }
}
