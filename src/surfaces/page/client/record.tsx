/** Record: what was asked, decided and done, live, filtered; a call opened shows all of it. */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { CallDetail } from './call-detail.tsx'
import { useFeed } from './feed.ts'
import { filtered, NO_FILTER, type RecordFilter, type RecordRow, valuesOf } from './record-rows.ts'
import { VirtualList } from './virtual-list.tsx'
import { Empty, Verdict, When } from './words.tsx'

const ROW = 44

/** The second view. */
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
