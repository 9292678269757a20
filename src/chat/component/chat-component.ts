/** The chat loop as a WASM component, over `cordon:agent` (`npm run build -- --wasm`). */

// @ts-expect-error The component's host gives this.
import { log } from 'cordon:agent/console@0.1.0'
// @ts-expect-error The component's host gives this.
import { complete } from 'cordon:agent/model@0.1.0'
// @ts-expect-error The component's host gives this.
import { call, catalog } from 'cordon:agent/tools@0.1.0'
import type { ToolResult } from '../../call/tool-result.ts'
import type { AssistantMessage, OfferedTool, ProviderEvent, Stop, Usage } from '../../providers/conversation.ts'
import { Agent, endText } from '../agent.ts'
import type { Model } from '../model.ts'

interface ModelAnswer {
  readonly message: AssistantMessage
  readonly stop: Stop
  readonly usage: Usage
  readonly cost: number | null
  readonly context: number
  readonly maxTokens: number
}

/** The text of a WIT error. */
function said(error: unknown): string {
  const payload = typeof error === 'object' && error !== null && 'payload' in error ? error.payload : error
  return payload instanceof Error ? payload.message : String(payload)
}

/** A single turn is far from any context window. */
function openModel(): Model {
  let last: Pick<ModelAnswer, 'context' | 'maxTokens' | 'cost'> = { context: 1_000_000, maxTokens: 0, cost: null }
  return {
    profile: '',
    name: '',
    get context() {
      return last.context
    },
    get maxTokens() {
      return last.maxTokens
    },
    cost: () => last.cost,
    async *ask({ messages, tools }): AsyncGenerator<ProviderEvent> {
      const names = tools.map(({ name }) => name)
      // Without a system prompt the host uses its own.
      const answered = JSON.parse(complete(JSON.stringify({ messages, tools: names }))) as ModelAnswer
      last = answered
      yield { type: 'done', message: answered.message, stop: answered.stop, usage: answered.usage }
    },
  }
}

const NOT_SEEN = { decision: 'allow', reason: { code: 'granted', message: '' }, rules: [], segments: [] } as const

/** The host decides, asks and records; here a result is its text. */
function callTool(name: string, input: unknown): ToolResult {
  try {
    const { text, isError } = JSON.parse(call(name, JSON.stringify(input))) as { text: string; isError?: boolean }
    return { status: 'done', output: { text, ...(isError && { isError }) }, decision: NOT_SEEN, notes: [] }
  } catch (error) {
    return { status: 'failed', decision: null, error: { code: 'not-done', message: said(error), remedy: null } }
  }
}

/** A running component receives no events: its host ends it instead. */
const SIGNAL = { aborted: false, throwIfAborted: () => {} } as unknown as AbortSignal

export async function run(task: string): Promise<string> {
  const offered = JSON.parse(catalog()) as readonly OfferedTool[]
  const model = openModel()
  const agent = new Agent({
    tools: {
      offered: () => offered,
      call: async (name, input) => callTool(name, input),
      footprint: () => null,
      text: (result) =>
        result.status === 'done' ? result.output.text : result.status === 'failed' ? result.error.message : '',
    },
    model: () => model,
    system: () => '',
    transcript: { add: () => {}, compacted: () => {}, cleared: () => {} },
    report: (event) => {
      if (event.type === 'calling') log(event.call.name)
    },
  })
  const end = await agent.turn({ role: 'user', parts: [{ type: 'text', text: task }] }, { signal: SIGNAL })
  if (end.reason === 'done') return end.text
  throw end.reason === 'failed' ? said(end.error) : (endText(end) ?? end.reason)
}
