/** Parses the usual form of a CONNECT request without an HTTP server. PURE. */

import type { RequestHead } from './request-head.ts'

export interface ConnectRequest {
  readonly head: RequestHead
  /** The length in bytes. */
  readonly used: number
}

/**
 * Only unambiguous lines: a token, a colon, a space, printable ASCII; at most as many as clients
 * send.
 */
const LONGEST = 2048
const PLAIN = /^CONNECT ([\w.:[\]-]{1,300}) HTTP\/1\.([01])\r\n((?:[\w-]{1,64}: ?[!-~](?:[ -~]*[!-~])?\r\n){0,16})\r\n/

/** Null for anything else: the strict parser distinguishes incomplete from broken heads. */
export function readConnect(bytes: Buffer): ConnectRequest | null {
  if (bytes[0] !== 0x43 || bytes[1] !== 0x4f) return null
  const text = bytes.toString('latin1', 0, LONGEST)
  const match = PLAIN.exec(text)
  if (match === null) return null
  const rawHeaders: string[] = []
  for (const line of match[3]!.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) rawHeaders.push(line.slice(0, colon), line.slice(colon + 1).trimStart())
  }
  const head: RequestHead = { method: 'CONNECT', url: match[1]!, httpVersion: `1.${match[2]}`, rawHeaders }
  return { head, used: match[0].length }
}
