/** One question at a time: concurrent asks queue, and identical ones of a session are one. */

import type { Prompter } from './prompter.ts'

/** Where the questions of one session wait for the person. */
export interface Questions {
  readonly name: string
  /** Several people share it: an answer is for one call of one of them. */
  readonly isShared: boolean
  /**
   * Runs `work` when its turn comes; the turn lasts until it is done, so the next one knows what it
   * saved. Asks with the same key share one turn and its outcome; it is cancelled when all askers
   * have gone.
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

/** Puts the questions of every session to one person, one after the other; where there are several, to each their own. */
export class QuestionQueue {
  readonly #prompter: Prompter
  /** The last question of each person. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(prompter: Prompter) {
    this.#prompter = prompter
  }

  /** A place for one session: its questions merge with one another, never with those of another session. */
  open(): Questions {
    const turns = new Map<string, Turn>()
    return {
      name: this.#prompter.name,
      isShared: this.#prompter.onceOnly === true,
      take: <Outcome>(
        key: string,
        signal: AbortSignal,
        work: (prompter: Prompter, signal: AbortSignal) => Promise<Outcome>,
      ): Promise<Outcome> => {
        const asker = this.#prompter.asker?.() ?? ''
        const own = JSON.stringify([asker, key])
        const same = turns.get(own)
        if (same) return follow(same, signal) as Promise<Outcome>
        const abort = new AbortController()
        const outcome = this.#inTurn(asker, async () => {
          abort.signal.throwIfAborted()
          return work(this.#prompter, abort.signal)
        })
        const turn: Turn = { outcome, abort, askers: 0 }
        turns.set(own, turn)
        outcome.catch(() => {}).finally(() => turns.delete(own))
        return follow(turn, signal) as Promise<Outcome>
      },
    }
  }

  #inTurn<Outcome>(asker: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = (this.#last.get(asker) ?? Promise.resolve()).then(work, work)
    const last = outcome
      .catch(() => {})
      .finally(() => {
        if (this.#last.get(asker) === last) this.#last.delete(asker)
      })
    this.#last.set(asker, last)
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
