/** The far side of the proxy: dialling addresses that were judged, and TLS that is verified. Shared by a session. */

import type { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { isIPv6, type LookupFunction, connect as netConnect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { type ConnectionOptions, rootCertificates, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { parseIpv4 } from '../../hosts/address.ts'
import { errorCode, Fault, messageOf } from '../../system/fault.ts'
import { createTrust } from '../tls/trust.ts'
import { createFeed, fedSocket } from '../wire/feed.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import type { ParentProxy } from './parent-proxy.ts'
import { dialParent, PARENT_FAILED } from './parent-socket.ts'

/** A target and the addresses that were judged for it: nothing else is ever dialled. */
export interface Route {
  readonly target: Target
  /** None where the parent proxy looks the name up. */
  readonly addresses: readonly string[]
  /** Through the parent proxy: `name` asks it for the host by name, `address` for an address that was judged. */
  readonly parent?: 'name' | 'address'
}

/** How one of the addresses is connected to; tests put their own servers here. */
export type Dialer = (route: Route) => TcpNetConnectOpts

export interface Upstream {
  readonly roots: string
  /** Does ahead of the first connection what it would wait for, a piece of it at a time; false once all is done. */
  prepare(): boolean
  /** Reads what is left of the roots. */
  finishRoots(): void
  readonly dialer: Dialer
  /** The proxy that this machine is behind. */
  readonly parent: ParentProxy | null
  dial(route: Route): Socket
  /** A TLS connection whose certificate must be valid for the target's own host. */
  dialTls(route: Route, protocols: readonly string[]): TLSSocket
  /** TLS on a connection to the route that stands already, verified alike. */
  encrypt(socket: Socket, route: Route): TLSSocket
}

export interface UpstreamOptions {
  /** Roots in PEM instead of the machine's own. */
  readonly roots?: string
  /** Further authorities in PEM, beside the roots: a company's own, or a test's. */
  readonly trust?: readonly string[]
  readonly dialer?: Dialer
  readonly parent?: ParentProxy | null
}

/** Where distributions keep the bundle of roots. */
const ROOT_BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** What every TLSSocket of Node has, and its types leave out. */
interface NamedSocket extends TLSSocket {
  setServername(name: string): void
}

/** TLS sessions that are kept to be resumed, each for its own host. */
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
      // Node holds the name of a host against an expression for IPv6 addresses, which takes milliseconds to make.
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
        // For one address it is told below: in the options it would be held against the expression for IPv6 addresses.
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
      // Told once the certificate has been verified, for this host and no other; resuming proves the same key again.
      socket.on('session', (next) => remember(key, next))
      return socket
    },
  }
}

/** Further authorities from files; one that cannot be read, or holds none, is a fault: without it some host would just not verify. */
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
    throw new Fault('bad-config', `the file of ca_files ${file} holds no certificate`, { remedy: 'It has to be PEM.' })
  })
}

/** The machine's own roots as one PEM text, or Node's where the machine has none. */
export function systemRoots(): string {
  for (const path of ROOT_BUNDLES) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      // Another distribution keeps it elsewhere.
    }
  }
  return rootCertificates.join('\n')
}

/** As OpenSSL holds a certificate against a host; Node's own way does the same and asks first whether the host is an IPv6 address. */
function identityProblem({ host, kind }: Target, certificate: X509Certificate | undefined): Error | undefined {
  const found = kind === 'name' ? certificate?.checkHost(host, { partialWildcards: false }) : certificate?.checkIP(host)
  if (found !== undefined) return undefined
  const error = new Error(`it is not for ${host}, but for ${certificate?.subjectAltName ?? 'no name'}`)
  return Object.assign(error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

/** A failed connection as a refusal that says which side failed and how. */
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

/** Ends a socket that has not connected in time; the timer goes when it did, or when the socket closes. */
export function limitConnect(socket: Socket, milliseconds: number): void {
  const timer = setTimeout(() => socket.destroy(timeoutError()), milliseconds)
  const stop = () => clearTimeout(timer)
  socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop)
  socket.once('close', stop)
}

/** Tells of a request that came to its end without an answer or an error: a host that switches protocols unasked does that. */
export function onUnanswered(request: ClientRequest, tell: (error: Error) => void): void {
  const unanswered = () => tell(new Error('no answer'))
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
  // The name is never looked up again: Node tries the judged addresses, and only those, one after another.
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]!.address, answers[0]!.family)
  }
  return { host: target.host, port, lookup, autoSelectFamily: true, noDelay: true }
}
