/** Time line: changes to the tree, newest first, with undo to a point. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { TimelineCall } from '../undo-view.ts'
import { Diff, UndoButton } from './diff.tsx'
import { Empty, useAnswer, Waiting, When } from './words.tsx'

export function Timeline(): JSX.Element {
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
            {call.conflicts.length > 0 && <p class="dim">Changed since: {call.conflicts.join('; ')}</p>}
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
