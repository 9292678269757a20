/** Policy: a map of who may do what, how a command would be decided, and what a grant would allow. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { WhatIf } from '../api.ts'
import type { Explanation } from '../explain-view.ts'
import type { PolicyEntry, PolicyRow, PolicyUse, PolicyView, Tightening } from '../policy-view.ts'
import { Explained } from './explained.tsx'
import { get, post, type Reply } from './server.ts'
import { Copy, useAnswer, Verdict, Waiting, When } from './words.tsx'

export function Policy(): JSX.Element {
  const { body, problem } = useAnswer<PolicyView>('/api/policy')
  // Deciding the record again takes a moment; the map does not wait for it.
  const { body: use } = useAnswer<PolicyUse>('/api/use')
  const given = new URLSearchParams(location.hash.split('?')[1] ?? '')
  return (
    <>
      {given.has('kind') && <Grant kind={given.get('kind')!} value={given.get('value') ?? ''} />}
      <section aria-labelledby="may">
        <h2 id="may">Who may do what</h2>
        {!body && <Waiting problem={problem} />}
        {body && (
          <>
            <p>
              <span class="path">{body.root}</span>
              {body.mode && (
                <>
                  {' '}
                  · mode <b>{body.mode.text}</b> <Source of={body.mode} />
                </>
              )}
              {use && (
                <span class="dim">
                  {' '}
                  · {use.known} calls of the last {use.days} days
                  {use.unknown > 0 && `; of ${use.unknown} more the commands are not kept`}
                </span>
              )}
            </p>
            {body.problem !== null && <p class="note">{body.problem}</p>}
            <PolicyMap view={body} use={use} />
            {use && <Tighten />}
            <div class="groups">
              {body.groups.map(({ title, entries, empty }) => (
                <section key={title} class="card" aria-label={title}>
                  <h3>{title}</h3>
                  {entries.length === 0 && <p class="dim">{empty}</p>}
                  <ul class="plain">
                    {entries.map((entry, index) => (
                      <li key={`${index}${entry.text}`}>
                        <code>{entry.text}</code> <Source of={entry} />
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </div>
            {body.shownSecrets.length > 0 && (
              <p class="note">Commands see these secrets, because git has them: {body.shownSecrets.join(', ')}</p>
            )}
          </>
        )}
      </section>
      <Explain />
      {!given.has('kind') && <Grant kind="command" value="" />}
    </>
  )
}

const COLUMNS = [
  { id: 'read', title: 'Read' },
  { id: 'write', title: 'Write' },
  { id: 'run', title: 'Run' },
  { id: 'reach', title: 'Reach' },
] as const

/** Longer lists are folded. */
const MOST_OPEN = 5
const NOUNS = { read: 'patterns', write: 'patterns', run: 'commands', reach: 'hosts' } as const

