/** Declarations of the web tools. */

import { declareTool, defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { loose, type TextProperty, type TextsProperty, takes, text, texts } from '../input-schema.ts'
import type { Actions, Tool, ToolSpec } from '../tool.ts'

const websearchDeclaration = {
  name: 'websearch',
  description: 'Searches the web and gives titles, addresses and excerpts. Read a page with webfetch.',
  input: takes({ query: text('The search query.') }),
  labels: ['network'],
  hints: { title: 'Search the web', ...toolHints.looksOut },
} as const

/** Without an endpoint it is not offered. */
export const websearchSpec: ToolSpec = declareTool({ ...websearchDeclaration, actions: touchesNothing })

/** Searches with SearXNG or a compatible endpoint. */
export function websearchTool(endpoint: string): Tool {
  const urlFor = (query: string): string => {
    const url = new URL(endpoint)
    url.searchParams.set('q', query)
    url.searchParams.set('format', 'json')
    return url.href
  }
  return defineTool({
    ...websearchDeclaration,
    actions: ({ query }) => ({ url: urlFor(query), method: 'GET' }),
    run: async ({ query }, context) => (await import('../web/http.ts')).searchWeb(query, urlFor(query), context),
  })
}

const webUrl: { readonly url: TextProperty } = { url: text('http or https URL.') }

/** For decisions without a run. */
const standIns: { readonly resolved: TextsProperty; readonly hops: TextsProperty } = {
  resolved: texts('Addresses that stand in for DNS when a decision is only checked.'),
  hops: texts('Redirects that stand in for the wire when a decision is only checked.'),
}

interface WebInput {
  readonly url: string
  readonly method?: string | undefined
  readonly resolved?: readonly string[] | undefined
  readonly hops?: readonly string[] | undefined
}

function webActions({ url, method, resolved, hops }: WebInput): Actions {
  return {
    url,
    ...(method !== undefined && { method }),
    ...(resolved !== undefined && { resolved }),
    ...(hops !== undefined && { hops }),
  }
}

const runs = () => import('./runs.ts')

export const webTools: readonly Tool[] = [
  defineTool({
    name: 'webfetch',
    description: 'Fetches a page as Markdown.',
    input: takes(webUrl, standIns),
    labels: ['network'],
    hints: { title: 'Fetch a page', ...toolHints.looksOut },
    actions: webActions,
    run: async (input, context) => (await runs()).webfetch(input, context),
  }),
  defineTool({
    name: 'http',
    description: 'Makes an HTTP request.',
    input: takes(webUrl, { method: text('Method.'), headers: loose('Headers.'), body: text('Body.'), ...standIns }),
    labels: ['network'],
    hints: { title: 'Make an HTTP request', ...toolHints.runs },
    actions: webActions,
    run: async (input, context) => (await runs()).http(input, context),
  }),
]
