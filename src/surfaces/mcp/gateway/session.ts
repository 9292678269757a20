/** One conversation through the gateway, between the client and the wrapped servers. Without I/O. */

import { setTimeout as delay } from 'node:timers/promises'
import { isRecord } from '../../../system/json.ts'
import { ERROR, type IncomingRequest, type Json, RpcError, RpcPeer, type Send } from '../../../system/json-rpc.ts'
import { version } from '../../../system/version.ts'
import { agreedRevision, discovered, type Envelope, elicitsForms, readEnvelope, sealed } from '../revision.ts'
import { type Elicit, MAY_ASK, Rounds } from '../rounds.ts'
import { GatewayCalls } from './calls.ts'
import { ChangeFeed } from './change-feed.ts'
import { type GateParts, GatewayGate } from './gate.ts'
import { isLogLevel } from './log-relay.ts'
import { type Names, PREFIXED, plainNames } from './namespace.ts'
import { GatewayServer, type GatewayServerParts } from './server.ts'
import { shownNamed, shownResource, shownTemplate } from './server-catalog.ts'
import type { CallContext } from './wrapped-server.ts'

export interface GatewayParts extends GateParts {
  readonly servers: readonly GatewayServerParts[]
  readonly root: string
  readonly isPlain?: boolean
  readonly toClient: Send
  readonly warn: (text: string) => void
  readonly now: () => number
  /** How long a list waits for a starting server once another is ready. */
  readonly patienceMs?: number
}

/** Clients drop all servers if the first list is slow. */
const PATIENCE_MS = 5_000

/** Everything that any server may offer; missing kinds are empty lists. */
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
} as const

interface Handshake {
  readonly elicits: boolean
  readonly samples: boolean
}

/** The client's side of one gateway. */
export class GatewaySession {
  readonly client: RpcPeer
  readonly #servers: ReadonlyMap<string, GatewayServer>
  readonly #calls: GatewayCalls
  readonly #rounds = new Rounds()
  readonly #feed: ChangeFeed
  readonly #parts: GatewayParts
  readonly #names: Names
  #handshake: Handshake | null = null
  #logLevel: string | null = null
  /** Whether any request announced forms. */
  #elicits = false

  constructor(parts: GatewayParts) {
    this.#parts = parts
    this.#names = parts.isPlain ? plainNames(parts.servers[0]!.label) : PREFIXED
    const gate = new GatewayGate(parts)
    this.client = new RpcPeer(parts.toClient, { request: (request) => this.#ofClient(request), notification: () => {} })
    this.#feed = new ChangeFeed(this.client, () => this.#handshake !== null)
    this.#servers = new Map(
      parts.servers.map((own) => [
        own.label,
        new GatewayServer(own, {
          root: parts.root,
          gate,
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
    this.#calls = new GatewayCalls(this.#servers, gate, this.#names)
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
        const { server, uri } = await this.#calls.subscribable(params.uri)
        if (method === 'resources/subscribe') await this.#feed.subscribe(server, uri, signal)
        else await this.#feed.unsubscribe(server, uri, signal)
        return {}
      }
      default: {
        const elicit = this.#handshake.elicits ? this.#elicitInSession : null
        const context = this.#context(() => params, elicit, null)
        return this.#serve(method, params, context, signal)
      }
    }
  }

  async #stateless(request: IncomingRequest, envelope: Envelope): Promise<Json> {
    const { method, params, signal } = request
    this.#elicits ||= elicitsForms(envelope.capabilities)
    if (method === 'server/discover') return sealed(method, discovered(CAPABILITIES, null), 'cordon-gateway')
    if (method === 'subscriptions/listen') return this.#feed.listen(request, (uri) => this.#calls.subscribable(uri))
    const context = (elicit: Elicit | null, round: () => Json | null): CallContext =>
      this.#context(round, elicit, envelope.logLevel)
    const result =
      MAY_ASK.has(method) && elicitsForms(envelope.capabilities)
        ? await this.#rounds.answer(request, (elicit, still, round) =>
            this.#serve(method, params, context(elicit, round), still),
          )
        : await this.#serve(
            method,
            params,
            context(null, () => params),
            signal,
          )
    return sealed(method, result, 'cordon-gateway')
  }

  #initialize({ capabilities, protocolVersion }: Json): Json {
    const own = isRecord(capabilities) ? capabilities : {}
    this.#handshake = { elicits: elicitsForms(own), samples: isRecord(own.sampling) }
    this.#elicits ||= this.#handshake.elicits
    // Servers start slowly, and a failing one must not block the others.
    for (const server of this.#servers.values()) void server.wrapped.ready().catch(() => {})
    return {
      protocolVersion: agreedRevision(protocolVersion),
      capabilities: CAPABILITIES,
      serverInfo: { name: 'cordon-gateway', title: `Cordon (${[...this.#servers.keys()].join(', ')})`, version },
    }
  }

  /** `round` returns the waiting request's parameters, which receives notifications; null: nobody does. */
  #context(round: () => Json | null, elicit: Elicit | null, logLevel: string | null): CallContext {
    const tell = (method: string, params: Json): void => {
      if (round() !== null) this.client.notify(method, params)
    }
    return {
      elicit,
      logLevel,
      progress: (params) => {
        const { _meta } = round() ?? {}
        const token = isRecord(_meta) ? _meta.progressToken : undefined
        if (typeof token !== 'string' && typeof token !== 'number') return
        tell('notifications/progress', { ...params, progressToken: token })
      },
      log: logLevel === null ? null : (params) => tell('notifications/message', params),
    }
  }

