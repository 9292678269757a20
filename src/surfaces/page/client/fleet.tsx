/** The fleet: this machine's place in it and, for its operator, every machine, refusals, roll-outs and openings. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Bars, Tile } from './today.tsx'
import { Empty, useAnswer, Waiting, When } from './words.tsx'

interface FleetReport {
  readonly fleet: string
  readonly name: string | null
  readonly role: string | null
  readonly policy: { readonly version: number; readonly expires: string | null } | null
  readonly problem: { readonly message: string } | null
  readonly openings: readonly {
    readonly id: string
    readonly by: readonly string[]
    readonly groups: readonly string[]
    readonly reason: string
    readonly until: string
  }[]
  /** A text says why there is none now. */
  readonly overview: Overview | string | null
}

interface FleetMachine {
  readonly id: string
  readonly name: string
  readonly groups: readonly string[]
  readonly cordon: string | null
  readonly policy: number | null
  readonly seen: string | null
  readonly drift: string | null
  readonly total: { readonly calls: number; readonly refused: number }
}

type Tally = Readonly<Record<string, number>>

interface Overview {
  readonly policy: number | null
  readonly machines: readonly FleetMachine[]
  readonly versions: Tally
  readonly policies: Tally
  readonly refusals: Tally
  readonly total: { readonly calls: number; readonly refused: number }
  readonly asks: number | null
  readonly rollout: {
    readonly at: number
    readonly stages: number
    readonly outcome: string
    readonly reason: string
  } | null
}

export function Fleet(): JSX.Element {
  const { body, problem, again } = useAnswer<FleetReport>('/api/fleet')
  if (!body) return <Waiting problem={problem} />
  const { fleet, name, role, policy, overview, openings } = body
  return (
    <>
      <section aria-labelledby="fleet-own">
        <h2 id="fleet-own">{fleet}</h2>
        <p>
          {name === null ? 'This machine is not enrolled.' : `This machine is ${name} (${role}).`}{' '}
          {policy === null ? 'It has no policy.' : `It has version ${policy.version} of the policy.`}{' '}
          <button type="button" onClick={again}>
            Look again
          </button>
        </p>
        {body.problem && <p class="note">{body.problem.message}</p>}
        {openings.map(({ id, by, groups, reason, until }) => (
          <p key={id} class="note" role="alert">
            {by.join(', ')} opened machines of {groups.join(', ')} until <When at={until} />: {reason}
          </p>
        ))}
      </section>
      {overview === null ? (
        <Empty>The machines of a fleet are shown to the user that administers it.</Empty>
      ) : typeof overview === 'string' ? (
        <p role="alert">{overview}</p>
      ) : (
        <Machines {...overview} />
      )}
    </>
  )
}

function Machines(overview: Overview): JSX.Element {
  const { policy, machines, versions, policies, refusals, total, asks, rollout } = overview
  const drifting = machines.filter(({ drift }) => drift !== null).length
  return (
    <>
      <ul class="tiles">
        <Tile count={machines.length} label={machines.length === 1 ? 'machine' : 'machines'} />
        <Tile count={drifting} label="drifting" {...(drifting > 0 && { kind: 'ask' })} />
        <Tile count={total.calls} label="calls" />
        <Tile count={total.refused} label="refused" {...(total.refused > 0 && { kind: 'deny' })} />
        <Tile count={asks ?? '–'} label={asks === null ? 'open questions need NATS' : 'open questions'} />
      </ul>
      {rollout && (
        <section class="card" aria-labelledby="fleet-rollout">
          <h2 id="fleet-rollout">Roll-out {rollout.outcome}</h2>
          <ol class="stages" aria-hidden="true">
            {Array.from({ length: rollout.stages }, (_, at) => (
              <li
                key={at}
                class={at < rollout.at || rollout.outcome === 'done' ? 'past' : at === rollout.at ? 'now' : ''}
              />
            ))}
          </ol>
          <p>
            Stage {rollout.at + 1} of {rollout.stages}
            {rollout.reason === '' ? '.' : `: ${rollout.reason}.`}
          </p>
        </section>
      )}
      <div class="groups">
        <Bars
          title="Policy"
          bars={barsOf(policies, (name) => (name === 'none' ? 'no policy' : `version ${name}`))}
          none="None."
        />
        <Bars title="Cordon" bars={barsOf(versions)} none="None." />
        <Bars title="Refusals by rule" bars={barsOf(refusals)} none="Nothing was refused." />
      </div>
      <MachineTable machines={machines} policy={policy} />
    </>
  )
}

const MOST_BARS = 8

function barsOf(tally: Tally, nameOf: (name: string) => string = String) {
  // JSON puts names that are numbers first.
  return Object.entries(tally)
    .toSorted((one, other) => other[1] - one[1])
    .slice(0, MOST_BARS)
    .map(([name, count]) => ({ name: nameOf(name), count, refused: 0 }))
}

/** More rows help nobody: the filter finds the others. */
const MOST_ROWS = 200

/** What differs comes first. */
function MachineTable(props: {
  readonly machines: readonly FleetMachine[]
  readonly policy: number | null
}): JSX.Element {
  const { machines, policy } = props
  const [text, type] = useState('')
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = machines.filter((one) => {
    const known = [one.name, one.id, ...one.groups, one.cordon, one.drift, `policy ${one.policy}`]
      .join(' ')
      .toLowerCase()
    return words.every((word) => known.includes(word))
  })
  if (machines.length === 0)
    return (
      <Empty>
        <p>No machine has joined.</p>
        <p>
          <code>cordon fleet invite</code> makes a code, and <code>cordon fleet join</code> uses it.
        </p>
      </Empty>
    )
  return (
    <section aria-labelledby="fleet-machines">
      <h2 id="fleet-machines">Machines</h2>
      <search class="line">
        <label>
          Name, group, version or problem
          <input type="search" value={text} onInput={(event) => type(event.currentTarget.value)} data-find />
        </label>
      </search>
      <p role="status" class="dim">
        {found.length} of {machines.length}
        {found.length > MOST_ROWS && `, the first ${MOST_ROWS} are shown`}
      </p>
      <table class="map machines">
        <thead>
          <tr>
            <th>Machine</th>
            <th>Groups</th>
            <th>Cordon</th>
            <th>Policy</th>
            <th>Calls</th>
            <th>Last seen</th>
          </tr>
        </thead>
        <tbody>
          {found.slice(0, MOST_ROWS).map((one) => (
            <tr key={one.id}>
              <th scope="row">
                {one.name}
                {one.drift !== null && <span class="unused">{one.drift}</span>}
              </th>
              <td data-title="Groups">{one.groups.join(', ') || '–'}</td>
              <td data-title="Cordon">{one.cordon ?? '–'}</td>
              <td data-title="Policy">
                {one.policy ?? '–'}
                {one.policy !== policy && one.policy !== null && <span class="unused">not {policy ?? 'any'}</span>}
              </td>
              <td data-title="Calls">
                {one.total.calls.toLocaleString()}
                {one.total.refused > 0 && <span class="dim">, {one.total.refused.toLocaleString()} refused</span>}
              </td>
              <td data-title="Last seen">{one.seen === null ? 'never' : <When at={one.seen} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
