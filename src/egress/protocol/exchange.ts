/**
 * Handles one HTTP/1 request: reads and judges it, sends it to the admitted address, and streams
 * the response back.
 */

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import {
  cleanAnswer,
  cleanHead,
  isBodiless,
  isPackedInTransfer,
  PACKED_IN_TRANSFER,
  PACKING,
  PACKING_OFFERS,
  UNREADABLE,
} from '../credentials/scrub.ts'
import type { RoutedRequest } from '../route/route-agent.ts'
import { onUnanswered, timeoutError, upstreamRefusal } from '../route/upstream.ts'
import { metered } from '../route/usage.ts'
import { http } from '../wire/http.ts'
import { carryLargeBody, largeLength } from '../wire/large-body.ts'
import { type EgressDenial, httpRefusal } from '../wire/refusal.ts'
import {
  endToEndHeaders,
  hasBody,
  headerValues,
  type RequestHead,
  type RequestTarget,
  readRequest,
  upstreamHeaders,
} from '../wire/request-head.ts'
import type { Target } from '../wire/target.ts'
import { watchBody } from './body-watch.ts'
import type { PackageAnswer } from './package-gate.ts'
import {
  type Cleared,
  clearRequest,
  type Passage,
  type Record,
  recordAllowed,
  recordRefused,
  startRecord,
  type Tunnel,
} from './passage.ts'

/** How long a client may continue to send a refused body. */
const LINGER_MILLISECONDS = 2_000
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Converts Node's message to the facts for the pure checks. */
export function headOf(message: IncomingMessage): RequestHead {
  const { method = '', url = '', httpVersion, rawHeaders } = message
  return { method, url, httpVersion, rawHeaders }
}

export async function exchange(
  passage: Passage,
  message: IncomingMessage,
  response: ServerResponse,
  tunnel: Tunnel | null,
): Promise<void> {
  const head = headOf(message)
  response.on('error', () => response.destroy())
  const read = readRequest(head, tunnel)
  const target = 'refusal' in read ? (tunnel?.target ?? null) : read.target
  const path = 'refusal' in read ? null : read.path.replace(/\?.*$/s, '')
  const record = startRecord(passage, { kind: 'http', target, method: head.method, path })
  if ('refusal' in read) return refuse(passage, record, message, response, read.refusal, target)
  const headers = upstreamHeaders(head, read)
  const buffered = passage.broker?.signsPayload(read.target, headers) ? await passage.bodies.hold(message) : null
  if (buffered !== null && 'refusal' in buffered)
    return refuse(passage, record, message, response, buffered.refusal, target)
  const cleared = await clearRequest(passage, read, head.method, headers, tunnel, buffered?.hash ?? null)
  if (!('admission' in cleared) || response.destroyed || message.socket.destroyed) buffered?.body.destroy()
  if ('refusal' in cleared) return refuse(passage, record, message, response, cleared.refusal, target)
  if ('answer' in cleared) return answerWhole(passage, record, message, response, cleared.answer)
  if (response.destroyed || message.socket.destroyed) return
  new Exchange(passage, record, message, response, read, cleared, buffered?.body ?? message).send()
}

/** The options of the outgoing request. */
export function outgoing(passage: Passage, head: RequestHead, read: RequestTarget, cleared: Cleared): RoutedRequest {
  const headers = cleared.scrub ? withIdentity(cleared.rawHeaders) : cleared.rawHeaders
  return {
    agent: passage.agent,
    route: cleared.admission.route,
    secure: read.secure,
    method: head.method,
    path: cleared.path,
    headers: [...headers],
    setHost: false,
    insecureHTTPParser: false,
    maxHeaderSize: passage.limits.headerBytes,
  }
}

function refuse(
  passage: Passage,
  record: Record,
  message: IncomingMessage,
  response: ServerResponse,
  refusal: EgressDenial,
  target: Target | null,
): void {
  recordRefused(passage, record, refusal)
  if (response.headersSent || response.destroyed) return void response.destroy()
  const answer = httpRefusal(refusal, target, passage.command, message.headers.accept)
  response.sendDate = false
  response.writeHead(answer.status, answer.statusText, [...answer.headers])
  endRefusal(message, response, answer.body)
}

