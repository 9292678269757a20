/** Sends changes of lists and subscribed resources to the clients that listen. */

import { isRecord } from '../../../system/json.ts'
import { ERROR, type IncomingRequest, type Json, RpcError, type RpcPeer } from '../../../system/json-rpc.ts'
import { META } from '../revision.ts'
import { innerUri, outerUri } from './namespace.ts'
import type { WrappedServer } from './wrapped-server.ts'

/** The server functions that a feed needs. */
export interface FeedServer {
  readonly label: string
  readonly wrapped: WrappedServer
}

interface Listener {
  readonly id: string | number
  readonly methods: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

const LISTS: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}
const LIST_CHANGED: ReadonlySet<string> = new Set(Object.values(LISTS))
const UPDATED = 'notifications/resources/updated'
/** Reports changes within this time once, so that a server cannot flood its clients. */
const GATHER_MS = 50
const MAX_SUBSCRIPTIONS = 1000
const MAX_LISTENERS = 100

export class ChangeFeed {
  readonly #client: RpcPeer
  readonly #inSession: () => boolean
  readonly #listeners = new Set<Listener>()
  /** The session's subscriptions by outer address; listeners have their own. */
  readonly #subscribed = new Set<string>()
  readonly #gathered = new Map<string, { readonly method: string; readonly params: Json }>()
  #timer: NodeJS.Timeout | null = null

  constructor(client: RpcPeer, inSession: () => boolean) {
    this.#client = client
    this.#inSession = inSession
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  changed(label: string, method: string, params: Json): void {
    if (LIST_CHANGED.has(method)) this.#gather(method, method, {})
    if (method !== UPDATED || typeof params.uri !== 'string') return
    const uri = outerUri(label, params.uri)
    if (this.#isHeard(label, params.uri)) this.#gather(`${method} ${uri}`, method, { uri })
  }

  async subscribe(server: FeedServer, uri: string, signal: AbortSignal): Promise<void> {
    await this.#open(server, uri, signal)
    this.#subscribed.add(outerUri(server.label, uri))
  }

  async #open({ label, wrapped }: FeedServer, uri: string, signal: AbortSignal): Promise<void> {
    await wrapped.ready()
    if (!wrapped.offers('resources', 'subscribe')) {
      throw new RpcError(ERROR.method, `${label} does not report changes of its resources`)
    }
    if (this.#subscribed.size >= MAX_SUBSCRIPTIONS) throw new RpcError(ERROR.internal, 'too many subscriptions')
    await wrapped.subscribe(uri, signal)
  }

  async unsubscribe(server: FeedServer, uri: string, signal: AbortSignal): Promise<void> {
    if (!this.#subscribed.delete(outerUri(server.label, uri)) || this.#isHeard(server.label, uri)) return
    await server.wrapped.unsubscribe(uri, signal)
  }

  /** Unsubscribes at the server if nobody listens any more. */
  #release(server: FeedServer, uri: string): void {
    if (this.#isHeard(server.label, uri)) return
    void server.wrapped.unsubscribe(uri, new AbortController().signal).catch(() => {})
  }

  #isHeard(label: string, uri: string): boolean {
    const outer = outerUri(label, uri)
    return this.#subscribed.has(outer) || [...this.#listeners].some((listener) => listener.uris.has(outer))
  }

  /** A restarted server has lost its subscriptions. */
  resubscribe({ label, wrapped }: FeedServer): void {
    const { signal } = new AbortController()
    const heard = [...this.#subscribed.keys(), ...[...this.#listeners].flatMap(({ uris }) => [...uris])]
    for (const outer of new Set(heard)) {
      const own = innerUri(outer)
      if (own?.label === label) void wrapped.subscribe(own.uri, signal).catch(() => {})
    }
  }

  /** The stream of a client without a session, open until the client ends it. */
  async listen(
    { id, params, signal }: IncomingRequest,
    find: (uri: unknown) => Promise<{ readonly server: FeedServer; readonly uri: string }>,
  ): Promise<never> {
    if (this.#listeners.size >= MAX_LISTENERS) throw new RpcError(ERROR.internal, 'too many listeners')
    const wanted = isRecord(params.notifications) ? params.notifications : {}
    const fields = Object.keys(LISTS).filter((field) => wanted[field] === true)
    const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : []
    const agreed: string[] = []
    const found: { readonly server: FeedServer; readonly uri: string }[] = []
    for (const outer of uris.slice(0, MAX_SUBSCRIPTIONS)) {
      try {
        const { server, uri } = await find(outer)
        await this.#open(server, uri, signal)
        found.push({ server, uri })
        agreed.push(outerUri(server.label, uri))
      } catch {
        // The acknowledgement lists the accepted ones.
      }
    }
    const listener = { id, methods: new Set(fields.map((field) => LISTS[field]!)), uris: new Set(agreed) }
    this.#listeners.add(listener)
    this.#client.notify('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(fields.map((field) => [field, true])),
        ...(agreed.length > 0 && { resourceSubscriptions: agreed }),
      },
      _meta: { [META.subscription]: id },
    })
    return new Promise((_, reject) => {
      const ended = (): void => {
        this.#listeners.delete(listener)
        for (const { server, uri } of found) this.#release(server, uri)
        reject(new Error('the subscription has ended'))
      }
      if (signal.aborted) ended()
      else signal.addEventListener('abort', ended, { once: true })
    })
  }

  #gather(key: string, method: string, params: Json): void {
    this.#gathered.set(key, { method, params })
    this.#timer ??= setTimeout(() => this.#tell(), GATHER_MS).unref()
  }

  #tell(): void {
    this.#timer = null
    const changes = [...this.#gathered.values()]
    this.#gathered.clear()
    for (const { method, params } of changes) {
      const uri = typeof params.uri === 'string' ? params.uri : null
      if (this.#inSession() && (uri === null || this.#subscribed.has(uri))) this.#client.notify(method, params)
      for (const { id, methods, uris } of this.#listeners) {
        if (uri === null ? methods.has(method) : uris.has(uri)) {
          this.#client.notify(method, { ...params, _meta: { [META.subscription]: id } })
        }
      }
    }
  }
}
