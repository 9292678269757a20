/** What Codex writes down of a session while it goes on: where it was started, and what its own sandbox lets the turn do. */

import { isObject, type Json, recordOf } from '../host/host.ts'
import { firstLine, linesWith, piecesFromEnd, withRecord } from '../host/record-file.ts'

/** Turns are long: this much of the record is looked through for the beginning of the one that goes on. */
const MAX_LOOKED = 64 * 1024 * 1024

/** Where a session was started; null when no one can say. */
export function startDirectory(input: Json): string | null {
  const path = recordOf(input)
  if (path === null) return null
  const line: unknown = JSON.parse(withRecord(path, firstLine))
  if (!isObject(line) || line.type !== 'session_meta' || !isObject(line.payload)) return null
  return typeof line.payload.cwd === 'string' ? line.payload.cwd : null
}

/** Modes of Codex's sandbox in which a command may write to the project. */
const WRITING: ReadonlySet<unknown> = new Set(['workspace-write', 'danger-full-access', 'external-sandbox'])

/** Whether Codex would have this turn's commands write nothing; so it is as well where its record does not say. */
export function isReadOnlyTurn(input: Json): boolean {
  const path = recordOf(input)
  if (path === null) return true
  try {
    const policy = withRecord(path, (fd) => lastPolicy(fd, input.turn_id))
    return !WRITING.has(policy?.type)
  } catch {
    return true
  }
}

/** The sandbox of a turn, from the last line that says one; the lines are read from the end. */
function lastPolicy(fd: number, turn: unknown): Json | null {
  for (const piece of piecesFromEnd(fd, MAX_LOOKED)) {
    for (const text of linesWith(piece, '"turn_context"')) {
      const policy = policyOf(text, turn)
      if (policy !== null) return policy
    }
  }
  return null
}

function policyOf(text: string, turn: unknown): Json | null {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(line) || line.type !== 'turn_context' || !isObject(line.payload)) return null
  const { turn_id: own, sandbox_policy: policy } = line.payload
  const isOther = typeof own === 'string' && typeof turn === 'string' && own !== turn
  return isOther || !isObject(policy) ? null : policy
}
