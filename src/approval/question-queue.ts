/** One question at a time: concurrent asks queue, and identical ones get one answer. */

import type { Answer, ApprovalRequest, Prompter } from './prompter.ts'

interface Waiting {
  readonly key: string
  readonly answer: Promise<Answer>
}

/** A prompter that puts questions to another one after the other. */
export class QuestionQueue implements Prompter {
  readonly name: string
  readonly #prompter: Prompter
  readonly #waiting: Waiting[] = []
  #last: Promise<unknown> = Promise.resolve()

  constructor(prompter: Prompter) {
    this.#prompter = prompter
    this.name = prompter.name
  }

  ask(request: ApprovalRequest, signal: AbortSignal): Promise<Answer> {
    const key = JSON.stringify([request.tool, request.subject])
    const same = this.#waiting.find((waiting) => waiting.key === key)
    if (same) return same.answer
    const answer = this.#last.then(
      () => this.#put(request, signal),
      () => this.#put(request, signal),
    )
    const waiting: Waiting = { key, answer }
    this.#waiting.push(waiting)
    this.#last = answer.catch(() => {}).finally(() => this.#waiting.splice(this.#waiting.indexOf(waiting), 1))
    return answer
  }

  async question(text: string, options: readonly string[], signal: AbortSignal): Promise<string | null> {
    const answer = this.#last.then(() => this.#prompter.question?.(text, options, signal) ?? null)
    this.#last = answer.catch(() => {})
    return answer
  }

  #put(request: ApprovalRequest, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted()
    return this.#prompter.ask(request, signal)
  }
}
