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

/** Date and time of day; in full on hover. */
export function When({ at }: { readonly at: string | number }): JSX.Element {
  const time = new Date(at)
  const clock = time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const year = time.getFullYear() === new Date().getFullYear() ? {} : ({ year: 'numeric' } as const)
  return (
    <time dateTime={Number.isNaN(time.getTime()) ? undefined : time.toISOString()} title={time.toLocaleString()}>
      <span class="date">{time.toLocaleDateString([], { month: 'short', day: 'numeric', ...year })}</span> {clock}
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
  return problem === null ? <Skeleton rows={4} /> : <p role="alert">{problem}</p>
}

/** The shape of what is being loaded. */
export function Skeleton({ rows }: { readonly rows: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Looking …</span>
      {Array.from({ length: rows }, (_, at) => (
        <div key={at} style={{ width: `${92 - ((at * 29) % 50)}%` }} />
      ))}
    </div>
  )
}

export function Copy({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [said, say] = useState('')
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say('Copied.'),
      () => say('The browser did not allow it.'),
    )
  return (
    <span class="copy">
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>{' '}
      <span role="status" class="dim">
        {said}
      </span>
    </span>
  )
}

/** Saves a file by the browser. */
export function save(name: string, text: string, type: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(href), 10_000)
}
