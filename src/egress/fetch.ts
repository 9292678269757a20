/**
 * A fetch for Cordon's own tools: parses and judges every hop, resolves once and dials the judged
 * address.
 */

import type { IncomingMessage } from 'node:http'
import { parseUrl, type UrlFacts } from '../hosts/url.ts'
import type { Resolver } from '../system/dns.ts'
import { headersOf, judgeOwn, type SentRequest, targetOf } from './own-request.ts'
import { allowed, type EgressEvent, refused } from './route/event.ts'
import { type AskHost, createGate, type Gate } from './route/gate.ts'
import { RouteAgent } from './route/route-agent.ts'
import type { EgressRules } from './route/rules.ts'
import { timeoutError, type Upstream, upstreamRefusal } from './route/upstream.ts'
import { Budget, type HostUsage, headBytes } from './route/usage.ts'
import { decoded } from './wire/decoding.ts'
import { DEFAULT_LIMITS } from './wire/limits.ts'
import type { EgressDenial } from './wire/refusal.ts'

export interface GuardedFetchOptions {
  /** `command` names the tool in events; `allowed` of null leaves public hosts open. */
  readonly rules: EgressRules
  readonly resolver: Resolver
  readonly upstream: Upstream
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Of the decoded body; the rest is discarded and `truncated` set. */
  readonly maxBytes?: number
  readonly maxHops?: number
  /** In total, with redirects. */
  readonly milliseconds?: number
  readonly ask?: AskHost
  /** The session's traffic to hosts with limits. */
  readonly usage?: HostUsage
  readonly onEvent?: (event: EgressEvent) => void
  readonly signal?: AbortSignal
}

export interface GuardedResponse {
  readonly status: number
  readonly statusText: string
  /** Lower-case names; repeated headers joined as in Node. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly truncated: boolean
  /** The source of the answer, and the URLs before it. */
  readonly url: string
  readonly hops: readonly string[]
  /** Whether a redirect left TLS. */
  readonly downgraded: boolean
}

export type GuardedFetch =
  | { readonly response: GuardedResponse }
  | { readonly refusal: EgressDenial; readonly url: string; readonly hops: readonly string[] }

interface Hop {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_BYTES = 8 * 1024 * 1024
const MAX_HOPS = 10
const MILLISECONDS = 60_000
/**
 * Headers that follow a redirect to another origin; any other may be a credential for the first.
 */
const FOLLOWING: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])
/** Headers that the proxy writes itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'upgrade',
  'te',
])

/**
 * Fetches a URL under host rules and follows redirects, each judged again. Never throws for network
 * errors.
 */
export async function fetchGuarded(text: string, options: GuardedFetchOptions): Promise<GuardedFetch> {
  const deadline = AbortSignal.timeout(options.milliseconds ?? MILLISECONDS)
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
  const { rules, resolver } = options
  const gate = createGate({ rules, resolver, parent: options.upstream.parent, ask: options.ask, signal })
  const agent = new RouteAgent(options.upstream, DEFAULT_LIMITS)
  try {
    return await follow(text, options, gate, agent, signal)
  } finally {
    agent.destroy()
  }
}

