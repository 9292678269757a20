/** Policy: the project's rules, a trial decision, and what a grant would allow. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { WhatIf } from '../api.ts'
import type { ExplainNode, Explanation } from '../explain-view.ts'
import type { PolicyView } from '../policy-view.ts'
import { post, type Reply } from './server.ts'
import { useAnswer, Verdict, Waiting } from './words.tsx'

const STEPS = ['', 'denials and places', 'grants', 'explicit levels and the mode', 'declared kinds and built-in levels']

export function Policy(): JSX.Element {
  const { body, problem } = useAnswer<PolicyView>('/api/policy')
  return (
    <>
      <Explain />
      <Grant />
      <section aria-labelledby="may">
        <h2 id="may">What this project may do</h2>
        {!body && <Waiting problem={problem} />}
        {body && (
          <>
            <p class="path">{body.root}</p>
            {body.problem !== null && <p class="note">{body.problem}</p>}
            {body.mode && (
              <p>
                Mode <b>{body.mode.text}</b> <span class="dim">{body.mode.source}</span>
              </p>
            )}
            <div class="groups">
              {body.groups.map(({ title, entries, empty }) => (
                <section key={title} class="card" aria-label={title}>
                  <h3>{title}</h3>
                  {entries.length === 0 ? (
                    <p class="dim">{empty}</p>
                  ) : (
                    <ul>
                      {entries.map(({ text, source }, index) => (
                        <li key={`${index}${text}`}>
                          <code>{text}</code> <span class="dim">{source}</span>
                        </li>
                      ))}
                    </ul>
                  )}
                </section>
              ))}
            </div>
            {body.shownSecrets.length > 0 && (
              <p class="note">Commands see these secrets, because git has them: {body.shownSecrets.join(', ')}</p>
            )}
          </>
        )}
      </section>
    </>
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
          <input value={command} onInput={(event) => type(event.currentTarget.value)} spellcheck={false} />
        </label>
        <button type="submit">Explain</button>
      </form>
      <div role="status">
        {reply && reply.status !== 200 && <p>{reply.body.why}</p>}
        {reply?.status === 200 && (
          <>
            <p>
              <Verdict of={reply.body.verdict} /> {reply.body.reason}
            </p>
            {reply.body.worst !== null && <p>Worst case: {reply.body.worst}</p>}
            {reply.body.remedy !== null && <p>{reply.body.remedy}</p>}
            <p class="dim">
              {reply.body.code}, decided in step {reply.body.step}: {STEPS[reply.body.step]}
            </p>
            <Tree nodes={reply.body.tree} />
          </>
        )}
      </div>
    </section>
  )
}

function Tree({ nodes }: { readonly nodes: readonly ExplainNode[] }): JSX.Element {
  return (
    <ul class="tree">
      {nodes.map(({ text, verdict, reason, rules, children }, index) => (
        <li key={`${index}${text}`}>
          <Verdict of={verdict} /> <code>{text}</code>
          <div>{reason}</div>
          {rules.map((rule) => (
            <div key={rule} class="dim">
              {rule}
            </div>
          ))}
          {children.length > 0 && <Tree nodes={children} />}
        </li>
      ))}
    </ul>
  )
}

function Grant(): JSX.Element {
  const [kind, choose] = useState('command')
  const [value, type] = useState('')
  const [reply, take] = useState<Reply<WhatIf> | null>(null)
  const kinds = ['command', 'read', 'write', 'host', 'directory']
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
            {reply.body.unknown > 0 && (
              <p class="dim">
                Nothing can be said about {reply.body.unknown} calls whose arguments were not kept ([audit] arguments =
                true keeps them).
              </p>
            )}
            <ul>
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
