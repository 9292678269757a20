/**
 * HTTP/2 inside a tunnel, for clients that require it (gRPC): each stream is judged and sent on as
 * a stream.
 */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { cleanAnswer, PACKING, PACKING_OFFERS, UNREADABLE } from '../credentials/scrub.ts'
import { upstreamRefusal } from '../route/upstream.ts'
import { metered } from '../route/usage.ts'
import { type EgressDenial, httpRefusal } from '../wire/refusal.ts'
import { agrees, authorityOf } from '../wire/target.ts'
import { watchBody } from './body-watch.ts'
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

const MAX_STREAMS = 256
/** In megabytes: enough for every stream; Node's default is not. */
const MAX_MEMORY = 64
const PERMISSION_DENIED = '7'
const UNAVAILABLE = '14'
const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM
/** The interval of checks for connections that outlived their session or peer. */
const LOOK_MILLISECONDS = 2_000

export function serveHttp2(passage: Passage, socket: Duplex, tunnel: Tunnel): void {
  if (socket.destroyed || socket.readableEnded) return void socket.destroy()
  // The session reads from here on: an end reported only now came earlier, and the session would
  // wait for a client that has gone.
  socket.once('end', () => socket.destroy())
  const client = performServerHandshake(socket, {
    settings: { enablePush: false, maxConcurrentStreams: MAX_STREAMS },
    maxSessionMemory: MAX_MEMORY,
  })
  let host: ClientHttp2Session | null = null
  const hostSession = () => {
    if (host === null || host.closed || host.destroyed) host = openSession(passage, tunnel)
    return host
  }
  endTogether(client, socket)
  client.on('stream', (stream, headers, _flags, rawHeaders) => {
    serveStream(passage, stream, headers, rawHeaders as unknown as string[], tunnel, hostSession).catch(() =>
      stream.destroy(),
    )
  })
  client.setTimeout(passage.limits.idleMilliseconds, () => {
    client.destroy()
    // Otherwise a session with pending writes would wait for a client that reads nothing.
    socket.destroy()
  })
  const drop = () => host?.destroy()
  client.once('close', drop)
  socket.once('close', drop)
}

/**
 * A session does not read while it writes, and under TLS Node drops write errors. So a peer that
 * read nothing and left is not noticed. A session that Node closes after a broken frame emits
 * nothing, and waits for that write for ever.
 */
function endTogether(session: Http2Session, socket: Duplex): void {
  session.on('error', () => session.destroy())
  const look = setInterval(() => {
    if (session.destroyed || hasNoPeer(socket)) socket.destroy()
  }, LOOK_MILLISECONDS)
  look.unref()
  socket.once('close', () => clearInterval(look))
}

/**
 * Asks the kernel: a socket only remembers its first peer address. A connection over another stream
 * has none.
 */
function hasNoPeer(socket: Duplex): boolean {
  const { connecting, _handle: handle } = socket as {
    connecting?: boolean
    _handle?: { getpeername?(into: object): number | undefined } | null
  }
  return !connecting && (handle?.getpeername?.({}) ?? 0) < 0
}

function openSession(passage: Passage, tunnel: Tunnel): ClientHttp2Session {
  const { target, secure, admission } = tunnel
  const socket = passage.agent.dial(admission.route, secure, ['h2'])
  const origin = `${secure ? 'https' : 'http'}://${authorityOf(target, secure ? 443 : 80)}`
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false },
    maxSessionMemory: MAX_MEMORY,
  })
  endTogether(session, socket)
  session.once('connect', () => {
    if (secure && (socket as TLSSocket).alpnProtocol !== 'h2')
      session.destroy(new Error('the host does not speak HTTP/2'))
  })
  return session
}

