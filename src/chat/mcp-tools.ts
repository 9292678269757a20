/**
 * The manifest's MCP servers as tools of Cordon's agent. The session decides each call, and the
 * gateway in front of the servers decides it again by the manifest, so a denial of either counts.
 */

import { GatewayClient } from '../agents/mcp/gateway-client.ts'
import { ASKED_CALL } from '../agents/mcp/judge.ts'
import type { Prompter } from '../approval/prompter.ts'
import { messageOf } from '../system/fault.ts'
import { isRecord, recordOf } from '../system/json.ts'
import { ERROR, type IncomingRequest, RpcError } from '../system/json-rpc.ts'
import { toolHints, touchesNothing } from '../tools/define-tool.ts'
import type { InputSchema } from '../tools/input-schema.ts'
import { type Tool, type ToolOutput, toolLabels } from '../tools/tool.ts'

export interface McpToolsOptions {
  readonly root: string
  /** Receives the servers' tools. */
  readonly offer: (tools: readonly Tool[]) => void
  readonly prompter: Prompter | null
  readonly warn: (text: string) => void
}

const READY_MS = 20_000
/** Prefix of MCP tool names. */
export const MCP_PREFIX = 'mcp__'
/** Accepted by every provider. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export class McpTools {
  readonly #options: McpToolsOptions
  readonly #client: GatewayClient
  readonly #ready: Promise<void>
  /** Calls that the session allowed, by name. */
  readonly #passed = new Map<string, number>()

  constructor(options: McpToolsOptions) {
    this.#options = options
    this.#client = new GatewayClient({
      name: 'cordon-chat',
      root: options.root,
      capabilities: { elicitation: {} },
      asked: (request) => this.#asked(request),
      warn: options.warn,
    })
    this.#ready = this.#start().catch((error: unknown) => options.warn(`MCP servers: ${messageOf(error)}`))
  }

  /** Waits for the servers' lists, with a limit. */
  async ready(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, READY_MS)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#ready, late])
    clearTimeout(timer)
  }

  /** A tool of a server. What it touches no one knows: it counts as a command. */
  #tool(name: string, description: string, schema: unknown, serverHints: Readonly<Record<string, unknown>>): Tool {
    return {
      name,
      description,
      input: schema as InputSchema,
      checksInput: true,
      serverHints,
      labels: toolLabels,
      hints: toolHints.runs,
      actions: touchesNothing,
      run: (input, { signal }) => this.#call(name, input, signal),
    }
  }

  async #call(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutput> {
    const count = (step: 1 | -1) => this.#passed.set(name, (this.#passed.get(name) ?? 0) + step)
    count(1)
    try {
      const given = { name: name.slice(MCP_PREFIX.length), arguments: input }
      const answer = recordOf(await this.#client.request('tools/call', given, signal))
      const data = isRecord(answer.structuredContent) ? { data: answer.structuredContent } : {}
      return { text: textIn(answer), ...data, ...(answer.isError === true && { isError: true }) }
    } finally {
      count(-1)
    }
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #start(): Promise<void> {
    const tools = await this.#client.tools(new AbortController().signal)
    const found = tools.map((tool) => {
      const schema = tool.inputSchema ?? { type: 'object', properties: {} }
      return this.#tool(
        `${MCP_PREFIX}${String(tool.name)}`,
        String(tool.description ?? ''),
        schema,
        recordOf(tool.annotations),
      )
    })
    this.#options.offer(found.filter(({ name }) => NAME.test(name)))
    for (const { name } of found.filter((tool) => !NAME.test(tool.name)))
      this.#options.warn(`${name} is left out: models take names of 64 letters, digits, _ and - at most`)
  }

  /** Answers yes for a call that the session allowed; otherwise asks the person. */
  async #asked({ method, params }: IncomingRequest): Promise<unknown> {
    if (method !== 'elicitation/create') throw new RpcError(ERROR.method, `there is no ${method}`)
    const { message, requestedSchema, _meta } = params
    const [[field, schema] = ['answer', {}]] = Object.entries(recordOf(recordOf(requestedSchema).properties))
    const about = recordOf(_meta)[ASKED_CALL]
    const passed = typeof about === 'string' && (this.#passed.get(about) ?? 0) > 0
    const answer = passed ? 'once' : await this.#question(String(message), recordOf(schema).enum)
    return answer === null ? { action: 'decline' } : { action: 'accept', content: { [field]: answer } }
  }

  /** One of the offered answers; null if nobody is there. */
  async #question(message: string, options: unknown): Promise<string | null> {
    const words = Array.isArray(options) ? options.filter((word): word is string => typeof word === 'string') : []
    const asked = this.#options.prompter?.question?.(message, words, new AbortController().signal)
    const answer = (await asked?.catch(() => null)) ?? null
    return answer !== null && (words.length === 0 || words.includes(answer)) ? answer : null
  }
}

function textIn({ content }: Readonly<Record<string, unknown>>): string {
  const parts = (Array.isArray(content) ? content : []).filter(isRecord)
  return parts.map((part) => (typeof part.text === 'string' ? part.text : `[${String(part.type)}]`)).join('\n')
}
