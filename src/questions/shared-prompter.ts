/**
 * A prompter whose questions can also be answered on the page, by a link or with `cordon
 * approvals`. The first answer counts.
 */

import { type FSWatcher, watch } from 'node:fs'
import { type AskView, answerOf, askView, withAnswers } from '../approval/ask-view.ts'
import type { Answer, ApprovalRequest, Prompter } from '../approval/prompter.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory } from '../system/state.ts'
import { ASKS_FILE, type GivenAnswer } from './asks.ts'
import {
  acceptedAnswer,
  answerText,
  answerWaiting,
  isUnmaskingRequested,
  postAsk,
  unmaskAsk,
  withdrawAsk,
} from './waiting.ts'

export interface AskOrigin {
  readonly machine: Machine
  readonly project: string
  /** `chat`, `mcp`, `acp`. */
  readonly surface: string
}

/** Polling interval for file systems without change events. */
const LOOK_MS = 1000
const LETS_GO_MS = 300

/**
 * Asks the person behind `inner` and everyone who can answer elsewhere; the later one is notified.
 */
export function sharedPrompter(inner: Prompter, origin: AskOrigin): Prompter {
  return {
    ...inner,
    async ask(request, signal) {
      const whole = askView(request)
      const view = inner.onceOnly ? withAnswers(whole, ['once', 'deny', 'deny-message']) : whole
      const show = () => ({ ...view, ...pick(askView(request, 'whole')), offers: view.offers })
      const own = (ended: AbortSignal) => inner.ask(request, ended)
      return postAndWait({ view, grants: request.suggestions, show, own, inner }, origin, signal)
    },
  }
}

/** Shows a question of another process here. */
export function askElsewhere(view: AskView, origin: AskOrigin, signal: AbortSignal): Promise<Answer> {
  const own = (ended: AbortSignal) =>
    new Promise<never>((_, reject) => {
      ended.addEventListener('abort', () => reject(ended.reason), { once: true })
    })
  return postAndWait({ view, grants: [], show: null, own, inner: { name: 'fleet' } }, origin, signal)
}

/** Masked parts of a view. */
function pick({ subject, fields, reasons, masked }: AskView): Partial<AskView> {
  return { subject, fields, reasons, masked }
}

interface AskedQuestion {
  readonly view: AskView
  /** The suggestions, unmasked. */
  readonly grants: ApprovalRequest['suggestions']
  /** The unmasked view; null if this process does not know it. */
  readonly show: (() => AskView) | null
  readonly own: (ended: AbortSignal) => Promise<Answer>
  readonly inner: Pick<Prompter, 'name' | 'tell'>
}

async function postAndWait(asked: AskedQuestion, origin: AskOrigin, signal: AbortSignal): Promise<Answer> {
  const { machine, project, surface } = origin
  const { tool } = asked.view
  const shows = asked.show !== null && asked.view.masked > 0
  const id = postAsk(machine, { host: surface, project, tool, view: asked.view, shows }, Date.now())
  try {
    return await first(asked, { machine, id }, signal)
  } finally {
    withdrawAsk(machine, id)
  }
}

async function first(
  asked: AskedQuestion,
  place: { readonly machine: Machine; readonly id: string },
  signal: AbortSignal,
): Promise<Answer> {
  const { inner, show } = asked
  const here = new AbortController()
  const elsewhere = new AbortController()
  const own = asked.own(AbortSignal.any([signal, here.signal])).then((answer) => ({ answer }))
  const other = waitForAnswer(place, show, AbortSignal.any([signal, elsewhere.signal])).then((given) => ({ given }))
  own.catch(() => {})
  other.catch(() => {})
  try {
    const settled = await Promise.race([own, other])
    if ('answer' in settled) {
      const problem = answerWaiting(place.machine, place.id, { kind: settled.answer.kind, by: inner.name })
      // Somebody else was slightly faster.
      const accepted = problem === null ? null : acceptedAnswer(place.machine, place.id)
      if (!accepted) return settled.answer
      inner.tell?.(`This was answered already: ${answerText(accepted)}.`)
      return answerFrom(accepted, asked)
    }
    here.abort(new Error('answered elsewhere'))
    // Restore the terminal before printing; do not wait for a prompter that hangs.
    await Promise.race([own.catch(() => {}), new Promise((resolve) => setTimeout(resolve, LETS_GO_MS))])
    inner.tell?.(`Answered: ${answerText(settled.given)}.`)
    return answerFrom(settled.given, asked)
  } finally {
    elsewhere.abort(new Error('answered here'))
  }
}

/** The answer in the asker's terms. An answer that was not offered is a no. */
function answerFrom({ kind, by, ...given }: GivenAnswer, { grants, view }: AskedQuestion): Answer {
  const answer = answerOf(view, grants, { answer: kind, ...given })
  return { ...(answer ?? { kind: 'deny' }), by }
}

/** Waits for an answer from elsewhere, and meanwhile shows masked text on request. */
function waitForAnswer(
  { machine, id }: { readonly machine: Machine; readonly id: string },
  show: (() => AskView) | null,
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
        if (show && isUnmaskingRequested(machine, id)) unmaskAsk(machine, id, show())
        const answer = acceptedAnswer(machine, id)
        if (!answer) return
        stop()
        resolve(answer)
      } catch {
        // An unreadable file has no answer; the person here is still asked.
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
      // The timer polls instead.
    }
    look()
  })
}
