/**
 * The protocols of a proxy: identifies each connection by its first byte, and serves it under the
 * command's rules.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorCode } from '../system/fault.ts'
import { exchange, headOf } from './protocol/exchange.ts'
import {
  closeSoon,
  meant,
  type Passage,
  recordRefused,
  refuseSocket,
  startRecord,
  type Tunnel,
} from './protocol/passage.ts'
import { carryTunnel, type TunnelCall, type TunnelServers } from './protocol/tunnel.ts'
import { isWebSocket, upgrade } from './protocol/websocket.ts'
import type { SessionCa } from './tls/certificate.ts'
import { ACCESS_DENIED } from './wire/client-hello.ts'
import { GIT_HEADER } from './wire/git-call.ts'
import { http } from './wire/http.ts'
import { peek, speechOf, spokenTarget } from './wire/peek.ts'
import type { EgressDenial } from './wire/refusal.ts'
import { headerValues, type RequestHead, readConnect } from './wire/request-head.ts'
import {
  readGreeting,
  readRequest as readSocksRequest,
  SOCKS_REPLY,
  SOCKS4_GRANTED,
  SOCKS4_REFUSED,
  type SocksReading,
  socksReply,
} from './wire/socks.ts'
import { agrees, parseAuthority, type Target, targetOf } from './wire/target.ts'

export interface Proxy {
  /** Takes over a client's connection. */
  serve(socket: Socket): void
  /** Takes over a connection to an alias address of a host. */
  serveDirect(socket: Socket): void
  close(): void
}

const TOO_MANY_PIPELINED: EgressDenial = {
  code: 'too-many-connections',
  message: 'more requests at once on one connection than are queued',
}
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

export function createProxy(passage: Passage, ca: SessionCa): Proxy {
  const tunnels = new WeakMap<Duplex, Tunnel>()
  const server = createHttpServer(passage)
  let http2: Promise<typeof import('./protocol/http2.ts')> | null = null

  const servers: TunnelServers = {
    http: (socket, tunnel) => {
      tunnels.set(socket, tunnel)
      server.emit('connection', socket)
    },
    http2: (socket, tunnel) => {
      // Rarely used, and loading it takes as long as a whole request.
      http2 ??= import('./protocol/http2.ts')
      http2.then(
        (module) => module.serveHttp2(passage, socket, tunnel),
        () => socket.destroy(),
      )
    },
  }

  const underWay = new WeakMap<Socket, number>()

  const answer = (message: IncomingMessage, response: ServerResponse) => {
    const { socket } = message
    const count = (underWay.get(socket) ?? 0) + 1
    underWay.set(socket, count)
    response.once('close', () => underWay.set(socket, underWay.get(socket)! - 1))
    if (count > passage.limits.pipelined || socket.destroyed) {
      if (!socket.destroyed) refuseOutright(passage, socket, TOO_MANY_PIPELINED)
      return void socket.destroy()
    }
    exchange(passage, message, response, tunnels.get(message.socket) ?? null).catch(() => response.destroy())
  }
  server.on('request', answer)
  // An unknown expectation; Node would otherwise answer it itself.
  server.on('checkExpectation', answer)
  server.on('upgrade', (message, socket, head) => {
    upgrade(passage, message, socket, head, tunnels.get(message.socket) ?? null).catch(() => socket.destroy())
  })
  server.on('connect', (message, socket, head) => {
    const call: TunnelCall = { passage, ca, servers, kind: 'connect' }
    if (head.length > 0) socket.unshift(head)
    connect(call, headOf(message), socket as Socket, tunnels.get(message.socket) ?? null).catch(() => socket.destroy())
  })
  server.on('clientError', (error, socket) => refuseBroken(passage, error, socket, tunnels.get(socket) ?? null))

  return {
    serve: (socket) => {
      socket.allowHalfOpen = true
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      serve({ passage, ca, servers }, server, socket).catch(() => socket.destroy())
    },
    serveDirect: (socket) => {
      socket.allowHalfOpen = true
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      serveDirect({ passage, ca, servers, kind: 'direct' }, socket).catch(() => socket.destroy())
    },
    close: () => {
      server.closeAllConnections()
      // It never listened, so close only stops its timer.
      server.close(() => {})
    },
  }
}

