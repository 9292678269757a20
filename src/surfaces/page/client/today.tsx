/** Today: what agents did, as pictures. Each part of a picture is a link to its calls. */

import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { TimelineCall } from '../undo-view.ts'
import { filterLink, type RecordFilter } from './record-rows.ts'
import { getText, useFeed } from './server.ts'
import { type Bar, type Bucket, todayFacts } from './today-facts.ts'
import { Empty, Skeleton, save, useAnswer } from './words.tsx'

const HOUR = 3_600_000
const PERIODS = [
  { id: 'today', label: 'Today', hours: 0, buckets: 24 },
  { id: 'day', label: '24 hours', hours: 24, buckets: 24 },
  { id: 'week', label: '7 days', hours: 7 * 24, buckets: 28 },
  { id: 'month', label: '30 days', hours: 30 * 24, buckets: 30 },
] as const

/** From midnight to midnight, or so many hours back. */
function spanOf({ hours }: { readonly hours: number }): { readonly since: number; readonly until: number } {
  const start = new Date()
  if (hours === 0) {
    start.setHours(0, 0, 0, 0)
    return { since: start.getTime(), until: new Date(start).setDate(start.getDate() + 1) }
  }
  const until = start.setMinutes(60, 0, 0)
  return { since: until - hours * HOUR, until }
}

