/** An answer link: looking at it shows the question and changes nothing, pressing its button answers, once. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { openAsks } from '../../questions/asks.ts'
import { visible } from '../../scan/visible-text.ts'
import { askText } from '../../session/cordon.ts'
import type { AnswerLinks } from './answer-links.ts'
import { answerOnPage } from './asks-view.ts'
import type { PageOptions } from './page-server.ts'

/** A page without a script: what it says, and the answer that its button gives. */
interface Said {
  readonly status: number
  readonly texts: readonly string[]
  readonly button?: 'once' | 'deny'
}

export interface LinkRequest {
  readonly code: string
  readonly links: AnswerLinks
  readonly port: number
  readonly options: PageOptions
}

/** Answers one request for a link. */
export async function answerByLink(
  request: IncomingMessage,
  response: ServerResponse,
  asked: LinkRequest,
): Promise<void> {
  const { status, texts, button } = await saidTo(request, asked)
  const shown = texts.map((text) => `<pre>${escaped(text)}</pre>`).join('')
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Cordon asks</title><h1>Cordon</h1>${shown}${button ? BUTTONS[button] : ''}</html>`
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(body)
}

async function saidTo(
  { method, headers }: IncomingMessage,
  { code, links, port, options }: LinkRequest,
): Promise<Said> {
  const { answerUrl } = options.notices
  const names = [`127.0.0.1:${port}`, `localhost:${port}`, ...(answerUrl === null ? [] : [new URL(answerUrl).host])]
  if (!names.includes(headers.host ?? '')) return { status: 403, texts: ['This server is not called that.'] }
  if (method !== 'GET' && method !== 'POST') return { status: 405, texts: ['Links are opened or pressed.'] }
  const link = method === 'POST' ? links.take(code) : links.look(code)
  if (!link)
    return { status: 410, texts: ['This link was used, or is too old, or never was one. Nothing was allowed by it.'] }
  if (method === 'POST') {
    const answered = await answerOnPage(options.machine, link, NO_CONSENT, 'link')
    if (answered.status === 'done') return { status: 200, texts: [`Answered: ${answered.said}.`] }
    return { status: 409, texts: [`Not this time: ${answered.why}.`] }
  }
  // Those who look at links before people do must not answer by it.
  const ask = openAsks(options.machine, Date.now()).find(({ id }) => id === link.ask)
  if (!ask) return { status: 410, texts: ['The question is gone: it was answered, or no longer waiting.'] }
  return { status: 200, texts: [visible(ask.project), askText(ask.view, { whole: true })], button: link.kind }
}

/** A link never does what needs consent. */
const NO_CONSENT = { take: () => 'a link answers once' }

const BUTTONS = {
  once: '<form method="post"><button>Yes, once</button></form>',
  deny: '<form method="post"><button>No</button></form>',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
