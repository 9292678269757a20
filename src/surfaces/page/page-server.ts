/** The page's server on loopback: static files, the API, and answer links. */

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openAsks } from '../../questions/asks.ts'
import { isFirstPage, registerPage } from '../../questions/open-pages.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import { visible, visibleLines } from '../../scan/visible-text.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import { type LoopbackRefusal, loopbackRefusal } from '../loopback/loopback-guard.ts'
import { AnswerLinks, answerByLink } from './answer-page.ts'
import { type PageParts, reads, writes } from './api.ts'
import { streamLive } from './live-feed.ts'
import { type NoticeSettings, noticeOf, notifyDesktop, postNotice, webhookKey } from './notifier.ts'

/** Only its own files, no frames, no markup from text. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "worker-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** An answer link's page has a form and no script. */
const ANSWER_CSP = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Headers of every answer. */
function setHeaders(response: ServerResponse, what: 'page' | 'answer' = 'page'): void {
  const headers = {
    'content-security-policy': what === 'page' ? CSP : ANSWER_CSP,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}

/** Why an API request is refused. */
function apiRefusal(request: IncomingMessage, port: number, token: string): LoopbackRefusal | null {
  const refusal = loopbackRefusal(request, port, token)
  if (refusal) return refusal
  const { origin } = request.headers
  if (request.headers['sec-fetch-site'] !== 'same-origin')
    return { status: 403, why: 'only the page itself is answered' }
  if (request.method === 'POST' && origin !== `http://${request.headers.host}`)
    return { status: 403, why: 'requests from other pages are refused' }
  return null
}

/** Why a file request is refused: foreign name, frame, another site's script. */
function fileRefusal(request: IncomingMessage, port: number): LoopbackRefusal | null {
  const { host } = request.headers
  const site = request.headers['sec-fetch-site']
  const dest = request.headers['sec-fetch-dest']
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 403, why: 'this server is called 127.0.0.1' }
  // A worker would outlive this server and answer for the next user of the port.
  if (dest?.includes('worker') || request.headers['service-worker'] !== undefined)
    return { status: 403, why: 'the page has no workers' }
  // Links in chats and mails navigate here from other sites; the files contain no data.
  const navigated = request.headers['sec-fetch-mode'] === 'navigate' && dest === 'document'
  if (site !== undefined && site !== 'none' && site !== 'same-origin' && !navigated)
    return { status: 403, why: 'the page is not part of another one' }
  return null
}

export interface PageOptions extends PageParts {
  readonly port: number
  readonly notices: NoticeSettings
  /** Prints warnings where the page was started. */
  readonly warn: (text: string) => void
}

export interface PageServer {
  /** Contains the token, which allows answering. */
  readonly link: string
  readonly port: number
  close(): Promise<void>
}

const FILES: Readonly<Record<string, readonly [name: string, type: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/icon.svg': ['icon.svg', 'image/svg+xml'],
}

const MAX_BODY = 64 * 1024
/** Limit of open streams; a page has one. */
const MAX_STREAMS = 8
/** Limit of connections; a browser opens six. */
const MAX_CONNECTIONS = 64
const CHECKED_MS = 2000
const LOOK_MS = 700

