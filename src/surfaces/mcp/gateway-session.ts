/** One conversation through the gateway: the client on one side, the wrapped server on the other. No I/O of its own. */

import type { HookJudge, HookJudgement } from '../../runtime/hook-judge.ts'
import { type Pin, pinOf, type ServerPins } from '../../runtime/mcp-pins.ts'
import type { SessionRecorder } from '../../runtime/session-recorder.ts'
import { scanText } from '../../scan/injection.ts'
import { version } from '../../version.ts'
import { visibleLines } from '../cli/terminal.ts'
import { guardedResult } from './gateway-result.ts'
import { ERROR, type IncomingRequest, isObject, type Json, RpcError, RpcPeer, type Send } from './json-rpc.ts'
import { schemaProblem } from './schema-check.ts'
import { PROTOCOL_VERSIONS } from './server.ts'

export interface GatewayParts {
  readonly label: string
  readonly judge: HookJudge
  readonly recorder: SessionRecorder
  readonly pins: Pick<ServerPins, 'known' | 'accept'>
  readonly accept: boolean
  readonly toClient: Send
  readonly toServer: Send
  readonly warn: (text: string) => void
}

interface KnownTool {
  readonly definition: Json
  readonly pin: Pin
}

const MAX_TOOLS = 1000
const MAX_PAGES = 20
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/

