/** Cordon as an MCP server: one client, one session, the guarded tools. Without a transport. */

import { resultText, type ToolResult } from '../../call/tool-result.ts'
import { isRecord } from '../../system/json.ts'
import { ERROR, type IncomingRequest, type Json, RpcError, RpcPeer, type Send } from '../../system/json-rpc.ts'
import { version } from '../../system/version.ts'
import { agreedRevision, discovered, type Envelope, elicitsForms, META, readEnvelope, sealed } from './revision.ts'
import type { Elicit } from './rounds.ts'
import { ServedProject, type ServerOptions } from './served-project.ts'

const PROGRESS_MS = 2000

const CAPABILITIES = { tools: {} } as const

/** One client's conversation. Stateless clients can share a project. */
export class McpServer {
  readonly peer: RpcPeer
  readonly #project: ServedProject
  readonly #shared: boolean
  /** The handshake from its request on: a client may send more before the answer. */
  #handshake: Promise<{ readonly answer: Json; readonly elicits: boolean }> | null = null

  constructor(send: Send, options: ServerOptions, shared: ServedProject | null = null) {
    this.#project = shared ?? new ServedProject(options)
    this.#shared = shared !== null
    this.peer = new RpcPeer(send, { request: (request) => this.#answer(request), notification: () => {} })
  }

  async close(): Promise<void> {
    this.peer.close()
    if (!this.#shared) await this.#project.close()
  }

  async #answer(request: IncomingRequest): Promise<unknown> {
    const envelope = readEnvelope(request.params)
    return envelope ? this.#stateless(request, envelope) : this.#inSession(request)
  }

  async #inSession(request: IncomingRequest): Promise<unknown> {
    const { method, params, signal } = request
    if (method === 'initialize') {
      if (this.#handshake) throw new RpcError(ERROR.request, 'the session is initialized already')
      this.#handshake = this.#initialize(params)
      return (await this.#handshake).answer
    }
    if (method === 'ping') return {}
    if (!this.#handshake) throw new RpcError(ERROR.request, 'the session is not initialized')
    const { elicits } = await this.#handshake
    switch (method) {
      case 'tools/list':
        return this.#project.tools()
      case 'tools/call': {
        const elicit: Elicit = (question, asked) => this.peer.request('elicitation/create', question, asked)
        return this.#watched(params, this.#call(params, signal, elicits ? elicit : null))
      }
      default:
        throw new RpcError(ERROR.method, `there is no method "${method}"`)
    }
  }

  async #stateless(request: IncomingRequest, { capabilities }: Envelope): Promise<Json> {
    const { method, params, signal } = request
    switch (method) {
      case 'server/discover':
        return sealed(method, discovered(CAPABILITIES, (await this.#project.opened()).instructions), 'cordon')
      case 'tools/list':
        return sealed(method, await this.#project.tools(), 'cordon')
      case 'tools/call': {
        const running = elicitsForms(capabilities)
          ? this.#project.rounds.answer(request, (elicit, still) => this.#call(params, still, elicit))
          : this.#call(params, signal, null)
        return sealed(method, await this.#watched(params, running), 'cordon')
      }
      case 'subscriptions/listen':
        return this.#listen(request)
      default:
        throw new RpcError(ERROR.method, `there is no method "${method}"`)
    }
  }

  async #initialize(params: Json): Promise<{ readonly answer: Json; readonly elicits: boolean }> {
    const { instructions } = await this.#project.opened()
    const answer = {
      protocolVersion: agreedRevision(params.protocolVersion),
      capabilities: CAPABILITIES,
      serverInfo: { name: 'cordon', title: 'Cordon', version },
      instructions,
    }
    return { answer, elicits: elicitsForms(isRecord(params.capabilities) ? params.capabilities : {}) }
  }

  /** Nothing changes here on its own; the stream only stays open. */
  #listen({ id, signal }: IncomingRequest): Promise<never> {
    const params = { notifications: {}, _meta: { [META.subscription]: id } }
    this.peer.notify('notifications/subscriptions/acknowledged', params)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))
  }

  async #call(params: Json, signal: AbortSignal, elicit: Elicit | null): Promise<Json> {
    const { session } = await this.#project.opened()
    const { name, arguments: given = {} } = params
    if (typeof name !== 'string') throw new RpcError(ERROR.params, '"name" must be the name of a tool')
    if (!isRecord(given)) throw new RpcError(ERROR.params, '"arguments" must be an object')
    if (!session.tools().some((tool) => tool.name === name))
      throw new RpcError(ERROR.params, `there is no tool "${name}"`)
    const result = await this.#project.asking(elicit, () => session.call(name, given, { signal }))
    return callResult(result, session.textOf(result))
  }

  async #watched({ _meta, name }: Json, running: Promise<Json>): Promise<Json> {
    const token = isRecord(_meta) ? _meta.progressToken : undefined
    if (typeof token !== 'string' && typeof token !== 'number') return running
    let progress = 0
    const timer = setInterval(() => {
      const message = `${String(name)} has been running for ${(++progress * PROGRESS_MS) / 1000} s`
      this.peer.notify('notifications/progress', { progressToken: token, progress, message })
    }, PROGRESS_MS)
    try {
      return await running
    } finally {
      clearInterval(timer)
    }
  }
}

/** A result in MCP's form: text, structured content, and an error flag if the call failed. */
function callResult(result: ToolResult, text: string): Json {
  const failed = result.status !== 'done' || result.output.isError === true
  return {
    content: [{ type: 'text', text }],
    // Long output is shortened here as well; the text names the file with all of it.
    structuredContent: structured(result, text === resultText(result)),
    ...(failed && { isError: true }),
  }
}

function structured(result: ToolResult, isWhole: boolean): Json {
  switch (result.status) {
    case 'done':
      return {
        status: 'done',
        ...(result.output.exitCode !== undefined && { exitCode: result.output.exitCode }),
        ...(isWhole && result.output.data !== undefined && { data: result.output.data }),
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
