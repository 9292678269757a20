/** What the protocols of databases have in common, for a login that is made outside. */

import type { Socket } from 'node:net'
import type { Duplex, Transform } from 'node:stream'
import type { Login } from '../credentials/broker.ts'
import type { ReadFrameHead } from '../credentials/scrub-frames.ts'
import type { EgressDenial } from '../wire/refusal.ts'

/** What a protocol is given to work with. */
export interface LoginCall {
  /** As it came from inside. */
  readonly client: Socket
  readonly login: Login
  /** `host:port`, for people. */
  readonly subject: string
  /** TLS with the client, by the session's CA. */
  encryptClient(protocols?: readonly string[]): Promise<Duplex>
  /** Connects to the host; with TLS from the start, or without. */
  dial(secure: boolean): Promise<Socket>
  /** TLS on that connection. */
  encryptHost(host: Socket): Promise<Socket>
  /** True where no one on the way to the host can read along. */
  isPrivate(host: Socket): boolean
}

/** Both sides, once all that follows may pass. */
export interface LoggedIn {
  readonly client: Duplex
  readonly host: Socket
  /** What still checks the client's words. */
  readonly words?: Transform
  /** Whether the password was used, as far as is known by the end. */
  used(): boolean
}

export interface LoginWire {
  /** Up to the end of the login; null where nothing follows. Throws what went wrong. */
  logIn(call: LoginCall): Promise<LoggedIn | null>
  /** Reads the heads of what a host sends after the login; without it, its messages end in a byte that no password holds. */
  readonly readHead?: ReadFrameHead
  /** A refusal as the protocol says it. */
  failure(refusal: EgressDenial): Buffer
}

/** A login that Cordon does not make. */
export class LoginRefused extends Error {
  readonly refusal: EgressDenial

  constructor(code: EgressDenial['code'], text: string) {
    super(text)
    this.refusal = { code, message: text }
  }
}