async function follow(
  text: string,
  options: GuardedFetchOptions,
  gate: Gate,
  agent: RouteAgent,
  signal: AbortSignal,
): Promise<GuardedFetch> {
  const hops: string[] = []
  let downgraded = false
  let previous: UrlFacts | undefined
  let next = text
  let hop: Hop = { method: (options.method ?? 'GET').toUpperCase(), headers: options.headers ?? {}, body: options.body }
  for (;;) {
    const parsed = parseUrl(next, previous)
    if ('problem' in parsed) return { refusal: { code: 'url-invalid', message: parsed.problem }, url: next, hops }
    const { url } = parsed
    if (hops.length > (options.maxHops ?? MAX_HOPS)) {
      return {
        refusal: { code: 'too-many-hops', message: `more than ${hops.length - 1} redirects` },
        url: url.href,
        hops,
      }
    }
    if (previous !== undefined) {
      downgraded ||= previous.scheme === 'https' && url.scheme !== 'https'
      if (originOf(previous) !== originOf(url)) hop = { ...hop, headers: followingHeaders(hop.headers) }
    }
    const answer = await visit(url, hop, options, gate, agent, signal)
    if ('refusal' in answer) return { refusal: answer.refusal, url: url.href, hops }
    const location = answer.headers.location
    if (!REDIRECTS.has(answer.status) || location === undefined) {
      return { response: { ...answer, url: url.href, hops, downgraded } }
    }
    hops.push(url.href)
    if (answer.status === 303 || (answer.status !== 307 && answer.status !== 308 && hop.method === 'POST')) {
      hop = { method: hop.method === 'HEAD' ? 'HEAD' : 'GET', headers: hop.headers, body: undefined }
    }
    previous = url
    next = location
  }
}

type Answer = Omit<GuardedResponse, 'url' | 'hops' | 'downgraded'>

async function visit(
  url: UrlFacts,
  hop: Hop,
  options: GuardedFetchOptions,
  gate: Gate,
  agent: RouteAgent,
  signal: AbortSignal,
): Promise<Answer | { readonly refusal: EgressDenial }> {
  const started = performance.now()
  const target = targetOf(url)
  const { method, body } = hop
  const facts = { command: options.rules.command, kind: 'fetch' as const, target, method, path: url.path }
  const refuse = (refusal: EgressDenial) => {
    options.onEvent?.(refused({ ...facts, milliseconds: performance.now() - started }, refusal))
    return { refusal }
  }
  const limit = async ({ path, rawHeaders, rules }: SentRequest): Promise<EgressDenial | null> => {
    const { usage, ask } = options
    const budget = usage ? Budget.of({ usage, rules, target, ask, signal }) : null
    const sent = headBytes(method, path, rawHeaders) + (body === undefined ? 0 : Buffer.byteLength(body))
    return (await budget?.take(1, sent)) ?? null
  }
  const judged = await judgeOwn({ url, gate, agent, method, headers: headersFor(hop), body, signal, limit })
  if ('refusal' in judged) return refuse(judged.refusal)
  const { address } = judged
  try {
    const incoming = await judged.send()
    const { bytes, truncated } = await collect(incoming, options.maxBytes ?? MAX_BYTES)
    const { statusCode: status = 0, statusMessage: statusText = '' } = incoming
    options.onEvent?.(allowed({ ...facts, address, down: bytes.length, milliseconds: performance.now() - started }))
    return { status, statusText, headers: headersOf(incoming), body: bytes, truncated }
  } catch (error) {
    return refuse(upstreamRefusal(signal.aborted ? timeoutError() : error, target))
  }
}

function headersFor(hop: Hop): readonly string[] {
  const own = Object.entries(hop.headers).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()))
  return [...own.flat(), 'Accept-Encoding', 'gzip, deflate, br']
}

function collect(incoming: IncomingMessage, maxBytes: number): Promise<{ bytes: Buffer; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    // An unreadable encoding is passed on unchanged.
    const body = decoded(incoming, incoming.headers['content-encoding']) ?? incoming
    const parts: Buffer[] = []
    let length = 0
    const finish = (truncated: boolean) => {
      resolve({ bytes: Buffer.concat(parts).subarray(0, maxBytes), truncated })
      incoming.destroy()
    }
    incoming.on('error', reject)
    body.on('error', reject)
    body.on('data', (chunk: Buffer) => {
      parts.push(chunk)
      length += chunk.length
      // Counted after decompression, against bombs.
      if (length > maxBytes) finish(true)
    })
    body.once('end', () => finish(false))
  })
}

function originOf(url: UrlFacts): string {
  return `${url.scheme}|${url.host}|${url.port}`
}

function followingHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => FOLLOWING.has(name.toLowerCase())))
}
