/** One conversation through the gateway: the client on one side, the wrapped servers on the other. No I/O of its own. */

import { version } from '../../version.ts'
import { ChangeFeed } from './change-feed.ts'
import { type Gated, type GateParts, GatewayGate } from './gateway-gate.ts'
import { guardedCompletion, guardedContents, guardedPrompt, guardedResult } from './gateway-result.ts'
import { GatewayServer, type GatewayServerParts } from './gateway-server.ts'
import { ERROR, type IncomingRequest, isObject, type Json, RpcError, RpcPeer, type Send } from './json-rpc.ts'
import { isLogLevel } from './log-relay.ts'
import { innerName, innerUri } from './namespace.ts'
import { agreedRevision, discovered, type Envelope, elicitsForms, readEnvelope, sealed } from './revision.ts'
import { type Elicit, MAY_ASK, Rounds } from './rounds.ts'
import { schemaProblem } from './schema-check.ts'
import { shownNamed, shownResource, shownTemplate } from './server-catalog.ts'
import type { CallContext } from './wrapped-server.ts'

export interface GatewayParts extends GateParts {
  readonly servers: readonly GatewayServerParts[]
  readonly root: string
  readonly toClient: Send
  readonly warn: (text: string) => void
  readonly now: () => number
}

/** All that is ever on offer; a list of nothing says the rest. */
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} as const

/** What the client said of itself in the handshake. */
interface Handshake {
  readonly elicits: boolean
  readonly samples: boolean
}

/** The client's side of one gateway. */
export class GatewaySession {
  readonly client: RpcPeer
  readonly #servers: ReadonlyMap<string, GatewayServer>
  readonly #gate: GatewayGate
  readonly #rounds = new Rounds()
  readonly #feed: ChangeFeed
  readonly #parts: GatewayParts
  #handshake: Handshake | null = null
  #logLevel: string | null = null
  /** Whether any request said that forms can be put to the person. */
  #elicits = false

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#gate = new GatewayGate(parts)
    this.client = new RpcPeer(parts.toClient, { request: (request) => this.#ofClient(request), notification: () => {} })
    this.#feed = new ChangeFeed(this.client, () => this.#handshake !== null)
    this.#servers = new Map(
      parts.servers.map((own) => [
        own.label,
        new GatewayServer(own, {
          root: parts.root,
          gate: this.#gate,
          feed: this.#feed,
          warn: parts.warn,
          now: parts.now,
          elicits: () => this.#elicits,
          // In a session the person can be asked at any time.
          elicit: () => (this.#handshake?.elicits ? this.#elicitInSession : null),
          sample: () =>
            this.#handshake?.samples
              ? (params, signal) => this.client.request('sampling/createMessage', params, signal)
              : null,
          logLevel: () => this.#logLevel,
          log: (params) => this.client.notify('notifications/message', params),
        }),
      ]),
    )
  }

  async close(): Promise<void> {
    this.client.close()
    this.#rounds.close()
    this.#feed.close()
    await Promise.all([...this.#servers.values()].map((server) => server.close()))
  }

  readonly #elicitInSession: Elicit = (params, signal) => this.client.request('elicitation/create', params, signal)

  async #ofClient(request: IncomingRequest): Promise<unknown> {
    const envelope = readEnvelope(request.params)
    return envelope ? this.#stateless(request, envelope) : this.#inSession(request)
  }

  async #inSession({ method, params, signal }: IncomingRequest): Promise<unknown> {
    if (method === 'initialize') return this.#initialize(params)
    if (method === 'ping') return {}
    if (!this.#handshake) throw new RpcError(ERROR.request, 'the session is not initialized')
    switch (method) {
      case 'logging/setLevel':
        return this.#setLevel(params, signal)
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const { server, uri } = this.#subscribable(params.uri)
        if (method === 'resources/subscribe') await this.#feed.subscribe(server, uri, signal)
        else await this.#feed.unsubscribe(server, uri, signal)
        return {}
      }
      default: {
        const elicit = this.#handshake.elicits ? this.#elicitInSession : null
        return this.#serve(method, params, this.#context(params, elicit, null), signal)
      }
    }
  }

  async #stateless(request: IncomingRequest, envelope: Envelope): Promise<Json> {
    const { method, params, signal } = request
    this.#elicits ||= elicitsForms(envelope.capabilities)
    if (method === 'server/discover') return sealed(method, discovered(CAPABILITIES, null), 'cordon-gateway')
    if (method === 'subscriptions/listen') return this.#feed.listen(request, (uri) => this.#subscribable(uri))
    const context = (elicit: Elicit | null): CallContext => this.#context(params, elicit, envelope.logLevel)
    const result =
      MAY_ASK.has(method) && elicitsForms(envelope.capabilities)
        ? await this.#rounds.answer(request, (elicit, still) => this.#serve(method, params, context(elicit), still))
        : await this.#serve(method, params, context(null), signal)
    return sealed(method, result, 'cordon-gateway')
  }