/** Serves on 127.0.0.1; port 0 picks a free one. */
export async function servePage(options: PageOptions): Promise<PageServer> {
  const folder = pageFolder()
  const token = randomBytes(32).toString('base64url')
  const links = new AnswerLinks()
  const ended = new AbortController()
  let streams = 0
  const http = createServer({ connectionsCheckingInterval: CHECKED_MS }, (request, response) => {
    void handle(request, response).catch((error: unknown) => {
      options.warn(`the page: ${messageOf(error)}`)
      if (response.headersSent) response.destroy()
      else send(response, 500, { why: shownText(messageOf(error)) })
    })
  })
  http.headersTimeout = 10_000
  http.requestTimeout = 30_000
  http.maxConnections = MAX_CONNECTIONS

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1')
    if (!url) {
      setHeaders(response)
      return send(response, 400, { why: 'that is not an address' })
    }
    const { pathname } = url
    const code = /\/answer\/([\w-]{43})$/.exec(pathname)?.[1]
    if (code !== undefined) {
      setHeaders(response, 'answer')
      return answerByLink(request, response, { code, links, port, options })
    }
    setHeaders(response)
    if (!pathname.startsWith('/api/')) return serveFile(request, response, pathname)
    const refusal = apiRefusal(request, port, token)
    if (refusal) return send(response, refusal.status, { why: refusal.why })
    if (pathname === '/api/live' && request.method === 'GET') {
      if (streams >= MAX_STREAMS) return send(response, 503, { why: 'too many pages are open' })
      streams++
      try {
        return await streamLive(options.machine, response, ended.signal)
      } finally {
        streams--
      }
    }
    const call = { GET: reads, POST: writes }[request.method ?? '']?.[pathname]
    if (!call) return send(response, 404, { why: 'there is nothing here' })
    const given = request.method === 'GET' ? Object.fromEntries(url.searchParams) : await readBody(request)
    if (!given) return send(response, 400, { why: 'that is not a JSON object of reasonable size' })
    const answer = await call(options, given)
    if (pathname === '/api/answer' && answer.status === 200) links.forget(String(given.ask))
    if (answer.text === undefined) send(response, answer.status, answer.body)
    else response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(answer.text)
  }

  function serveFile(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    const refusal = fileRefusal(request, port)
    const file = Object.hasOwn(FILES, pathname) ? FILES[pathname] : undefined
    if (refusal) send(response, refusal.status, { why: refusal.why })
    else if (!file || request.method !== 'GET') send(response, 404, { why: 'there is nothing here' })
    else response.writeHead(200, { 'content-type': file[1] }).end(readFileSync(join(folder, file[0])))
  }

  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(options.port, '127.0.0.1', resolve)
  })
  const { port } = http.address() as AddressInfo
  const unregister = registerPage(options.machine)
  const stop = notifyOfAsks(options, links, port)
  return {
    link: `http://127.0.0.1:${port}/#t=${token}`,
    port,
    close: async () => {
      stop()
      ended.abort(new Error('the page ends'))
      unregister()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

/** Sends notices while this page is the first open one. */
function notifyOfAsks({ machine, notices, warn }: PageOptions, links: AnswerLinks, port: number): () => void {
  const known = new Set(openAsks(machine, Date.now()).map(({ id }) => id))
  const look = () => {
    const open = openAsks(machine, Date.now())
    const fresh = open.filter(({ id }) => !known.has(id))
    known.clear()
    for (const { id } of open) known.add(id)
    if (fresh.length === 0 || !isFirstPage(machine)) return
    for (const ask of fresh) {
      const notice = noticeOf(ask, links, notices.answerUrl ?? `http://127.0.0.1:${port}`)
      if (notices.desktop) notifyDesktop(notice, machine.env)
      if (notices.webhook === null) continue
      void postNotice(notice, notices, webhookKey(machine)).then((problem) => problem !== null && warn(problem))
    }
  }
  const timer = setInterval(() => {
    try {
      look()
    } catch (error) {
      warn(messageOf(error))
    }
  }, LOOK_MS)
  return () => clearInterval(timer)
}

/** The page's files: beside the bundle, the library, or in a checkout's build. */
function pageFolder(): string {
  const places = ['../page', '../../../page', '../../../dist/page']
  const found = places
    .map((place) => join(import.meta.dirname, place))
    .find((path) => existsSync(join(path, 'page.js')))
  if (found) return found
  throw new Fault('no-page', 'the page is not built', { remedy: 'Run npm run build.' })
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>> | null> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return null
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) return null
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  const close = status >= 400 ? { connection: 'close' } : {}
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...close })
    .end(JSON.stringify(shown(body)))
}

const redactor = createRedactor()

/** Longer texts are cut; the record has them. */
const MAX_TEXT = 20_000

/** A text on one line. */
function shownText(text: string): string {
  return cut(visible(redactor.redact(text.slice(0, 2 * MAX_TEXT))))
}

/** A text of several lines. */
function shownLines(text: string): string {
  return cut(visibleLines(redactor.redact(text.slice(0, 2 * MAX_TEXT))))
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text
}

/** Escapes every text and name in a value. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownLines(value)
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [shownText(name), shown(part)]))
}
