/**
 * A tunnel to one admitted host, by CONNECT or SOCKS: identifies the protocol by its first bytes,
 * and enforces the host's name.
 */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { quote } from '../../hosts/host.ts'
import type { Admission } from '../route/gate.ts'
import { isPassedThrough, isRegistryHost, mayCarryRawBytes } from '../route/rules.ts'
import { upstreamRefusal } from '../route/upstream.ts'
import type { SessionCa } from '../tls/certificate.ts'
import {
  ACCESS_DENIED,
  type ClientHello,
  type HelloReading,
  helloReader,
  UNRECOGNIZED_NAME,
} from '../wire/client-hello.ts'
import { join } from '../wire/join.ts'
import { HelloRefused, type PassedTls, passTls } from '../wire/passed-tls.ts'
import { peek, type Speech, speechOf } from '../wire/peek.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf, targetOf } from '../wire/target.ts'
import {
  closeSoon,
  type Passage,
  recordAllowed,
  recordRefused,
  refuseSocket,
  startRecord,
  type Tunnel,
} from './passage.ts'

/** The servers for requests inside a tunnel. */
export interface TunnelServers {
  http(socket: Duplex, tunnel: Tunnel): void
  http2(socket: Duplex, tunnel: Tunnel): void
}

export interface TunnelCall {
  readonly passage: Passage
  readonly ca: SessionCa
  readonly servers: TunnelServers
  readonly kind: 'connect' | 'socks' | 'direct'
}

/** Carries a tunnel that was admitted and confirmed to the client. */
export async function carryTunnel(call: TunnelCall, socket: Socket, admission: Admission): Promise<void> {
  const { passage } = call
  const { target } = admission.route
  const login = passage.broker?.loginFor(target) ?? null
  if (login !== null) {
    // Rare; each speaks a separate protocol.
    const { carryLogin } = await import('./login.ts')
    return carryLogin(passage, call.ca, socket, admission, login)
  }
  const raw = carriesRaw(passage, admission)
  const wait = raw ? passage.limits.serverFirstMilliseconds : passage.limits.headMilliseconds
  let hello: WholeReading | null = null
  const readHello = wholeHello()
  const speech = await peek(
    socket,
    (bytes) => {
      const kind = speechOf(bytes)
      // Usually the whole hello has already arrived.
      if (kind === 'tls') hello = readHello(bytes)
      return kind
    },
    wait,
  )
  if (speech === 'ended') return void socket.destroy()
  if (speech === 'silent') return raw ? carryServerFirst(call, socket, admission) : void socket.destroy()
  if (speech === 'stalled')
    return refuse(call, socket, admission, { code: 'client-timeout', message: 'the client timed out' })
  if (speech.value === 'tls') return carryTls(call, socket, admission, hello)
  carrySpeech(call, socket, { target, secure: false, admission }, speech.value, raw)
}

/** The protocols of a plain connection, or inside a TLS one. */
function carrySpeech(call: TunnelCall, socket: Duplex, tunnel: Tunnel, speech: Speech, raw: boolean): void {
  const { target, secure, admission } = tunnel
  const subject = quote(authorityOf(target, null))
  if (target.port === 443 && !secure) {
    refuse(call, socket, admission, { code: 'not-tls', message: `${subject} is for TLS; something else was sent` })
  } else if (speech === 'http') call.servers.http(socket, tunnel)
  else if (speech === 'http2') call.servers.http2(socket, tunnel)
  else if (raw && speech !== 'tls') carryRaw(call, socket, tunnel)
  else if (call.passage.broker?.isFor(target)) {
    const message = `a secret is for ${subject}, so only requests that can be read go there; something else was sent`
    refuse(call, socket, admission, { code: 'secret-unread', message })
  } else {
    const message = `only HTTP and TLS go to ${subject}; something else was sent`
    refuse(call, socket, admission, { code: 'not-http', message })
  }
}

/** A host with a secret only gets readable requests: other bytes could contain a foreign key. */
function carriesRaw({ broker }: Passage, { rules, route: { target } }: Admission): boolean {
  return mayCarryRawBytes(rules, target) && broker?.isFor(target) !== true && !isRegistryHost(rules, target)
}

