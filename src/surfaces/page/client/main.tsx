/** The page: its frame and its first view. */

import { type ComponentType, type JSX, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Proposal } from '../api.ts'
import type { TimelineCall } from '../undo-view.ts'
import { AskCard } from './ask-card.tsx'
import { Diff, UndoButton } from './diff.tsx'
import { Fleet } from './fleet.tsx'
import { Health } from './health.tsx'
import { Policy } from './policy.tsx'
import { Record } from './record.tsx'
import { filterLink } from './record-rows.ts'
import { feed, takeToken, useFeed } from './server.ts'
import { Today } from './today.tsx'
import { Copy, Empty, Skeleton, useAnswer, Waiting, When } from './words.tsx'

const VIEWS: readonly { readonly id: string; readonly title: string; readonly View: ComponentType }[] = [
  { id: 'now', title: 'Now', View: Now },
  { id: 'today', title: 'Today', View: Today },
  { id: 'record', title: 'Record', View: Record },
  { id: 'policy', title: 'Policy', View: Policy },
  { id: 'timeline', title: 'Changes', View: Timeline },
  { id: 'health', title: 'Health', View: Health },
]

/** Shown on machines of a fleet. */
const FLEET = { id: 'fleet', title: 'Fleet', View: Fleet }
const ALL = [...VIEWS, FLEET]

function viewOf(): string {
  const id = /^#\/(\w*)/.exec(location.hash)?.[1] ?? ''
  return ALL.some((view) => view.id === id) ? id : 'now'
}

