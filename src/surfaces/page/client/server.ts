/** Requests to the server with this tab's token, and the live feed. */

import { useEffect, useState } from 'preact/hooks'
import type { ShownAsk } from '../asks-view.ts'
import type { EventRow } from '../live-feed.ts'
import { RecordRows } from './record-rows.ts'

interface LiveLine {
  readonly events?: readonly EventRow[]
  readonly asks?: readonly ShownAsk[]
  readonly running?: readonly string[]
  readonly caughtUp?: boolean
}

const LONGEST_PAUSE_MS = 10_000

/** The live state from one stream, reopened when it breaks. */
class Feed {
  readonly record: RecordRows = new RecordRows()
  asks: readonly ShownAsk[] = []
  running: ReadonlySet<string> = new Set()
  caughtUp = false
  /** `gone`: no answer; `refused`: unknown token. */
  state: 'connecting' | 'open' | 'gone' | 'refused' = 'connecting'
  readonly #listeners = new Set<() => void>()
  #drawing = false

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Shown once per frame, since lines come in bursts. A hidden page uses its title. */
  #changed(): void {
    if (this.#drawing) return
    this.#drawing = true
    const draw = () => {
      this.#drawing = false
      for (const listener of this.#listeners) listener()
    }
    if (document.hidden) setTimeout(draw, 250)
    else requestAnimationFrame(draw)
  }

  async run(): Promise<never> {
    for (let pause = 500; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        this.record.clear()
        this.caughtUp = false
        for await (const line of live(new AbortController().signal)) {
          this.state = 'open'
          pause = 500
          this.#take(line as LiveLine)
        }
        this.state = 'gone'
      } catch (error) {
        this.state = /^40[13]$/.test((error as Error).message) ? 'refused' : 'gone'
      }
      this.asks = []
      this.running = new Set()
      this.#changed()
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  #take({ events, asks, running, caughtUp }: LiveLine): void {
    if (events) this.record.add(events)
    if (asks) this.asks = asks
    if (running) this.running = new Set(running)
    if (caughtUp) {
      this.record.sort()
      this.caughtUp = true
    }
    this.#changed()
  }
}

export const feed: Feed = new Feed()

/** The feed, redrawing the view on changes. */
export function useFeed(): Feed {
  const [, draw] = useState(0)
  useEffect(() => feed.listen(() => draw((count) => count + 1)), [])
  return feed
}

const KEY = 'cordon-token'

/** Moves the token from the address to this tab's storage; null if there is none. */
export function takeToken(): string | null {
  const given = /^#t=([\w-]{20,})$/.exec(location.hash)?.[1]
  if (given !== undefined) {
    sessionStorage.setItem(KEY, given)
    history.replaceState(null, '', '#/now')
  }
  return sessionStorage.getItem(KEY)
}

function headers(): Record<string, string> {
  return { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ''}` }
}

export interface Reply<Body> {
  readonly status: number
  readonly body: Body & { readonly why?: string }
}

export async function get<Body>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Reply<Body>> {
  const given = new URLSearchParams(query).toString()
  return reply(await fetch(given === '' ? path : `${path}?${given}`, { headers: headers(), cache: 'no-store' }))
}

/** A file to save; the server's text is data, and never a page. */
export async function getText(path: string, query: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`, { headers: headers(), cache: 'no-store' })
  return answer.text()
}

export async function post<Body>(path: string, body: object): Promise<Reply<Body>> {
  const sent = { ...headers(), 'content-type': 'application/json' }
  return reply(await fetch(path, { method: 'POST', headers: sent, body: JSON.stringify(body) }))
}

async function reply<Body>(answer: Response): Promise<Reply<Body>> {
  return { status: answer.status, body: (await answer.json()) as Body & { why?: string } }
}

export async function* live(signal: AbortSignal): AsyncGenerator<unknown> {
  const answer = await fetch('/api/live', { headers: headers(), signal, cache: 'no-store' })
  if (!answer.ok || !answer.body) throw new Error(String(answer.status))
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown
  }
}