/** Both peers of one gateway. */
export class GatewaySession {
  readonly client: RpcPeer
  readonly server: RpcPeer
  readonly #parts: GatewayParts
  readonly #answered = new Set<string>()
  #accepting: boolean
  #clientElicits = false
  #ready = false

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#accepting = parts.accept
    this.client = new RpcPeer(parts.toClient, { request: (request) => this.#ofClient(request), notification: () => {} })
    this.server = new RpcPeer(parts.toServer, {
      request: (request) => this.#ofServer(request),
      notification: (method) => {
        if (method === 'notifications/tools/list_changed') this.client.notify(method, {})
      },
    })
  }

  close(): void {
    this.client.close()
    this.server.close()
  }

  async #ofClient(request: IncomingRequest): Promise<unknown> {
    switch (request.method) {
      case 'initialize':
        return this.#initialize(request)
      case 'ping':
        return {}
      case 'tools/list':
        return { tools: (await this.#tools(request.signal)).map(({ definition }) => this.#shown(definition)) }
      case 'tools/call':
        return this.#call(request)
      default:
        throw new RpcError(ERROR.method, `the gateway passes on tools only, not "${request.method}"`)
    }
  }

  /** The server may ask the person something, and the question says who asks; it may not use the client's model or see its roots. */
  async #ofServer({ method, params, signal }: IncomingRequest): Promise<unknown> {
    if (method === 'ping') return {}
    if (method !== 'elicitation/create' || !this.#clientElicits) {
      throw new RpcError(ERROR.method, `"${method}" is not passed on`)
    }
    const message = `The MCP server “${this.#parts.label}” asks: ${visibleLines(String(params.message ?? ''))}`
    return this.client.request('elicitation/create', { ...params, message }, signal)
  }

  async #initialize({ params, signal }: IncomingRequest): Promise<Json> {
    const { capabilities } = params
    this.#clientElicits = isObject(capabilities) && isObject(capabilities.elicitation)
    const wanted = PROTOCOL_VERSIONS.find((known) => known === params.protocolVersion) ?? PROTOCOL_VERSIONS[0]!
    const given = await this.server.request(
      'initialize',
      {
        protocolVersion: wanted,
        capabilities: this.#clientElicits ? { elicitation: {} } : {},
        clientInfo: { name: 'cordon-gateway', version },
      },
      signal,
    )
    if (!isObject(given) || !PROTOCOL_VERSIONS.some((known) => known === given.protocolVersion)) {
      throw new RpcError(ERROR.internal, `${this.#parts.label} did not answer as an MCP server does`)
    }
    this.server.notify('notifications/initialized', {})
    this.#ready = true
    return {
      protocolVersion: given.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: `cordon-${this.#parts.label}`, version },
    }
  }

  /** The tools that are as they were accepted; on first contact, all that do not try to steer the agent by their descriptions. */
  async #tools(signal: AbortSignal): Promise<readonly KnownTool[]> {
    if (!this.#ready) throw new RpcError(ERROR.request, 'the session is not initialized')
    const offered = await this.#offered(signal)
    const known = this.#accepting ? null : this.#parts.pins.known()
    if (known === null) {
      const first = offered.filter((tool) => this.#accepting || !this.#steers(tool))
      // What was asked for once is not asked for ever: a change later in the session is a change.
      this.#accepting = false
      this.#parts.pins.accept(Object.fromEntries(first.map(({ definition, pin }) => [String(definition.name), pin])))
      return first
    }
    const accepted: KnownTool[] = []
    for (const tool of offered) {
      const name = String(tool.definition.name)
      const before = Object.hasOwn(known, name) ? known[name]! : null
      if (before?.hash === tool.pin.hash || (await this.#acceptChange(name, before, tool.pin, signal)))
        accepted.push(tool)
    }
    return accepted
  }

  #steers({ definition, pin }: KnownTool): boolean {
    if (!scanText(pin.text).injection) return false
    this.#parts.warn(
      `The tool “${String(definition.name)}” of the MCP server “${this.#parts.label}” describes itself in words that read like orders to the agent. It is withheld; cordon mcp wrap --accept takes it all the same. ${pin.text}`,
    )
    return true
  }

  /** What the server lists: names that can be names, each once. */
  async #offered(signal: AbortSignal): Promise<readonly KnownTool[]> {
    const tools = new Map<string, KnownTool>()
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const given = await this.server.request('tools/list', cursor === undefined ? {} : { cursor }, signal)
      if (!isObject(given) || !Array.isArray(given.tools))
        throw new RpcError(ERROR.internal, 'the server’s list of tools is none')
      for (const definition of given.tools.slice(0, MAX_TOOLS)) {
        if (!isObject(definition) || typeof definition.name !== 'string' || !NAME.test(definition.name)) continue
        if (!tools.has(definition.name)) tools.set(definition.name, { definition, pin: pinOf(definition) })
      }
      cursor = given.nextCursor
      if (typeof cursor !== 'string') break
    }
    return [...tools.values()].slice(0, MAX_TOOLS)
  }

  async #acceptChange(name: string, before: Pin | null, now: Pin, signal: AbortSignal): Promise<boolean> {
    const what = before ? 'changed its definition' : 'is new'
    const said = `The tool “${name}” of the MCP server “${this.#parts.label}” ${what} since it was accepted.`
    if (this.#answered.has(now.hash)) return false
    const shown = before ? `Before: ${before.text}\nNow: ${now.text}` : now.text
    if (this.#clientElicits && (await this.#asked(`${said}\n${shown}\nAccept it?`, signal))) {
      this.#parts.pins.accept({ [name]: now })
      return true
    }
    this.#answered.add(now.hash)
    this.#parts.warn(`${said} It is withheld; cordon mcp wrap --accept takes the tools as they are. ${shown}`)
    return false
  }

  async #call({ params, signal }: IncomingRequest): Promise<Json> {
    const { name, arguments: given = {} } = params
    const prefix = `${this.#parts.label}__`
    const wanted = typeof name === 'string' && name.startsWith(prefix) ? name.slice(prefix.length) : null
    const tool = (await this.#tools(signal)).find(({ definition }) => definition.name === wanted)
    if (!tool || wanted === null) throw new RpcError(ERROR.params, `there is no tool ${JSON.stringify(name)}`)
    const problem = schemaProblem(tool.definition.inputSchema, given, 'the input')
    if (problem) throw new RpcError(ERROR.params, problem)
    const { judge, recorder } = this.#parts
    const called = `mcp__${this.#parts.label}__${wanted}`
    const { decision } = judge.strictest([{ kind: 'foreign', tool: called }])!
    const record = recorder.begin({ tool: called, input: given as Json, subject: called, decision, agent: 'mcp' })
    const refused = await this.#refusal(called, given, decision, signal)
    if (refused !== null) {
      recorder.end(record, { status: 'refused', decision, refusal: { kind: 'absent', message: refused } }, [])
      return { content: [{ type: 'text', text: refused }], isError: true }
    }
    try {
      const result = guardedResult(
        await this.server.request('tools/call', { name: wanted, arguments: given }, signal),
        tool.definition.outputSchema,
        called,
      )
      recorder.end(
        record,
        { status: 'done', decision, notes: [], output: { text: result.text, isError: result.isError } },
        [],
      )
      return result.json
    } catch (error) {
      const message = `${this.#parts.label} failed: ${error instanceof Error ? error.message : String(error)}`
      recorder.end(record, { status: 'failed', decision, error: { code: 'mcp-server', message, remedy: null } }, [])
      return { content: [{ type: 'text', text: message }], isError: true }
    }
  }

  /** Why a call does not go through; null when it does. */
  async #refusal(
    called: string,
    given: unknown,
    decision: HookJudgement['decision'],
    signal: AbortSignal,
  ): Promise<string | null> {
    if (decision.decision === 'allow') return null
    if (decision.decision === 'deny') return `Denied: ${decision.reason.message}`
    const refusal = this.#parts.judge.whyNotAsked(decision)
    const level = `[permission.tools] ${JSON.stringify(called)} = "allow" in cordon.toml, signed, allows it`
    if (refusal) return `Not run: ${refusal}; ${level}.`
    const question = `Cordon asks before ${called} runs:\n    ${JSON.stringify(given)}\nWhy: ${decision.reason.message}`
    if (!this.#clientElicits) return `Not run: it needs a yes from the user, and nobody could be asked; ${level}.`
    return (await this.#asked(question, signal)) ? null : 'Not run: the user said no.'
  }

  async #asked(message: string, signal: AbortSignal): Promise<boolean> {
    const answer = { type: 'string', title: 'Answer', enum: ['yes', 'no'] }
    const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
    try {
      const shown = { message: visibleLines(message), requestedSchema }
      const given = await this.client.request('elicitation/create', shown, signal)
      return isObject(given) && given.action === 'accept' && isObject(given.content) && given.content.answer === 'yes'
    } catch {
      return false
    }
  }

  /** A tool as the client sees it: under the server's name, marked as a stranger's. */
  #shown(definition: Json): Json {
    const described = typeof definition.description === 'string' ? definition.description : ''
    return {
      ...definition,
      name: `${this.#parts.label}__${String(definition.name)}`,
      description: `[from the MCP server “${this.#parts.label}”] ${described}`,
    }
  }
}
