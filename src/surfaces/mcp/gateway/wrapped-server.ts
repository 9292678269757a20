/**
 * A server behind the gateway: started on demand, in its own protocol revision, restarted when it ends. Without I/O.
 */

import { messageOf } from '../../../system/fault.ts'
import { isRecord } from '../../../system/json.ts'
import { ERROR, type IncomingRequest, type Json, RpcError, RpcPeer, type Send } from '../../../system/json-rpc.ts'
import { version } from '../../../system/version.ts'
import { HANDSHAKE_REVISIONS, META, STATELESS_REVISION } from '../revision.ts'
import type { Elicit } from '../rounds.ts'

/** The client's request behind a server's work. */
export interface CallContext {
  readonly elicit: Elicit | null
  readonly progress: ((params: Json) => void) | null
  readonly log: ((params: Json) => void) | null
  readonly logLevel: string | null
}

/** For the gateway's own requests, without a client behind them. */
export const ALONE: CallContext = { elicit: null, progress: null, log: null, logLevel: null }

export interface Connection {
  readonly send: Send
  /** Resolves to the reason. */
  readonly ended: Promise<string>
  /** Ends it; resolves once it has exited. */
  stop(): Promise<void>
}

export interface WrappedServerParts {
  readonly label: string
  readonly connect: (receive: (text: string | null) => void) => Connection
  /** The client capabilities that the server sees. */
  readonly capabilities: () => Json
  readonly asked: (method: string, params: Json, context: CallContext, signal: AbortSignal) => Promise<unknown>
  readonly clean: (text: string) => string
  readonly notified: (method: string, params: Json) => void
  /** Called when it is ready, also after a restart. */
  readonly up: () => void
  readonly warn: (text: string) => void
  readonly now: () => number
  readonly startMs?: number
}

interface Up {
  readonly peer: RpcPeer
  readonly connection: Connection
  readonly stateless: boolean
  readonly capabilities: Json
  /** Its name for itself, which nobody vouches for. */
  readonly name: string | null
  readonly since: number
}

/** A first start may download the server. */
const START_MS = 120_000
const LONGEST_PAUSE_MS = 60_000
/** A server that ran this long did not fail at its start. */
const STEADY_MS = 60_000
const MAX_ROUNDS = 10
const MAX_INPUTS = 10
const MAX_NAME = 1000

export class WrappedServer {
  readonly label: string
  readonly #parts: WrappedServerParts
  readonly #contexts = new Set<CallContext>()
  readonly #progress = new Map<string, (params: Json) => void>()
  readonly #subscriptions = new Map<string, AbortController>()
  #starting: Promise<Up> | null = null
  #up: Up | null = null
  #failures = 0
  #retryAt = 0
  #reason = ''
  #tokens = 0
  #closed = false

  constructor(parts: WrappedServerParts) {
    this.label = parts.label
    this.#parts = parts
  }

  /** Starts it if needed. After a crash it waits, longer each time. */
  async ready(): Promise<void> {
    await this.#running()
  }

