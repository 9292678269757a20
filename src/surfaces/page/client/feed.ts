/** What the page knows of this moment: the record, the questions, the sessions that run, and whether the server is there. */

import { useEffect, useState } from 'preact/hooks'
import type { ShownAsk } from '../asks-view.ts'
import type { EventRow } from '../event-row.ts'
import { RecordRows } from './record-rows.ts'
import { live } from './server.ts'

interface LiveLine {
  readonly events?: readonly EventRow[]
  readonly asks?: readonly ShownAsk[]
  readonly running?: readonly string[]
  readonly caughtUp?: boolean
}

const LONGEST_PAUSE_MS = 10_000

/** The live state, filled by one stream that is opened again when it breaks. */
class Feed {
  readonly record: RecordRows = new RecordRows()
  asks: readonly ShownAsk[] = []
  running: ReadonlySet<string> = new Set()
  caughtUp = false
  /** `gone`: the server does not answer; `refused`: it does not know this tab. */
  state: 'connecting' | 'open' | 'gone' | 'refused' = 'connecting'
  readonly #listeners = new Set<() => void>()
  #drawing = false

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Lines come in bursts: they are shown once a frame. A hidden page has no frames, and counts on its title. */
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

/** The feed for a view that is drawn anew whenever it changes. */
export function useFeed(): Feed {
  const [, draw] = useState(0)
  useEffect(() => feed.listen(() => draw((count) => count + 1)), [])
  return feed
}