function App(): JSX.Element {
  const { asks, state } = useFeed()
  const [at, go] = useState(viewOf)
  const about = useAnswer<{ readonly fleet: boolean }>('/api/about').body
  const shown = about?.fleet ? ALL : VIEWS
  const [keys, showKeys] = useState(false)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    const moved = () => {
      go(viewOf())
      main.current?.focus()
    }
    const pressed = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey } = event
      const writes = target instanceof HTMLElement && target.matches('input, textarea, select')
      if (writes || ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return
      const view = document.querySelectorAll('nav a')[Number(key) - 1]
      if (view instanceof HTMLElement) view.click()
      else if (key === '?') showKeys(true)
      else if (key === '/') document.querySelector<HTMLElement>('[data-find]')?.focus()
      else return
      event.preventDefault()
    }
    addEventListener('hashchange', moved)
    addEventListener('keydown', pressed)
    return () => {
      removeEventListener('hashchange', moved)
      removeEventListener('keydown', pressed)
    }
  }, [])
  useEffect(() => {
    document.title = asks.length > 0 ? `(${asks.length}) Cordon asks` : 'Cordon'
  }, [asks.length])
  if (state === 'refused') return <Outside />
  const { View, title } = ALL.find((view) => view.id === at)!
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <span class="brand">Cordon</span>
        <nav aria-label="Views">
          {shown.map((view) => (
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
        <button type="button" class="keys" aria-label="Keys" onClick={() => showKeys(true)}>
          ?
        </button>
      </header>
      {keys && <Keys close={() => showKeys(false)} />}
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

const KEYS = [
  ['1, 2 …', 'the views, from left to right'],
  ['/', 'to the filter'],
  ['↑ ↓ PgUp PgDn Home End', 'through the record'],
  ['Enter', 'open a call'],
  ['Esc', 'close it'],
  ['y n m', 'answer the focused question: yes once, no, no with a message'],
  ['?', 'these keys'],
] as const

function Keys({ close }: { readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} class="small" aria-labelledby="keys-title" onClose={close}>
      <div class="head">
        <h2 id="keys-title">Keys</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <dl>
        {KEYS.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}

/** A tab without a token. */
function Outside(): JSX.Element {
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

function begin(): void {
  void feed.run()
}

function Now(): JSX.Element {
  const { asks, running, record, caughtUp } = useFeed()
  const calls = record.running(running)
  const sessions = [...running].map((id) => {
    const rows = record.rows.filter(({ begin }) => begin.session === id)
    const { project = '', since = '' } = record.sessions.get(id) ?? {}
    return { id, project, since, name: record.nameOf(id), calls: rows.filter(({ begin }) => begin.call).length }
  })
  return (
    <>
      <section aria-labelledby="asks">
        <h2 id="asks">Waiting for an answer</h2>
        {asks.length === 0 ? (
          <Empty>
            <p>No questions are waiting.</p>
            <p>When an agent wants to do something that your rules do not settle, the question appears here.</p>
          </Empty>
        ) : (
          asks.map((ask) => <AskCard key={ask.id} ask={ask} />)
        )}
      </section>
      {asks.length === 0 && <Proposals />}
      <section aria-labelledby="running">
        <h2 id="running">Running</h2>
        {!caughtUp && sessions.length === 0 ? (
          <Skeleton rows={3} />
        ) : sessions.length === 0 ? (
          <Empty>
            <p>No session runs.</p>
            <p>
              Start one with <code>cordon chat</code>, or guard an agent that you have with <code>cordon install</code>.
            </p>
          </Empty>
        ) : (
          <ul class="cards">
            {sessions.map(({ id, project, since, name, calls: count }) => (
              <li key={id} class="card">
                <a href={filterLink({ session: id })}>
                  <b>{name}</b>
                </a>
                <div class="dim">
                  {count} {count === 1 ? 'call' : 'calls'} since <When at={since} /> ·{' '}
                  <span class="path">{project}</span>
                </div>
                {calls
                  .filter(({ begin }) => begin.session === id)
                  .map(({ key, begin }) => (
                    <div key={key} class="running">
                      <b>{begin.tool}</b> <code>{begin.subject ?? begin.summary ?? begin.reason}</code> since{' '}
                      <When at={begin.time} />
                    </div>
                  ))}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}

/** What the person said yes to again and again; shown while nothing waits, and signed at a terminal. */
function Proposals(): JSX.Element | null {
  const { body } = useAnswer<{ readonly proposals: readonly Proposal[] }>('/api/proposals')
  if (!body || body.proposals.length === 0) return null
  return (
    <section aria-labelledby="proposals">
      <h2 id="proposals">You always said yes</h2>
      <ul class="cards">
        {body.proposals.map(({ project, kind, value, yes, terminal }) => (
          <li key={terminal} class="card">
            <p>
              {yes} times yes, never no: {kind} <code>{value}</code>
            </p>
            <p class="dim path">{project}</p>
            <div class="buttons">
              <a class="button" href={`#/policy?${new URLSearchParams({ kind, value })}`}>
                What would it allow?
              </a>
              <Copy text={terminal} label="Copy the command that adds it" />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const place = document.getElementById('page')!
place.replaceChildren()
if (takeToken() === null) render(<Outside />, place)
else {
  begin()
  render(<App />, place)
}

function Timeline(): JSX.Element {
  const { body, problem, again } = useAnswer<{ readonly calls: readonly TimelineCall[] }>('/api/timeline')
  const [opened, open] = useState<string | null>(null)
  const [said, say] = useState('')
  const undone = (text: string) => {
    say(text)
    again()
  }
  if (!body) return <Waiting problem={problem} />
  if (body.calls.length === 0)
    return (
      <Empty>
        <p>No call changed a file of this project, or none is kept any more.</p>
        <p>
          What commands and file tools change is kept for a week. <code>cordon run -- touch a-file</code> shows it.
        </p>
      </Empty>
    )
  return (
    <>
      <button type="button" onClick={again}>
        Look again
      </button>
      <p role="status">{said}</p>
      <ol class="timeline">
        {body.calls.map((call) => (
          <li key={call.id} class={call.undoneBy === null ? 'card' : 'card undone'}>
            <p>
              <When at={call.at} /> <code>{call.what}</code>
              {call.undoneBy !== null && <b> undone</b>}
            </p>
            <Paths sign="+" paths={call.made} />
            <Paths sign="~" paths={call.changed} />
            <Paths sign="−" paths={call.removed} />
            {call.paths > call.made.length + call.changed.length + call.removed.length && (
              <p class="dim">{call.paths} paths in all</p>
            )}
            {call.conflicts.length > 0 && <p class="dim">Not as this call left it: {call.conflicts.join('; ')}</p>}
            {call.undoneBy === null && call.undoes === null && (
              <div class="buttons">
                <button
                  type="button"
                  aria-expanded={opened === call.id}
                  onClick={() => open(opened === call.id ? null : call.id)}
                >
                  Show the changes
                </button>
                <UndoButton call={call.id} label="Undo to before this" since done={undone} />
              </div>
            )}
            {opened === call.id && <Diff call={call.id} />}
          </li>
        ))}
      </ol>
    </>
  )
}

function Paths({ sign, paths }: { readonly sign: string; readonly paths: readonly string[] }): JSX.Element | null {
  if (paths.length === 0) return null
  return (
    <ul class="paths">
      {paths.map((path) => (
        <li key={path} class="path">
          {sign} {path}
        </li>
      ))}
    </ul>
  )
}
