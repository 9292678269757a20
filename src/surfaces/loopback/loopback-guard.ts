/** A server on loopback is for the programs of its user: a page in the browser must not reach it, by origin or by name. */

import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface LoopbackRefusal {
  readonly status: 401 | 403
  readonly why: string
}

/** Why a request is not taken: a foreign host name (one that was bound again), a foreign origin, or no token. */
export function loopbackRefusal(request: IncomingMessage, port: number, token: string): LoopbackRefusal | null {
  const names = [`127.0.0.1:${port}`, `localhost:${port}`]
  const { origin, host, authorization } = request.headers
  if (!names.includes(host ?? '')) return { status: 403, why: 'this server is called 127.0.0.1' }
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`)) {
    return { status: 403, why: 'requests from web pages are refused' }
  }
  return isToken(authorization, token) ? null : { status: 401, why: 'a bearer token is needed' }
}

function isToken(given: string | undefined, token: string): boolean {
  const wanted = Buffer.from(`Bearer ${token}`)
  const found = Buffer.from(given ?? '')
  return found.length === wanted.length && timingSafeEqual(found, wanted)
}
