/** `http`: one request under the egress rules, with its answer as it came. */

import type { LooseObject } from '../input-schema.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { decodeBody, isTextual } from './web-text.ts'

const METHOD = /^[A-Z]{1,20}$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8000}$/
const MAX_HEADERS = 64
const MAX_BYTES = 4 * 1024 * 1024
/** What a model has use for; the rest is in `data`. */
const SHOWN_HEADERS: readonly string[] = ['content-type', 'content-length', 'location', 'etag', 'retry-after', 'link']

export interface HttpInput {
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: LooseObject | undefined
  readonly body?: string | undefined
}

export async function http(input: HttpInput, context: ToolContext): Promise<ToolOutput> {
  const method = (input.method ?? 'GET').toUpperCase()
  if (!METHOD.test(method)) throw new InputError('"method" of http must be a word such as GET or POST')
  const { body } = input
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    throw new InputError(`a ${method} request has no body; use POST or PUT, or leave "body" out`)
  }
  const answer = await context.web.fetch({
    url: input.url,
    method,
    headers: parseHeaders(input.headers),
    ...(body !== undefined && { body }),
    maxBytes: MAX_BYTES,
    timeoutMs: context.limits.timeoutMs,
    signal: context.signal,
  })
  context.signal.throwIfAborted()
  if ('refused' in answer) return refusedOutput(answer.refused, answer.url)
  const { response } = answer
  const type = response.headers['content-type'] ?? ''
  const content = isTextual(type, response.body) ? decodeBody(type, response.body) : null
  const limit = context.limits.maxOutputBytes
  const cut = content !== null && content.length > limit
  const shownBody =
    content === null
      ? `[${response.body.length} bytes of ${type || 'unknown type'}]`
      : content.slice(0, limit).toWellFormed()
  const headers = SHOWN_HEADERS.flatMap((name) =>
    response.headers[name] ? [`${name}: ${response.headers[name]}`] : [],
  )
  const notes = cut || response.truncated ? ['[the body was cut]'] : []
  return {
    text: [`HTTP ${response.status} ${response.statusText}`.trimEnd(), ...headers, '', shownBody, ...notes].join('\n'),
    data: {
      status: response.status,
      headers: response.headers,
      body: content,
      url: response.finalUrl,
      hops: response.hops,
    },
    hosts: hostsOf([...response.hops, response.finalUrl]),
    ...(response.status >= 400 && { isError: true }),
    ...((cut || response.truncated) && {
      truncated: { shown: shownBody.length, total: null, unit: 'characters', remedy: 'ask for a part of it' },
    }),
  }
}

/** A refusal of the egress rules as a tool's answer. */
export function refusedOutput(refused: string, url: string): ToolOutput {
  return {
    text: `The request to ${url} was refused: ${refused}`,
    data: { refused, url },
    isError: true,
    hosts: hostsOf([url]),
  }
}

export function hostsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => (URL.canParse(url) ? [new URL(url).host] : [])))]
}

function parseHeaders(given: LooseObject = {}): Record<string, string> {
  const entries = Object.entries(given)
  if (entries.length > MAX_HEADERS) throw new InputError(`"headers" of http holds at most ${MAX_HEADERS} headers`)
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name))
      throw new InputError(`"headers" of http: ${JSON.stringify(name.slice(0, 60))} is not a header name`)
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw new InputError(`"headers" of http: the value of ${name} must be a text without line breaks`)
    }
  }
  return Object.fromEntries(entries) as Record<string, string>
}
