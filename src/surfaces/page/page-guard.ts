/** Who may speak to the page: its own scripts, by name, origin, fetch site and token; everything else is refused before it is read. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type LoopbackRefusal, loopbackRefusal } from '../loopback/loopback-guard.ts'

/** The page loads nothing but its own two files, is put into no frame, and makes no markup from text. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "worker-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** The page of an answer link has one form and no script. */
const ANSWER_CSP = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Sets what every answer carries. */
export function setHeaders(response: ServerResponse, what: 'page' | 'answer' = 'page'): void {
  const headers = {
    'content-security-policy': what === 'page' ? CSP : ANSWER_CSP,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

/** Why a request for data is not taken. */
export function apiRefusal(request: IncomingMessage, port: number, token: string): LoopbackRefusal | null {
  const refusal = loopbackRefusal(request, port, token)
  if (refusal) return refusal
  const { origin } = request.headers
  if (request.headers['sec-fetch-site'] !== 'same-origin')
    return { status: 403, why: 'only the page itself is answered' }
  if (request.method === 'POST' && origin !== `http://${request.headers.host}`)
    return { status: 403, why: 'requests of other pages are not taken' }
  return null
}

/** Why the files of the page, which hold no data, are not given: a foreign name, a frame, another site's script. */
export function fileRefusal(request: IncomingMessage, port: number): LoopbackRefusal | null {
  const { host } = request.headers
  const site = request.headers['sec-fetch-site']
  const dest = request.headers['sec-fetch-dest']
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 403, why: 'this server is called 127.0.0.1' }
  // A worker would outlive this server, and answer for whatever has the port next.
  if (dest?.includes('worker') || request.headers['service-worker'] !== undefined)
    return { status: 403, why: 'the page has no workers' }
  // A link in a chat or a mail leads here from another site: that is a navigation of a person, and the files hold no data.
  const navigated = request.headers['sec-fetch-mode'] === 'navigate' && dest === 'document'
  if (site !== undefined && site !== 'none' && site !== 'same-origin' && !navigated)
    return { status: 403, why: 'the page is not part of another one' }
  return null
}
