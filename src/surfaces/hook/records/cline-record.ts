/** Reads Cline's session record: in which mode its person last wrote something. */

import { join } from 'node:path'
import { type HostSurroundings, isObject, type Json } from '../host/host.ts'
import { onceWritten } from './record-file.ts'

const MAX_RECORD = 64 * 1024 * 1024

/** Modes in which a command may write to the project. */
const ACTING: ReadonlySet<unknown> = new Set(['act', 'yolo'])

/** Whether this turn may change things; false if the record does not say. */
export async function isActing(input: Json, { machine: { home, env }, files }: HostSurroundings): Promise<boolean> {
  const { rootSessionId: id } = isObject(input.sessionContext) ? input.sessionContext : {}
  if (typeof id !== 'string' || !/^[\w-]+$/.test(id)) return false
  const data = env.CLINE_DATA_DIR ?? join(env.CLINE_DIR ?? join(home, '.cline'), 'data')
  const path = join(env.CLINE_SESSION_DATA_DIR ?? join(data, 'sessions'), id, `${id}.messages.json`)
  const mode = await onceWritten(() => {
    if (!files.exists(path)) return 'absent'
    try {
      const record = JSON.parse(files.readText(path, MAX_RECORD)) as Json
      return holdsCall(record, input) ? modeOf(record) : 'behind'
    } catch {
      // The record is rewritten each time.
      return 'behind'
    }
  })
  return ACTING.has(mode)
}

interface Part {
  readonly type?: unknown
  readonly id?: unknown
  readonly text?: unknown
}

function partsOf(record: Json, role: string): readonly (readonly Part[])[] {
  const messages = record.messages as readonly Json[]
  return messages
    .filter((message) => message.role === role)
    .map(({ content }) => (Array.isArray(content) ? content : [{ type: 'text', text: content }]))
}

/**
 * Whether the record includes this call. Sub-agents' calls are recorded elsewhere, after the call that started them.
 */
function holdsCall(record: Json, { parent_agent_id: parent, tool_call: call }: Json): boolean {
  if (typeof parent === 'string' || !isObject(call)) return true
  const last = partsOf(record, 'assistant').at(-1) ?? []
  return last.some(({ type, id }) => type === 'tool_use' && id === call.id)
}

/** Cline's own words to a planning model. */
const PLANS = 'You are in Plan mode.'

/** The mode of the person's last message. Slash commands have none, so there the model's instructions decide. */
function modeOf(record: Json): string | null {
  // Tool results also have the role of a user, and can contain any text.
  const said = partsOf(record, 'user').filter((parts) => parts.every(({ type }) => type === 'text'))
  const last = said.map(([first]) => String(first?.text)).findLast((text) => /^<user_(?:input|command)\b/.test(text))
  if (!last?.startsWith('<user_command')) return /^<user_input mode="(\w+)">/.exec(last ?? '')?.[1] ?? null
  const { system_prompt: prompt } = record
  return typeof prompt === 'string' && !prompt.includes(PLANS) ? 'act' : 'plan'
}
