/** A call's changes line by line, and its undo button. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Undone } from '../undo-view.ts'
import { post } from './server.ts'
import { useAnswer, Waiting } from './words.tsx'

interface Comparison {
  readonly files: readonly {
    readonly path: string
    readonly hidden: string | null
    readonly mixed: boolean
    readonly lines: readonly { readonly sign: string; readonly text: string }[]
  }[]
}

export function Diff({ call, undo = true }: { readonly call: string; readonly undo?: boolean }): JSX.Element {
  const { body, problem } = useAnswer<Comparison>(`/api/change?call=${encodeURIComponent(call)}`)
  return (
    <section aria-label="What it changed" class="diff">
      <h3>What it changed</h3>
      {!body && <Waiting problem={problem} />}
      {body?.files.map(({ path, hidden, mixed, lines }) => (
        <figure key={path}>
          <figcaption class="path">{path}</figcaption>
          {mixed && <p class="dim">Somebody else changed it since; their changes are in it too.</p>}
          {hidden !== null ? (
            <p class="dim">Not shown: {hidden}.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
            <pre tabIndex={0}>
              {lines.map(({ sign, text }, index) => (
                <span key={`${index}${text}`} class={sign === '+' ? 'plus' : sign === '-' ? 'minus' : ''}>
                  {sign} {text}
                  {'\n'}
                </span>
              ))}
            </pre>
          )}
        </figure>
      ))}
      {body && undo && <UndoButton call={call} label="Undo this call" />}
    </section>
  )
}

/** Undoes; conflicts are shown before anything is forced. */
export function UndoButton(props: {
  readonly call: string
  readonly label: string
  readonly since?: boolean
  /** Reports what was restored. */
  readonly done?: (text: string) => void
}): JSX.Element {
  const [result, take] = useState<Undone | null>(null)
  const [sure, ask] = useState(false)
  const undo = async (force: boolean) => {
    ask(false)
    const { body } = await post<Undone>('/api/undo', { call: props.call, since: props.since === true, force })
    if (body.problem === null && props.done) props.done(undoneText(body))
    else take(body)
  }
  return (
    <div class="undo">
      {sure ? (
        <div class="buttons">
          <button type="button" class="no" onClick={() => void undo(false)}>
            Yes, undo
          </button>
          <button type="button" onClick={() => ask(false)}>
            Leave it
          </button>
        </div>
      ) : (
        <button type="button" onClick={() => ask(true)}>
          {props.label}
        </button>
      )}
      <div role="status">
        {result && (result.problem ?? undoneText(result))}
        {result && result.conflicts.length > 0 && (
          <>
            <ul>
              {result.conflicts.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
            <button type="button" class="no" onClick={() => void undo(true)}>
              Restore the rest anyway
            </button>
          </>
        )}
      </div>
    </div>
  )
}

function undoneText({ undone }: Undone): string {
  return `Undone: ${undone.length} ${undone.length === 1 ? 'call' : 'calls'}.`
}
