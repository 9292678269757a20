/** Servers inside a sandbox: which of the listed ports are served now, and connections to them, made by the init. */

import type { Socket } from 'node:net'
import type { InsideServer, LaunchIo } from '../backend.ts'
import { FIRST_UNCHOSEN_PORT } from '../plan.ts'
import { connectMessage, type InitMessage } from './init-messages.ts'

/** Connections that are asked for and not there yet; more than this wait for no one. */
const MAX_PENDING = 256
const IDS = 0x10000

export class InsideServers {
  /** Those that are opened: listed, or agreed to. */
  readonly #ports: Set<number>
  readonly #onPort: LaunchIo['onPort']
  readonly #listening = new Set<number>()
  readonly #askedAbout = new Set<number>()
  readonly #control: Socket
  readonly #onServer: ((server: InsideServer) => () => void) | undefined
  /** What to call when a port is no longer served. */
  readonly #served = new Map<number, () => void>()
  readonly #pending = new Map<number, (socket: Socket | null) => void>()
  #lastId = 0
  #closed = false

  constructor(ports: readonly number[], control: Socket, { onServer, onPort }: Pick<LaunchIo, 'onServer' | 'onPort'>) {
    this.#ports = new Set(ports)
    this.#control = control
    this.#onServer = onServer
    this.#onPort = onPort
  }

  /** Checks a message of the init; others than those about servers are left alone. */
  take(message: InitMessage): void {
    if (message.kind === 'unconnected') this.#answer(message.id, null)
    if (message.kind !== 'server' || this.#closed) return
    const { port, listening } = message
    if (listening) this.#listening.add(port)
    else this.#listening.delete(port)
    if (!this.#ports.has(port)) void this.#ask(port)
    else if (listening) this.#begin(port)
    else this.#end(port)
  }

  #begin(port: number): void {
    if (this.#onServer && !this.#served.has(port))
      this.#served.set(port, this.#onServer({ port, connect: () => this.#connect(port) }))
  }

  /** A port that no one listed: asked about once, and opened while it is served. Whatever fails is a no. */
  async #ask(port: number): Promise<void> {
    if (!this.#onPort || port >= FIRST_UNCHOSEN_PORT || this.#askedAbout.has(port)) return
    this.#askedAbout.add(port)
    const opened = await this.#onPort(port).catch(() => false)
    if (!opened || this.#closed) return
    this.#ports.add(port)
    if (this.#listening.has(port)) this.#begin(port)
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
