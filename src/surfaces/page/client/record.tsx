/** Record: live, filtered list of calls with details. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { CallDialog } from './call.tsx'
import {
  answerOf,
  filtered,
  filterLink,
  filterOf,
  NO_FILTER,
  type RecordFilter,
  type RecordRow,
  type RecordRows,
  subjectOf,
  valuesOf,
} from './record-rows.ts'
import { useFeed } from './server.ts'
import { Empty, Skeleton, save, Verdict, When } from './words.tsx'

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

/** The filter in the address. */
function useFilter(): [RecordFilter, (filter: RecordFilter) => void] {
  const [filter, look] = useState(() => filterOf(location.hash))
  useEffect(() => {
    const moved = () => look(filterOf(location.hash))
    addEventListener('hashchange', moved)
    return () => removeEventListener('hashchange', moved)
  }, [])
  const set = (next: RecordFilter) => {
    history.replaceState(null, '', filterLink(next))
    look(next)
  }
  return [filter, set]
}

/** Whether a filter uses what a phone folds away. */
function usesMore({ tool, project, session, host, file }: RecordFilter): boolean {
  return [tool, project, session, host, file].some((value) => value !== '')
}

export function Record(): JSX.Element {
  const { record, running, caughtUp } = useFeed()
  const [filter, look] = useFilter()
  const [opened, open] = useState<RecordRow | null>(null)
  const { rows } = record
  const found = useMemo(() => filtered(rows, filter, running), [rows, record.changes, filter, running])
  // A phone has space for two of them.
  const [isWhole, showAll] = useState(() => !matchMedia('(max-width: 40rem)').matches || usesMore(filter))
  const lists = useMemo(
    () => ({ project: valuesOf(rows, 'project'), session: valuesOf(rows, 'session'), tool: valuesOf(rows, 'tool') }),
    [rows, Math.floor(rows.length / 500), caughtUp],
  )
  const set = (name: keyof RecordFilter) => (event: { readonly currentTarget: { readonly value: string } }) =>
    look({ ...filter, [name]: event.currentTarget.value })
  const nameOf = (name: string, value: string) => (name === 'session' ? sessionLabel(record, value) : value)
  const select = (name: 'project' | 'session' | 'tool', label: string) => (
    <label>
      {label}
      <select value={filter[name]} onChange={set(name)}>
        <option value="">any</option>
        {/* A link may name one that is not in the list. */}
        {[...new Set([...lists[name], ...(filter[name] === '' ? [] : [filter[name]])])].map((value) => (
          <option key={value} value={value}>
            {nameOf(name, value)}
          </option>
        ))}
      </select>
    </label>
  )
  const field = (name: 'text' | 'host' | 'file', label: string) => (
    <label>
      {label}
      <input type="search" value={filter[name]} onInput={set(name)} data-find={name === 'text' ? true : undefined} />
    </label>
  )
  const chips = (['by', 'since', 'until'] as const).filter((name) => filter[name] !== '')
  const lines = () => found.map(({ begin, answer, end }) => `${JSON.stringify({ begin, answer, end })}\n`).join('')
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
        {isWhole ? (
          <>
            {select('tool', 'Tool')}
            {select('project', 'Project')}
            {select('session', 'Session')}
            {field('host', 'Host')}
            {field('file', 'File')}
          </>
        ) : (
          <button type="button" onClick={() => showAll(true)}>
            More
            <span class="hidden"> filters</span>
          </button>
        )}
      </search>
      <div class="tools">
        <p role="status" class="dim">
          {caughtUp ? '' : 'Reading … '}
          {found.length} of {rows.length}
        </p>
        {chips.map((name) => (
          <button key={name} type="button" class="chip" onClick={() => look({ ...filter, [name]: '' })}>
            {name === 'by' ? filter.by : `${name} ${new Date(filter[name]).toLocaleString()}`}{' '}
            <span aria-hidden="true">×</span>
            <span class="hidden">, remove</span>
          </button>
        ))}
        <button
          type="button"
          disabled={found.length === 0}
          onClick={() => save('cordon-record.jsonl', lines(), 'application/x-ndjson')}
        >
          Export
        </button>
      </div>
      {!caughtUp && rows.length === 0 ? (
        <Skeleton rows={8} />
      ) : caughtUp && rows.length === 0 ? (
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
          row={(row) => <Line row={row} who={record.nameOf(row.begin.session)} running={running} />}
        />
      )}
      {opened && <CallDialog row={opened} who={record.nameOf(opened.begin.session)} close={() => open(null)} />}
    </>
  )
}

function sessionLabel(record: RecordRows, session: string): string {
  const since = record.sessions.get(session)?.since
  return since === undefined
    ? session
    : `${record.nameOf(session)}, ${new Date(since).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`
}

function Line(props: {
  readonly row: RecordRow
  readonly who: string
  readonly running: ReadonlySet<string>
}): JSX.Element {
  const { row, who, running } = props
  const { begin, end } = row
  const answer = answerOf(row, running)
  return (
    <>
      <When at={begin.time} />
      <Verdict of={begin.verdict} />
      <span class="tool">{begin.tool ?? begin.type}</span>
      <span class="what">{subjectOf(row) || (begin.reason ?? '')}</span>
      <span class="outcome dim">
        {[begin.verdict === 'ask' ? answer : '', end?.outcome ?? '', end?.changed ? `${end.changed} changed` : '']
          .filter(Boolean)
          .join(' · ')}
      </span>
      <span class="who dim">{who}</span>
    </>
  )
}
