/**
 * A connection through the parent proxy: it counts as connected once the parent has agreed, and
 * earlier writes wait.
 */

import { connect as netConnect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type SecureContext, connect as tlsConnect } from 'node:tls'
import { parseIpv4 } from '../../hosts/address.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import type { ParentProxy } from './parent-proxy.ts'

/** The code of errors that the parent caused. */
export const PARENT_FAILED = 'ERR_CORDON_PARENT'

/** A longer head from a proxy is an error. */
const MAX_HEAD = 16 * 1024

class ParentSocket extends Duplex {
  readonly #socket: Socket
  #head: Buffer | null = Buffer.alloc(0)
  #waiting: (() => void) | null = null
  connecting = true

  constructor(socket: Socket, head: string, name: string) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => socket.write(head))
    socket.on('data', (chunk: Buffer) => this.#receive(chunk, name))
    socket.on('error', (error) =>
      this.destroy(this.connecting ? parentError(`${name} cannot be reached: ${error.message}`) : error),
    )
    socket.on('timeout', () => this.emit('timeout'))
    socket.once('end', () => {
      if (this.connecting) this.destroy(parentError(`${name} closed the connection without an answer`))
      else this.push(null)
    })
    socket.once('close', () => this.destroy())
  }

  #receive(chunk: Buffer, name: string): void {
    if (this.#head === null) {
      if (!this.push(chunk)) this.#socket.pause()
      return
    }
    const head = Buffer.concat([this.#head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) {
      this.#head = head
      if (head.length > MAX_HEAD) this.destroy(parentError(`${name} answered something else than HTTP`))
      return
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.subarray(0, 64).toString('latin1'))?.[1]
    if (status === undefined || !status.startsWith('2')) {
      const hint = status === '407' ? ': it wants other credentials' : ''
      return void this.destroy(parentError(`${name} refused (${status ?? 'no HTTP'})${hint}`))
    }
    this.#head = null
    this.connecting = false
    this.emit('connect')
    const rest = head.subarray(end + 4)
    if (rest.length > 0 && !this.push(rest)) this.#socket.pause()
    this.#waiting?.()
    this.#waiting = null
  }

  override _read(): void {
    if (!this.connecting) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const send = () => void this.#socket.write(chunk, done)
    if (this.connecting) this.#waiting = send
    else send()
  }

  override _final(done: () => void): void {
    const end = () => void this.#socket.end(done)
    if (this.connecting) this.#waiting = end
    else end()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  setTimeout(milliseconds: number, then?: () => void): this {
    this.#socket.setTimeout(milliseconds)
    if (then) this.once('timeout', then)
    return this
  }

  setNoDelay(on?: boolean): this {
    this.#socket.setNoDelay(on)
    return this
  }

  setKeepAlive(on?: boolean, delay?: number): this {
    this.#socket.setKeepAlive(on, delay)
    return this
  }

  ref(): this {
    this.#socket.ref()
    return this
  }

  unref(): this {
    this.#socket.unref()
    return this
  }

  destroySoon(): void {
    if (this.writableFinished) this.destroy()
    else this.end(() => this.destroy())
  }

  resetAndDestroy(): this {
    return this.destroy()
  }
}

/** Dials a target through the parent: by name, or by the judged address. */
export function dialParent(
  parent: ParentProxy,
  target: Target,
  address: string | null,
  trust: () => SecureContext,
): Socket {
  const kind = address === null ? target.kind : parseIpv4(address) === null ? 'ipv6' : 'ipv4'
  const authority = authorityOf({ host: address ?? target.host, port: target.port, kind }, null)
  const authorization = parent.authorization === null ? '' : `Proxy-Authorization: ${parent.authorization}\r\n`
  const { host, port, kind: named } = parent.target
  const socket = parent.secure
    ? tlsConnect({ host, port, servername: named === 'name' ? host : '', secureContext: trust() })
    : netConnect({ host, port, noDelay: true })
  const head = `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`
  return new ParentSocket(socket, head, `the parent proxy ${host}:${port}`) as unknown as Socket
}

function parentError(message: string): Error {
  return Object.assign(new Error(message), { code: PARENT_FAILED })
}
