/** Draws panels of a Grafana dashboard in a browser, with the tiles and bars of the page. */

import { type JSX, render } from 'preact'
import { Bars, Tile } from '../../src/surfaces/page/client/today.tsx'
import type { DrawnPanel, Series } from './drawn-panel.ts'

const last = ({ points }: Series): number => points.at(-1)![1]
const COLOURS = ['allow', 'ask', 'deny']
const colour = ({ name }: Series, at: number): string => `fill-${name === 'refused' ? 'deny' : COLOURS[at % 3]}`

function Lines({ title, unit, series }: DrawnPanel): JSX.Element {
  const points = series.flatMap((one) => one.points)
  const [from, to] = [Math.min(...points.map(([time]) => time)), Math.max(...points.map(([time]) => time))]
  const most = Math.max(...points.map(([, value]) => value)) || 1
  const x = (time: number) => ((time - from) / (to - from || 1)) * 100
  const text = (value: number) => (unit === 'percentunit' ? `${Math.round(value * 100)} %` : String(+value.toFixed(2)))
  return (
    <section class="card">
      <h2>{title}</h2>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" style={{ width: '100%', height: '9rem' }}>
        <title>{title}</title>
        {series.map((one, at) => (
          <polyline
            key={one.name}
            class={colour(one, at)}
            style={{ fillOpacity: 0.4 }}
            points={[[one.points[0]![0], 0] as const, ...one.points, [one.points.at(-1)![0], 0] as const]
              .map(([time, value]) => `${x(time)},${40 - (value / most) * 38}`)
              .join(' ')}
          />
        ))}
      </svg>
      <p class="legend dim">
        {series.map((one, at) => (
          <span key={one.name}>
            <i class={colour(one, at)} /> {one.name}: {text(last(one))}{' '}
          </span>
        ))}
      </p>
    </section>
  )
}

function Panel(panel: DrawnPanel): JSX.Element {
  const { type, title, red, series } = panel
  switch (type) {
    case 'stat':
      return (
        <ul class="tiles" style={{ gridTemplateColumns: '1fr' }}>
          {series.map((one) => (
            <Tile
              key={one.name}
              count={last(one)}
              label={`${title} (${one.name})`}
              {...(red !== null && last(one) >= red && { kind: 'deny' })}
            />
          ))}
        </ul>
      )
    case 'bargauge': {
      const bars = series.map((one) => ({ name: one.name, count: Math.round(last(one)), refused: 0 }))
      return <Bars title={title} bars={bars.sort((one, other) => other.count - one.count)} none="No data" />
    }
    case 'timeseries':
      return <Lines {...panel} />
    default:
      throw new Error(`${title}: a panel of type ${type} cannot be drawn`)
  }
}

const panels: readonly DrawnPanel[] = JSON.parse(document.getElementById('panels')!.textContent!)
render(
  <main style={{ display: 'grid', gap: '1rem', gridTemplateColumns: 'repeat(24, 1fr)', padding: '1rem' }}>
    {panels.map((panel) => (
      <div key={panel.title} class="panel" style={{ gridColumn: `span ${panel.width}`, minWidth: 0 }}>
        {panel.series.length === 0 ? <p>{panel.title}: no data</p> : <Panel {...panel} />}
      </div>
    ))}
  </main>,
  document.getElementById('page')!,
)
