/**
 * The `fetch` of clients that Cordon runs itself: judges each request, resolves once, dials the
 * judged address, never redirects.
 */

import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { parseUrl } from '../hosts/url.ts'
import type { Resolver } from '../system/dns.ts'
import { judgeOwn, targetOf } from './own-request.ts'
import { allowed, type EgressEvent, refused } from './route/event.ts'
import { createGate } from './route/gate.ts'
import { RouteAgent } from './route/route-agent.ts'
import type { EgressRules } from './route/rules.ts'
import type { Upstream } from './route/upstream.ts'
import { decoded } from './wire/decoding.ts'
import { DEFAULT_LIMITS } from './wire/limits.ts'
import type { EgressDenial } from './wire/refusal.ts'

export interface FetchLikeOptions {
  readonly rules: EgressRules
  readonly resolver: Resolver
  readonly upstream: Upstream
  /** Per message: a whole answer, or one event of a stream. */
  readonly messageBytes: number
  readonly onEvent?: (event: EgressEvent) => void
  readonly signal: AbortSignal
}

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A refusal by the host rules. */
export class FetchRefused extends Error {
  readonly refusal: EgressDenial

  constructor(refusal: EgressDenial) {
    super(`${refusal.message} [${refusal.code}]`)
    this.refusal = refusal
  }
}

/** Headers that Cordon writes itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
])
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304])

export function createFetchLike(options: FetchLikeOptions): FetchLike {
  const { rules, resolver, upstream, onEvent } = options
  return async (given, init = {}) => {
    const text = String(given)
    const parsed = parseUrl(text)
    if ('problem' in parsed) throw new FetchRefused({ code: 'url-invalid', message: parsed.problem })
    const { url } = parsed
    const target = targetOf(url)
    const method = (init.method ?? 'GET').toUpperCase()
    const facts = { command: rules.command, kind: 'fetch' as const, target, method, path: url.path }
    const signal = AbortSignal.any([options.signal, ...(init.signal ? [init.signal] : [])])
    const body = init.body === undefined || init.body === null ? undefined : Buffer.from(String(init.body))
    const headers = ['Accept-Encoding', 'gzip']
    for (const [name, value] of new Headers(init.headers)) if (!OWN_HEADERS.has(name)) headers.push(name, value)
    if (init.body instanceof URLSearchParams && !headers.includes('content-type'))
      headers.push('content-type', 'application/x-www-form-urlencoded;charset=UTF-8')
    const gate = createGate({ rules, resolver, parent: upstream.parent, signal })
    const agent = new RouteAgent(upstream, DEFAULT_LIMITS)
    try {
      const judged = await judgeOwn({ url, gate, agent, method, headers, body, signal })
      if ('refusal' in judged) {
        onEvent?.(refused(facts, judged.refusal))
        throw new FetchRefused(judged.refusal)
      }
      const incoming = await judged.send()
      onEvent?.(allowed({ ...facts, up: body?.length ?? 0, address: judged.address }))
      return responseOf(incoming, agent, options.messageBytes)
    } catch (error) {
      agent.destroy()
      throw error
    }
  }
}

function responseOf(incoming: IncomingMessage, agent: RouteAgent, most: number): Response {
  const status = incoming.statusCode ?? 0
  const headers = new Headers()
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
    if (!/^(?:content-encoding|content-length|transfer-encoding)$/i.test(incoming.rawHeaders[at]!))
      headers.append(incoming.rawHeaders[at]!, incoming.rawHeaders[at + 1]!)
  incoming.once('close', () => agent.destroy())
  if (BODILESS.has(status)) {
    incoming.resume()
    return new Response(null, { status, headers })
  }
  const plain = decoded(incoming, incoming.headers['content-encoding']) ?? incoming
  const isStream = incoming.headers['content-type']?.includes('text/event-stream') === true
  const buffered = plain.pipe(limited(most, isStream))
  plain.once('error', (error) => buffered.destroy(error))
  buffered.once('close', () => incoming.destroy())
  return new Response(webStream(buffered) as ConstructorParameters<typeof Response>[0], { status, headers })
}

/** Ends a body that exceeds the limit of one message; events of a stream are counted separately. */
function limited(most: number, isStream: boolean): Transform {
  let size = 0
  let last = ''
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      // The separator may be split.
      const text = isStream ? last + chunk.toString('latin1') : ''
      const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'))
      size = end < 0 ? size + chunk.length : Math.min(chunk.length, text.length - end)
      last = text.slice(-2)
      if (size > most) done(new Error(`a message of more than ${most} bytes`))
      else done(null, chunk)
    },
  })
}

function webStream(body: Readable): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value as Buffer))
    },
    cancel: () => void body.destroy(),
  })
}