/** An answer that Cordon computed from the host's. */
function answerWhole(
  passage: Passage,
  record: Record,
  message: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: PackageAnswer,
): void {
  recordAllowed(passage, record, { down: Buffer.byteLength(body) })
  if (response.destroyed) return
  response.sendDate = false
  response.writeHead(status, [...headers])
  response.end(message.method === 'HEAD' ? undefined : body)
}

/**
 * Ends a refused exchange. Reads the rest of the body first: closing with unread bytes would reset
 * the connection, and the client would never see the reason.
 */
function endRefusal(message: IncomingMessage, response: ServerResponse, body: string): void {
  if (message.method !== 'HEAD') response.write(body)
  message.resume()
  if (message.complete || !hasBody(headOf(message))) return void response.end()
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MILLISECONDS)
  message.once('close', end)
}

/** A response that could echo a secret must not be compressed. */
function withIdentity(rawHeaders: readonly string[]): string[] {
  return [...endToEndHeaders(rawHeaders, [...PACKING_OFFERS]), 'Accept-Encoding', 'identity', ...framingOf(rawHeaders)]
}

function framingOf(rawHeaders: readonly string[]): string[] {
  return headerValues(rawHeaders, 'transfer-encoding').length > 0 ? ['Transfer-Encoding', 'chunked'] : []
}

class Exchange {
  readonly #passage: Passage
  readonly #record: Record
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #read: RequestTarget
  readonly #cleared: Cleared
  readonly #body: Readable
  readonly #repeatable: boolean
  #up = 0
  #down = 0
  #address: string | null = null
  #refusal: EgressDenial | null = null
  #request: ClientRequest | null = null

