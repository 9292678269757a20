/** The pool of connections to admitted hosts: a connection is reused only for the same target, addresses and security. */

import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DoorLimits } from './limits.ts'
import { authorityOf } from './target.ts'
import { limitConnect, type Route, type Upstream } from './upstream.ts'

/** The options of a request that goes through the pool. */
export interface RoutedRequest extends ClientRequestArgs {
  readonly route: Route
  readonly secure: boolean
}

/** Short, so that a connection which the host is about to close is seldom taken from the pool. */
const FREE_MILLISECONDS = 4_000
const MAX_FREE = 64

export class RouteAgent extends Agent {
  readonly #upstream: Upstream
  readonly #limits: DoorLimits
  readonly #open = new Set<Socket>()

  constructor(upstream: Upstream, limits: DoorLimits) {
    const maxTotalSockets = limits.connections
    // `timeout` is for connections that wait in the pool; a host may tell a shorter one, requests set their own.
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

  /** Connections to hosts that are open now. */
  get open(): number {
    return this.#open.size
  }

  /** The connection for a request, or for a tunnel outside the pool. */
  dial(route: Route, secure: boolean, protocols: readonly string[] = ['http/1.1']): Socket {
    const socket = secure ? this.#upstream.dialTls(route, protocols) : this.#upstream.dial(route)
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    limitConnect(socket, this.#limits.connectMilliseconds)
    return socket
  }

  override createConnection(options: ClientRequestArgs): Duplex {
    const { route, secure } = options as RoutedRequest
    return this.dial(route, secure)
  }

  override getName(options?: object): string {
    const { route, secure } = options as RoutedRequest
    return `${secure ? 'tls' : 'tcp'}|${authorityOf(route.target, null)}|${route.addresses.join(',')}`
  }

  override destroy(): void {
    super.destroy()
    for (const socket of this.#open) socket.destroy()
  }

  /** Resolves when every connection to a host is gone. */
  async closed(): Promise<void> {
    const closing = Array.from(this.#open, (socket) => new Promise((resolve) => socket.once('close', resolve)))
    await Promise.all(closing)
  }
}