function PolicyMap({ view, use }: { readonly view: PolicyView; readonly use: PolicyUse | null }): JSX.Element {
  const first = view.rows[0]
  const cell = (row: PolicyRow, id: (typeof COLUMNS)[number]['id']) => {
    if (row[id].length === 0) return <span class="dim">{row === first ? view.otherwise[id] : ''}</span>
    const list = (
      <ul class="plain">
        {row[id].map((entry, at) => (
          <li key={`${at}${entry.text}`}>
            <code>{entry.text}</code> <Source of={entry} />{' '}
            {row.who !== 'Nobody' && use && <Used key={id} entry={entry} isHost={id === 'reach'} use={use} />}
          </li>
        ))}
      </ul>
    )
    if (row[id].length <= MOST_OPEN) return list
    return (
      <details>
        <summary>
          {row[id].length} {NOUNS[id]}
        </summary>
        {list}
      </details>
    )
  }
  return (
    <table class="map">
      <thead>
        <tr>
          <th>Who</th>
          {COLUMNS.map(({ id, title }) => (
            <th key={id}>{title}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.rows.map((row) => (
          <tr key={row.who} class={row.who === 'Nobody' ? 'never' : ''}>
            <th scope="row">{row.who}</th>
            {COLUMNS.map(({ id, title }) => (
              <td key={id} data-title={title} class={row[id].length === 0 && row !== first ? 'none' : ''}>
                {cell(row, id)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Source({ of }: { readonly of: PolicyEntry }): JSX.Element {
  return (
    <span class={`layer ${of.layer.replace(' ', '-')}`} title={of.source}>
      {of.layer === 'built in' ? of.layer : `${of.layer} · ${of.source.replace(/^.*\/(?=[^/]*$)/, '')}`}
    </span>
  )
}

function Used(props: {
  readonly entry: PolicyEntry
  readonly isHost: boolean
  readonly use: PolicyUse
}): JSX.Element | null {
  const { entry, isHost, use } = props
  if (entry.layer === 'built in' || use.known === 0) return null
  const found = use.uses[isHost ? `${entry.source} ${entry.text}` : entry.source]
  if (!found) return <span class="unused">not in {use.days} days</span>
  return (
    <span class="used">
      {found.times}× · <When at={found.last} />
    </span>
  )
}

/** What was never used, as a diff. Signing stays at the terminal. */
function Tighten(): JSX.Element {
  const [reply, take] = useState<Reply<Tightening> | null>(null)
  const found = reply?.status === 200 ? reply.body : null
  return (
    <div class="tighten">
      <button type="button" onClick={async () => take(await get<Tightening>('/api/tighten'))}>
        What was never used?
      </button>
      <div role="status">
        {reply && !found && <p>{reply.body.why}</p>}
        {found && found.diff.length === 0 && (
          <p>
            {found.unknown > 0
              ? `${found.unknown} of ${found.calls} recorded calls are kept without their commands, so no grant of a command can be called unused.`
              : `Every grant of the manifest was used by one of ${found.calls} recorded calls.`}
          </p>
        )}
        {found && found.diff.length > 0 && (
          <>
            <p>
              No recorded call of {found.calls} used {found.unused.length === 1 ? 'this grant' : 'these grants'}.
              Without:
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
            <pre class="subject" tabIndex={0}>
              {found.diff.map((line, at) => (
                <span key={`${at}${line}`} class={line.startsWith('+') ? 'plus' : 'minus'}>
                  {line}
                  {'\n'}
                </span>
              ))}
            </pre>
            <p>
              <code>cordon learn --from record --unused</code> writes and signs it, at a terminal.{' '}
              <Copy text="cordon learn --from record --unused" label="Copy" />
            </p>
          </>
        )}
      </div>
    </div>
  )
}

function Explain(): JSX.Element {
  const [command, type] = useState('')
  const [reply, take] = useState<Reply<Explanation> | null>(null)
  return (
    <section aria-labelledby="explain">
      <h2 id="explain">How would it be decided?</h2>
      <form
        class="line"
        onSubmit={async (event) => {
          event.preventDefault()
          take(await post<Explanation>('/api/explain', { command }))
        }}
      >
        <label>
          A command, as an agent would write it
          <input value={command} onInput={(event) => type(event.currentTarget.value)} spellcheck={false} data-find />
        </label>
        <button type="submit">Explain</button>
      </form>
      <div role="status">{reply && <Explained reply={reply} />}</div>
    </section>
  )
}

function Grant(given: { readonly kind: string; readonly value: string }): JSX.Element {
  const kinds = ['command', 'read', 'write', 'host', 'directory']
  const [kind, choose] = useState(kinds.includes(given.kind) ? given.kind : 'command')
  const [value, type] = useState(given.value)
  const [reply, take] = useState<Reply<WhatIf> | null>(null)
  return (
    <section aria-labelledby="grant">
      <h2 id="grant">What would a grant allow?</h2>
      <form
        class="line"
        onSubmit={async (event) => {
          event.preventDefault()
          take(await post<WhatIf>('/api/what-if', { kind, value }))
        }}
      >
        <label class="kind">
          Kind
          <select value={kind} onChange={(event) => choose(event.currentTarget.value)}>
            {kinds.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Pattern, as cordon.toml has it
          <input value={value} onInput={(event) => type(event.currentTarget.value)} spellcheck={false} />
        </label>
        <button type="submit">Try it on the record</button>
      </form>
      <div role="status">
        {reply && reply.status !== 200 && <p>{reply.body.why}</p>}
        {reply?.status === 200 && (
          <>
            <p>
              Of {reply.body.calls} recorded calls it would have allowed {reply.body.admits.length} kinds pass without a
              question.
            </p>
            {reply.body.terminal !== null && (
              <p>
                <code>{reply.body.terminal}</code> adds and signs it, at a terminal.{' '}
                <Copy text={reply.body.terminal} label="Copy" />
              </p>
            )}
            {reply.body.unknown > 0 && (
              <p class="dim">
                Nothing can be said about {reply.body.unknown} calls whose arguments were not kept ([audit] arguments =
                true keeps them).
              </p>
            )}
            <ul class="plain">
              {reply.body.admits.slice(0, 100).map(({ tool, subject, before, times }) => (
                <li key={`${tool}${subject}`}>
                  <Verdict of={before} /> {tool} <code>{subject}</code> {times > 1 && `${times} times`}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  )
}