function createHttpServer(passage: Passage): Server {
  const { limits } = passage
  const server = http.createServer({
    insecureHTTPParser: false,
    // Checked here, so that the refusal has a reason and is reported.
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headMilliseconds,
    requestTimeout: 0,
    keepAliveTimeout: Math.min(limits.idleMilliseconds, 120_000),
    connectionsCheckingInterval: Math.max(100, Math.min(limits.headMilliseconds / 2, 5_000)),
    noDelay: true,
    ...upgradeOption(),
  })
  // A client that closed its sending half still expects the answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.timeout = limits.idleMilliseconds
  server.maxRequestsPerSocket = 0
  // The server never listens; this starts its timeout for slow request heads.
  server.emit('listening')
  return server
}

/** From Node 24.9 on, an unknown upgrade is served as a plain request (Java offers h2c). */
function upgradeOption(): object {
  return { shouldUpgradeCallback: isWebSocket }
}

async function serve(parts: Omit<TunnelCall, 'kind'>, server: Server, socket: Socket): Promise<void> {
  const { passage } = parts
  const opening = (bytes: Buffer) => readConnect(bytes) ?? speechOf(bytes)
  const speech = await peek(socket, opening, passage.limits.headMilliseconds)
  if (typeof speech === 'string') return void socket.destroy()
  if (typeof speech.value === 'object') {
    socket.read(speech.value.used)
    return connect({ ...parts, kind: 'connect' }, speech.value.head, socket, null)
  }
  if (speech.value === 'http') return void server.emit('connection', socket)
  if (speech.value === 'socks') return serveSocks({ ...parts, kind: 'socks' }, socket)
  const message = 'this is a proxy for HTTP, CONNECT and SOCKS; something else was sent'
  refuseOutright(passage, socket, { code: 'malformed-request', message })
}

/**
 * A program without proxy support connected to the address of a host: the same tunnel, without a
 * confirmation.
 */
async function serveDirect(call: TunnelCall, socket: Socket): Promise<void> {
  const { passage } = call
  const { localAddress = '', localPort = 0 } = socket
  const domain = passage.aliases?.domainOf(localAddress) ?? null
  const target =
    domain === null
      ? (passage.aliases?.targetOf(localAddress, localPort) ?? null)
      : await spokenTarget(socket, domain, localPort, passage.limits)
  const admission =
    target === null
      ? { refusal: { code: 'host-unlisted', message: `no host has the address ${localAddress}:${localPort}` } as const }
      : await passage.gate.admit(target)
  if (socket.destroyed) return
  if ('refusal' in admission) {
    recordRefused(passage, startRecord(passage, { kind: 'direct', target }), admission.refusal)
    if (localPort === 80) return refuseSocket(passage, socket, admission.refusal, target)
    if (localPort !== 443) return void socket.resetAndDestroy()
    socket.end(ACCESS_DENIED)
    return closeSoon(socket)
  }
  await carryTunnel(call, socket, admission)
}

async function connect(call: TunnelCall, head: RequestHead, socket: Socket, tunnel: Tunnel | null): Promise<void> {
  const { passage } = call
  const given = parseAuthority(head.url, null)
  const target = 'problem' in given ? given : meant(passage, given)
  const named = 'problem' in target ? null : target
  const record = startRecord(passage, { kind: 'connect', target: tunnel?.target ?? named, method: 'CONNECT' })
  socket.on('error', () => socket.destroy())
  const refuse = (refusal: EgressDenial) => {
    recordRefused(passage, record, refusal)
    refuseSocket(passage, socket, refusal, named, headerValues(head.rawHeaders, 'accept')[0])
  }
  if (tunnel !== null) return refuse({ code: 'nested-connect', message: 'CONNECT inside a tunnel is not passed on' })
  if ('problem' in target) return refuse({ code: 'malformed-request', message: target.problem })
  const problem = connectProblem(head, given as Target)
  if (problem !== null) return refuse(problem)
  const admission = await passage.gate.admit(target)
  if ('refusal' in admission) return refuse(admission.refusal)
  if (socket.destroyed) return
  const git = headerValues(head.rawHeaders, GIT_HEADER)
  if (git.length > 0) {
    // Rarely used, and loads child_process.
    const { carryGit } = await import('./protocol/git-ssh.ts')
    return socket.destroyed ? undefined : carryGit(passage, socket, admission, git.join(','))
  }
  socket.write(ESTABLISHED)
  passage.agent.finishRoots()
  await carryTunnel(call, socket, admission)
}

