/**
 * The pool of connections to admitted hosts: reused only for the same target, addresses and
 * security.
 */

import type { ClientRequestArgs } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { attempt } from '../../system/fault.ts'
import { http } from '../wire/http.ts'
import type { ProxyLimits } from '../wire/limits.ts'
import { authorityOf } from '../wire/target.ts'
import { limitConnect, type Route, type Upstream } from './upstream.ts'

/** The options of a pooled request. */
export interface RoutedRequest extends ClientRequestArgs {
  readonly route: Route
  readonly secure: boolean
}

/** Short, so that the pool seldom returns a connection that the host is about to close. */
const FREE_MILLISECONDS = 4_000
const MAX_FREE = 64
/** Shorter still: the host's idle limit for new connections is unknown. */
const AHEAD_MILLISECONDS = 2_000

export class RouteAgent extends http.Agent {
  readonly #upstream: Upstream
  readonly #limits: ProxyLimits
  readonly #open = new Set<Socket>()
  /** Unused connections, by name. */
  readonly #ahead = new Map<string, Socket[]>()
  #ended = false

  constructor(upstream: Upstream, limits: ProxyLimits) {
    const maxTotalSockets = limits.connections
    // `timeout` applies to idle pooled connections; a host may announce a shorter one, requests set
    // theirs.
    super({
      keepAlive: true,
      timeout: FREE_MILLISECONDS,
      maxFreeSockets: MAX_FREE,
      maxTotalSockets,
      scheduling: 'lifo',
    })
    this.#upstream = upstream
    this.#limits = limits
  }

  /** Open connections to hosts. */
  get open(): number {
    return this.#open.size
  }

  /** Performs the preparations of a first connection, one piece per call; false once done. */
  prepare(): boolean {
    return this.#attempt(() => this.#upstream.prepare())
  }

  /** Reads the remaining roots, while the client is busy with TLS. */
  finishRoots(): void {
    this.#attempt(() => this.#upstream.finishRoots())
  }

  #attempt<T>(work: () => T): T | false {
    // The first request to a host fails the same, and is refused.
    return attempt(work, false)
  }

  /** The connection for a request, or for a tunnel outside the pool. */
  dial(route: Route, secure: boolean, protocols: readonly string[] = ['http/1.1']): Socket {
    // A retried request must not open a connection after the proxy has closed.
    if (this.#ended) return new Socket().destroy(new Error('the command has ended'))
    const socket = secure ? this.#upstream.dialTls(route, protocols) : this.#upstream.dial(route)
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    limitConnect(socket, this.#limits.connectMilliseconds)
    return socket
  }

  /** TLS on a connection of `dial` whose own protocol agreed on it. */
  encrypt(socket: Socket, route: Route): Socket {
    return this.#upstream.encrypt(socket, route)
  }

  /**
   * Dials for an expected request while its client is busy with TLS. Call the returned function
   * when the client is gone: it closes an unused connection, now or after a moment.
   */
  dialAhead(route: Route): () => void {
    const name = this.getName({ route, secure: true })
    if ((this.freeSockets[name]?.length ?? 0) > 0) return () => {}
    const socket = this.dial(route, true)
    const waiting = this.#ahead.get(name) ?? []
    this.#ahead.set(name, waiting)
    waiting.push(socket)
    const forget = () => {
      clearTimeout(timer)
      const at = waiting.indexOf(socket)
      if (at < 0) return
      waiting.splice(at, 1)
      if (waiting.length === 0) this.#ahead.delete(name)
      socket.destroy()
    }
    const timer = setTimeout(forget, AHEAD_MILLISECONDS)
    socket.once('close', forget)
    // The request finds it gone, dials itself, and reports the error.
    socket.on('error', forget)
    return forget
  }

  override createConnection(options: ClientRequestArgs): Duplex {
    const { route, secure } = options as RoutedRequest
    return this.#takeAhead(this.getName(options)) ?? this.dial(route, secure)
  }

  #takeAhead(name: string): Socket | null {
    const waiting = this.#ahead.get(name)
    const socket = waiting?.pop()
    if (socket === undefined) return null
    if (waiting!.length === 0) this.#ahead.delete(name)
    return socket
  }

  override getName(options?: object): string {
    const { route, secure } = options as Pick<RoutedRequest, 'route' | 'secure'>
    return `${secure ? 'tls' : 'tcp'}|${authorityOf(route.target, null)}|${route.parent ?? ''}|${route.addresses.join(',')}`
  }

  override destroy(): void {
    this.#ended = true
    super.destroy()
    for (const socket of this.#open) socket.destroy()
  }

  /** Resolves when all connections to hosts are gone. */
  async closed(): Promise<void> {
    const closing = Array.from(this.#open, (socket) => new Promise((resolve) => socket.once('close', resolve)))
    await Promise.all(closing)
  }
}
