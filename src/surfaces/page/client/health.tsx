/** Health: protections of this machine, guarded agents, quarantine, unused grants. */

import type { JSX } from 'preact'
import { post } from './server.ts'
import { Empty, useAnswer, Waiting, When } from './words.tsx'

/** Hooks that answer, whether or not their agent was seen calling them. */
const WAITING: readonly string[] = ['untried', 'not installed']

interface HealthReport {
  readonly support: {
    readonly usable: boolean
    readonly backend: string
    readonly assurances: readonly {
      readonly name: string
      readonly status: string
      readonly detail: string
      readonly remedy?: string | null
    }[]
  }
  readonly score: { readonly holds: number; readonly of: number }
  readonly agents: readonly {
    readonly agent: string
    readonly scope: string
    readonly status: string
    readonly detail: string
    readonly remedy: string | null
  }[]
  readonly quarantine: readonly {
    readonly id: string
    readonly path: string
    readonly reason: string
    readonly time: string
  }[]
  readonly grants: readonly {
    readonly id: string
    readonly kind: string
    readonly value: string
    readonly verdict: string
    readonly scope: string
    readonly project: string
    readonly created: number
    readonly uses: number
    readonly unused: boolean
  }[]
}

export function Health(): JSX.Element {
  const { body, problem, again } = useAnswer<HealthReport>('/api/health')
  if (!body) return <Waiting problem={problem} />
  const { support, score, agents, quarantine, grants } = body
  return (
    <>
      <section aria-labelledby="protections">
        <h2 id="protections">
          {score.holds} of {score.of} protections work with {support.backend}
        </h2>
        {!support.usable && <p class="note">No command runs here: there is no sandbox to run it in.</p>}
        <ul class="states">
          {support.assurances.map(({ name, status, detail, remedy }) => (
            <li key={name}>
              <span class={`verdict ${status === 'enforced' ? 'allow' : status === 'absent' ? 'deny' : 'ask'}`}>
                {status}
              </span>{' '}
              <span>
                <b>{name}</b>: {detail}
                {status !== 'enforced' && remedy && <div class="dim">{remedy}</div>}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        {agents.length === 0 ? (
          <Empty>
            <p>No agent is guarded here.</p>
            <p>
              <code>cordon install claude-code</code> guards Claude Code; <code>cordon install --help</code> names the
              others.
            </p>
          </Empty>
        ) : (
          <ul class="states">
            {agents.map(({ agent, scope, status, detail, remedy }) => (
              <li key={`${agent}${scope}`}>
                <span class={`verdict ${status === 'works' ? 'allow' : WAITING.includes(status) ? 'ask' : 'deny'}`}>
                  {status}
                </span>{' '}
                <span>
                  <b>{agent}</b> ({scope}): {detail}
                  {remedy && <div class="dim">{remedy}</div>}
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="quarantine">
        <h2 id="quarantine">Quarantine</h2>
        {quarantine.length === 0 ? (
          <Empty>
            <p>The quarantine is empty.</p>
          </Empty>
        ) : (
          <ul>
            {quarantine.map(({ id, path, reason, time }) => (
              <li key={id}>
                <span class="path">{path}</span> {reason} <When at={time} />
                <div class="dim">
                  <code>cordon quarantine diff {id}</code> shows it; restore it from a terminal.
                </div>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="grants">
        <h2 id="grants">Saved answers</h2>
        {grants.length === 0 ? (
          <Empty>
            <p>None: every answer was for one question.</p>
          </Empty>
        ) : (
          <ul class="states">
            {grants.map(({ id, kind, value, verdict, scope, project, created, uses, unused }) => (
              <li key={id}>
                <span class={`verdict ${verdict}`}>{verdict}</span>{' '}
                <span>
                  {kind} <code>{value}</code> for{' '}
                  {scope === 'session' ? 'its session' : scope === 'time' ? 'a time' : 'the project'}
                  <div class="dim">
                    <span class="path">{project}</span> · given <When at={created} /> · used {uses} times
                    {unused && ' · unused for two weeks: consider revoking it'}
                  </div>
                </span>
                {verdict === 'allow' && (
                  <button
                    type="button"
                    aria-label={`Take back ${kind} ${value}`}
                    onClick={async () => {
                      await post('/api/revoke', { grant: id })
                      again()
                    }}
                  >
                    Take back
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}
