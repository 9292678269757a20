/** `webfetch`: a page as Markdown. */

import { htmlToMarkdown } from '../html/markdown.ts'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { hostsOf, refusedOutput } from './http.ts'
import { decodeBody, isTextual } from './web-text.ts'

const MAX_BYTES = 5 * 1024 * 1024
const ACCEPT = 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1'

export interface WebfetchInput {
  readonly url: string
}

export async function webfetch(input: WebfetchInput, context: ToolContext): Promise<ToolOutput> {
  const answer = await context.web.fetch({
    url: input.url,
    method: 'GET',
    headers: { accept: ACCEPT, 'user-agent': 'cordon-webfetch' },
    maxBytes: MAX_BYTES,
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