  async #serve(method: string, params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { elicit } = context
    switch (method) {
      case 'tools/list':
        return { tools: await this.#all('tools', (at) => at.catalog.accepted('tools', elicit, signal), shownNamed) }
      case 'prompts/list':
        return {
          prompts: await this.#all('prompts', (at) => at.catalog.accepted('prompts', elicit, signal), shownNamed),
        }
      case 'resources/list':
        return { resources: await this.#all('resources', (at) => at.catalog.resources(signal), shownResource) }
      case 'resources/templates/list': {
        const found = await this.#all(
          'resources',
          (at) => at.catalog.accepted('templates', elicit, signal),
          shownTemplate,
        )
        return { resourceTemplates: found }
      }
      case 'tools/call':
        return this.#calls.tool(params, context, signal)
      case 'prompts/get':
        return this.#calls.prompt(params, context, signal)
      case 'resources/read':
        return this.#calls.read(params, context, signal)
      case 'completion/complete':
        return this.#calls.complete(params, context, signal)
      default:
        throw new RpcError(ERROR.method, `the gateway does not pass on "${method}"`)
    }
  }

  /** The offers of every server that answers; an error only if none does. */
  async #all(
    kind: 'tools' | 'prompts' | 'resources',
    offers: (server: GatewayServer) => Promise<readonly { readonly definition: Json }[]>,
    shown: (definition: Json, label: string, outer: Names['outer']) => Json,
  ): Promise<Json[]> {
    const servers = [...this.#servers.values()]
    const started = this.#started(servers, `notifications/${kind}/list_changed`)
    const lists = await Promise.allSettled(
      servers.map(async (server, index) => {
        await started[index]
        return (await offers(server)).map(({ definition }) => shown(definition, server.label, this.#names.outer))
      }),
    )
    const failures = lists.flatMap((list) => (list.status === 'rejected' ? [messageOf(list.reason)] : []))
    if (failures.length === servers.length) throw new RpcError(ERROR.internal, failures.join('; '))
    for (const failure of failures) this.#parts.warn(failure)
    return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []))
  }

  /** Each server once it is ready. A slow one is skipped, and reported as a change when ready. */
  #started(servers: readonly GatewayServer[], change: string): Promise<void>[] {
    const ready = servers.map((server) => server.wrapped.ready())
    const late = Promise.any(ready).then(
      () => this.#patience(),
      () => false,
    )
    return servers.map(async ({ label }, index) => {
      const there = ready[index]!.then(() => true)
      if ((await Promise.race([there, late.then(() => false)])) || !(await late)) return void (await there)
      there.then(
        () => this.#feed.changed(label, change, {}),
        () => {},
      )
      throw new RpcError(ERROR.internal, `${label} is still starting: its tools are listed once it runs`)
    })
  }

  #patience(): Promise<boolean> {
    return delay(this.#parts.patienceMs ?? PATIENCE_MS, true, { ref: false })
  }

  async #setLevel({ level }: Json, signal: AbortSignal): Promise<Json> {
    if (!isLogLevel(level)) throw new RpcError(ERROR.params, '"level" must be a log level')
    this.#logLevel = level
    // A starting server gets it when ready.
    const reported = Promise.allSettled([...this.#servers.values()].map((server) => server.setLogLevel(level, signal)))
    await Promise.race([reported, this.#patience()])
    return {}
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