async function serveStream(
  passage: Passage,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  tunnel: Tunnel,
  hostSession: () => ClientHttp2Session,
): Promise<void> {
  const method = headers[':method'] ?? ''
  const path = headers[':path'] ?? ''
  const record = startRecord(passage, {
    kind: 'http2',
    target: tunnel.target,
    method,
    path: path.replace(/\?.*$/s, ''),
  })
  stream.on('error', () => stream.destroy())
  const problem = streamProblem(headers, tunnel)
  if (problem !== null) return refuse(passage, record, stream, headers, problem, tunnel)
  const read = { target: tunnel.target, secure: tunnel.secure, path }
  const own = withHost(withoutPseudo(rawHeaders), headers)
  const buffered = passage.broker?.signsPayload(tunnel.target, own) ? await passage.bodies.hold(stream) : null
  if (buffered !== null && 'refusal' in buffered)
    return refuse(passage, record, stream, headers, buffered.refusal, tunnel)
  const cleared = await clearRequest(passage, read, method, own, tunnel, buffered?.hash ?? null)
  if (!('admission' in cleared) || stream.destroyed) buffered?.body.destroy()
  if ('refusal' in cleared) return refuse(passage, record, stream, headers, cleared.refusal, tunnel)
  if (stream.destroyed) return
  if ('answer' in cleared) {
    const { status, headers: fields, body } = cleared.answer
    recordAllowed(passage, record, { down: Buffer.byteLength(body) })
    const answered: OutgoingHttpHeaders = { ':status': status }
    for (let at = 0; at + 1 < fields.length; at += 2) answered[fields[at]!.toLowerCase()] = fields[at + 1]!
    stream.respond(answered)
    return void stream.end(method === 'HEAD' ? undefined : body)
  }
  relay(passage, record, stream, headers, cleared, tunnel, hostSession(), buffered?.body ?? stream)
}

function relay(
  passage: Passage,
  record: Record,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  cleared: Cleared,
  tunnel: Tunnel,
  session: ClientHttp2Session,
  body: Readable,
): void {
  const request = session.request(outgoingHeaders(headers, cleared, tunnel), { endStream: body.readableEnded })
  let up = 0
  let down = 0
  let refusal: EgressDenial | null = null
  const stop = (reason: EgressDenial) => {
    refusal = reason
    answer(passage, stream, headers, reason, tunnel)
    request.close(constants.NGHTTP2_CANCEL)
  }
  const countUp = (bytes: number) => {
    up += bytes
  }
  const { rules } = cleared.admission
  const method = headers[':method'] ?? ''
  const watched = { body, method, rawHeaders: cleared.rawHeaders, target: tunnel.target, rules }
  watchBody(watched, passage.broker, countUp, stop)
  const { budget } = cleared
  if (budget === null) body.pipe(request)
  else body.pipe(metered(budget, stop)).pipe(request)
  request.on('data', (chunk: Buffer) => {
    down += chunk.length
  })
  request.on('headers', (incoming) => hint(stream, incoming, cleared))
  request.once('response', (incoming, flags) => {
    if (stream.destroyed) return
    const answered = respond(stream, request, incoming, (flags & END_STREAM) !== 0, cleared)
    if (!answered) stop(UNREADABLE)
  })
  request.once('error', (error) => {
    // A failed session cancels its streams; its error is the cause.
    if (refusal === null && !stream.destroyed) stop(upstreamRefusal(error.cause ?? error, tunnel.target))
  })
  request.once('close', () => {
    if (stream.destroyed || stream.writableEnded) return
    // All data has arrived: the pending scrubber ends the stream.
    if (stream.headersSent && request.readableEnded && request.rstCode === constants.NGHTTP2_NO_ERROR) return
    // Repeat the host's reset with its code; a connection that closed does not prove that this was
    // all.
    if (stream.headersSent) stream.close(request.rstCode || constants.NGHTTP2_INTERNAL_ERROR)
    else if (refusal === null) stop({ code: 'upstream-protocol', message: 'the host reset the stream' })
  })
  stream.once('close', () => {
    if (!request.destroyed) request.close(stream.rstCode || constants.NGHTTP2_NO_ERROR)
    if (body !== stream) body.destroy()
    const address = cleared.admission.route.addresses[0] ?? null
    const more = { up, down, address, secrets: cleared.used }
    if (refusal === null) recordAllowed(passage, record, more)
    else recordRefused(passage, record, refusal, more)
  })
}

