/** The fleet: this machine's place in it and, for its operator, every machine, refusals, roll-outs and openings. */

import type { JSX } from 'preact'
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

interface Overview {
  readonly policy: number | null
  readonly machines: readonly {
    readonly id: string
    readonly name: string
    readonly groups: readonly string[]
    readonly cordon: string | null
    readonly policy: number | null
    readonly seen: string | null
    readonly drift: string | null
    readonly total: { readonly calls: number; readonly refused: number }
  }[]
  readonly refusals: Readonly<Record<string, number>>
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

function Machines({ policy, machines, refusals, total, asks, rollout }: Overview): JSX.Element {
  const drifting = machines.filter(({ drift }) => drift !== null).length
  return (
    <>
      <section aria-labelledby="fleet-all">
        <h2 id="fleet-all">
          {machines.length} machines, {drifting} drifting
        </h2>
        <p>
          Policy {policy ?? 'none'}; {total.calls} calls, {total.refused} refused
          {asks === null ? '' : `; ${asks} open questions`}.
        </p>
        {rollout && (
          <p class="note">
            Roll-out: stage {rollout.at + 1} of {rollout.stages}, {rollout.outcome}: {rollout.reason}
          </p>
        )}
        {machines.length === 0 && <Empty>No machine has joined: cordon fleet invite makes a code.</Empty>}
        <ul class="states">
          {machines.map(({ id, name, groups, cordon, policy: own, seen, drift, total: { calls, refused } }) => (
            <li key={id}>
              <strong>{name}</strong> <span class="quiet">{groups.join(', ')}</span>{' '}
              {drift ?? `Cordon ${cordon}, policy ${own}, ${calls} calls, ${refused} refused`}{' '}
              {seen !== null && <When at={seen} />}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="fleet-rules">
        <h2 id="fleet-rules">Refusals by rule</h2>
        {Object.keys(refusals).length === 0 && <Empty>Nothing was refused.</Empty>}
        <ul class="states">
          {Object.entries(refusals).map(([rule, count]) => (
            <li key={rule}>
              <strong>{count}</strong> <code>{rule}</code>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
