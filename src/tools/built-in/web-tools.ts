/** The tools that fetch: what each takes, touches and can do. */

import { defineTool, toolHints } from '../define-tool.ts'
import { loose, takes, text } from '../input-schema.ts'
import type { Tool } from '../tool.ts'
import { standIns, webActions, webUrl } from '../web/web-input.ts'

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