export function Today(): JSX.Element {
  const { record, running, caughtUp } = useFeed()
  const [chosen, choose] = useState(0)
  const [project, only] = useState('')
  const period = PERIODS[chosen]!
  const { rows } = record
  const projects = useMemo(
    () => [...new Set(Array.from(record.sessions.values(), (one) => one.project))].filter(Boolean).sort(),
    [record.sessions.size],
  )
  const { since, until } = spanOf(period)
  const facts = useMemo(() => {
    const own = project === '' ? rows : rows.filter(({ begin }) => begin.project === project)
    return todayFacts(own, since, until, period.buckets, running)
    // Ends and answers change rows in place: `record.changes` counts them.
  }, [rows, record.changes, since, project, period, running])
  const span = { since: new Date(since).toISOString(), until: new Date(until).toISOString(), project }
  const link = (filter: Partial<RecordFilter>) => filterLink({ ...span, ...filter })
  return (
    <>
      <div class="tools">
        <fieldset class="segments">
          <legend class="hidden">Time</legend>
          {PERIODS.map(({ id, label }, at) => (
            <label key={id}>
              <input type="radio" name="period" checked={at === chosen} onChange={() => choose(at)} />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
        <select aria-label="Project" value={project} onChange={(event) => only(event.currentTarget.value)}>
          <option value="">every project</option>
          {projects.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <button
          type="button"
          onClick={async () => save('cordon-report.html', await getText('/api/report', span), 'text/html')}
        >
          Export
        </button>
      </div>
      {!caughtUp && facts.calls === 0 ? (
        <Skeleton rows={6} />
      ) : facts.calls === 0 ? (
        <Empty>
          <p>No agent did anything in this time.</p>
          <p>
            Choose a longer one, or try <code>cordon run -- ls</code>.
          </p>
        </Empty>
      ) : (
        <>
          <ul class="tiles">
            <Tile count={facts.calls} label="calls" href={link({})} />
            <Tile count={facts.asked} label="asked" href={link({ verdict: 'ask' })} kind="ask" />
            <Tile count={facts.refused} label="refused" href={link({ verdict: 'deny' })} kind="deny" />
            <Tile count={facts.changed} label="files changed" href="#/timeline" />
            <Undoable />
          </ul>
          <section class="card" aria-labelledby="over-time">
            <h2 id="over-time">Calls over time</h2>
            <Columns buckets={facts.buckets} link={link} />
            <p class="legend dim">
              <i class="fill-allow" /> allowed <i class="fill-ask" /> asked <i class="fill-deny" /> refused
            </p>
          </section>
          <div class="groups">
            <Bars title="Hosts" bars={facts.hosts} link={(host) => link({ host })} none="No host was reached." />
            <Bars
              title="Files changed, by folder"
              bars={facts.folders}
              link={(file) => link({ file: file.startsWith('the project') ? '' : file })}
              none="No file was changed."
            />
            <Bars
              title="Asks, and who answered"
              bars={facts.answers}
              link={(by) => link({ by })}
              none="Nothing asked."
            />
          </div>
        </>
      )}
    </>
  )
}

export function Tile(props: {
  readonly count: number | string
  readonly label: string
  readonly href?: string
  readonly kind?: string
}): JSX.Element {
  return (
    <li>
      <a class={`tile ${props.kind ?? ''}`} href={props.href}>
        <b>{props.count.toLocaleString()}</b> {props.label}
      </a>
    </li>
  )
}

function Undoable(): JSX.Element {
  const { body } = useAnswer<{ readonly calls: readonly TimelineCall[] }>('/api/timeline')
  const open = body?.calls.filter(({ undoes, undoneBy }) => undoes === null && undoneBy === null) ?? []
  const more = (body?.calls.length ?? 0) >= 200 ? '+' : ''
  return <Tile count={body ? `${open.length}${more}` : '…'} label="can be undone here" href="#/timeline" />
}

const HEIGHT = 100
const LABELS = 8
const KINDS = ['deny', 'ask', 'allow'] as const

/** Stacked columns, as wide as there is space; the links are as tall as the picture, so that a small column can be hit. */
function Columns(props: {
  readonly buckets: readonly Bucket[]
  readonly link: (filter: Partial<RecordFilter>) => string
}): JSX.Element {
  const { buckets } = props
  const most = Math.max(1, ...buckets.map(({ allow, ask, deny }) => allow + ask + deny))
  const every = Math.ceil(buckets.length / LABELS)
  const days = buckets.at(-1)!.to - buckets[0]!.from > 25 * HOUR
  return (
    <div class="columns">
      <p class="dim">
        most: {most.toLocaleString()} {days ? 'in a column' : 'in an hour'}
      </p>
      <svg viewBox={`0 0 ${buckets.length} ${HEIGHT}`} preserveAspectRatio="none">
        <title>Calls over time</title>
        {buckets.map((bucket, at) => {
          const { from, to, allow, ask, deny } = bucket
          const about = `${nameOf(from, days)}: ${allow} allowed, ${ask} asked, ${deny} refused`
          let top = HEIGHT
          return (
            <a
              key={from}
              href={props.link({ since: new Date(from).toISOString(), until: new Date(to).toISOString() })}
              aria-label={about}
            >
              <title>{about}</title>
              <rect class="hit" x={at} y="0" width="1" height={HEIGHT} />
              {KINDS.map((kind) => {
                const tall = (bucket[kind] / most) * HEIGHT
                top -= tall
                return (
                  tall > 0 && (
                    <rect key={kind} class={`fill-${kind}`} x={at + 0.08} y={top} width="0.84" height={tall} />
                  )
                )
              })}
            </a>
          )
        })}
      </svg>
      <div class="labels dim" aria-hidden="true" style={{ gridTemplateColumns: `repeat(${buckets.length}, 1fr)` }}>
        {buckets
          .filter((_, at) => at % every === 0)
          .map(({ from }, at) => (
            <span key={from} style={{ gridColumn: `${at * every + 1} / span ${every}` }}>
              {nameOf(from, days)}
            </span>
          ))}
      </div>
    </div>
  )
}

function nameOf(time: number, days: boolean): string {
  const date = new Date(time)
  return days
    ? date.toLocaleDateString([], { month: 'short', day: 'numeric' })
    : date.toLocaleTimeString([], { hour: 'numeric' })
}

/** Counts by name, the most frequent first; without a link where there is nothing more to see. */
export function Bars(props: {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly link?: (name: string) => string
  readonly none: string
}): JSX.Element {
  const most = Math.max(1, ...props.bars.map(({ count }) => count))
  return (
    <section class="card bars" aria-label={props.title}>
      <h2>{props.title}</h2>
      {props.bars.length === 0 && <p class="dim">{props.none}</p>}
      <ul>
        {props.bars.map(({ name, count, refused }) => (
          <li key={name}>
            <a href={props.link?.(name)}>
              <span class="name">{name}</span>
              <span class="dim">
                {refused === count ? `${count} refused` : `${count}${refused > 0 ? `, ${refused} refused` : ''}`}
              </span>
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect class="fill-allow" width={((count - refused) / most) * 100} height="4" />
                <rect
                  class="fill-deny"
                  x={((count - refused) / most) * 100}
                  width={(refused / most) * 100}
                  height="4"
                />
              </svg>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
