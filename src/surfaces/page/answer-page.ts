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

interface Held extends AnswerLink {
  readonly until: number
}

const HOLDS_MS = 10 * 60_000
const MAX_LINKS = 400

/** Open links, stored as hashes. */
export class AnswerLinks {
  readonly #held = new Map<string, Held>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Creates a link's code. */
  make(link: AnswerLink): string {
    for (const [hash, { until }] of this.#held) if (until <= this.#now()) this.#held.delete(hash)
    for (const hash of [...this.#held.keys()].slice(0, Math.max(0, this.#held.size - MAX_LINKS + 1)))
      this.#held.delete(hash)
    const code = randomBytes(32).toString('base64url')
    this.#held.set(hashOf(code), { ...link, until: this.#now() + HOLDS_MS })
    return code
  }

  /** A link's question; null if unknown or expired. */
  look(code: string): AnswerLink | null {
    const held = this.#held.get(hashOf(code))
    return held && held.until > this.#now() ? { ask: held.ask, kind: held.kind } : null
  }

  /** Uses a link, together with all others of its question. */
  take(code: string): AnswerLink | null {
    const link = this.look(code)
    if (link) this.forget(link.ask)
    return link
  }

  /** Invalidates all links of a question. */
  forget(ask: string): void {
    for (const [hash, held] of this.#held) if (held.ask === ask) this.#held.delete(hash)
  }
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('base64url')
}

/** A page without script: its text and its button. */
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
