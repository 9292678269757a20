/**
 * TLS that passes unread (`tls = "pass"`). Every ClientHello of a connection must name its host. A
 * host may request a second one (HelloRetryRequest), and TLS 1.2 may renegotiate under encryption.
 */

import { Transform, type TransformCallback } from 'node:stream'
import { type ClientHello, helloReader } from './client-hello.ts'
import type { EgressDenial } from './refusal.ts'

/** The byte streams of both sides; `up` fails with a `HelloRefused`. */
export interface PassedTls {
  readonly up: Transform
  readonly down: Transform
}

export class HelloRefused extends Error {
  readonly refusal: EgressDenial

  constructor(refusal: EgressDenial) {
    super(refusal.message)
    this.refusal = refusal
  }
}

const RECORD_HEAD = 5
const CHANGE_CIPHER = 20
const HANDSHAKE = 22
const SERVER_HELLO = 2
const SUPPORTED_VERSIONS = 43
const TLS13 = 0x0304
/** RFC 8446, 4.1.3: the random of a HelloRetryRequest. */
const RETRY_RANDOM = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex')
const MAX_ANSWER = 16 * 1024

/** `judge` returns the refusal of a hello that must not go to the host. */
export function passTls(judge: (hello: ClientHello) => EgressDenial | null): PassedTls {
  const client = new ClientSide(judge)
  let said: Buffer | null = Buffer.alloc(0)
  const down = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (said !== null) {
        said = Buffer.concat([said, chunk])
        const answer = readAnswer(said)
        if (answer !== null) said = null
        if (answer !== null) client.answered(answer)
      }
      done(null, chunk)
    },
  })
  return { up: client, down }
}

/** A host's answer to a ClientHello: a request for another, or a version. */
type Answer = 'retry' | 'tls13' | 'older'

/**
 * Null while incomplete. Anything else than a ServerHello ends the handshake: the rest is treated
 * like the oldest version.
 */
function readAnswer(bytes: Buffer): Answer | null {
  let message = Buffer.alloc(0)
  for (let at = 0; at + RECORD_HEAD <= bytes.length; ) {
    if (bytes[at] !== HANDSHAKE) return 'older'
    const end = at + RECORD_HEAD + bytes.readUInt16BE(at + 3)
    message = Buffer.concat([message, bytes.subarray(at + RECORD_HEAD, end)])
    if (message.length >= 4 && message.length >= 4 + message.readUIntBE(1, 3)) {
      return message[0] === SERVER_HELLO ? answerOf(message.subarray(4, 4 + message.readUIntBE(1, 3))) : 'older'
    }
    at = end
  }
  return bytes.length > MAX_ANSWER ? 'older' : null
}

function answerOf(hello: Buffer): Answer {
  if (hello.subarray(2, 34).equals(RETRY_RANDOM)) return 'retry'
  const session = 34 + 1 + (hello[34] ?? 0)
  // After the session: the cipher (2), the compression (1), and the extensions' length (2).
  for (let at = session + 5; at + 4 <= hello.length; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) !== SUPPORTED_VERSIONS || at + 6 > hello.length) continue
    return hello.readUInt16BE(at + 4) === TLS13 ? 'tls13' : 'older'
  }
  return 'older'
}

class ClientSide extends Transform {
  readonly #judge: (hello: ClientHello) => EgressDenial | null
  #state: 'hello' | 'waiting' | 'second' | 'tls13' | 'older' = 'hello'
  #answer: Answer | null = null
  #buffered: Buffer = Buffer.alloc(0)
  #read = helloReader()
  #done: TransformCallback | null = null
  /**
   * For older versions: the bytes left of a record, and the handshake records since the cipher
   * change.
   */
  #left = 0
  #encrypted: number | null = null

  constructor(judge: (hello: ClientHello) => EgressDenial | null) {
    super()
    this.#judge = judge
  }

  answered(answer: Answer): void {
    this.#answer = answer
    const done = this.#done
    this.#done = null
    if (done !== null) this.#advance(done)
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#buffered = Buffer.concat([this.#buffered, chunk])
    this.#advance(done)
  }

  #advance(done: TransformCallback): void {
    try {
      while (this.#buffered.length > 0 && this.#step());
    } catch (error) {
      done(error as Error)
      return
    }
    // Bytes before the host's answer wait for it.
    if (this.#state === 'waiting' && this.#buffered.length > 0) this.#done = done
    else done()
  }

  /** False if more bytes, or the host's answer, are needed. */
  #step(): boolean {
    switch (this.#state) {
      case 'hello':
        return this.#passHello()
      case 'waiting':
        if (this.#answer === null) return false
        this.#state = this.#answer === 'retry' ? 'second' : this.#answer
        return true
      case 'second':
        return this.#passUpToHello()
      case 'tls13':
        this.#pass(this.#buffered.length)
        return true
      case 'older':
        return this.#passRecords()
    }
  }

  #passHello(): boolean {
    const reading = this.#read(this.#buffered)
    if (reading.state === 'more') return false
    if (reading.state === 'bad')
      throw new HelloRefused({ code: 'not-tls', message: `a broken ClientHello: ${reading.problem}` })
    const refusal = this.#judge(reading.hello)
    if (refusal !== null) throw new HelloRefused(refusal)
    this.#pass(reading.used)
    // Only TLS 1.3 requests a second hello, and never a third.
    this.#state = this.#answer === null ? 'waiting' : 'tls13'
    return true
  }

  /** Passes early data, and TLS 1.3's compatibility cipher change. */
  #passUpToHello(): boolean {
    if (this.#buffered[0] === HANDSHAKE) {
      this.#read = helloReader()
      this.#state = 'hello'
      return true
    }
    const end = this.#buffered.length < RECORD_HEAD ? null : RECORD_HEAD + this.#buffered.readUInt16BE(3)
    if (end === null || this.#buffered.length < end) return false
    this.#pass(end)
    return true
  }

  #passRecords(): boolean {
    if (this.#left === 0) {
      if (this.#buffered.length < RECORD_HEAD) return false
      this.#left = RECORD_HEAD + this.#buffered.readUInt16BE(3)
      if (this.#buffered[0] === CHANGE_CIPHER) this.#encrypted ??= 0
      // The first ends the handshake; another one starts the next, whose ClientHello cannot be
      // read.
      if (this.#buffered[0] === HANDSHAKE && this.#encrypted !== null && ++this.#encrypted > 1) {
        const message = 'the client negotiates TLS again, which may hide another name'
        throw new HelloRefused({ code: 'hidden-name', message })
      }
    }
    const part = Math.min(this.#left, this.#buffered.length)
    this.#left -= part
    this.#pass(part)
    return true
  }

  #pass(length: number): void {
    this.push(this.#buffered.subarray(0, length))
    this.#buffered = this.#buffered.subarray(length)
  }
}
