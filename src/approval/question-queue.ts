/** One question at a time: concurrent asks queue, identical ones of a session get one answer, and answered ones are not asked. */

import type { Answer, ApprovalRequest, Prompter } from './prompter.ts'

/** Where the questions of one session wait. */
export interface Questions {
  readonly name: string
  /**
   * Asks in turn. `identity` tells calls apart that look alike; `settled` is asked when the turn comes, since the answer to
   * another question may have covered this one.
   */
  ask(request: ApprovalRequest, signal: AbortSignal, identity: string, settled: () => boolean): Promise<Answer>
  question(text: string, options: readonly string[], signal: AbortSignal): Promise<string | null>
}

interface Waiting {
  readonly answer: Promise<Answer>
  readonly abort: AbortController
  askers: number
}

/** Puts the questions of every session to one person, one after the other. */
export class QuestionQueue {
  readonly #prompter: Prompter
  #last: Promise<unknown> = Promise.resolve()

  constructor(prompter: Prompter) {
    this.#prompter = prompter
  }

  /** A place for one session: its questions merge with one another, never with those of another session. */
  open(): Questions {
    const waiting = new Map<string, Waiting>()
    return {
      name: this.#prompter.name,
      ask: (request, signal, identity, settled) => {
        const key = JSON.stringify([request.tool, request.subject, identity])
        const same = waiting.get(key)
        if (same) return follow(same, signal)
        const abort = new AbortController()
        const answer = this.#inTurn(async () => {
          abort.signal.throwIfAborted()
          return settled() ? ({ kind: 'once' } as const) : this.#prompter.ask(request, abort.signal)
        })
        const entry: Waiting = { answer, abort, askers: 0 }
        waiting.set(key, entry)
        answer.catch(() => {}).finally(() => waiting.delete(key))
        return follow(entry, signal)
      },
      question: (text, options, signal) =>
        this.#inTurn(async () => {
          signal.throwIfAborted()
          return this.#prompter.question ? this.#prompter.question(text, options, signal) : null
        }),
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work)
    this.#last = result.catch(() => {})
    return result
  }
}

/** The question is taken back only when everybody who asked it has gone. */
function follow(entry: Waiting, signal: AbortSignal): Promise<Answer> {
  entry.askers++
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (--entry.askers === 0) entry.abort.abort(signal.reason)
      reject(signal.reason)
    }
    if (signal.aborted) {
      leave()
      return
    }
    signal.addEventListener('abort', leave, { once: true })
    entry.answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