async function carryTls(
  call: TunnelCall,
  socket: Socket,
  admission: Admission,
  hello: WholeReading | null,
): Promise<void> {
  const { target } = admission.route
  const peeked = hello ? { value: hello } : await peek(socket, wholeHello(), call.passage.limits.headMilliseconds)
  if (typeof peeked === 'string') return void socket.destroy()
  const reading = peeked.value
  if (reading.state !== 'hello') {
    return refuseTls(call, socket, admission, { code: 'not-tls', message: `a broken ClientHello: ${reading.problem}` })
  }
  // Packages are judged by readable requests.
  const passed = isPassedThrough(admission.rules, target) && !isRegistryHost(admission.rules, target)
  const judge = (hello: ClientHello) =>
    nameRefusal(hello, admission) ?? (passed ? unreadRefusal(call.passage, hello, admission) : null)
  const refusal = judge(reading.hello)
  if (refusal !== null) return refuseTls(call, socket, admission, refusal)
  if (passed) return carryRaw(call, socket, { target, secure: false, admission }, passTls(judge))
  endTls(call, socket, admission, reading.hello)
}

type WholeReading = Exclude<HelloReading, { state: 'more' }>

function wholeHello(): (bytes: Buffer) => WholeReading | null {
  const read = helloReader()
  return (bytes) => {
    const reading = read(bytes)
    return reading.state === 'more' ? null : reading
  }
}

/**
 * The server name must be the tunnel's host; without one, the Host of each request must be. An
 * encrypted hello (ECH) shows its outer name. If TLS ends here, the inner name goes nowhere; if it
 * is passed through, ECH is refused.
 */
function nameRefusal(hello: ClientHello, admission: Admission): EgressDenial | null {
  const { target } = admission.route
  if (hello.serverName === null || hello.serverName === target.host) return null
  const named = targetOf(hello.serverName, target.port)
  if (!('problem' in named) && named.host === target.host) return null
  const message = `the TLS server name is ${quote(hello.serverName)}, the tunnel's ${quote(target.host)}`
  return { code: 'name-mismatch', message }
}

/** Why TLS is not passed on unread although a rule allows it. */
function unreadRefusal({ broker }: Passage, hello: ClientHello, { route }: Admission): EgressDenial | null {
  const { host, kind } = route.target
  if (broker?.isFor(route.target)) {
    const message = `a secret is for ${quote(host)}, and tls = "pass" would let anybody's key go there unread`
    return { code: 'secret-unread', message }
  }
  if (hello.encrypted) {
    return { code: 'hidden-name', message: `an encrypted ClientHello may hide another name than ${quote(host)}` }
  }
  if (hello.serverName !== null || kind !== 'name') return null
  // The address's default host may be another one.
  return { code: 'name-mismatch', message: `TLS to ${quote(host)} is passed on, and the client names no server` }
}

/** Ends the client's TLS with a leaf of the session CA, and serves the decrypted stream. */
function endTls(call: TunnelCall, socket: Socket, admission: Admission, hello: ClientHello): void {
  const { passage } = call
  const { target } = admission.route
  // HTTP/2 only for clients that require it (gRPC): HTTP/1 is simpler to check, and faster here. A
  // client that offers neither (curl -0) may use any.
  const protocol = ['http/1.1', 'h2'].find((name) => hello.protocols.includes(name))
  const tls = new TLSSocket(socket, {
    isServer: true,
    secureContext: call.ca.contextFor(target.host),
    ...(protocol !== undefined && { ALPNProtocols: [protocol] }),
  })
  // With HTTP/2 inside, the lower connection sometimes outlives its client.
  tls.once('close', () => socket.destroy())
  const raw = carriesRaw(passage, admission)
  if (protocol !== 'h2' && !raw) tls.once('close', passage.agent.dialAhead(admission.route))
  let problem = 'it went away'
  const broken = () => {
    clearTimeout(timer)
    const message = `the client aborted the TLS handshake (${problem}); it may not trust the session's CA`
    recordRefused(passage, startRecord(passage, { kind: call.kind, target }), { code: 'client-tls', message })
  }
  const timer = setTimeout(() => {
    problem = 'it timed out'
    tls.destroy()
  }, passage.limits.headMilliseconds)
  // A TLSSocket without a server reports handshake errors by this event.
  tls.once('_tlsError', (error: Error) => {
    problem = error.message
  })
  tls.on('error', () => tls.destroy())
  tls.once('close', broken)
  // A half-open connection only serves pending answers, and nothing was requested yet.
  const leave = () => tls.destroy()
  tls.once('end', leave)
  tls.once('secure', () => {
    clearTimeout(timer)
    tls.off('close', broken)
    tls.off('end', leave)
    // tls.Server sets this, and http2 waits for it.
    Object.assign(tls, { secureConnecting: false })
    const tunnel: Tunnel = { target, secure: true, admission }
    if (tls.alpnProtocol === 'h2') call.servers.http2(tls, tunnel)
    else if (!raw) call.servers.http(tls, tunnel)
    else void carryInside(call, tls, tunnel)
  })
}

