/** One question with its reasons and answers. Lasting answers need the terminal's code. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOutcome, PageAnswer, ShownAsk, ShownField } from '../asks-view.ts'
import { post } from './server.ts'
import { When } from './words.tsx'

type ChosenAnswer = Omit<PageAnswer, 'ask' | 'code'>

const TIMES = [
  { label: '10 minutes', seconds: 600 },
  { label: '1 hour', seconds: 3600 },
  { label: '1 day', seconds: 86_400 },
]

/** Ignores clicks meant for an earlier question. */
const SETTLES_MS = 500

/** Longer fields are folded. */
const FOLD = { lines: 12, characters: 1200 }

/** One input field; a long one is folded with its size. */
function Field({ field }: { readonly field: ShownField }): JSX.Element {
  const { name, text, lines, characters, hidden } = field
  const missing = hidden > 0 ? `, ${hidden} characters in the middle cannot be shown` : ''
  const body = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
    <pre class="subject" tabIndex={0}>
      {text}
    </pre>
  )
  if (lines <= FOLD.lines && characters <= FOLD.characters)
    return (
      <div>
        <div class="dim">{name}</div>
        {body}
      </div>
    )
  return (
    <details>
      <summary>
        {name} ({lines} lines, {characters} characters{missing})
      </summary>
      {body}
    </details>
  )
}

export function AskCard({ ask }: { readonly ask: ShownAsk }): JSX.Element {
  const [ready, setReady] = useState(false)
  const [choice, choose] = useState(0)
  const [seconds, setSeconds] = useState(600)
  const [writing, write] = useState(false)
  const [pending, wait] = useState<ChosenAnswer | null>(null)
  const [said, say] = useState<string | null>(null)
  const code = useRef<HTMLInputElement>(null)
  const message = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), SETTLES_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => code.current?.focus(), [pending])
  useEffect(() => message.current?.focus(), [writing])

  const give = async (chosen: ChosenAnswer, typed?: string) => {
    setReady(false)
    try {
      const sent = { ...chosen, ask: ask.id, ...(typed !== undefined && { code: typed }) }
      const { status, body } = await post<AnswerOutcome>('/api/answer', sent)
      say('said' in body ? `Answered: ${body.said}.` : `Not answered: ${body.why}.`)
      wait(status === 403 && body.status === 'consent' ? chosen : null)
    } catch {
      say('Not answered: no response from the server.')
    }
    setReady(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return
    if (event.ctrlKey || event.metaKey || event.altKey || !ready || event.repeat) return
    const answer = ask.answers.find(({ key, saves }) => key === event.key && !saves)
    if (answer?.kind === 'deny-message') write(true)
    else if (answer) void give({ kind: answer.kind })
    if (answer) event.preventDefault()
  }
  const title = `ask-${ask.id}`
  const saves = ask.offers.length > 0
  const has = (kind: ChosenAnswer['kind']) => ask.answers.some((answer) => answer.kind === kind)
  const button = (label: string, chosen: ChosenAnswer, kind = '') => (
    <button type="button" class={kind} disabled={!ready} onClick={() => void give(chosen)}>
      {label}
    </button>
  )
  return (
    <article class="ask card" aria-labelledby={title} onKeyDown={onKeyDown}>
      <h3 id={title}>
        <span class="hidden">Worst case: </span>
        {ask.worst}
      </h3>
      <p class="dim">
        {ask.from} asks: {ask.tool} · <span class="path">{ask.where ?? ask.project}</span> · <When at={ask.since} />
        {!ask.waits && ' · not waiting: the agent tries again after your answer'}
      </p>
      {ask.hosts.length > 0 && <p>Host {ask.hosts.join(', ')}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <pre class="subject" tabIndex={0}>
        {ask.subject.map(({ text, marked }, index) => (marked ? <mark key={index}>{text}</mark> : text))}
      </pre>
      {ask.fields.map((field) => (
        <Field key={field.name} field={field} />
      ))}
      {ask.masked > 0 && (
        <p class="dim">
          {ask.masked === 1 ? '1 value is masked (•). ' : `${ask.masked} values are masked (•). `}
          {ask.canShow && (
            <button type="button" onClick={() => void post('/api/show', { ask: ask.id })}>
              Show
            </button>
          )}
        </p>
      )}
      <ul class="why">
        {ask.reasons.map(({ messages, rule }) => (
          <li key={rule}>
            {messages.map((reason) => (
              <div key={reason}>{reason}</div>
            ))}
            <div class="dim">{rule}</div>
          </li>
        ))}
      </ul>
      <div class="buttons">
        {has('once') && button('Yes, once', { kind: 'once' }, 'yes')}
        {button('No', { kind: 'deny' }, 'no')}
        {has('deny-message') && (
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
            Message to the model
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
            <legend>What it covers</legend>
            {ask.offers.map((grants, index) => (
              <label key={grants[0]!.grant} class="choice">
                <input type="radio" name={title} checked={choice === index} onChange={() => choose(index)} />
                <span>
                  {grants.map(({ grant, admits }) => (
                    <div key={grant}>
                      <code>{grant}</code> <span class="dim">admits {admits}</span>
                    </div>
                  ))}
                </span>
              </label>
            ))}
          </fieldset>
          <div class="buttons">
            {has('session') && button('Yes, this session', { kind: 'session', choice })}
            {has('time') && button('Yes, for', { kind: 'time', choice, seconds })}
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
            {has('always') && button('Always', { kind: 'always', choice })}
            {has('deny-always') && button('Never', { kind: 'deny-always', choice }, 'no')}
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
