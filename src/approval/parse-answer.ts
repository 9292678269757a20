/** Answers and grants from a program, another process or a file: each is parsed, and one without a meaning is null. */

import { parsePathPattern } from '../files/path-pattern.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import { type Answer, GRANT_KINDS, type GrantKind, LONGEST_SECONDS } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

/** An answer from a program or another process; null if invalid. */
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
      const lasts = typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_SECONDS
      return parsed && lasts ? { ...from, kind, grant: parsed, seconds } : null
    }
    case 'deny-message':
      return typeof message === 'string' ? { ...from, kind, message } : null
    default:
      return null
  }
}

/** A suggestion from a program or another process; null if invalid or without effect. */
function parseSuggestion(given: unknown): Suggestion | null {
  if (typeof given !== 'object' || given === null) return null
  const { kind, value, admits = '', also } = given as Readonly<Record<string, unknown>>
  const known = GRANT_KINDS.find((name) => name === kind)
  if (known === undefined || typeof value !== 'string' || typeof admits !== 'string') return null
  if (!hasEffect(known, value)) return null
  if (also === undefined) return { kind: known, value, admits }
  const others = Array.isArray(also) ? also.map(parseSuggestion) : [null]
  return others.some((other) => other === null)
    ? null
    : { kind: known, value, admits, also: others.flatMap((other) => other ?? []) }
}

/** Whether a grant of this kind can mean something: a rule is read from its value. */
export function hasEffect(kind: GrantKind, value: string): boolean {
  if (value === '') return false
  if (kind === 'command') return 'pattern' in parseCommandPattern(value)
  if (kind !== 'read' && kind !== 'write') return true
  return 'pattern' in parsePathPattern(value, { root: '/', home: '/', files: null })
}