function respond(
  stream: ServerHttp2Stream,
  request: ClientHttp2Stream,
  incoming: IncomingHttpHeaders,
  endStream: boolean,
  cleared: Cleared,
): boolean {
  const { scrub } = cleared
  const answer = cleanAnswer(cleared, Number(incoming[':status']), incoming, request, endStream)
  if (answer === null) return false
  const { body, status, dropped, added } = answer
  const headers = scrub ? { ...scrubbed(incoming, scrub.scrubText, dropped), ...added } : { ...incoming }
  if (endStream) {
    stream.respond(headers, { endStream: true })
    return true
  }
  headers[':status'] = status
  let trailers: OutgoingHttpHeaders = {}
  request.once('trailers', (received) => {
    trailers = scrub ? scrubbed(received, scrub.scrubText, PACKING) : { ...received }
  })
  stream.respond(headers, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  body.on('error', () => stream.destroy())
  // A host that disconnects also ends the body, with an error code.
  body.once('end', () => (request.rstCode ? stream.close(request.rstCode) : stream.end()))
  body.pipe(stream, { end: false })
  return true
}

/** 103: resources that a page will need, sent before the answer. */
function hint(stream: ServerHttp2Stream, incoming: IncomingHttpHeaders, { scrub }: Cleared): void {
  if (Number(incoming[':status']) !== 103 || stream.headersSent || stream.destroyed) return
  stream.additionalHeaders(scrub ? scrubbed(incoming, scrub.scrubText, []) : { ...incoming })
}

function streamProblem(headers: IncomingHttpHeaders, tunnel: Tunnel): EgressDenial | null {
  const method = headers[':method'] ?? ''
  const path = headers[':path'] ?? ''
  if (method === 'CONNECT') return { code: 'nested-connect', message: 'CONNECT inside a tunnel is not passed on' }
  if (method === 'TRACE' || method === 'TRACK')
    return { code: 'malformed-request', message: `${method} echoes headers` }
  const authority = headers[':authority']
  const names = [authority, headers.host].filter((name) => name !== undefined)
  if (names.length === 0 || !names.every((name) => agrees(name, tunnel.target))) {
    return { code: 'host-mismatch', message: 'the :authority of the stream is not the host of the tunnel' }
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what may not be in a path.
  if (!path.startsWith('/') || /[\x00-\x20\x7f#]/.test(path)) {
    return {
      code: 'malformed-request',
      message: 'a :path that does not start with "/" or contains a control character',
    }
  }
  return null
}

function outgoingHeaders(headers: IncomingHttpHeaders, cleared: Cleared, tunnel: Tunnel): OutgoingHttpHeaders {
  const { target, secure } = tunnel
  // Without a prototype: `constructor` is an ordinary header name.
  const own: { [name: string]: string | string[] } = Object.assign(Object.create(null), {
    ':method': headers[':method']!,
    ':path': cleared.path,
    ':scheme': secure ? 'https' : 'http',
    ':authority': authorityOf(target, secure ? 443 : 80),
  })
  for (let at = 0; at + 1 < cleared.rawHeaders.length; at += 2) {
    const name = cleared.rawHeaders[at]!
    const value = cleared.rawHeaders[at + 1]!
    if (name === 'host') continue
    if (cleared.scrub && PACKING_OFFERS.has(name)) continue
    const known = own[name]
    own[name] = known === undefined ? value : [known, value].flat()
  }
  return own
}

/** Adds the Host header of HTTP/1, which signatures cover; HTTP/2 has a separate field. */
function withHost(rawHeaders: readonly string[], headers: IncomingHttpHeaders): readonly string[] {
  return headers.host === undefined ? ['host', headers[':authority']!, ...rawHeaders] : rawHeaders
}

function withoutPseudo(rawHeaders: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (!rawHeaders[at]!.startsWith(':')) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  }
  return kept
}

function scrubbed(
  headers: IncomingHttpHeaders,
  scrub: (text: string) => string,
  dropped: readonly string[],
): OutgoingHttpHeaders {
  const clean: OutgoingHttpHeaders = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (!dropped.includes(name)) clean[scrub(name)] = Array.isArray(value) ? value.map(scrub) : scrub(String(value))
  }
  return clean
}

function refuse(
  passage: Passage,
  record: Record,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  refusal: EgressDenial,
  tunnel: Tunnel,
): void {
  recordRefused(passage, record, refusal)
  answer(passage, stream, headers, refusal, tunnel)
}

/** gRPC clients get a status; others get the usual refusal. */
function answer(
  passage: Passage,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  refusal: EgressDenial,
  tunnel: Tunnel,
): void {
  if (stream.destroyed) return
  if (stream.headersSent) return void stream.close(constants.NGHTTP2_CANCEL)
  const response = httpRefusal(refusal, tunnel.target, passage.command, headers.accept)
  if (headers['content-type']?.startsWith('application/grpc')) {
    const status = response.status === 403 || response.status === 400 ? PERMISSION_DENIED : UNAVAILABLE
    const message = encodeURIComponent(`${refusal.code}: ${refusal.message}`)
    const grpc = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message }
    return void stream.respond(grpc, { endStream: true })
  }
  const type = { 'content-type': 'text/plain; charset=utf-8', 'cordon-code': refusal.code }
  stream.respond({ ':status': response.status, ...type })
  stream.end(response.body)
}
