/** The page: its five views, and what is said above all of them. */

import type { ComponentType, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { feed, useFeed } from './feed.ts'
import { Health } from './health.tsx'
import { Now } from './now.tsx'
import { Policy } from './policy.tsx'
import { Record } from './record.tsx'
import { Timeline } from './timeline.tsx'

const VIEWS: readonly { readonly id: string; readonly title: string; readonly View: ComponentType }[] = [
  { id: 'now', title: 'Now', View: Now },
  { id: 'record', title: 'Record', View: Record },
  { id: 'policy', title: 'Policy', View: Policy },
  { id: 'timeline', title: 'Time line', View: Timeline },
  { id: 'health', title: 'Health', View: Health },
]

function viewOf(): string {
  const id = location.hash.replace(/^#\//, '')
  return VIEWS.some((view) => view.id === id) ? id : 'now'
}

/** The whole page. */
export function App(): JSX.Element {
  const { asks, state } = useFeed()
  const [at, go] = useState(viewOf)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    const moved = () => {
      go(viewOf())
      main.current?.focus()
    }
    addEventListener('hashchange', moved)
    return () => removeEventListener('hashchange', moved)
  }, [])
  useEffect(() => {
    document.title = asks.length > 0 ? `(${asks.length}) Cordon asks` : 'Cordon'
  }, [asks.length])
  if (state === 'refused') return <Outside />
  const { View, title } = VIEWS.find((view) => view.id === at)!
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <span class="brand">Cordon</span>
        <nav aria-label="Views">
          {VIEWS.map((view) => (
            <a key={view.id} href={`#/${view.id}`} aria-current={view.id === at ? 'page' : undefined}>
              {view.title}
              {view.id === 'now' && asks.length > 0 && (
                <span class="count">
                  {asks.length}
                  <span class="hidden"> waiting</span>
                </span>
              )}
            </a>
          ))}
        </nav>
      </header>
      {state === 'gone' && (
        <p class="banner" role="alert">
          The page has no connection. If cordon ui was ended, run it again and open the new link.
        </p>
      )}
      <div class="hidden" aria-live="polite">
        {asks.length > 0
          ? `${asks.length} waiting. Cordon asks: ${asks.at(-1)!.tool}, ${asks
              .at(-1)!
              .subject.map(({ text }) => text)
              .join('')}`
          : ''}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <main ref={main} tabIndex={0} id="main" class={`view-${at}`}>
        <h1>{title}</h1>
        <View />
      </main>
    </>
  )
}

/** What a tab without a token sees. */
export function Outside(): JSX.Element {
  return (
    <main class="outside">
      <h1>Cordon</h1>
      <p>This tab has no key to the page, or an old one.</p>
      <p>
        Run <code>cordon ui</code> in a terminal and open the link that it prints. Each link is good for as long as its
        command runs.
      </p>
    </main>
  )
}

/** Begins to listen. */
export function begin(): void {
  void feed.run()
}
