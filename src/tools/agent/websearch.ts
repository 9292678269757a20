/** `websearch`: asks the search endpoint of the person's configuration, under the host rules. */

import { declareTool, defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { takes, text } from '../input-schema.ts'
import type { Tool, ToolSpec } from '../tool.ts'

const declaration = {
  name: 'websearch',
  description: 'Searches the web and gives titles, addresses and excerpts. Read a page with webfetch.',
  input: takes({ query: text('What to look for.') }),
  labels: ['network'],
  hints: { title: 'Search the web', ...toolHints.looksOut },
} as const

/** Without an endpoint nothing is touched, and nothing is offered. */
export const websearchSpec: ToolSpec = declareTool({ ...declaration, actions: touchesNothing })

/** A tool for a SearXNG, or for what answers like one. */
export function websearchTool(endpoint: string): Tool {
  const urlFor = (query: string): string => {
    const url = new URL(endpoint)
    url.searchParams.set('q', query)
    url.searchParams.set('format', 'json')
    return url.href
  }
  return defineTool({
    ...declaration,
    actions: ({ query }) => ({ url: urlFor(query), method: 'GET' }),
    run: async ({ query }, context) => (await import('./search-web.ts')).searchWeb(query, urlFor(query), context),
  })
}
