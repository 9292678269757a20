/** A prompter whose questions can also be answered from elsewhere: the page, a link, `cordon approvals`. The first answer stands. */

import { type FSWatcher, watch } from 'node:fs'
import { type AskView, answerOf, askView, withAnswers } from '../../approval/ask-view.ts'
import type { Answer, ApprovalRequest, Prompter } from '../../approval/prompter.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory } from '../../system/state.ts'
import { ASKS_FILE, type GivenAnswer } from '../hook/asks.ts'
import { answerText, answerWaiting, postAsk, standingAnswer, withdrawAsk } from './waiting.ts'

/** Where questions come from. */
export interface AskOrigin {
  readonly machine: Machine
  /** The root of the project. */
  readonly project: string
  /** `chat`, `mcp`, `acp`. */
  readonly surface: string
}

/** File systems that tell of no changes are looked at this often. */
const LOOK_MS = 1000
const LETS_GO_MS = 300

/** Puts every question to the person behind `inner` and to whoever else can answer; the later one is told. */
export function sharedPrompter(inner: Prompter, origin: AskOrigin): Prompter {
  const { machine, project, surface } = origin
  return {
    ...inner,
    async ask(request, signal) {
      const whole = askView(request)
      const view = inner.onceOnly ? withAnswers(whole, ['once', 'deny', 'deny-message']) : whole
      const { tool, subject } = view
      const id = postAsk(machine, { host: surface, project, tool, subject, view }, Date.now())
      try {
        return await first(inner, { request, view }, { machine, id }, signal)
      } finally {
        withdrawAsk(machine, id)
      }
    },
  }
}

interface Asked {
  readonly request: ApprovalRequest
  readonly view: AskView
}

async function first(
  inner: Prompter,
  asked: Asked,
  place: { readonly machine: Machine; readonly id: string },
  signal: AbortSignal,
): Promise<Answer> {
  const here = new AbortController()
  const elsewhere = new AbortController()
  const own = inner.ask(asked.request, AbortSignal.any([signal, here.signal])).then((answer) => ({ answer }))
  const other = comes(place, AbortSignal.any([signal, elsewhere.signal])).then((given) => ({ given }))
  own.catch(() => {})
  other.catch(() => {})
  try {
    const settled = await Promise.race([own, other])
    if ('answer' in settled) {
      const problem = answerWaiting(place.machine, place.id, { kind: settled.answer.kind, by: inner.name })
      // Somebody else was first by less than it takes to tell this one.
      const stands = problem === null ? null : standingAnswer(place.machine, place.id)
      if (!stands) return settled.answer
      inner.tell?.(`This was answered already: ${answerText(stands)}.`)
      return meant(stands, asked)
    }
    here.abort(new Error('answered elsewhere'))
    // A terminal is put back before anything is said on it; a prompter that does not let go is not waited for.
    await Promise.race([own.catch(() => {}), new Promise((resolve) => setTimeout(resolve, LETS_GO_MS))])
    inner.tell?.(`Answered: ${answerText(settled.given)}.`)
    return meant(settled.given, asked)
  } finally {
    elsewhere.abort(new Error('answered here'))
  }
}

/** The answer as the asker means it. One that was not offered is a no. */
function meant({ kind, by, ...given }: GivenAnswer, { request, view }: Asked): Answer {
  const answer = answerOf(view, request.suggestions, { answer: kind, ...given })
  return { ...(answer ?? { kind: 'deny' }), by }
}

/** The answer from elsewhere, when it comes. */
function comes(
  { machine, id }: { readonly machine: Machine; readonly id: string },
  signal: AbortSignal,
): Promise<GivenAnswer> {
  return new Promise((resolve, reject) => {
    let watcher: FSWatcher | null = null
    const stop = () => {
      watcher?.close()
      clearInterval(timer)
      signal.removeEventListener('abort', onAbort)
    }
    const onAbort = () => {
      stop()
      reject(signal.reason)
    }
    const look = () => {
      try {
        const answer = standingAnswer(machine, id)
        if (!answer) return
        stop()
        resolve(answer)
      } catch {
        // A file that cannot be read holds no answer; the person here is still asked.
      }
    }
    const timer = setInterval(look, LOOK_MS)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      watcher = watch(openOwnDirectory(machine.stateDir), (_, name) => {
        if (name === null || name === ASKS_FILE) look()
      })
      watcher.on('error', () => watcher?.close())
    } catch {
      // Looked at by the clock then.
    }
    look()
  })
}
