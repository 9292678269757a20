/** Forwards a loopback port of this machine to a server in a sandbox, while it listens. */

import { createServer, type Socket } from 'node:net'
import { join } from '../../egress/wire/join.ts'
import type { InsideServer } from '../../sandbox/backend.ts'
import { errorCode, messageOf } from '../../system/fault.ts'
import { LOOPBACK, type ServedPort, servedLine } from './served-port.ts'

/** A browser opens a handful; more is a loop. */
const MAX_CONNECTIONS = 256
/** No timeout: a page that waits for changes may be silent for a day. */
const NEVER_IDLE = 0

/** The ports of one command. */
export class DevServers {
  readonly #served = new Map<number, { problem: string | null; connections: number; up: number; down: number }>()
  readonly #notice: (line: string) => void

  constructor(notice: (line: string) => void) {
    this.#notice = notice
  }

  served(): readonly ServedPort[] {
    return [...this.#served].map(([port, facts]) => ({ port, ...facts }))
  }

  /**
   * Opens the port for a server; the returned function closes it with every connection, and
   * resolves when all are gone.
   */
  open(server: InsideServer): () => Promise<void> {
    const { port } = server
    const clients = new Set<Socket>()
    const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      clients.add(client)
      client.once('close', () => clients.delete(client))
      client.on('error', () => client.destroy())
      void this.#carry(client, server)
    })
    listener.maxConnections = MAX_CONNECTIONS
    listener.on('error', (error) => this.#failed(port, error))
    listener.listen({ host: LOOPBACK, port, exclusive: true }, () => this.#opened(port))
    return () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        for (const client of clients) client.destroy()
      })
  }

  async #carry(client: Socket, server: InsideServer): Promise<void> {
    const inside = await server.connect()
    if (inside === null) return void client.resetAndDestroy()
    if (client.destroyed) return void inside.destroy()
    inside.allowHalfOpen = true
    inside.setNoDelay(true)
    client.setNoDelay(true)
    const facts = this.#facts(server.port)
    facts.connections++
    const { up, down } = await join(client, inside, NEVER_IDLE)
    facts.up += up
    facts.down += down
  }

  #opened(port: number): void {
    const known = this.#served.has(port)
    this.#facts(port).problem = null
    if (!known) this.#notice(servedLine({ port, problem: null }))
  }

  #failed(port: number, error: Error): void {
    const known = this.#served.has(port)
    const problem = problemOf(error)
    this.#facts(port).problem = problem
    if (!known) this.#notice(servedLine({ port, problem }))
  }

  #facts(port: number): { problem: string | null; connections: number; up: number; down: number } {
    const facts = this.#served.get(port) ?? { problem: null, connections: 0, up: 0, down: 0 }
    this.#served.set(port, facts)
    return facts
  }
}

function problemOf(error: Error): string {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return 'another program of this machine has the port; end that one, or let the server use another port of dev_server_ports'
    case 'EACCES':
      return 'ports below 1024 need privileges that this user does not have; list one from 1024 on in dev_server_ports'
    default:
      return messageOf(error)
  }
}
