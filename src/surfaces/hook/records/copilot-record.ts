/** Reads Copilot CLI's session record: whether the session, with its sub-agents, plans. */

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from '../../../system/machine.ts'
import { isObject, type Json, sessionName } from '../host/host.ts'
import { onceWritten, piecesFromEnd, withRecord } from './record-file.ts'

/** How much of a record to search; longer records without a mode count as planning. */
const MAX_LOOKED = 256 * 1024 * 1024

/** Modes in which a command may write to the project. */
const ACTING: ReadonlySet<unknown> = new Set(['interactive', 'autopilot'])

/** Whether the call's session may change things; false if its record does not say so in time. */
export async function isActing(input: Json, machine: Pick<Machine, 'home' | 'env'>): Promise<boolean> {
  if (nameOf(input.sessionId) === null) return false
  const folder = join(machine.env.COPILOT_HOME || join(machine.home, '.copilot'), 'session-state')
  const mode = await onceWritten(() => {
    const records = recordsFor(input, folder)
    if (records.length === 0) return 'absent'
    return records.map((path) => modeOf(path, input)).find((said) => said !== null) ?? 'behind'
  })
  return ACTING.has(mode)
}

const nameOf = (id: unknown): string | null => sessionName({ session_id: id })

/** Records that may be the call's: the session's, or, for nested sub-agents, any. */
function recordsFor({ sessionId, parentAgentId, timestamp }: Json, folder: string): readonly string[] {
  const written = (name: string): number =>
    statSync(join(folder, name, RECORD), { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY
  const named = [sessionId, parentAgentId].flatMap((id) => nameOf(id) ?? [])
  const own = named.find((name) => written(name) > 0)
  if (own !== undefined) return [join(folder, own, RECORD)]
  if (named.length < 2 || typeof timestamp !== 'number') return []
  try {
    const since = timestamp - CLOCK_MS
    return readdirSync(folder).flatMap((name) => (written(name) >= since ? join(folder, name, RECORD) : []))
  } catch {
    return []
  }
}

const RECORD = 'events.jsonl'
/** A file's time can be older than the clock by a kernel tick. */
const CLOCK_MS = 1000

const MODE_CHANGED = 'session.mode_changed'

/** The mode of the call; null if the record does not include the call. */
function modeOf(path: string, input: Json): string | null {
  try {
    return withRecord(path, (fd) => {
      let mode: string | null = null
      let began = false
      const ended = new Set<unknown>()
      for (const piece of piecesFromEnd(fd, MAX_LOOKED)) {
        // Only the mode is missing now, and most pieces do not mention it.
        if (began && !piece.includes(MODE_CHANGED)) continue
        for (const { type, agentId, data } of eventsFromEnd(piece)) {
          // A sub-agent's own mode allows no more than the session's.
          if (type === MODE_CHANGED && agentId === undefined) mode ??= String(data.newMode)
          if (type === 'hook.end') ended.add(data.hookInvocationId)
          if (type === 'hook.start') began ||= !ended.has(data.hookInvocationId) && isCall(data, input)
          // Calls before this turn have ended.
          if (type === 'assistant.turn_start' && agentId === input.agentId && !began) return null
        }
        if (began && mode !== null) return mode
      }
      return began ? (mode ?? 'interactive') : null
    })
  } catch {
    return 'unreadable'
  }
}

const KNOWN = /"(?:session\.mode_changed|hook\.start|hook\.end|assistant\.turn_start)"/

function* eventsFromEnd(piece: Buffer): Generator<{ type: unknown; agentId: unknown; data: Json }> {
  const lines = piece.toString('utf8').split('\n').slice(0, -1).reverse()
  for (const text of lines) {
    const event: unknown = KNOWN.test(text) ? JSON.parse(text) : null
    if (isObject(event) && isObject(event.data)) yield { type: event.type, agentId: event.agentId, data: event.data }
  }
}

/** Whether these are hooks of this call. */
function isCall({ hookType, input: given }: Json, { sessionId, toolName }: Json): boolean {
  if (hookType !== 'preToolUse' || !isObject(given) || given.sessionId !== sessionId) return false
  return Array.isArray(given.toolCalls) && given.toolCalls.some((call) => isObject(call) && call.name === toolName)
}