  #initialize({ capabilities, protocolVersion }: Json): Json {
    const own = isObject(capabilities) ? capabilities : {}
    this.#handshake = { elicits: elicitsForms(own), samples: isObject(own.sampling) }
    this.#elicits ||= this.#handshake.elicits
    // Servers take their time to start, and one that does not must not hold up the others.
    for (const server of this.#servers.values()) void server.wrapped.ready().catch(() => {})
    return {
      protocolVersion: agreedRevision(protocolVersion),
      capabilities: CAPABILITIES,
      serverInfo: { name: 'cordon-gateway', title: `Cordon (${[...this.#servers.keys()].join(', ')})`, version },
    }
  }

  #context({ _meta }: Json, elicit: Elicit | null, logLevel: string | null): CallContext {
    const token = isObject(_meta) ? _meta.progressToken : undefined
    const asked = typeof token === 'string' || typeof token === 'number'
    return {
      elicit,
      logLevel,
      progress: asked
        ? (params) => this.client.notify('notifications/progress', { ...params, progressToken: token })
        : null,
      log: logLevel === null ? null : (params) => this.client.notify('notifications/message', params),
    }
  }

  async #serve(method: string, params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { elicit } = context
    switch (method) {
      case 'tools/list':
        return { tools: await this.#all((at) => at.catalog.accepted('tools', elicit, signal), shownNamed) }
      case 'prompts/list':
        return { prompts: await this.#all((at) => at.catalog.accepted('prompts', elicit, signal), shownNamed) }
      case 'resources/list':
        return { resources: await this.#all((at) => at.catalog.resources(signal), shownResource) }
      case 'resources/templates/list': {
        const found = await this.#all((at) => at.catalog.accepted('templates', elicit, signal), shownTemplate)
        return { resourceTemplates: found }
      }
      case 'tools/call':
        return this.#call(params, context, signal)
      case 'prompts/get':
        return this.#prompt(params, context, signal)
      case 'resources/read':
        return this.#read(params, context, signal)
      case 'completion/complete':
        return this.#complete(params, context, signal)
      default:
        throw new RpcError(ERROR.method, `the gateway does not pass on "${method}"`)
    }
  }

  /** The offers of every server that answers; an error only when none does. */
  async #all(
    offers: (server: GatewayServer) => Promise<readonly { readonly definition: Json }[]>,
    shown: (definition: Json, label: string) => Json,
  ): Promise<Json[]> {
    const servers = [...this.#servers.values()]
    const lists = await Promise.allSettled(
      servers.map(async (server) => (await offers(server)).map(({ definition }) => shown(definition, server.label))),
    )
    const failures = lists.flatMap((list) => (list.status === 'rejected' ? [messageOf(list.reason)] : []))
    if (failures.length === servers.length) throw new RpcError(ERROR.internal, failures.join('; '))
    for (const failure of failures) this.#parts.warn(failure)
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
  }

  async #call(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { name, arguments: given = {} } = params
    const { server, inner } = this.#named(name, 'tool')
    const tools = await server.catalog.accepted('tools', context.elicit, signal)
    const tool = tools.find(({ definition }) => definition.name === inner)
    if (!tool) throw new RpcError(ERROR.params, `there is no tool ${JSON.stringify(name)}`)
    const problem = schemaProblem(tool.definition.inputSchema, given, 'the input')
    if (problem) throw new RpcError(ERROR.params, problem)
    if (!isObject(given)) throw new RpcError(ERROR.params, '"arguments" must be an object')
    const called = `mcp__${server.label}__${inner}`
    const gated = await this.#gate.pass(
      { called, server: server.label, input: given, elicit: context.elicit },
      async () => {
        const result = await server.request('tools/call', { name: inner, arguments: given }, context, signal)
        return guardedResult(result, tool.definition.outputSchema, called, server.origin)
      },
      signal,
    )
    if ('result' in gated) return gated.result.json
    const text = 'refused' in gated ? gated.refused : gated.failed
    return { content: [{ type: 'text', text }], isError: true }
  }

  async #prompt(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { name, arguments: given = {} } = params
    const { server, inner } = this.#named(name, 'prompt')
    const prompts = await server.catalog.accepted('prompts', context.elicit, signal)
    if (!prompts.some(({ definition }) => definition.name === inner)) {
      throw new RpcError(ERROR.params, `there is no prompt ${JSON.stringify(name)}`)
    }
    if (!isObject(given) || !Object.values(given).every((value) => typeof value === 'string')) {
      throw new RpcError(ERROR.params, '"arguments" must be an object of texts')
    }
    const sent = { name: inner, arguments: given }
    return unwrapped(
      await this.#gate.pass(
        { called: `mcp_prompts__${server.label}`, server: server.label, input: sent, elicit: context.elicit },
        async () => guardedPrompt(await server.request('prompts/get', sent, context, signal), server.origin),
        signal,
      ),
    )
  }

  async #read(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { server, uri } = this.#resource(params.uri)
    return unwrapped(
      await this.#gate.pass(
        { called: `mcp_resources__${server.label}`, server: server.label, input: { uri }, elicit: context.elicit },
        async () => guardedContents(await server.request('resources/read', { uri }, context, signal), server.origin),
        signal,
      ),
    )
  }

  /** Completions come with every key, so nobody is asked for them: without a level of allow there are none. */
  async #complete({ ref, argument, context: given }: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    if (!isObject(ref) || !isObject(argument)) throw new RpcError(ERROR.params, '"ref" and "argument" must be objects')
    const isPrompt = ref.type === 'ref/prompt'
    const at = isPrompt ? this.#named(ref.name, 'prompt') : this.#resource(ref.uri)
    const { server } = at
    const inner = 'inner' in at ? { type: 'ref/prompt', name: at.inner } : { type: 'ref/resource', uri: at.uri }
    const called = `mcp_${isPrompt ? 'prompts' : 'resources'}__${server.label}`
    await server.wrapped.ready()
    if (!this.#gate.isOpen(called) || !server.wrapped.has('completions')) return { completion: { values: [] } }
    const sent = { ref: inner, argument, ...(isObject(given) && { context: given }) }
    const gated = await this.#gate.pass(
      { called, server: server.label, input: sent, elicit: null },
      async () => {
        const json = guardedCompletion(
          await server.request('completion/complete', sent, context, signal),
          server.origin,
        )
        return { json, text: '', isError: false }
      },
      signal,
    )
    return unwrapped(gated)
  }

  async #setLevel({ level }: Json, signal: AbortSignal): Promise<Json> {
    if (!isLogLevel(level)) throw new RpcError(ERROR.params, '"level" must be a log level')
    this.#logLevel = level
    await Promise.allSettled([...this.#servers.values()].map((server) => server.setLogLevel(level, signal)))
    return {}
  }

  #named(outer: unknown, what: string): { readonly server: GatewayServer; readonly inner: string } {
    const found = innerName(outer)
    const server = found ? this.#servers.get(found.label) : undefined
    if (!found || !server) throw new RpcError(ERROR.params, `there is no ${what} ${JSON.stringify(outer)}`)
    return { server, inner: found.name }
  }

  #subscribable(outer: unknown): { readonly server: GatewayServer; readonly uri: string } {
    const found = this.#resource(outer)
    this.#gate.refuseDenied(`mcp_resources__${found.server.label}`)
    return found
  }

  #resource(outer: unknown): { readonly server: GatewayServer; readonly uri: string } {
    const found = innerUri(outer)
    const server = found ? this.#servers.get(found.label) : undefined
    if (!found || !server) throw new RpcError(ERROR.params, `there is no resource ${JSON.stringify(outer)}`)
    return { server, uri: found.uri }
  }
}

function unwrapped(gated: Gated): Json {
  if ('result' in gated) return gated.result.json
  throw new RpcError(
    'refused' in gated ? ERROR.refused : ERROR.internal,
    'refused' in gated ? gated.refused : gated.failed,
  )
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