  /** True if the running server announced this capability. */
  has(capability: string): boolean {
    return isRecord(this.#up?.capabilities[capability])
  }

  /** True if a capability has a feature, such as `subscribe` of `resources`. */
  offers(capability: string, feature: string): boolean {
    const found = this.#up?.capabilities[capability]
    return isRecord(found) && found[feature] === true
  }

  /** The running server's name for itself. */
  get ownName(): string | null {
    return this.#up?.name ?? null
  }

  get isStateless(): boolean {
    return this.#up?.stateless ?? false
  }

  contexts(): readonly CallContext[] {
    return [...this.#contexts]
  }

  async request(method: string, params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const up = await this.#running()
    const token = context.progress ? `p${++this.#tokens}` : null
    if (token !== null) this.#progress.set(token, context.progress!)
    this.#contexts.add(context)
    try {
      return await this.#exchange(up, method, params, token, context, signal)
    } finally {
      this.#contexts.delete(context)
      if (token !== null) this.#progress.delete(token)
    }
  }

  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    const up = await this.#running()
    if (!up.stateless) {
      await up.peer.request('resources/subscribe', { uri }, signal)
      return
    }
    if (this.#subscriptions.has(uri)) return
    const controller = new AbortController()
    this.#subscriptions.set(uri, controller)
    this.#listen(up, { resourceSubscriptions: [uri] }, controller.signal)
  }

  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    const up = await this.#running()
    if (!up.stateless) await up.peer.request('resources/unsubscribe', { uri }, signal)
    this.#subscriptions.get(uri)?.abort()
    this.#subscriptions.delete(uri)
  }

  async close(): Promise<void> {
    this.#closed = true
    const starting = await this.#starting?.catch(() => null)
    const up = this.#up ?? starting
    up?.peer.close()
    await up?.connection.stop()
  }

  async #exchange(
    up: Up,
    method: string,
    params: Json,
    token: string | null,
    context: CallContext,
    signal: AbortSignal,
  ): Promise<Json> {
    let answers: Json = {}
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const meta = { ...(token !== null && { progressToken: token }), ...(up.stateless && this.#envelope(context)) }
      const sent = { ...params, ...answers, ...(Object.keys(meta).length > 0 && { _meta: meta }) }
      const result = await this.#heard(up.peer.request(method, sent, signal))
      if (!isRecord(result)) throw new RpcError(ERROR.internal, `${this.label} gave no result for ${method}`)
      if (!up.stateless || result.resultType === undefined || result.resultType === 'complete') return result
      if (result.resultType !== 'input_required') {
        throw new RpcError(ERROR.internal, `${this.label} gave a result of a kind that is not known here`)
      }
      answers = await this.#inputs(result, context, signal)
    }
    throw new RpcError(ERROR.internal, `${this.label} asked more than ${MAX_ROUNDS} times`)
  }

  /** A server's error text is its own words, and reaches the agent cleaned. */
  async #heard(answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      throw new RpcError(error.code, this.#parts.clean(error.message))
    }
  }

  async #inputs({ inputRequests, requestState }: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const wanted = Object.entries(isRecord(inputRequests) ? inputRequests : {})
    if (wanted.length > MAX_INPUTS) throw new RpcError(ERROR.internal, `${this.label} asked for too much at one time`)
    const inputResponses: Record<string, unknown> = {}
    for (const [key, request] of wanted) {
      if (!isRecord(request)) continue
      const params = isRecord(request.params) ? request.params : {}
      inputResponses[key] = await this.#parts.asked(String(request.method), params, context, signal)
    }
    return { inputResponses, ...(requestState !== undefined && { requestState }) }
  }

  #envelope({ logLevel }: CallContext): Json {
    return {
      [META.revision]: STATELESS_REVISION,
      [META.capabilities]: this.#parts.capabilities(),
      [META.client]: { name: 'cordon-gateway', version },
      ...(logLevel !== null && { [META.logLevel]: logLevel }),
    }
  }

  async #running(): Promise<Up> {
    if (this.#up) return this.#up
    if (this.#closed) throw new RpcError(ERROR.internal, `${this.label} was ended`)
    const pause = this.#retryAt - this.#parts.now()
    if (pause > 0) {
      const seconds = Math.ceil(pause / 1000)
      throw new RpcError(
        ERROR.internal,
        `${this.label} is not running (${this.#reason}); it is started again in ${seconds} s at the earliest`,
      )
    }
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null
    })
    return this.#starting
  }

  async #start(): Promise<Up> {
    const peer: RpcPeer = new RpcPeer((message) => connection.send(message), {
      request: (request) => this.#asked(request),
      notification: (method, params) => this.#notified(method, params),
    })
    const connection = this.#parts.connect((text) => void peer.receive(text))
    let up: Up | null = null
    let failed = ''
    const ended = connection.ended.then((said) => {
      const reason = this.#parts.clean([failed, said].filter((one) => one !== '').join('; '))
      peer.close()
      this.#down(up, reason)
      return reason
    })
    const slow = AbortSignal.timeout(this.#parts.startMs ?? START_MS)
    try {
      const agreed = await this.#agree(peer, slow)
      up = { ...agreed, peer, connection, since: this.#parts.now() }
    } catch (error) {
      failed = slow.aborted ? 'it did not answer in time' : messageOf(error)
      await connection.stop()
      throw new RpcError(ERROR.internal, `${this.label} could not be started: ${await ended}`)
    }
    this.#up = up
    if (up.stateless) this.#follow(up)
    this.#parts.up()
    return up
  }

  /**
   * Finds its revision. The handshake comes first: every older server answers it, some ignore anything before it, and
   * a new one refuses it with an error.
   */
  async #agree(peer: RpcPeer, signal: AbortSignal): Promise<Pick<Up, 'stateless' | 'capabilities' | 'name'>> {
    const clientInfo = { name: 'cordon-gateway', version }
    const hello = { protocolVersion: HANDSHAKE_REVISIONS[0], capabilities: this.#parts.capabilities(), clientInfo }
    let refused: RpcError
    try {
      const given = await this.#heard(peer.request('initialize', hello, signal))
      if (!isRecord(given) || !HANDSHAKE_REVISIONS.includes(String(given.protocolVersion))) {
        throw new TypeError('it did not answer as an MCP server does')
      }
      peer.notify('notifications/initialized', {})
      return { stateless: false, ...announced(given, given.serverInfo) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      refused = error
    }
    const found = await peer.request('server/discover', { _meta: this.#envelope(ALONE) }, signal).catch(() => null)
    const versions = isRecord(found) && Array.isArray(found.supportedVersions) ? found.supportedVersions : []
    if (!isRecord(found) || !versions.includes(STATELESS_REVISION)) throw refused
    return { stateless: true, ...announced(found, isRecord(found._meta) ? found._meta[META.server] : null) }
  }

  /** A server without sessions reports changes to listeners only. */
  #follow(up: Up): void {
    const filter = {
      toolsListChanged: this.offers('tools', 'listChanged'),
      promptsListChanged: this.offers('prompts', 'listChanged'),
      resourcesListChanged: this.offers('resources', 'listChanged'),
    }
    if (Object.values(filter).some(Boolean)) this.#listen(up, filter, new AbortController().signal)
  }

  #listen(up: Up, notifications: Json, signal: AbortSignal): void {
    const params = { notifications, _meta: this.#envelope(ALONE) }
    up.peer.request('subscriptions/listen', params, signal).catch(() => {})
  }

  async #asked({ method, params, signal }: IncomingRequest): Promise<unknown> {
    if (method === 'ping') return {}
    if (this.#up?.stateless) throw new RpcError(ERROR.method, 'in this revision a server asks in its results')
    const context = this.contexts().findLast(({ elicit }) => elicit !== null) ?? ALONE
    return this.#parts.asked(method, params, context, signal)
  }

  #notified(method: string, params: Json): void {
    const { progressToken } = params
    if (method !== 'notifications/progress') this.#parts.notified(method, params)
    else if (typeof progressToken === 'string') this.#progress.get(progressToken)?.(params)
  }

  #down(up: Up | null, reason: string): void {
    this.#up = null
    this.#subscriptions.clear()
    if (this.#closed) return
    const steady = up !== null && this.#parts.now() - up.since > STEADY_MS
    this.#failures = steady ? 1 : this.#failures + 1
    this.#reason = reason
    this.#retryAt = this.#parts.now() + Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.#failures)
    // Who asked to start it hears of its failure.
    if (up !== null) this.#parts.warn(`The MCP server “${this.label}” ended: ${reason}`)
  }
}

function announced({ capabilities }: Json, info: unknown): Pick<Up, 'capabilities' | 'name'> {
  const name = isRecord(info) && typeof info.name === 'string' ? info.name.slice(0, MAX_NAME) : null
  return { capabilities: isRecord(capabilities) ? capabilities : {}, name }
}
