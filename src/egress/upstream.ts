/** The far side of the door: dialling addresses that were judged, and TLS that is verified. Shared by a session. */

import { readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { isIP, type LookupFunction, connect as netConnect, type Socket, type TcpNetConnectOpts } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
  connect as tlsConnect,
} from 'node:tls'
import { errorCode, messageOf } from '../system/fault.ts'
import { createFeed, fedSocket } from './feed.ts'
import type { Refusal } from './refusal.ts'
import { authorityOf, type Target } from './target.ts'

/** A target and the addresses that were judged for it: nothing else is ever dialled. */
export interface Route {
  readonly target: Target
  readonly addresses: readonly string[]
}

/** How one of the addresses is connected to; tests put their own servers here. */
export type Dialer = (route: Route) => TcpNetConnectOpts

export interface Upstream {
  readonly roots: string
  /** Reads the roots ahead of the first connection. */
  prepare(): void
  readonly dialer: Dialer
  dial(route: Route): Socket
  /** A TLS connection whose certificate must be valid for the target's own host. */
  dialTls(route: Route, protocols: readonly string[]): TLSSocket
}

export interface UpstreamOptions {
  /** Roots in PEM in the place of the machine's own. */
  readonly roots?: string
  /** Further authorities in PEM, beside the roots: a company's own, or a test's. */
  readonly trust?: readonly string[]
  readonly dialer?: Dialer
}

/** Where distributions keep the bundle of roots. */
const ROOT_BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** TLS sessions that are kept to be resumed, each for its own host. */
const MAX_SESSIONS = 256

export function createUpstream(options: UpstreamOptions = {}): Upstream {
  const dialer = options.dialer ?? dialAddresses
  const feed = createFeed()
  let roots: string | null = null
  let context: SecureContext | null = null
  const readRoots = () => {
    roots ??= [options.roots ?? systemRoots(), ...(options.trust ?? [])].join('\n')
    return roots
  }
  const sessions = new Map<string, Buffer>()
  const remember = (key: string, session: Buffer) => {
    if (sessions.size >= MAX_SESSIONS) sessions.delete(sessions.keys().next().value!)
    sessions.set(key, session)
  }
  const trusted = () => {
    context ??= createSecureContext({ ca: readRoots() })
    return context
  }
  return {
    get roots() {
      return readRoots()
    },
    prepare: () => void trusted(),
    dialer,
    dial: (route) => fedSocket(feed, (onread) => netConnect({ ...dialer(route), onread })),
    dialTls: (route, protocols) => {
      const { host, kind } = route.target
      const key = `${authorityOf(route.target, null)}|${protocols}`
      const session = sessions.get(key)
      const socket = fedSocket(feed, (onread) => {
        const options: ConnectionOptions & TcpNetConnectOpts = {
          ...dialer(route),
          ...(session && { session }),
          servername: kind === 'name' ? host : '',
          secureContext: trusted(),
          ALPNProtocols: [...protocols],
          rejectUnauthorized: true,
          checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
          onread,
        }
        return tlsConnect(options)
      })
      // Told once the certificate has been verified, for this host and no other; resuming proves the same key again.
      socket.on('session', (next) => remember(key, next))
      return socket
    },
  }
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

/** A failed connection as a refusal that says which side failed and how. */
export function upstreamRefusal(error: unknown, target: Target): Refusal {
  const code = errorCode(error) ?? ''
  const subject = authorityOf(target, null)
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
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  // The name is never looked up again: Node tries the judged addresses, and only those, one after another.
  const lookup: LookupFunction = (_host, options, callback) => {
    if (options.all) callback(null, answers)
    else callback(null, answers[0]!.address, answers[0]!.family)
  }
  const host = target.kind === 'name' ? target.host : addresses[0]!
  return { host, port: target.port, lookup, autoSelectFamily: true, noDelay: true }
}
