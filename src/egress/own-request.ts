/** Requests of Cordon's own: judged, resolved once, sent to the judged address, and never redirected. */

import type { IncomingMessage } from 'node:http'
import { parseUrl, type UrlFacts } from '../hosts/url.ts'
import type { Resolver } from '../system/dns.ts'
import { createGate, type Gate } from './route/gate.ts'
import { RouteAgent, type RoutedRequest } from './route/route-agent.ts'
import { type EgressRules, judgeRequest } from './route/rules.ts'
import { onUnanswered, type Upstream } from './route/upstream.ts'
import { decoded } from './wire/decoding.ts'
import { http } from './wire/http.ts'
import { DEFAULT_LIMITS } from './wire/limits.ts'
import type { EgressDenial } from './wire/refusal.ts'
import { authorityOf, type Target } from './wire/target.ts'

export interface OwnRequest {
  readonly url: UrlFacts
  readonly gate: Gate
  readonly agent: RouteAgent
  readonly method: string
  /** Names and values in turn, without those that are written here. */
  readonly headers: readonly string[]
  readonly body: string | Uint8Array | undefined
  readonly signal: AbortSignal
  /** A last judgement of what is about to be sent. */
  readonly limit?: (sent: SentRequest) => Promise<EgressDenial | null>
}

export interface SentRequest {
  readonly target: Target
  readonly path: string
  readonly rawHeaders: readonly string[]
  readonly rules: EgressRules
}

/** A request that may be sent. */
interface JudgedRequest {
  /** The address that it goes to; null through a parent proxy. */
  readonly address: string | null
  /** Throws network errors. */
  readonly send: () => Promise<IncomingMessage>
}

/** The host and port of an address. */
export function targetOf({ host, port, kind }: UrlFacts): Target {
  return { host, port, kind }
}

/** Judges a request, with everything that is to be sent. */
export async function judgeOwn(request: OwnRequest): Promise<JudgedRequest | { readonly refusal: EgressDenial }> {
  const { url, gate, agent, method, headers, body, signal } = request
  const target = targetOf(url)
  const admission = await gate.admit(target)
  if ('refusal' in admission) return admission
  const secure = url.scheme === 'https' || url.scheme === 'wss'
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
  const rawHeaders = ['Host', authorityOf(target, secure ? 443 : 80), ...headers, ...length]
  const path = url.href.slice(url.href.indexOf('/', url.href.indexOf('://') + 3))
  const { rules, route } = admission
  const refusal =
    judgeRequest(rules, target, { method, path, rawHeaders }) ??
    (await request.limit?.({ target, path, rawHeaders, rules })) ??
    null
  if (refusal !== null) return { refusal }
  const options: RoutedRequest = { agent, route, secure, method, path, headers: rawHeaders, setHost: false, signal }
  const send = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = http.request(options)
      outgoing.once('error', reject)
      onUnanswered(outgoing, reject)
      outgoing.once('response', resolve)
      outgoing.end(body)
    })
  return { address: route.addresses[0] ?? null, send }
}

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
  { rules, resolver, upstream, headers, body, signal }: StreamOptions,
): Promise<StreamedAnswer | { readonly refusal: EgressDenial }> {
  const parsed = parseUrl(text)
  if ('problem' in parsed) return { refusal: { code: 'url-invalid', message: parsed.problem } }
  const agent = new RouteAgent(upstream, DEFAULT_LIMITS)
  try {
    const judged = await judgeOwn({
      url: parsed.url,
      gate: createGate({ rules, resolver, parent: upstream.parent, signal }),
      agent,
      method: body === null ? 'GET' : 'POST',
      headers: Object.entries(headers).flat(),
      body: body ?? undefined,
      signal,
    })
    signal.throwIfAborted()
    if ('refusal' in judged) {
      agent.destroy()
      return judged
    }
    const incoming = await judged.send()
    return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: bodyOf(incoming, agent) }
  } catch (error) {
    agent.destroy()
    signal.throwIfAborted()
    throw error
  }
}

/** Lower-case names; repeated headers joined as in Node. */
export function headersOf(incoming: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(incoming.headers)) headers[name] = [value].flat().join(', ')
  return headers
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
