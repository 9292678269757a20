/** What `websearch` does: one request to the endpoint, and its results in a form that a model reads. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { hostsOf, refusedOutput } from '../web/http.ts'

const MAX_QUERY = 500
const MAX_RESULTS = 20
const MAX_BYTES = 2 * 1024 * 1024

export async function searchWeb(query: string, url: string, context: ToolContext): Promise<ToolOutput> {
  if (query.trim() === '' || query.length > MAX_QUERY) {
    throw new InputError(`"query" of websearch must have between 1 and ${MAX_QUERY} characters`)
  }
  const answer = await context.web.fetch({
    url,
    method: 'GET',
    headers: { accept: 'application/json', 'user-agent': 'cordon-websearch' },
    maxBytes: MAX_BYTES,
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
      status === 200 ? 'what is no list of results; a SearXNG must allow the format "json"' : `HTTP ${status}`
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