function connectProblem({ rawHeaders, httpVersion }: RequestHead, target: Target): EgressDenial | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return { code: 'malformed-request', message: `CONNECT of HTTP/${httpVersion} on an HTTP/1 connection` }
  }
  const hosts = headerValues(rawHeaders, 'host')
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion !== '1.0')) {
    return { code: 'malformed-request', message: 'CONNECT needs one Host header' }
  }
  if (hosts.length === 1 && !agrees(hosts[0]!, target)) {
    return { code: 'host-mismatch', message: 'the Host header of CONNECT names another host than its target' }
  }
  const framed = ['content-length', 'transfer-encoding'].some((name) => headerValues(rawHeaders, name).length > 0)
  return framed ? { code: 'malformed-request', message: 'CONNECT with a body' } : null
}

async function serveSocks(call: TunnelCall, socket: Socket): Promise<void> {
  const { passage } = call
  const first = await takeSocks(call, socket, readGreeting)
  if (first === null) return
  const request = first.state === 'request' ? first : await takeSocks(call, socket, readSocksRequest)
  if (request === null || request.state !== 'request') return
  const given = targetOf(request.host, request.port)
  const target = 'problem' in given ? given : meant(passage, given)
  const named = 'problem' in target ? null : target
  const record = startRecord(passage, { kind: 'socks', target: named })
  const admission =
    'problem' in target
      ? { refusal: { code: 'malformed-request', message: target.problem } as const }
      : await passage.gate.admit(target)
  if (socket.destroyed) return
  if ('refusal' in admission) {
    recordRefused(passage, record, admission.refusal)
    const unresolved = admission.refusal.code === 'host-unresolved'
    socket.end(
      request.version === 4
        ? SOCKS4_REFUSED
        : socksReply(unresolved ? SOCKS_REPLY.unreachable : SOCKS_REPLY.notAllowed),
    )
    return closeSoon(socket)
  }
  socket.write(request.version === 4 ? SOCKS4_GRANTED : socksReply(SOCKS_REPLY.granted))
  await carryTunnel(call, socket, admission)
}

/** Reads one SOCKS message and takes its bytes; null if the connection is closed. */
async function takeSocks(
  call: TunnelCall,
  socket: Socket,
  read: (bytes: Buffer) => SocksReading,
): Promise<SocksReading | null> {
  const { passage } = call
  const complete = (bytes: Buffer) => {
    const reading = read(bytes)
    return reading.state === 'more' ? null : reading
  }
  const peeked = await peek(socket, complete, passage.limits.headMilliseconds)
  if (typeof peeked === 'string') {
    socket.destroy()
    return null
  }
  const reading = peeked.value
  if (reading.state === 'refused') {
    recordRefused(passage, startRecord(passage, { kind: 'socks' }), { code: reading.code, message: reading.problem })
    socket.end(reading.reply)
    closeSoon(socket)
    return null
  }
  socket.read(reading.used)
  if (reading.state === 'greeted') socket.write(reading.reply)
  return reading
}

function refuseBroken(passage: Passage, error: Error, socket: Duplex, tunnel: Tunnel | null): void {
  const code = errorCode(error) ?? ''
  if (code === 'ECONNRESET' || code === 'EPIPE' || socket.destroyed) return void socket.destroy()
  const refusal: EgressDenial =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? { code: 'client-timeout', message: 'the request head was not complete in time' }
      : { code: 'malformed-request', message: `not a request that can be read in only one way (${code})` }
  const target = tunnel?.target ?? null
  recordRefused(passage, startRecord(passage, { kind: 'http', target }), refusal)
  refuseSocket(passage, socket, refusal, target)
}

function refuseOutright(passage: Passage, socket: Socket, refusal: EgressDenial): void {
  recordRefused(passage, startRecord(passage, { kind: 'connect' }), refusal)
  refuseSocket(passage, socket, refusal, null)
}
