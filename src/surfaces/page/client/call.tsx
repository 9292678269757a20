/** A recorded call over the page: what it was, why, what it did, and what can be done about it. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallView, ProgramNode, ReachedHost } from '../api.ts'
import type { Explanation } from '../explain-view.ts'
import { Diff, UndoButton } from './diff.tsx'
import { Explained } from './explained.tsx'
import type { RecordRow } from './record-rows.ts'
import { post, type Reply } from './server.ts'
import { Copy, useAnswer, Verdict, Waiting, When } from './words.tsx'

export function CallDialog(props: {
  readonly row: RecordRow
  readonly who: string
  readonly close: () => void
}): JSX.Element {
  const { row, who, close } = props
  const { begin } = row
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby="call-title" onClose={close}>
      <div class="head">
        <h2 id="call-title">
          <Verdict of={begin.verdict} /> {begin.tool ?? begin.type}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {begin.call === undefined ? (
        <>
          <p class="dim">
            <When at={begin.time} /> · {who}
          </p>
          <p>{[begin.subject, begin.reason].filter(Boolean).join(': ')}</p>
        </>
      ) : (
        <Call session={begin.session} call={begin.call} who={who} leave={() => dialog.current?.close()} />
      )}
    </dialog>
  )
}

function Call(props: {
  readonly session: string
  readonly call: string
  readonly who: string
  readonly leave: () => void
}): JSX.Element {
  const { session, call, who, leave } = props
  const { body, problem } = useAnswer<CallView>(`/api/call?${new URLSearchParams({ session, call })}`)
  const [explained, explain] = useState<Reply<Explanation> | null>(null)
  const [shown, setShown] = useState(false)
  const [offered, setOffered] = useState(false)
  if (!body) return <Waiting problem={problem} />
  const asked = body.input !== null ? { tool: body.tool, input: body.input } : null
  const known = asked ?? (body.tool === 'bash' && body.command !== null ? { command: body.command } : null)
  const offers = [...body.offers, ...(explained?.status === 200 ? explained.body.offers : [])]
  const look = async (show: (shown: boolean) => void) => {
    if (!explained && known) explain(await post<Explanation>('/api/explain', { ...known, project: body.project }))
    show(true)
  }
  return (
    <>
      <p class="dim">
        <When at={body.time} />
        {body.ms !== null && ` · took ${duration(body.ms)}`} · {who} · <span class="path">{body.project}</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys. */}
      <pre class="subject" tabIndex={0}>
        {body.command ?? body.summary ?? body.tool}
      </pre>
      {body.command === null && (
        <p class="dim">
          Only its programs are kept: <code>[audit] arguments = true</code> keeps whole commands.
        </p>
      )}
      <div class="buttons">
        <button type="button" disabled={known === null} onClick={() => void look(setShown)}>
          Explain
        </button>
        <button type="button" disabled={known === null && offers.length === 0} onClick={() => void look(setOffered)}>
          Make a rule
        </button>
        {body.undo !== null && <UndoButton call={body.undo} label="Undo this call" />}
        {body.testCase !== null && <Copy text={body.testCase} label="Copy as a test case" />}
      </div>
      {shown && explained && (
        <Part title="How it would be decided now">
          <Explained reply={explained} />
        </Part>
      )}
      {offered && (
        <Part title="Make a rule of it">
          {offers.length === 0 && explained && (
            <p class="dim">No grant would settle this: it is allowed already, or a firm rule asks or denies.</p>
          )}
          <ul class="plain">
            {offers.map(({ kind, value }) => (
              <li key={`${kind} ${value}`}>
                <a href={`#/policy?${new URLSearchParams({ kind, value })}`} onClick={leave}>
                  {kind} <code>{value}</code>
                </a>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title="Why">
        <p>
          <Verdict of={body.verdict} /> {body.message ?? body.reason}
        </p>
        {body.worst !== null && <p>Worst case: {body.worst}</p>}
        {body.answer !== null && <p>Answered: {body.answer}</p>}
        <ul class="plain">
          {body.rules.map((rule) => (
            <li key={rule}>
              <code>{rule}</code>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="How it went">
        <p>
          {body.outcome ?? 'It has not ended, or nobody saw its end.'}
          {body.exitCode !== null && ` · exit code ${body.exitCode}`}
          {body.ended !== null && (
            <>
              {' '}
              · ended <When at={body.ended} />
            </>
          )}
        </p>
        {body.stopped.map((line) => (
          <p key={line}>
            <Verdict of="deny" /> {line}
          </p>
        ))}
      </Part>
      {body.programs.length > 0 && (
        <Part title="Programs">
          <Programs nodes={body.programs} />
          {body.programsLeftOut > 0 && <p class="dim">{body.programsLeftOut} more</p>}
        </Part>
      )}
      {body.hosts.length > 0 && (
        <Part title="Hosts">
          <Hosts hosts={body.hosts} />
        </Part>
      )}
      {body.undo !== null && <Diff call={body.undo} undo={false} />}
      {body.undo === null && body.files.length > 0 && (
        <Part title="Files">
          <ul class="paths">
            {body.files.map((path) => (
              <li key={path} class="path">
                {path}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <details>
        <summary>Everything recorded</summary>
        {body.lines.map((line) => (
          <pre key={String(line.seq)}>{JSON.stringify(line, null, 1)}</pre>
        ))}
      </details>
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Programs({ nodes }: { readonly nodes: readonly ProgramNode[] }): JSX.Element {
  return (
    <ul class="tree programs">
      {nodes.map(({ name, times, children }, at) => (
        <li key={`${at}${name}`}>
          <code>{name}</code> {times > 1 && <span class="dim">× {times}</span>}
          {children.length > 0 && <Programs nodes={children} />}
        </li>
      ))}
    </ul>
  )
}

function Hosts({ hosts }: { readonly hosts: readonly ReachedHost[] }): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th>Host</th>
          <th>Sent</th>
          <th>Received</th>
          <th>By</th>
        </tr>
      </thead>
      <tbody>
        {hosts.map(({ host, refused, up, down, programs }) => (
          <tr key={`${host}${refused}`}>
            <td class="path">{host}</td>
            <td>{refused ? <Verdict of="deny" /> : size(up)}</td>
            <td>{refused ? '' : size(down)}</td>
            <td>{programs.join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function size(bytes: number | null): string {
  if (bytes === null) return '–'
  if (bytes < 1024) return `${bytes} B`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}

function duration(ms: number): string {
  return ms < 1000 ? `${ms} ms` : ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`
}
