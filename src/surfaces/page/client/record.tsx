/** Record: live, filtered list of calls with details. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Diff } from './diff.tsx'
import { filtered, NO_FILTER, type RecordFilter, type RecordRow, valuesOf } from './record-rows.ts'
import { get, useFeed } from './server.ts'
import { Empty, Verdict, When } from './words.tsx'

type DetailLine = Readonly<Record<string, unknown>>

/** Internal fields. */
const PLUMBING = ['v', 'seq', 'time', 'session', 'type', 'prev', 'call', 'args_hash']

/** A dialog over the page. */
function CallDetail({ row, close }: { readonly row: RecordRow; readonly close: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const [lines, take] = useState<readonly DetailLine[] | null>(null)
  const { begin, end } = row
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal()
  }, [])
  useEffect(() => {
    if (begin.call === undefined) return take([])
    get<{ readonly lines: readonly DetailLine[] }>('/api/call', { session: begin.session, call: begin.call }).then(
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

function Fields({ line }: { readonly line: DetailLine }): JSX.Element {
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

/** Extra rows, so that scrolling shows no gap. */
const BEYOND = 8

interface Props<Item> {
  readonly items: readonly Item[]
  readonly height: number
  readonly label: string
  readonly keyOf: (item: Item) => string
  readonly row: (item: Item) => ComponentChildren
  readonly open: (item: Item) => void
}

/** Arrows, Page and Home/End move, Enter opens. Tab reaches one row. */
function VirtualList<Item>({ items, height, label, keyOf, row, open }: Props<Item>): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [top, scroll] = useState(0)
  const [space, setLayout] = useState(600)
  const [at, go] = useState(0)
  const moved = useRef(false)
  useEffect(() => {
    const seen = new ResizeObserver(() => setLayout(box.current?.clientHeight ?? 600))
    seen.observe(box.current!)
    return () => seen.disconnect()
  }, [])
  useEffect(() => {
    if (!moved.current) return
    moved.current = false
    box.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus()
  }, [at, top])
  const first = Math.max(0, Math.floor(top / height) - BEYOND)
  const shown = items.slice(first, first + Math.ceil(space / height) + 2 * BEYOND)
  const current = Math.min(at, Math.max(0, items.length - 1))
  const move = (to: number) => {
    const next = Math.max(0, Math.min(items.length - 1, to))
    const element = box.current!
    if (next * height < element.scrollTop) element.scrollTop = next * height
    else if ((next + 1) * height > element.scrollTop + space) element.scrollTop = (next + 1) * height - space
    moved.current = true
    scroll(element.scrollTop)
    go(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(space / height) - 1)
    const steps: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
    if (event.key === 'Home') move(0)
    else if (event.key === 'End') move(items.length - 1)
    else if (steps[event.key] !== undefined) move(current + steps[event.key]!)
    else return
    event.preventDefault()
  }
  return (
    <div class="scroll" ref={box} onScroll={() => scroll(box.current!.scrollTop)}>
      {/* biome-ignore lint/a11y/useSemanticElements: most rows are not there, so their number is said by attributes. */}
      <div role="list" aria-label={label} style={{ height: `${items.length * height}px` }} onKeyDown={onKeyDown}>
        {shown.map((item, index) => (
          // biome-ignore lint/a11y/useSemanticElements: see above.
          <div
            key={keyOf(item)}
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            class="slot"
            style={{ top: `${(first + index) * height}px`, height: `${height}px` }}
          >
            <button
              type="button"
              class="row"
              data-at={first + index}
              tabIndex={
                first + index === current || (index === 0 && (current < first || current >= first + shown.length))
                  ? 0
                  : -1
              }
              onFocus={() => go(first + index)}
              onClick={() => open(item)}
            >
              {row(item)}
            </button>
          </div>
        ))}
      </div>
    </div>
  )
}

const ROW = 44

export function Record(): JSX.Element {
  const { record, caughtUp } = useFeed()
  const [filter, look] = useState<RecordFilter>(NO_FILTER)
  const [opened, open] = useState<RecordRow | null>(null)
  const { rows } = record
  const found = useMemo(() => filtered(rows, filter), [rows, rows.length, filter])
  const lists = useMemo(
    () => ({ project: valuesOf(rows, 'project'), session: valuesOf(rows, 'session'), tool: valuesOf(rows, 'tool') }),
    [rows, Math.floor(rows.length / 500), caughtUp],
  )
  const set = (name: keyof RecordFilter) => (event: { readonly currentTarget: { readonly value: string } }) =>
    look({ ...filter, [name]: event.currentTarget.value })
  const select = (name: 'project' | 'session' | 'tool', label: string) => (
    <label>
      {label}
      <select value={filter[name]} onChange={set(name)}>
        <option value="">any</option>
        {lists[name].map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  )
  const field = (name: 'text' | 'host' | 'file', label: string) => (
    <label>
      {label}
      <input type="search" value={filter[name]} onInput={set(name)} />
    </label>
  )
  return (
    <>
      <search class="filter" aria-label="Filter of the record">
        {field('text', 'Words')}
        <label>
          Verdict
          <select value={filter.verdict} onChange={set('verdict')}>
            <option value="">any</option>
            <option>allow</option>
            <option>ask</option>
            <option>deny</option>
          </select>
        </label>
        {select('tool', 'Tool')}
        {select('project', 'Project')}
        {select('session', 'Session')}
        {field('host', 'Host')}
        {field('file', 'File')}
      </search>
      <p role="status" class="dim">
        {caughtUp ? '' : 'Reading … '}
        {found.length} of {rows.length}
      </p>
      {caughtUp && rows.length === 0 ? (
        <Empty>
          <p>Nothing was recorded yet.</p>
          <p>
            Try <code>cordon run -- ls</code>, or guard an agent with <code>cordon install</code>.
          </p>
        </Empty>
      ) : caughtUp && found.length === 0 ? (
        <Empty>
          <p>Nothing fits this filter.</p>
          <button type="button" onClick={() => look(NO_FILTER)}>
            Show everything
          </button>
        </Empty>
      ) : (
        <VirtualList
          items={found}
          height={ROW}
          label="Events, the newest first"
          keyOf={(row) => row.key}
          open={open}
          row={(row) => <Line row={row} />}
        />
      )}
      {opened && <CallDetail row={opened} close={() => open(null)} />}
    </>
  )
}

function Line({ row: { begin, end } }: { readonly row: RecordRow }): JSX.Element {
  return (
    <>
      <When at={begin.time} />
      <Verdict of={begin.verdict} />
      <span class="tool">{begin.tool ?? begin.type}</span>
      <span class="what">{begin.subject ?? begin.reason ?? begin.agent ?? ''}</span>
      <span class="outcome dim">
        {end?.outcome ?? ''}
        {end?.changed ? ` · ${end.changed} changed` : ''}
      </span>
    </>
  )
}
