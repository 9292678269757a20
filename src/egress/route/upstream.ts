/** Dials judged addresses and verifies TLS against roots read in pieces. Shared by a session. */

import type { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { isIPv6, type LookupFunction, connect as netConnect, type Socket, type TcpNetConnectOpts } from 'node:net'
import {
  type ConnectionOptions,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
  connect as tlsConnect,
} from 'node:tls'
import { parseIpv4 } from '../../hosts/address.ts'
import { errorCode, Fault, messageOf } from '../../system/fault.ts'
import { createFeed, fedSocket } from '../wire/feed.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import type { ParentProxy } from './parent-proxy.ts'
import { dialParent, PARENT_FAILED } from './parent-socket.ts'

/** A target and its judged addresses: nothing else is ever dialled. */
export interface Route {
  readonly target: Target
  /** Empty if the parent proxy resolves the name. */
  readonly addresses: readonly string[]
  /** Through the parent proxy: `name` by host name, `address` by the judged address. */
  readonly parent?: 'name' | 'address'
}

/** The connect options for a route; tests use their own servers. */
export type Dialer = (route: Route) => TcpNetConnectOpts

export interface Upstream {
  readonly roots: string
  /** Performs the preparations of the first connection, one piece per call; false once done. */
  prepare(): boolean
  /** Reads the remaining roots. */
  finishRoots(): void
  readonly dialer: Dialer
  /** The parent proxy of this machine. */
  readonly parent: ParentProxy | null
  dial(route: Route): Socket
  /** A TLS connection whose certificate must be valid for the target's host. */
  dialTls(route: Route, protocols: readonly string[]): TLSSocket
  /** TLS on an existing connection to the route, verified alike. */
  encrypt(socket: Socket, route: Route): TLSSocket
}

export interface UpstreamOptions {
  /** Roots in PEM instead of the machine's. */
  readonly roots?: string
  /** Further authorities in PEM: a company's, or a test's. */
  readonly trust?: readonly string[]
  readonly dialer?: Dialer
  readonly parent?: ParentProxy | null
}

/** The root bundles of distributions. */
const ROOT_BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** Members of Node's TLSSocket that its types omit. */
interface NamedSocket extends TLSSocket {
  setServername(name: string): void
}

/** Cached TLS sessions, each for one host. */
const MAX_SESSIONS = 256

export function createUpstream(options: UpstreamOptions = {}): Upstream {
  const dialer = options.dialer ?? dialAddresses
  const feed = createFeed()
  let roots: string | null = null
  const readRoots = () => {
    roots ??= [options.roots ?? systemRoots(), ...(options.trust ?? [])].join('\n')
    return roots
  }
  const sessions = new Map<string, Buffer>()
  const remember = (key: string, session: Buffer) => {
    if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value!)
    sessions.set(key, session)
  }
  const trust = createTrust(readRoots)
  const parent = options.parent ?? null
  const throughParent = (route: Route): Socket | null => {
    if (route.parent === undefined || parent === null) return null
    return dialParent(parent, route.target, route.parent === 'name' ? null : route.addresses[0]!, trust.context)
  }
  return {
    get roots() {
      return readRoots()
    },
    prepare: () => {
      if (trust.readMore()) return true
      // Node compiles its expression for IPv6 addresses on first use, which takes milliseconds.
      isIPv6('')
      return false
    },
    finishRoots: () => void trust.context(),
    dialer,
    parent,
    dial: (route) => throughParent(route) ?? fedSocket(feed, (onread) => netConnect({ ...dialer(route), onread })),
    encrypt: (socket, { target }) => {
      const tls: TLSSocket = tlsConnect({
        socket,
        ...(target.kind === 'name' && { servername: target.host }),
        secureContext: trust.context(),
        rejectUnauthorized: true,
        checkServerIdentity: () => identityProblem(target, tls.getPeerX509Certificate()),
      })
      return tls
    },
    dialTls: (route, protocols) => {
      const { host, kind } = route.target
      const key = `${authorityOf(route.target, null)}|${protocols}`
      const session = sessions.get(key)
      const through = throughParent(route)
      const dialled: TcpNetConnectOpts = through === null ? dialer(route) : { host, port: route.target.port }
      const options: ConnectionOptions & TcpNetConnectOpts = {
        ...dialled,
        ...(session && { session }),
        // For one address it is set below: in the options Node would match it against the IPv6
        // expression.
        servername: kind === 'name' && (through !== null || dialled.autoSelectFamily) ? host : '',
        secureContext: trust.context(),
        ALPNProtocols: [...protocols],
        rejectUnauthorized: true,
        checkServerIdentity: () => identityProblem(route.target, socket.getPeerX509Certificate()),
      }
      const socket: TLSSocket =
        through === null
          ? fedSocket(feed, (onread) => tlsConnect({ ...options, onread } as ConnectionOptions))
          : tlsConnect({ ...options, socket: through })
      if (kind === 'name' && through === null) (socket as NamedSocket).setServername(host)
      // Emitted once the certificate was verified for this host; resuming proves the same key
      // again.
      socket.on('session', (next) => remember(key, next))
      return socket
    },
  }
}

