/** Shared pieces: verdicts, times, empty states, loading. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { get, type Reply } from './server.ts'

/** A verdict as word and colour. */
export function Verdict({ of }: { readonly of: string | null | undefined }): JSX.Element {
  // A forged record may name any class.
  const known = of === 'allow' || of === 'ask' || of === 'deny' ? of : 'none'
  return <span class={`verdict ${known}`}>{of ?? '–'}</span>
}

/** The time of day, with the date if not today; in full on hover. */
export function When({ at }: { readonly at: string | number }): JSX.Element {
  const time = new Date(at)
  const clock = time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const today = time.toDateString() === new Date().toDateString()
  return (
    <time dateTime={Number.isNaN(time.getTime()) ? undefined : time.toISOString()} title={time.toLocaleString()}>
      {today ? clock : `${time.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${clock}`}
    </time>
  )
}

/** An empty state with advice. */
export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>
}

/** A server's answer, or the problem; `again` repeats the request. */
export function useAnswer<Body>(path: string): {
  readonly body: Body | null
  readonly problem: string | null
  readonly again: () => void
} {
  const [reply, take] = useState<Reply<Body> | null>(null)
  const [problem, fail] = useState<string | null>(null)
  const [round, again] = useState(0)
  useEffect(() => {
    let wanted = true
    get<Body>(path).then(
      (answer) => {
        if (!wanted) return
        take(answer)
        fail(answer.status === 200 ? null : (answer.body.why ?? String(answer.status)))
      },
      () => wanted && fail('The server does not answer.'),
    )
    return () => {
      wanted = false
    }
  }, [path, round])
  return { body: reply?.status === 200 ? reply.body : null, problem, again: () => again((count) => count + 1) }
}

/** Loading, or the problem. */
export function Waiting({ problem }: { readonly problem: string | null }): JSX.Element {
  return problem === null ? <p role="status">Looking …</p> : <p role="alert">{problem}</p>
}
