/** Shared by the database protocols whose login the proxy performs. */

import type { Socket } from 'node:net'
import type { Duplex, Transform } from 'node:stream'
import type { Login } from '../credentials/broker.ts'
import type { ReadFrameHead } from '../credentials/scrub-frames.ts'
import type { EgressDenial } from '../wire/refusal.ts'

/** The connections and callbacks of a login. */
export interface LoginCall {
  /** As received from inside. */
  readonly client: Socket
  readonly login: Login
  /** `host:port`, for people. */
  readonly subject: string
  /** TLS with the client, by the session's CA. */
  encryptClient(protocols?: readonly string[]): Promise<Duplex>
  /** Connects to the host, with or without TLS from the start. */
  dial(secure: boolean): Promise<Socket>
  /** Starts TLS on that connection. */
  encryptHost(host: Socket): Promise<Socket>
  /** Whether nothing on the route to the host can read along. */
  isPrivate(host: Socket): boolean
}

/** Both sides after a successful login. */
export interface LoggedIn {
  readonly client: Duplex
  readonly host: Socket
  /** Still checks what the client sends. */
  readonly words?: Transform
  /** Whether the password was used, as known at the end. */
  used(): boolean
}

export interface LoginWire {
  /** Performs the login; null if the connection ends with it. Throws the error. */
  logIn(call: LoginCall): Promise<LoggedIn | null>
  /**
   * Reads the heads of messages after the login; without it, messages end in a byte that no
   * password contains.
   */
  readonly readHead?: ReadFrameHead
  /** A refusal in the protocol's format. */
  failure(refusal: EgressDenial): Buffer
}

/** A login that Cordon refuses. */
export class LoginRefused extends Error {
  readonly refusal: EgressDenial

  constructor(code: EgressDenial['code'], text: string) {
    super(text)
    this.refusal = { code, message: text }
  }
}

/** Null if the connection ends early. */
export async function takeBytes(socket: Duplex, count: number): Promise<Buffer | null> {
  if (count === 0) return Buffer.alloc(0)
  for (;;) {
    const bytes: Buffer | null = socket.read(count)
    if (bytes !== null) return bytes.length === count ? bytes : null
    if (socket.destroyed || socket.readableEnded) return null
    await new Promise<void>((resolve) => {
      const names = ['readable', 'end', 'close', 'error']
      const wake = () => {
        for (const name of names) socket.off(name, wake)
        resolve()
      }
      for (const name of names) socket.on(name, wake)
    })
  }
}

/** The first byte, left in place; null if none comes. */
export async function peekByte(socket: Duplex): Promise<number | null> {
  const first = await takeBytes(socket, 1)
  if (first === null) return null
  socket.unshift(first)
  return first[0]!
}