/**
 * Further authorities from files. An unreadable or empty file is a fault: otherwise some host would
 * fail to verify without a reason.
 */
export function readAuthorities(files: readonly string[]): string[] {
  return files.map((file) => {
    try {
      const text = readFileSync(file, 'utf8')
      if (text.includes('-----BEGIN CERTIFICATE-----')) return text
    } catch (error) {
      throw new Fault('bad-config', `the file of ca_files ${file} cannot be read: ${messageOf(error)}`, {
        cause: error,
      })
    }
    throw new Fault('bad-config', `the file of ca_files ${file} contains no certificate`, {
      remedy: 'It has to be PEM.',
    })
  })
}

/** The machine's roots as one PEM text, or Node's if the machine has none. */
export function systemRoots(): string {
  for (const path of ROOT_BUNDLES) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // Other distributions use other paths.
    }
  }
  return rootCertificates.join('\n')
}

/**
 * Checks a certificate against a host as OpenSSL does. Node's function does the same, but first
 * compiles its IPv6 expression.
 */
function identityProblem({ host, kind }: Target, certificate: X509Certificate | undefined): Error | undefined {
  const found = kind === 'name' ? certificate?.checkHost(host, { partialWildcards: false }) : certificate?.checkIP(host)
  if (found !== undefined) return undefined
  const error = new Error(`it is not for ${host}, but for ${certificate?.subjectAltName ?? 'no name'}`)
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

/** A failed connection as a refusal with the side and the cause. */
export function upstreamRefusal(error: unknown, target: Target): EgressDenial {
  const code = errorCode(error) ?? ''
  const subject = authorityOf(target, null)
  if (code === PARENT_FAILED) return { code: 'upstream-unreachable', message: `${subject}: ${messageOf(error)}` }
  if (code === 'ETIMEDOUT' || code === 'ERR_CORDON_TIMEOUT') {
    return { code: 'upstream-timeout', message: `${subject} did not answer in time` }
  }
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME|CRL|UNABLE_TO|HOSTNAME/.test(code)) {
    return {
      code: 'upstream-certificate',
      message: `the certificate of ${subject} does not verify: ${messageOf(error)}`,
    }
  }
  if (
    /^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL|ACCES|PERM|INVAL)$/.test(code) ||
    error instanceof AggregateError
  ) {
    return { code: 'upstream-unreachable', message: `${subject} cannot be reached (${code || 'no address answers'})` }
  }
  return { code: 'upstream-protocol', message: `the connection to ${subject} broke: ${code || messageOf(error)}` }
}

/** Ends a socket that does not connect in time; the timer is cleared on connect or close. */
export function limitConnect(socket: Socket, milliseconds: number): void {
  const timer = setTimeout(() => socket.destroy(timeoutError()), milliseconds)
  const stop = () => clearTimeout(timer)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop)
  socket.once('close', stop)
}

/**
 * Reports a request that ended without an answer or an error: a host that switches protocols
 * unasked causes that.
 */
export function onUnanswered(request: ClientRequest, report: (error: Error) => void): void {
  const unanswered = () => report(new Error('no answer'))
  request.once('close', unanswered)
  request.once('response', () => request.off('close', unanswered))
  request.once('error', () => request.off('close', unanswered))
}

export function timeoutError(): Error {
  return Object.assign(new Error('timed out'), { code: 'ERR_CORDON_TIMEOUT' })
}

function dialAddresses(route: Route): TcpNetConnectOpts {
  const { target, addresses } = route
  const { port } = target
  const answers = addresses.map((address) => ({ address, family: parseIpv4(address) === null ? 6 : 4 }))
  if (answers.length === 1) return { host: addresses[0]!, port, noDelay: true }
  // The name is never resolved again: Node tries only the judged addresses, in order.
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]!.address, answers[0]!.family)
  }
  return { host: target.host, port, lookup, autoSelectFamily: true, noDelay: true }
}

interface Trust {
  /** Reads some more roots; false once all are read. */
  readMore(): boolean
  /** A context with every root. */
  context(): SecureContext
}

/** Certificates in a piece, which takes less than a millisecond. */
const PIECE = 20
const END_OF_CERTIFICATE = /-----END [A-Z0-9 ]*CERTIFICATE-----/g

/** `roots` returns the certificates in PEM, and is called on first use. */
function createTrust(roots: () => string): Trust {
  let context: SecureContext | null = null
  let pieces: string[] = []

  function readMore(): boolean {
    if (context === null) {
      pieces = piecesOf(roots())
      // An empty list: none would mean Node's own roots.
      context = createSecureContext({ ca: [] })
      return pieces.length > 0
    }
    const piece = pieces.pop()
    if (piece !== undefined) context.context.addCACert(piece)
    return pieces.length > 0
  }

  return {
    readMore,
    context: () => {
      while (readMore());
      return context!
    },
  }
}

function piecesOf(pem: string): string[] {
  const pieces: string[] = []
  let from = 0
  let count = 0
  for (const match of pem.matchAll(END_OF_CERTIFICATE)) {
    if (++count % PIECE !== 0) continue
    const to = match.index + match[0].length
    pieces.push(pem.slice(from, to))
    from = to
  }
  pieces.push(pem.slice(from))
  return pieces
}
