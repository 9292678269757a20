/** A conversation as lines of JSON, in the form of `claude -p --output-format stream-json`, which other tools read. */

import type { TurnEnd } from '../../chat/agent.ts'
import type { AgentSession, Message, Usage } from '../../chat/agent-session.ts'

const SUBTYPES: Readonly<Record<TurnEnd['reason'], string>> = {
  done: 'success',
  'max-turns': 'error_max_turns',
  budget: 'error_max_budget_usd',
  length: 'error_during_execution',
  refused: 'error_during_execution',
  failed: 'error_during_execution',
  interrupted: 'error_during_execution',
}

/** What was not run, for the last line. */
export interface Denial {
  readonly tool_name: string
  readonly tool_use_id: string
  readonly tool_input: unknown
}

export class StreamJson {
  readonly #agent: AgentSession
  readonly #out: (line: string) => void
  readonly #started = performance.now()
  #sent: number

  constructor(agent: AgentSession, out: (line: string) => void) {
    this.#agent = agent
    this.#out = out
    // A resumed conversation is not said again.
    this.#sent = agent.agent.messages.length
    this.#write({
      ...{ type: 'system', subtype: 'init', cwd: agent.cordon.root, model: agent.model.name },
      tools: agent.session.tools().map(({ name }) => name),
      ...{ mcp_servers: [], permissionMode: agent.session.mode },
    })
  }

  /** Writes the messages that came since. */
  flush(): void {
    const { messages } = this.#agent.agent
    // A compacted conversation begins with its summary.
    for (const message of messages.slice(Math.min(this.#sent, messages.length))) this.#message(message)
    this.#sent = messages.length
  }

  end(end: TurnEnd, problem: string | null, denials: readonly Denial[]): void {
    this.flush()
    const { usage, cost, turns } = this.#agent.agent.spent
    this.#write({
      ...{ type: 'result', subtype: SUBTYPES[end.reason], is_error: end.reason !== 'done' },
      duration_ms: Math.round(performance.now() - this.#started),
      ...{ num_turns: turns, result: end.reason === 'done' ? end.text : problem, total_cost_usd: cost },
      usage: usageOf(usage),
      permission_denials: denials,
    })
  }

  #message(message: Message): void {
    const about = { parent_tool_use_id: null }
    if (message.role === 'results') {
      const content = message.results.map(({ id, text, isError }) => ({
        ...{ type: 'tool_result', tool_use_id: id, content: text, is_error: isError },
      }))
      this.#write({ type: 'user', message: { role: 'user', content }, ...about })
    } else if (message.role === 'assistant') {
      const content = message.parts.map((part) => {
        if (part.type === 'call') return { type: 'tool_use', id: part.id, name: part.name, input: part.input }
        return part.type === 'text' ? part : { type: 'thinking', thinking: part.text, signature: '' }
      })
      const said = { type: 'message', role: 'assistant', model: this.#agent.model.name, content, stop_reason: null }
      this.#write({ type: 'assistant', message: said, ...about })
    }
  }

  #write(event: object): void {
    this.#out(`${JSON.stringify({ ...event, session_id: this.#agent.id })}\n`)
  }
}

function usageOf({ input, output, cacheRead, cacheWrite }: Usage): object {
  return {
    ...{ input_tokens: input, output_tokens: output },
    ...{ cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
  }
}
