/** What changes behind the gateway, to those who want to hear it: lists, and resources that somebody subscribed to. */

import { ERROR, type IncomingRequest, isObject, type Json, RpcError, type RpcPeer } from './json-rpc.ts'
import { outerUri } from './namespace.ts'
import { META } from './revision.ts'
import type { WrappedServer } from './wrapped-server.ts'

/** The part of a gateway's server that a feed needs. */
export interface FeedServer {
  readonly label: string
  readonly wrapped: WrappedServer
}

interface Listener {
  readonly id: string | number
  readonly methods: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

/** The fields of a filter, with what they let through. */
const LISTS: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}
const LIST_CHANGED: ReadonlySet<string> = new Set(Object.values(LISTS))
const UPDATED = 'notifications/resources/updated'
/** Changes within this time are told once: a server that floods is heard as one that changed. */
const GATHER_MS = 50
const MAX_SUBSCRIPTIONS = 1000
const MAX_LISTENERS = 100

/** The changes of one gateway. */
export class ChangeFeed {
  readonly #client: RpcPeer
  readonly #inSession: () => boolean
  readonly #listeners = new Set<Listener>()
  /** Subscriptions of the session, by their outer address. */
  readonly #subscribed = new Map<string, { readonly label: string; readonly uri: string }>()
  readonly #gathered = new Map<string, { readonly method: string; readonly params: Json }>()
  #timer: NodeJS.Timeout | null = null

  constructor(client: RpcPeer, inSession: () => boolean) {
    this.#client = client
    this.#inSession = inSession
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** A server said that something changed. */
  changed(label: string, method: string, params: Json): void {
    if (LIST_CHANGED.has(method)) this.#gather(method, method, {})
    if (method !== UPDATED || typeof params.uri !== 'string') return
    const uri = outerUri(label, params.uri)
    const wanted = this.#subscribed.has(uri) || [...this.#listeners].some((listener) => listener.uris.has(uri))
    if (wanted) this.#gather(`${method} ${uri}`, method, { uri })
  }

  async subscribe({ label, wrapped }: FeedServer, uri: string, signal: AbortSignal): Promise<void> {
    await wrapped.ready()
    if (!wrapped.offers('resources', 'subscribe')) {
      throw new RpcError(ERROR.method, `${label} does not tell when its resources change`)
    }
    if (this.#subscribed.size >= MAX_SUBSCRIPTIONS) throw new RpcError(ERROR.internal, 'too many subscriptions')
    await wrapped.subscribe(uri, signal)
    this.#subscribed.set(outerUri(label, uri), { label, uri })
  }

  async unsubscribe({ label, wrapped }: FeedServer, uri: string, signal: AbortSignal): Promise<void> {
    if (this.#subscribed.delete(outerUri(label, uri))) await wrapped.unsubscribe(uri, signal)
  }

  /** A server that was started again knows nothing of what was subscribed before. */
  resubscribe({ label, wrapped }: FeedServer): void {
    const { signal } = new AbortController()
    for (const own of this.#subscribed.values()) {
      if (own.label === label) void wrapped.subscribe(own.uri, signal).catch(() => {})
    }
  }

  /** The stream of a client without a session: open until the client ends it. */
  async listen(
    { id, params, signal }: IncomingRequest,
    find: (uri: unknown) => { readonly server: FeedServer; readonly uri: string },
  ): Promise<never> {
    if (this.#listeners.size >= MAX_LISTENERS) throw new RpcError(ERROR.internal, 'too many listeners')
    const wanted = isObject(params.notifications) ? params.notifications : {}
    const fields = Object.keys(LISTS).filter((field) => wanted[field] === true)
    const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : []
    const agreed: string[] = []
    for (const outer of uris.slice(0, MAX_SUBSCRIPTIONS)) {
      try {
        const { server, uri } = find(outer)
        await this.subscribe(server, uri, signal)
        agreed.push(outer)
      } catch {
        // The acknowledgement says which ones are heard.
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
