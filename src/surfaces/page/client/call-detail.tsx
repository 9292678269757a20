/** A call opened: its lines in the record, its rules, what it changed, and putting that back. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Diff } from './diff.tsx'
import type { RecordRow } from './record-rows.ts'
import { get } from './server.ts'
import { Verdict, When } from './words.tsx'

type Line = Readonly<Record<string, unknown>>

/** Fields that say where a line stands, which no one opens a call for. */
const PLUMBING = ['v', 'seq', 'time', 'session', 'type', 'prev', 'call', 'args_hash']

/** A dialog over the page. */
export function CallDetail({ row, close }: { readonly row: RecordRow; readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const [lines, take] = useState<readonly Line[] | null>(null)
  const { begin, end } = row
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  useEffect(() => {
    if (begin.call === undefined) return take([])
    get<{ readonly lines: readonly Line[] }>('/api/call', { session: begin.session, call: begin.call }).then(
      ({ status, body }) => take(status === 200 ? body.lines : []),
      () => take([]),
    )
  }, [begin.session, begin.call])
  return (
    <dialog ref={dialog} aria-labelledby="call-title" onClose={close}>
      <div class="head">
        <h2 id="call-title">
          {begin.tool ?? begin.type} <Verdict of={begin.verdict} />
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <p class="dim">
        <When at={begin.time} /> · {begin.agent ?? ''} · <span class="path">{begin.project ?? ''}</span> ·{' '}
        {begin.session}
      </p>
      {begin.subject !== undefined ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        <pre class="subject" tabIndex={0}>
          {begin.subject}
        </pre>
      ) : (
        begin.tool !== undefined && (
          <p class="dim">
            What was asked for is not kept: <code>[audit] arguments = true</code> keeps it.
          </p>
        )
      )}
      {end?.undo !== undefined && <Diff call={end.undo} />}
      {lines === null ? (
        <p role="status">Looking …</p>
      ) : (
        lines.map((line) => <Fields key={String(line.seq)} line={line} />)
      )}
    </dialog>
  )
}

function Fields({ line }: { readonly line: Line }): JSX.Element {
  return (
    <section aria-label={String(line.type)}>
      <h3>{String(line.type)}</h3>
      <dl>
        {Object.entries(line)
          .filter(([name, value]) => !PLUMBING.includes(name) && value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === 'object' ? <pre>{JSON.stringify(value, null, 1)}</pre> : String(value)}</dd>
            </div>
          ))}
      </dl>
    </section>
  )
}
