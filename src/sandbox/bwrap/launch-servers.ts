/** Servers inside a sandbox: which of the listed ports are served now, and connections to them, made by the init. */

import type { Socket } from 'node:net'
import type { InsideServer } from '../backend.ts'
import { connectMessage, type InitMessage } from './orders.ts'

/** Connections that are asked for and not there yet; more than this wait for nobody. */
const MAX_PENDING = 256
const IDS = 0x10000

export class InsideServers {
  readonly #ports: readonly number[]
  readonly #control: Socket
  readonly #onServer: ((server: InsideServer) => () => void) | undefined
  /** What to call when a port is no longer served. */
  readonly #served = new Map<number, () => void>()
  readonly #pending = new Map<number, (socket: Socket | null) => void>()
  #lastId = 0
  #closed = false

  constructor(ports: readonly number[], control: Socket, onServer: ((server: InsideServer) => () => void) | undefined) {
    this.#ports = ports
    this.#control = control
    this.#onServer = onServer
  }

  /** Looks at a message of the init; others than those about servers are left alone. */
  take(message: InitMessage): void {
    if (message.kind === 'unconnected') this.#answer(message.id, null)
    else if (message.kind !== 'server' || this.#closed || !this.#ports.includes(message.port)) return
    else if (!message.listening) this.#end(message.port)
    else if (this.#onServer && !this.#served.has(message.port)) {
      const { port } = message
      this.#served.set(port, this.#onServer({ port, connect: () => this.#connect(port) }))
    }
  }

  /** A connection that was asked for has come. */
  connected(id: number, socket: Socket | undefined): void {
    socket?.on('error', () => socket.destroy())
    if (!this.#pending.has(id)) socket?.destroy()
    else this.#answer(id, socket ?? null)
  }

  close(): void {
    this.#closed = true
    for (const port of [...this.#served.keys()]) this.#end(port)
    for (const id of [...this.#pending.keys()]) this.#answer(id, null)
  }

  #connect(port: number): Promise<Socket | null> {
    if (this.#closed || !this.#served.has(port) || this.#pending.size >= MAX_PENDING) return Promise.resolve(null)
    do this.#lastId = (this.#lastId + 1) % IDS
    while (this.#pending.has(this.#lastId))
    const id = this.#lastId
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.#control.write(connectMessage(port, id))
    })
  }

  #answer(id: number, socket: Socket | null): void {
    const answer = this.#pending.get(id)
    this.#pending.delete(id)
    answer?.(socket)
  }

  #end(port: number): void {
    const end = this.#served.get(port)
    this.#served.delete(port)
    end?.()
  }
}
