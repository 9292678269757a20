/** The web tools: `http`, `webfetch` and `websearch` under the egress rules. */

import { looksLikeText } from '../files/text-encoding.ts'
import { htmlToMarkdown } from '../html/markdown.ts'
import type { LooseObject } from '../input-schema.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'

const MAX_QUERY = 500
const MAX_RESULTS = 20
const MAX_RESULT_BYTES = 2 * 1024 * 1024

export async function searchWeb(query: string, url: string, context: ToolContext): Promise<ToolOutput> {
  if (query.trim() === '' || query.length > MAX_QUERY) {
    throw new InputError(`"query" of websearch must have between 1 and ${MAX_QUERY} characters`)
  }
  const answer = await context.web.fetch({
    url,
    method: 'GET',
    headers: { accept: 'application/json', 'user-agent': 'cordon-websearch' },
    maxBytes: MAX_RESULT_BYTES,
    timeoutMs: context.limits.timeoutMs,
    signal: context.signal,
  })
  context.signal.throwIfAborted()
  if ('refused' in answer) return refusedOutput(answer.refused, answer.url)
  const { status, body, finalUrl, hops } = answer.response
  const hosts = hostsOf([...hops, finalUrl])
  const found = status === 200 ? resultsIn(body) : null
  if (found === null) {
    const said =
      status === 200
        ? 'something other than a list of results; a SearXNG must allow the format "json"'
        : `HTTP ${status}`
    return { text: `The search endpoint answered ${said}.`, hosts, isError: true }
  }
  const lines = found.map(({ title, url, content }, index) => `${index + 1}. ${title}\n   ${url}\n   ${content}`)
  return { text: lines.join('\n') || 'Nothing was found.', data: { results: found }, hosts }
}

interface SearchResult {
  readonly title: string
  readonly url: string
  readonly content: string
}

function resultsIn(body: Uint8Array): readonly SearchResult[] | null {
  try {
    const { results } = JSON.parse(new TextDecoder().decode(body)) as { results?: unknown }
    if (!Array.isArray(results)) return null
    const line = (value: unknown) => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim().slice(0, 500) : '')
    return results.slice(0, MAX_RESULTS).map((one: Record<string, unknown>) => ({
      title: line(one.title),
      url: line(one.url),
      content: line(one.content ?? one.snippet ?? one.description),
    }))
  } catch {
    return null
  }
}

const MAX_PAGE_BYTES = 5 * 1024 * 1024
const ACCEPT = 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1'

interface WebfetchInput {
  readonly url: string
}

export async function webfetch(input: WebfetchInput, context: ToolContext): Promise<ToolOutput> {
  const answer = await context.web.fetch({
    url: input.url,
    method: 'GET',
    headers: { accept: ACCEPT, 'user-agent': 'cordon-webfetch' },
    maxBytes: MAX_PAGE_BYTES,
    timeoutMs: context.limits.timeoutMs,
    signal: context.signal,
  })
  context.signal.throwIfAborted()
  if ('refused' in answer) return refusedOutput(answer.refused, answer.url)
  const { response } = answer
  const { finalUrl, status } = response
  const hosts = hostsOf([...response.hops, finalUrl])
  const type = response.headers['content-type'] ?? ''
  if (!isTextual(type, response.body)) {
    const text = `[${finalUrl} is ${type || 'of unknown type'} (${response.body.length} bytes), not a page]`
    return { text, data: { url: finalUrl, status, type }, hosts, isError: true }
  }
  const body = decodeBody(type, response.body)
  const isHtml = /html/i.test(type) || (type === '' && /^\s*<(!doctype|html)/i.test(body.slice(0, 1000)))
  const page = isHtml ? htmlToMarkdown(body, finalUrl) : { title: null, markdown: body }
  const limit = Math.min(context.limits.maxOutputBytes, 200_000)
  const cut = page.markdown.length > limit || response.truncated
  const shown = page.markdown.slice(0, limit).toWellFormed()
  const head = [
    ...(page.title ? [`# ${page.title}`] : []),
    `<${finalUrl}>`,
    ...(status >= 400 ? [`[HTTP ${status} ${response.statusText}]`] : []),
  ]
  return {
    text: [...head, '', shown, ...(cut ? ['[the rest of the page was cut]'] : [])].join('\n'),
    data: { url: finalUrl, status, title: page.title, markdown: shown },
    hosts,
    ...(status >= 400 && { isError: true }),
    ...(cut && {
      truncated: {
        shown: shown.length,
        total: page.markdown.length,
        unit: 'characters',
        remedy: 'fetch a more specific page, or use http with a Range header',
      },
    }),
  }
}

const TEXTUAL = /^(text\/|application\/(json|xml|javascript|x-www-form-urlencoded|xhtml\+xml|[\w.+-]+\+(json|xml)))/i

/** Text by its type, or by its bytes if the type is unclear. */
export function isTextual(contentType: string, body: Uint8Array): boolean {
  if (TEXTUAL.test(contentType)) return true
  return (contentType === '' || contentType.startsWith('application/octet-stream')) && looksLikeText(body)
}

/** Decodes by the declared charset, otherwise as UTF-8. */
export function decodeBody(contentType: string, body: Uint8Array): string {
  const charset = /charset=["']?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? metaCharset(body) ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(body)
  } catch {
    return new TextDecoder('utf-8').decode(body)
  }
}

function metaCharset(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 1024)).toString('latin1')
  return /<meta[^>]{0,200}charset=["']?([\w.:-]{1,40})/i.exec(start)?.[1]
}

const METHOD = /^[A-Z]{1,20}$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8000}$/
const MAX_HEADERS = 64
const MAX_BYTES = 4 * 1024 * 1024
/** Headers worth showing; the rest is in `data`. */
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
  if (entries.length > MAX_HEADERS) throw new InputError(`"headers" of http takes at most ${MAX_HEADERS} headers`)
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name))
      throw new InputError(`"headers" of http: ${JSON.stringify(name.slice(0, 60))} is not a header name`)
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw new InputError(`"headers" of http: the value of ${name} must be a text without line breaks`)
    }
  }
  return Object.fromEntries(entries) as Record<string, string>
}
