/** A streamed request for Cordon's own model calls: judged, resolved once, never redirected. */

import type { IncomingMessage } from 'node:http'
import { parseUrl } from '../hosts/url.ts'
import type { Resolver } from '../system/dns.ts'
import { createGate } from './route/gate.ts'
import { RouteAgent, type RoutedRequest } from './route/route-agent.ts'
import { type EgressRules, judgeRequest } from './route/rules.ts'
import { onUnanswered, type Upstream } from './route/upstream.ts'
import { decoded } from './wire/decoding.ts'
import { http } from './wire/http.ts'
import { DEFAULT_LIMITS } from './wire/limits.ts'
import type { EgressDenial } from './wire/refusal.ts'
import { authorityOf, type Target } from './wire/target.ts'

export interface StreamOptions {
  readonly rules: EgressRules
  readonly resolver: Resolver
  readonly upstream: Upstream
  readonly headers: Readonly<Record<string, string>>
  /** Null: a GET. */
  readonly body: string | null
  readonly signal: AbortSignal
}

export interface StreamedAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Throws the connection's error; leaving the loop early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Posts to a URL, or gets it. Redirects are returned, not followed: a key for one host must not go to the next.
 * Throws network errors.
 */
export async function postStreaming(
  text: string,
  options: StreamOptions,
): Promise<StreamedAnswer | { readonly refusal: EgressDenial }> {
  const parsed = parseUrl(text)
  if ('problem' in parsed) return { refusal: { code: 'url-invalid', message: parsed.problem } }
  const { url } = parsed
  const target: Target = { host: url.host, port: url.port, kind: url.kind }
  const { rules, resolver, signal } = options
  const admission = await createGate({ rules, resolver, parent: options.upstream.parent, signal }).admit(target)
  signal.throwIfAborted()
  if ('refusal' in admission) return { refusal: admission.refusal }
  const secure = url.scheme === 'https'
  const rawHeaders = [
    'Host',
    authorityOf(target, secure ? 443 : 80),
    ...Object.entries(options.headers).flat(),
    ...(options.body === null ? [] : ['Content-Length', String(Buffer.byteLength(options.body))]),
  ]
  const method = options.body === null ? 'GET' : 'POST'
  const path = url.href.slice(url.href.indexOf('/', url.href.indexOf('://') + 3))
  const narrowed = judgeRequest(admission.rules, target, { method, path, rawHeaders })
  if (narrowed !== null) return { refusal: narrowed }
  const agent = new RouteAgent(options.upstream, DEFAULT_LIMITS)
  const request: RoutedRequest = {
    agent,
    route: admission.route,
    secure,
    method,
    path,
    headers: rawHeaders,
    setHost: false,
    signal,
  }
  try {
    const incoming = await send(request, options.body ?? '')
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(incoming.headers)) headers[name] = [value].flat().join(', ')
    return { status: incoming.statusCode ?? 0, headers, body: bodyOf(incoming, agent) }
  } catch (error) {
    agent.destroy()
    signal.throwIfAborted()
    throw error
  }
}

function send(options: RoutedRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(options)
    request.once('error', reject)
    onUnanswered(request, reject)
    request.once('response', resolve)
    request.end(body)
  })
}

async function* bodyOf(incoming: IncomingMessage, agent: RouteAgent): AsyncGenerator<Uint8Array> {
  try {
    const body = decoded(incoming, incoming.headers['content-encoding']) ?? incoming
    for await (const bytes of body as AsyncIterable<Buffer>) yield bytes
  } finally {
    incoming.destroy()
    agent.destroy()
  }
}
