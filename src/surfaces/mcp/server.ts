/** Cordon as an MCP server: one client, one session, the guarded tools. Transports are elsewhere. */

import type { Cordon, CordonOptions } from '../../runtime/cordon.ts'
import { resultText, type ToolResult } from '../../runtime/tool-result.ts'
import { Fault } from '../../system/fault.ts'
import { version } from '../../version.ts'
import { elicitationPrompter } from './elicitation.ts'
import { ERROR, type IncomingRequest, isObject, type Json, RpcError, RpcPeer, type Send } from './json-rpc.ts'
import { hintsOf } from './tool-hints.ts'

type Prompter = NonNullable<CordonOptions['prompter']>

/** Revisions that this adapter speaks, the newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']

export interface ServerOptions {
  /** Opens the project for one client, with who is to be asked. */
  readonly open: (prompter: Prompter) => Promise<Cordon>
  /** Who is asked when the client has no elicitation. */
  readonly fallback: Prompter
}

/** How often a running call says that it still runs. */
const PROGRESS_MS = 2000

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['done', 'denied', 'refused', 'failed'], description: 'What became of the call.' },
    reason: { type: 'string', description: 'Why it did not run.' },
    code: { type: 'string', description: 'A stable name for the reason.' },
    exitCode: { type: 'integer', description: 'Of a command.' },
    data: { description: 'The result for programs.' },
    notes: { type: 'array', items: { type: 'string' }, description: 'What was stopped or put right on the way.' },
  },
  required: ['status'],
} as const

/** One client's conversation. */
export class McpServer {
  readonly peer: RpcPeer
  readonly #options: ServerOptions
  #opened: { readonly cordon: Cordon; readonly session: ReturnType<Cordon['openSession']> } | null = null
  #initialized = false

  constructor(send: Send, options: ServerOptions) {
    this.#options = options
    this.peer = new RpcPeer(send, { request: (request) => this.#answer(request), notification: () => {} })
  }

  /** Ends everything that runs for this client. */
  async close(): Promise<void> {
    this.peer.close()
    await this.#opened?.cordon.close()
    this.#opened = null
  }

  async #answer(request: IncomingRequest): Promise<unknown> {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(request.params)
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: this.#session().tools().map(describeTool) }
      case 'tools/call':
        return this.#call(request)
      default:
        throw new RpcError(ERROR.method, `there is no method "${request.method}"`)
    }
  }

  async #initialize(params: Json): Promise<Json> {
    if (this.#initialized) throw new RpcError(ERROR.request, 'the session is initialized already')
    this.#initialized = true
    const wanted = params.protocolVersion
    const { elicitation } = isObject(params.capabilities) ? params.capabilities : {}
    const prompter = isObject(elicitation)
      ? elicitationPrompter((question, signal) => this.peer.request('elicitation/create', question, signal))
      : this.#options.fallback
    const cordon = await this.#open(prompter)
    this.#opened = { cordon, session: cordon.openSession() }
    return {
      protocolVersion: PROTOCOL_VERSIONS.find((known) => known === wanted) ?? PROTOCOL_VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name: 'cordon', title: 'Cordon', version },
      instructions: `The tools of this server work in ${cordon.root}, under its signed policy and in a sandbox. A denial says what would be allowed instead; do not try to get around it.`,
    }
  }

  async #open(prompter: Prompter): Promise<Cordon> {
    try {
      return await this.#options.open(prompter)
    } catch (error) {
      this.#initialized = false
      if (error instanceof Fault) {
        throw new RpcError(ERROR.internal, [error.message, error.remedy].filter(Boolean).join('. '))
      }
      throw error
    }
  }

  #session(): ReturnType<Cordon['openSession']> {
    if (!this.#opened) throw new RpcError(ERROR.request, 'the session is not initialized')
    return this.#opened.session
  }

  async #call({ params, signal }: IncomingRequest): Promise<Json> {
    const session = this.#session()
    const { name, arguments: given = {} } = params
    if (typeof name !== 'string') throw new RpcError(ERROR.params, '"name" must be the name of a tool')
    if (!isObject(given)) throw new RpcError(ERROR.params, '"arguments" must be an object')
    if (!session.tools().some((tool) => tool.name === name))
      throw new RpcError(ERROR.params, `there is no tool "${name}"`)
    const stop = this.#progress(params, name)
    try {
      return callResult(await session.call(name, given, { signal }))
    } finally {
      stop()
    }
  }

  /** Says every now and then that a call still runs, to a client that asked for it. */
  #progress({ _meta }: Json, name: string): () => void {
    const token = isObject(_meta) ? _meta.progressToken : undefined
    if (typeof token !== 'string' && typeof token !== 'number') return () => {}
    let progress = 0
    const timer = setInterval(() => {
      const message = `${name} has been running for ${(++progress * PROGRESS_MS) / 1000} s`
      this.peer.notify('notifications/progress', { progressToken: token, progress, message })
    }, PROGRESS_MS)
    return () => clearInterval(timer)
  }
}

function describeTool({
  name,
  description,
  input,
}: ReturnType<ReturnType<Cordon['openSession']>['tools']>[number]): Json {
  const { title, ...annotations } = hintsOf(name)
  return {
    name,
    title,
    description,
    inputSchema: { ...input, additionalProperties: false },
    outputSchema: OUTPUT_SCHEMA,
    annotations: { title, ...annotations },
  }
}

/** A result as MCP has it: text for the model, the same for programs, and an error where the call did not do what it should. */
export function callResult(result: ToolResult): Json {
  const failed = result.status !== 'done' || result.output.isError === true
  return {
    content: [{ type: 'text', text: resultText(result) }],
    structuredContent: structured(result),
    ...(failed && { isError: true }),
  }
}

function structured(result: ToolResult): Json {
  switch (result.status) {
    case 'done':
      return {
        status: 'done',
        ...(result.output.exitCode !== undefined && { exitCode: result.output.exitCode }),
        ...(result.output.data !== undefined && { data: result.output.data }),
        notes: result.notes,
      }
    case 'denied':
      return { status: 'denied', code: result.decision.reason.code, reason: result.decision.reason.message }
    case 'refused':
      return { status: 'refused', code: result.refusal.kind, reason: result.refusal.message }
    case 'failed':
      return { status: 'failed', code: result.error.code, reason: result.error.message }
  }
}
