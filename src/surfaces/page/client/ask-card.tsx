/** One question with its reasons and every answer that the terminal has. What outlives it needs the terminal's code. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answered, PageAnswer, ShownAsk } from '../asks-view.ts'
import { post } from './server.ts'
import { When } from './words.tsx'

type Chosen = Omit<PageAnswer, 'ask' | 'code'>

const TIMES = [
  { label: '10 minutes', seconds: 600 },
  { label: '1 hour', seconds: 3600 },
  { label: '1 day', seconds: 86_400 },
]

/** A question that just came must not be answered by a click that was meant for another. */
const SETTLES_MS = 500

/** The card of a question. */
export function AskCard({ ask }: { readonly ask: ShownAsk }): JSX.Element {
  const [ready, setReady] = useState(false)
  const [choice, choose] = useState(0)
  const [seconds, setSeconds] = useState(600)
  const [writing, write] = useState(false)
  const [pending, wait] = useState<Chosen | null>(null)
  const [said, say] = useState<string | null>(null)
  const code = useRef<HTMLInputElement>(null)
  const message = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), SETTLES_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => code.current?.focus(), [pending])
  useEffect(() => message.current?.focus(), [writing])

  const give = async (chosen: Chosen, typed?: string) => {
    setReady(false)
    try {
      const sent = { ...chosen, ask: ask.id, ...(typed !== undefined && { code: typed }) }
      const { status, body } = await post<Answered>('/api/answer', sent)
      say('said' in body ? `Answered: ${body.said}.` : `Not answered: ${body.why}.`)
      wait(status === 403 && body.status === 'consent' ? chosen : null)
    } catch {
      say('Not answered: the server does not answer.')
    }
    setReady(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
    if (event.ctrlKey || event.metaKey || event.altKey || !ready || event.repeat) return
    if (event.key === 'y' && ask.once) void give({ kind: 'once' })
    if (event.key === 'n') void give({ kind: 'deny' })
  }
  const title = `ask-${ask.id}`
  const saves = ask.suggestions.length > 0
  const button = (label: string, chosen: Chosen, kind = '') => (
    <button type="button" class={kind} disabled={!ready} onClick={() => void give(chosen)}>
      {label}
    </button>
  )
  return (
    <article class="ask card" aria-labelledby={title} onKeyDown={onKeyDown}>
      <h3 id={title}>
        {ask.from} asks: {ask.tool}
      </h3>
      <p class="dim">
        <span class="path">{ask.where ?? ask.project}</span> · <When at={ask.since} />
        {!ask.waits && ' · nobody waits: the agent tries again after your answer'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <pre class="subject" tabIndex={0}>
        {ask.subject}
      </pre>
      <ul class="why">
        {ask.why.map(({ message: reason, code: name, rule }) => (
          <li key={reason}>
            {reason}{' '}
            {(name || rule) && <span class="dim">{[name && `[${name}]`, rule].filter(Boolean).join(' ')}</span>}
          </li>
        ))}
      </ul>
      <div class="buttons">
        {ask.once && button('Yes, once', { kind: 'once' }, 'yes')}
        {button('No', { kind: 'deny' }, 'no')}
        {ask.waits && (
          <button type="button" disabled={!ready} aria-expanded={writing} onClick={() => write(!writing)}>
            No, with a message
          </button>
        )}
      </div>
      {writing && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void give({ kind: 'deny-message', message: message.current?.value ?? '' })
          }}
        >
          <label>
            What the model is told
            <textarea ref={message} rows={2} maxLength={2000} />
          </label>
          <button type="submit">Send</button>
        </form>
      )}
      {saves && (
        <details>
          <summary>Answer for longer</summary>
          <p class="dim">These need a code that the terminal of the page shows.</p>
          <fieldset>
            <legend>What is meant</legend>
            {ask.suggestions.map(({ kind, value, admits }, index) => (
              <label key={value} class="choice">
                <input type="radio" name={title} checked={choice === index} onChange={() => choose(index)} />
                <span>
                  {kind} <code>{value}</code> <span class="dim">admits {admits}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <div class="buttons">
            {ask.waits && button('Yes, this session', { kind: 'session', choice })}
            {button('Yes, for', { kind: 'time', choice, seconds })}
            <select
              aria-label="How long"
              value={seconds}
              onChange={(event) => setSeconds(Number(event.currentTarget.value))}
            >
              {TIMES.map((time) => (
                <option key={time.seconds} value={time.seconds}>
                  {time.label}
                </option>
              ))}
            </select>
            {ask.waits && button('Always', { kind: 'always', choice })}
            {ask.waits && button('Never', { kind: 'deny-always', choice }, 'no')}
          </div>
        </details>
      )}
      {pending && (
        <form
          class="code"
          onSubmit={(event) => {
            event.preventDefault()
            void give(pending, code.current?.value ?? '')
          }}
        >
          <label>
            Code from the terminal
            <input ref={code} inputMode="numeric" autoComplete="one-time-code" maxLength={7} />
          </label>
          <button type="submit">Confirm</button>
        </form>
      )}
      <p role="status">{said}</p>
    </article>
  )
}
