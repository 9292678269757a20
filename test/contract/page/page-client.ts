/** Speaks to a page as its own script does, from its link alone. */

import { type IncomingHttpHeaders, request } from 'node:http'
import type { ShownAsk } from '../../../src/surfaces/page/asks-view.ts'
import { PATIENCE_MS } from '../../until.ts'

export interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string
}

export interface Got {
  readonly status: number
  readonly text: string
  readonly headers: IncomingHttpHeaders
}

/** The page behind a link. */
export class PageClient {
  readonly port: number
  readonly token: string

  constructor(link: string) {
    const url = new URL(link)
    this.port = Number(url.port)
    this.token = url.hash.slice('#t='.length)
  }

  /** Sends what the page itself would send, but for what is changed. */
  send({ path = '/api/about', method = 'GET', headers = {}, body }: Sent = {}): Promise<Got> {
    const host = `127.0.0.1:${this.port}`
    const own: Record<string, string | undefined> = {
      host,
      authorization: `Bearer ${this.token}`,
      'sec-fetch-site': 'same-origin',
      ...(method === 'POST' && { origin: `http://${host}`, 'content-type': 'application/json' }),
      ...headers,
    }
    const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
    // A connection that was kept may be closed by the server just when it is used again.
    const options = { host: '127.0.0.1', port: this.port, path, method, headers: given, agent: false }
    return new Promise((resolve, reject) => {
      const sent = request(options, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ status: answer.statusCode!, text, headers: answer.headers })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }

  answer(body: object): Promise<Got> {
    return this.send({ method: 'POST', path: '/api/answer', body: JSON.stringify(body) })
  }

  /** The first question with this in its call, once it is on the page. */
  ask(about: string): Promise<ShownAsk> {
    const headers = { authorization: `Bearer ${this.token}`, 'sec-fetch-site': 'same-origin' }
    return new Promise((resolve, reject) => {
      const tired = setTimeout(() => live.destroy(new Error(`no question about ${about}`)), PATIENCE_MS)
      const live = request(
        { host: '127.0.0.1', port: this.port, path: '/api/live', headers, agent: false },
        (answer) => {
          let rest = ''
          answer.setEncoding('utf8').on('data', (text: string) => {
            const lines = (rest + text).split('\n')
            rest = lines.pop()!
            const asks = lines.flatMap((line) => (JSON.parse(line) as { asks?: ShownAsk[] }).asks ?? [])
            const found = asks.find(({ subject, fields }) =>
              [...subject, ...fields].some((piece) => piece.text.includes(about)),
            )
            if (!found) return
            clearTimeout(tired)
            resolve(found)
            live.destroy()
          })
          answer.on('close', () => reject(new Error(`the page ended without a question about ${about}`)))
        },
      )
      live.on('error', reject)
      live.end()
    })
  }
}
