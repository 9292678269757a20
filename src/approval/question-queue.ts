/** One question at a time: concurrent asks queue, and identical ones of a session are one. */

import type { Prompter } from './prompter.ts'

/** Where the questions of one session wait for the person. */
export interface Questions {
  readonly name: string
  /**
   * Does `work` when its turn comes; the turn lasts until it is done, so what it remembers is known to the next one. Asks with
   * the same key share one turn and its outcome; it is taken back when everybody who asked has gone.
   */
  take<Outcome>(
    key: string,
    signal: AbortSignal,
    work: (prompter: Prompter, signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome>
}

interface Turn {
  readonly outcome: Promise<unknown>
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
    const turns = new Map<string, Turn>()
    return {
      name: this.#prompter.name,
      take: <Outcome>(
        key: string,
        signal: AbortSignal,
        work: (prompter: Prompter, signal: AbortSignal) => Promise<Outcome>,
      ): Promise<Outcome> => {
        const same = turns.get(key)
        if (same) return follow(same, signal) as Promise<Outcome>
        const abort = new AbortController()
        const outcome = this.#inTurn(async () => {
          abort.signal.throwIfAborted()
          return work(this.#prompter, abort.signal)
        })
        const turn: Turn = { outcome, abort, askers: 0 }
        turns.set(key, turn)
        outcome.catch(() => {}).finally(() => turns.delete(key))
        return follow(turn, signal) as Promise<Outcome>
      },
    }
  }

  #inTurn<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = this.#last.then(work, work)
    this.#last = outcome.catch(() => {})
    return outcome
  }
}

function follow(turn: Turn, signal: AbortSignal): Promise<unknown> {
  turn.askers++
  return new Promise((resolve, reject) => {
    const leave = () => {
      if (--turn.askers === 0) turn.abort.abort(signal.reason)
      reject(signal.reason)
    }
    if (signal.aborted) {
      leave()
      return
    }
    signal.addEventListener('abort', leave, { once: true })
    turn.outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
