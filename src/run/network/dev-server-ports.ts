/**
 * The ports on which one command may serve (`dev_server_ports`): opened and closed with their
 * listener.
 */

import type { InsideServer } from '../../sandbox/backend.ts'
import type { DevServers } from './dev-server.ts'
import type { ServedPort } from './served-port.ts'

/** The ports of one command; the server module is loaded on first use. */
export class DevServerPorts {
  readonly #notice: (line: string) => void
  readonly #closing: Promise<void>[] = []
  #servers: Promise<DevServers> | null = null
  #opened: DevServers | null = null

  constructor(notice: (line: string) => void) {
    this.#notice = notice
  }

  open(server: InsideServer): () => void {
    this.#servers ??= import('./dev-server.ts').then(({ DevServers }) => new DevServers(this.#notice))
    const close = this.#servers.then((servers) => {
      this.#opened = servers
      return servers.open(server)
    })
    return () => {
      this.#closing.push(close.then((end) => end()))
    }
  }

  /** Resolves when all ports are closed; the launch has ended them by then. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing)
  }

  served(): readonly ServedPort[] {
    return this.#opened?.served() ?? []
  }
}
