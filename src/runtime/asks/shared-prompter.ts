/** A prompter whose questions can also be answered from elsewhere: the page, a link, `cordon approvals`. The first answer stands. */

import { type FSWatcher, watch } from 'node:fs'
import { maskedRequest } from '../../approval/masked-request.ts'
import type { Answer, ApprovalRequest, Prompter } from '../../approval/prompter.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory } from '../../system/state.ts'
import { ASKS_FILE, type GivenAnswer } from './asks.ts'
import { answerAsk, answerOf, answerText, postAsk, withdrawAsk } from './waiting.ts'

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

/** Puts every question to the person behind `inner` and to whoever else can answer; the later one is told. */
export function sharedPrompter(inner: Prompter, origin: AskOrigin): Prompter {
  const { machine, project, surface } = origin
  return {
    ...inner,
    async ask(asked, signal) {
      const request = inner.onceOnly ? { ...asked, suggestions: [] } : asked
      const shown = maskedRequest(request)
      const { tool, subject, where, asks, suggestions } = shown
      const reason = shown.decision.reason.message
      const id = postAsk(
        machine,
        { host: surface, project, tool, subject, reason, suggestions: [] },
        { tool, subject, ...(where !== undefined && { where }), asks, suggestions },
        Date.now(),
      )
      try {
        return await first(inner, request, { machine, id }, signal)
      } finally {
        withdrawAsk(machine, id)
      }
    },
  }
}

async function first(
  inner: Prompter,
  request: ApprovalRequest,
  place: { readonly machine: Machine; readonly id: string },
  signal: AbortSignal,
): Promise<Answer> {
  const here = new AbortController()
  const elsewhere = new AbortController()
  const own = inner.ask(request, AbortSignal.any([signal, here.signal])).then((answer) => ({ answer }))
  const other = comes(place, AbortSignal.any([signal, elsewhere.signal])).then((given) => ({ given }))
  own.catch(() => {})
  other.catch(() => {})
  try {
    const settled = await Promise.race([own, other])
    if ('answer' in settled) {
      const problem = answerAsk(place.machine, place.id, { kind: settled.answer.kind, by: inner.name })
      // Somebody else was first by less than it takes to tell this one.
      const stands = problem === null ? null : answerOf(place.machine, place.id)
      if (!stands) return settled.answer
      inner.tell?.(`This was answered already: ${answerText(stands)}.`)
      return meant(stands, request)
    }
    here.abort(new Error('answered elsewhere'))
    await own.catch(() => {})
    inner.tell?.(`Answered: ${answerText(settled.given)}.`)
    return meant(settled.given, request)
  } finally {
    elsewhere.abort(new Error('answered here'))
  }
}

/** The answer as the asker means it. A number that stands for nothing is a no. */
function meant(given: GivenAnswer, { suggestions }: ApprovalRequest): Answer {
  const { kind, by } = given
  const grant = suggestions[given.choice ?? 0]
  switch (kind) {
    case 'once':
      return { kind, by }
    case 'session':
    case 'always':
    case 'deny-always':
      return grant ? { kind, grant, by } : { kind: 'deny', by }
    case 'time':
      return grant && given.seconds ? { kind, grant, seconds: given.seconds, by } : { kind: 'deny', by }
    case 'deny-message':
      return { kind, message: given.message ?? '', by }
    default:
      return { kind: 'deny', by }
  }
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
        const answer = answerOf(machine, id)
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
