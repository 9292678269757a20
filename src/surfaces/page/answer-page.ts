/** Answer links: opening one shows the question, its button answers once. */

import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { openAsks } from '../../questions/asks.ts'
import { visible } from '../../scan/visible-text.ts'
import { askText } from '../../session/cordon.ts'
import { answerOnPage } from './asks-view.ts'
import type { PageOptions } from './page-server.ts'

interface AnswerLink {
  readonly ask: string
  readonly kind: 'once' | 'deny'
}

interface StoredLink extends AnswerLink {
  readonly until: number
}

const VALID_MS = 10 * 60_000
const MAX_LINKS = 400

/** Open links, stored as hashes. */
export class AnswerLinks {
  readonly #links = new Map<string, StoredLink>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Creates a link's code. */
  make(link: AnswerLink): string {
    for (const [hash, { until }] of this.#links) if (until <= this.#now()) this.#links.delete(hash)
    for (const hash of [...this.#links.keys()].slice(0, Math.max(0, this.#links.size - MAX_LINKS + 1)))
      this.#links.delete(hash)
    const code = randomBytes(32).toString('base64url')
    this.#links.set(hashOf(code), { ...link, until: this.#now() + VALID_MS })
    return code
  }

  /** A link's question; null if unknown or expired. */
  look(code: string): AnswerLink | null {
    const stored = this.#links.get(hashOf(code))
    return stored && stored.until > this.#now() ? { ask: stored.ask, kind: stored.kind } : null
  }

  /** Uses a link, together with all others of its question. */
  take(code: string): AnswerLink | null {
    const link = this.look(code)
    if (link) this.forget(link.ask)
    return link
  }

  /** Invalidates all links of a question. */
  forget(ask: string): void {
    for (const [hash, stored] of this.#links) if (stored.ask === ask) this.#links.delete(hash)
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/** A page without script: its text and its button. */
interface PageText {
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

export async function answerByLink(
  request: IncomingMessage,
  response: ServerResponse,
  asked: LinkRequest,
): Promise<void> {
  const { status, texts, button } = await pageFor(request, asked)
  const shown = texts.map((text) => `<pre>${escaped(text)}</pre>`).join('')
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Cordon asks</title><h1>Cordon</h1>${shown}${button ? BUTTONS[button] : ''}</html>`
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' }).end(body)
}

async function pageFor(
  { method, headers }: IncomingMessage,
  { code, links, port, options }: LinkRequest,
): Promise<PageText> {
  const { answerUrl } = options.notices
  const names = [`127.0.0.1:${port}`, `localhost:${port}`, ...(answerUrl === null ? [] : [new URL(answerUrl).host])]
  if (!names.includes(headers.host ?? '')) return { status: 403, texts: ['This server has another name.'] }
  if (method !== 'GET' && method !== 'POST') return { status: 405, texts: ['A link takes GET and POST.'] }
  const link = method === 'POST' ? links.take(code) : links.look(code)
  if (!link) return { status: 410, texts: ['This link was used, has expired or is invalid. It allowed nothing.'] }
  if (method === 'POST') {
    const answered = await answerOnPage(options.machine, link, NO_CONSENT, 'link')
    if (answered.status === 'done') return { status: 200, texts: [`Answered: ${answered.said}.`] }
    return { status: 409, texts: [`Not this time: ${answered.why}.`] }
  }
  // Link scanners open links before people do, so opening must not answer.
  const ask = openAsks(options.machine, Date.now()).find(({ id }) => id === link.ask)
  if (!ask) return { status: 410, texts: ['The question is gone: it was answered, or no longer waiting.'] }
  return { status: 200, texts: [visible(ask.project), askText(ask.view, { whole: true })], button: link.kind }
}

/** A link never does what needs a code. */
const NO_CONSENT = { take: () => 'a link answers once' }

const BUTTONS = {
  once: '<form method="post"><button>Yes, once</button></form>',
  deny: '<form method="post"><button>No</button></form>',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