/** Inside TLS to a port that was granted explicitly: HTTP or raw bytes. */
async function carryInside(call: TunnelCall, tls: TLSSocket, tunnel: Tunnel): Promise<void> {
  const speech = await peek(tls, speechOf, call.passage.limits.serverFirstMilliseconds)
  if (speech === 'silent') return carryServerFirst(call, tls, tunnel.admission, true)
  if (typeof speech === 'string') return void tls.destroy()
  carrySpeech(call, tls, tunnel, speech.value, true)
}

/** Relays bytes both ways. The connection is judged, but not its content, except for TLS hellos. */
function carryRaw(call: TunnelCall, socket: Duplex, tunnel: Tunnel, tls?: PassedTls): void {
  const { passage } = call
  const { route } = tunnel.admission
  const record = startRecord(passage, { kind: 'tunnel', target: route.target })
  const host = passage.agent.dial(route, tunnel.secure, [])
  host.allowHalfOpen = true
  const failed = (error: Error) => {
    recordRefused(passage, record, upstreamRefusal(error, route.target))
    socket.destroy()
  }
  const abandon = () => host.destroy()
  host.once('error', failed)
  socket.once('close', abandon)
  host.once(tunnel.secure ? 'secureConnect' : 'connect', () => {
    const address = host.remoteAddress ?? null
    socket.off('close', abandon)
    let refusal: EgressDenial | null = null
    tls?.up.once('error', (error) => {
      if (error instanceof HelloRefused) refusal = error.refusal
      socket.end(refusal?.code === 'name-mismatch' ? UNRECOGNIZED_NAME : ACCESS_DENIED)
    })
    const joined = join(socket, host, passage.limits.idleMilliseconds, tls)
    host.off('error', failed)
    joined.then((bytes) => {
      if (refusal === null) recordAllowed(passage, record, { ...bytes, address })
      else recordRefused(passage, record, refusal, { ...bytes, address })
    })
  })
}

/**
 * A protocol in which the server speaks first. The client's first bytes are still checked when they
 * come: a delayed request or TLS hello would otherwise pass unread.
 */
async function carryServerFirst(call: TunnelCall, socket: Duplex, admission: Admission, secure = false): Promise<void> {
  const { passage } = call
  const { route } = admission
  const record = startRecord(passage, { kind: 'tunnel', target: route.target })
  const host = passage.agent.dial(route, secure, [])
  socket.once('close', () => host.destroyed || host.destroySoon())
  host.on('error', (error) => {
    if (!socket.destroyed) recordRefused(passage, record, upstreamRefusal(error, route.target))
    socket.destroy()
  })
  host.pipe(socket)
  const speech = await peek(socket, speechOf, passage.limits.idleMilliseconds)
  if (typeof speech === 'string') return void socket.destroy()
  // A first byte may look like SOCKS, which is not valid inside a tunnel.
  if (speech.value === 'other' || speech.value === 'socks') {
    host.unpipe(socket)
    const address = host.remoteAddress ?? null
    const bytes = await join(socket, host, passage.limits.idleMilliseconds)
    return recordAllowed(passage, record, { ...bytes, address })
  }
  host.destroy()
  const message = `a client that waited for ${quote(route.target.host)} to speak first then sent ${speech.value}`
  recordRefused(passage, record, { code: 'not-http', message })
  socket.destroy()
}

function refuse(call: TunnelCall, socket: Duplex, admission: Admission, refusal: EgressDenial): void {
  const { passage, kind } = call
  const { target } = admission.route
  recordRefused(passage, startRecord(passage, { kind, target }), refusal)
  refuseSocket(passage, socket, refusal, target)
}

function refuseTls(call: TunnelCall, socket: Duplex, admission: Admission, refusal: EgressDenial): void {
  const { passage, kind } = call
  recordRefused(passage, startRecord(passage, { kind, target: admission.route.target }), refusal)
  socket.end(refusal.code === 'name-mismatch' ? UNRECOGNIZED_NAME : ACCESS_DENIED)
  closeSoon(socket)
}
