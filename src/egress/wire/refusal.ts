/** An egress refusal: a stable code, a sentence, and its form in each protocol. PURE. */

import type { HostCode } from '../../hosts/judge.ts'
import { authorityOf, type Target } from './target.ts'

/** Why a connection or a request was refused or granted. */
export type EgressCode =
  | HostCode
  | 'granted' // a request or a tunnel that went through
  | 'ask-refused' // a person was asked and did not agree
  | 'host-declined' // updates, catalogues or telemetry of the agent: nobody is asked
  | 'host-mismatch' // Host or :authority differs from the host of the tunnel or the URL
  | 'name-mismatch' // the TLS server name differs from the host of the tunnel
  | 'hidden-name' // an encrypted ClientHello with passed-through TLS
  | 'nested-connect' // CONNECT inside a tunnel
  | 'not-tls' // port 443 without TLS
  | 'not-http' // raw bytes that no rule allows
  | 'malformed-request' // a request that two parsers could read differently
  | 'method-unlisted' // the host is granted, the method is not
  | 'path-unlisted' // the host is granted, the path is not
  | 'upgrade-unknown' // an upgrade to another protocol than WebSocket
  | 'secret-elsewhere' // a secret's placeholder for a host without a grant for it
  | 'secret-misplaced' // a placeholder in a part of the request where it is not replaced
  | 'secret-insecure' // a placeholder over plain HTTP
  | 'secret-foreign' // another credential, or a possible carrier of one, for a brokered host
  | 'secret-unread' // unreadable bytes for a host with a secret
  | 'secret-absent' // a request without the only credential that this host accepts
  | 'secret-missing' // the host of a secret without a usable value
  | 'key-missing' // the host of a bundle's key that is not set
  | 'flow-refused' // labelled data of the session could reach the host
  | 'limit-reached' // more requests or bytes than the host's entry allows per session
  | 'package-young' // a version that was published too recently
  | 'package-undated' // a version without a publication time
  | 'package-unlisted' // a package file that no signed registry lists
  | 'package-unreadable' // the registry's data about a package is unreadable
  | 'package-refused' // a rule or a person refused the package
  | 'package-withdrawn' // a fetched version is yanked or deprecated
  | 'signature-refused' // a request to the person's agent beyond a signature by the named key
  | 'socks-command' // BIND or UDP ASSOCIATE
  | 'socks-malformed' // not SOCKS5, or with authentication
  | 'too-many-connections' // the limit of open connections
  | 'client-timeout' // the client did not finish its request head or handshake
  | 'client-tls' // the client aborted the TLS handshake: it may not trust the session CA
  | 'upstream-unreachable' // no connection to the host
  | 'upstream-certificate' // the host's certificate does not verify
  | 'upstream-timeout' // the host did not answer in time
  | 'upstream-protocol' // the host broke the protocol, or the connection

export interface EgressDenial {
  readonly code: EgressCode
  readonly message: string
}

/** Codes of failures, not decisions. */
const FAULTS: Readonly<Partial<Record<EgressCode, number>>> = {
  'upstream-unreachable': 502,
  'upstream-certificate': 502,
  'upstream-protocol': 502,
  'upstream-timeout': 504,
  'host-unresolved': 502,
  'client-timeout': 408,
  'client-tls': 400,
  'too-many-connections': 503,
}

/** Not from node:http, which a summary would have to load. */
const FAULT_TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

export function isFault(code: EgressCode): boolean {
  return code in FAULTS
}

function statusOf(code: EgressCode): number {
  return FAULTS[code] ?? (code === 'malformed-request' ? 400 : 403)
}

/** The remedy for a person; null if there is not one. */
export function remedyFor(code: EgressCode, target: Target | null): string | null {
  if (target === null) return null
  const entry = authorityOf(target, target.port === 80 ? 80 : 443)
  switch (code) {
    case 'host-unlisted':
    case 'port-unlisted':
    case 'host-below-suffix':
    case 'ask-refused':
    case 'host-declined':
      return `cordon run --allow-host ${entry} …, or for good: cordon add host ${entry}`
    case 'host-private':
      return `set allow_private_hosts = true in [http] and grant "${entry}"`
    case 'method-unlisted':
    case 'path-unlisted':
      return `widen methods or paths of the entry for "${entry}"`
    case 'flow-refused':
      return `allow the flow to "${entry}" under [flows]`
    case 'limit-reached':
      return `raise max_requests or max_upload of the entry for "${entry}"`
    case 'not-http':
      return `grant the port by name ("${authorityOf(target, null)}")`
    case 'key-missing':
      return 'set it where Cordon is started, or name it under [[secrets]]'
    case 'secret-missing':
      return 'set its value at that source, or remove the entry from [[secrets]]'
    case 'secret-foreign':
      return 'if it is not a secret, list it in pass_headers or pass_parameters of the secret in [[secrets]]'
    case 'secret-unread':
      return 'remove the host from the secret in [[secrets]], or tls = "pass" from its entry'
    case 'secret-elsewhere':
      return `add "${entry}" to the hosts of the secret in [[secrets]]`
    default:
      return null
  }
}

export interface HttpRefusal {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly string[]
  readonly body: string
}

/**
 * A refusal as an HTTP response: the code in the status line, which many clients show, and the rest
 * in the body.
 */
export function httpRefusal(
  refusal: EgressDenial,
  target: Target | null,
  command: string,
  accept: string | undefined,
): HttpRefusal {
  const status = statusOf(refusal.code)
  const fault = isFault(refusal.code)
  const remedy = remedyFor(refusal.code, target)
  const facts = {
    error: fault ? 'failed' : 'blocked',
    code: refusal.code,
    message: refusal.message,
    ...(target && { host: target.host, port: target.port }),
    command,
    ...(remedy !== null && { remedy }),
  }
  const wantsJson = accept !== undefined && /\bjson\b/i.test(accept)
  const sentence = `${facts.error} by Cordon (${refusal.code}): ${refusal.message}${remedy === null ? '' : `; to allow: ${remedy}`}`
  const body = wantsJson ? `${JSON.stringify(facts)}\n` : `${sentence}\n${JSON.stringify(facts)}\n`
  const statusText = fault ? `${FAULT_TEXTS[status]} (${refusal.code})` : `Blocked by Cordon (${refusal.code})`
  const headers = [
    ['Content-Type', wantsJson ? 'application/json' : 'text/plain; charset=utf-8'],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Cordon-Code', refusal.code],
    ['Connection', 'close'],
  ]
  return { status, statusText, headers: headers.flat(), body }
}

/** The same as bytes, for a socket without a response object. */
export function refusalBytes(refusal: HttpRefusal): Buffer {
  let head = `HTTP/1.1 ${refusal.status} ${refusal.statusText}\r\n`
  for (let at = 0; at < refusal.headers.length; at += 2)
    head += `${refusal.headers[at]}: ${refusal.headers[at + 1]}\r\n`
  return Buffer.from(`${head}\r\n${refusal.body}`)
}
