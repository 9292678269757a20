/** Now: the questions that wait, and what runs. */

import type { JSX } from 'preact'
import { AskCard } from './ask-card.tsx'
import { useFeed } from './feed.ts'
import { Empty, When } from './words.tsx'

/** The first view. */
export function Now(): JSX.Element {
  const { asks, running, record, caughtUp } = useFeed()
  const calls = record.running(running)
  const sessions = [...running].map((id) => {
    const rows = record.rows.filter(({ begin }) => begin.session === id)
    const project = rows.find(({ begin }) => begin.project !== undefined)?.begin.project ?? ''
    return { id, project, agent: rows[0]?.begin.agent ?? '', calls: rows.filter(({ begin }) => begin.call).length }
  })
  return (
    <>
      <section aria-labelledby="asks">
        <h2 id="asks">Waiting for an answer</h2>
        {asks.length === 0 ? (
          <Empty>
            <p>Nothing waits for you.</p>
            <p>When an agent wants to do something that your rules do not settle, the question appears here.</p>
          </Empty>
        ) : (
          asks.map((ask) => <AskCard key={ask.id} ask={ask} />)
        )}
      </section>
      <section aria-labelledby="running">
        <h2 id="running">Running</h2>
        {sessions.length === 0 ? (
          <Empty>
            <p>{caughtUp ? 'No session runs.' : 'Looking …'}</p>
            <p>
              Start one with <code>cordon chat</code>, or guard an agent that you have with <code>cordon install</code>.
            </p>
          </Empty>
        ) : (
          <ul class="cards">
            {sessions.map(({ id, project, agent, calls: count }) => (
              <li key={id} class="card">
                <b>{agent || 'session'}</b> <span class="path">{project}</span>
                <div class="dim">
                  {id} · {count} {count === 1 ? 'call' : 'calls'}
                </div>
                {calls
                  .filter(({ begin }) => begin.session === id)
                  .map(({ key, begin }) => (
                    <div key={key} class="running">
                      <b>{begin.tool}</b> <code>{begin.subject ?? begin.reason}</code> since <When at={begin.time} />
                    </div>
                  ))}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}