  constructor(
    passage: Passage,
    record: Record,
    message: IncomingMessage,
    response: ServerResponse,
    read: RequestTarget,
    cleared: Cleared,
    body: Readable,
  ) {
    this.#body = body
    this.#passage = passage
    this.#record = record
    this.#message = message
    this.#response = response
    this.#read = read
    this.#cleared = cleared
    const head = headOf(message)
    this.#repeatable = REPEATABLE.has(head.method) && !hasBody(head)
    response.sendDate = false
    response.once('close', () => this.#closed())
    message.on('error', () => this.#request?.destroy())
  }

  send(): void {
    const head = headOf(this.#message)
    const request = http.request(outgoing(this.#passage, head, this.#read, this.#cleared))
    this.#request = request
    request.setTimeout(this.#passage.limits.idleMilliseconds, () => request.destroy(timeoutError()))
    request.once('socket', (socket: Socket) => this.#watchAddress(socket))
    request.once('response', (incoming) => this.#receive(incoming))
    request.on('information', ({ statusCode, rawHeaders }) => this.#hint(statusCode, rawHeaders))
    request.on('error', (error) => this.#failed(request, error))
    onUnanswered(request, (error) => this.#failed(request, error))
    if (this.#repeatable) request.end()
    else this.#sendBody(request)
  }

  #sendBody(request: ClientRequest): void {
    const count = (bytes: number) => {
      this.#up += bytes
    }
    const watched = {
      body: this.#body,
      method: this.#message.method ?? '',
      rawHeaders: this.#message.rawHeaders,
      target: this.#read.target,
      rules: this.#cleared.admission.rules,
    }
    watchBody(watched, this.#passage.broker, count, (refusal) => this.#stop(refusal))
    const { budget } = this.#cleared
    if (budget === null) this.#body.pipe(request)
    else this.#body.pipe(metered(budget, (refusal) => this.#stop(refusal))).pipe(request)
  }

  /** Aborts the current request: it is incomplete, and the host sees it end early. */
  #stop(refusal: EgressDenial): void {
    this.#body.unpipe()
    this.#answer(refusal)
    this.#request?.destroy()
  }

  #receive(incoming: IncomingMessage): void {
    const { scrub } = this.#cleared
    const bodiless = isBodiless(incoming.statusCode!, this.#message.method!)
    if (isPackedInTransfer(incoming)) {
      incoming.destroy()
      this.#answer(PACKED_IN_TRANSFER)
      return
    }
    if (incoming.headers.location !== undefined && incoming.statusCode! >= 300)
      this.#passage.packages?.redirected(this.#read, incoming.headers.location)
    const answer = cleanAnswer(this.#cleared, incoming.statusCode!, incoming.headers, incoming, bodiless)
    if (answer === null) {
      incoming.destroy()
      this.#answer(UNREADABLE)
      return
    }
    const { body, status } = answer
    const head = cleanHead(scrub, incoming, answer)
    try {
      this.#response.writeHead(status, head.statusText, [...head.rawHeaders])
    } catch (error) {
      incoming.destroy()
      this.#answer(upstreamRefusal(error, this.#read.target))
      return
    }
    const count = (bytes: number) => {
      this.#down += bytes
    }
    incoming.on('error', () => {
      // All of it was passed on: the connection was closed on purpose.
      if (this.#response.writableEnded) return
      this.#refusal ??= { code: 'upstream-protocol', message: 'the response was cut off' }
      this.#response.destroy()
    })
    const length = scrub ? null : largeLength(incoming, this.#message.method ?? '')
    if (length !== null) {
      carryLargeBody(incoming, this.#response, length, count)
      return
    }
    incoming.on('data', (chunk: Buffer) => count(chunk.length))
    body.on('error', () => {
      this.#refusal ??= UNREADABLE
      this.#response.destroy()
    })
    body.once('end', () => this.#sendTrailers(incoming))
    body.pipe(this.#response)
  }

  /** Trailers after a body without a declared length. */
  #sendTrailers({ rawTrailers }: IncomingMessage): void {
    if (rawTrailers.length === 0 || this.#response.hasHeader('content-length')) return
    const { scrub } = this.#cleared
    const own = endToEndHeaders(rawTrailers, [...PACKING, 'host'])
    const pairs: [string, string][] = []
    for (let at = 0; at + 1 < own.length; at += 2) {
      const [name, value] = [own[at]!, own[at + 1]!]
      pairs.push(scrub ? [scrub.scrubText(name), scrub.scrubText(value)] : [name, value])
    }
    try {
      this.#response.addTrailers(pairs)
    } catch {
      // An invalid trailer is dropped.
    }
  }

  /** 103: resources that a page will need, sent before the answer. */
  #hint(status: number, rawHeaders: readonly string[]): void {
    if (status !== 103 || this.#response.headersSent || this.#response.destroyed) return
    const { scrub } = this.#cleared
    const links = headerValues(rawHeaders, 'link').map((link) => (scrub ? scrub.scrubText(link) : link))
    try {
      if (links.length > 0) this.#response.writeEarlyHints({ link: links })
    } catch {
      // Invalid links are the host's mistake; the answer follows anyway.
    }
  }

  #failed(request: ClientRequest, error: Error): void {
    if (request !== this.#request || this.#refusal !== null || this.#response.writableEnded) return
    if (this.#response.destroyed || this.#response.headersSent) return void this.#response.destroy()
    // The host closed an idle pooled connection before answering.
    if (request.reusedSocket && this.#repeatable) this.send()
    else this.#answer(upstreamRefusal(error, this.#read.target))
  }

  #answer(refusal: EgressDenial): void {
    this.#refusal = refusal
    if (this.#response.headersSent || this.#response.destroyed) return void this.#response.destroy()
    const { target } = this.#read
    const answer = httpRefusal(refusal, target, this.#passage.command, this.#message.headers.accept)
    this.#response.writeHead(answer.status, answer.statusText, [...answer.headers])
    endRefusal(this.#message, this.#response, answer.body)
  }

  #watchAddress(socket: Socket): void {
    const note = () => {
      this.#address = socket.remoteAddress ?? this.#cleared.admission.route.addresses[0] ?? null
    }
    if (socket.connecting) socket.once('connect', note)
    else note()
  }

  #closed(): void {
    if (!this.#response.writableFinished) this.#request?.destroy()
    if (this.#body !== this.#message) this.#body.destroy()
    const more = { up: this.#up, down: this.#down, address: this.#address, secrets: this.#cleared.used }
    if (this.#refusal !== null) recordRefused(this.#passage, this.#record, this.#refusal, more)
    else recordAllowed(this.#passage, this.#record, more)
  }
}
