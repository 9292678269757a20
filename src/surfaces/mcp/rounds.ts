/**
 * Questions within a stateless request: the answer is the question, and the client repeats the request with the
 * person's answer. The work waits in between, so nothing runs twice.
 */

import { randomBytes } from 'node:crypto'
import { pinOf } from '../../agents/mcp/pins.ts'
import { isRecord } from '../../system/json.ts'
import { ERROR, type IncomingRequest, type Json, RpcError } from '../../system/json-rpc.ts'

/** Asks the client's person with a form; rejects if impossible. */
export type Elicit = (params: Json, signal: AbortSignal) => Promise<unknown>

interface Question {
  readonly params: Json
  readonly answered: (answer: unknown) => void
}

/** The work of a request; `round` returns the parameters of the request that waits for it, or null. */
export type RoundWork = (elicit: Elicit, signal: AbortSignal, round: () => Json | null) => Promise<Json>

interface Work {
  /** Hash of its request, so that a state cannot be used for another one. */
  readonly digest: string
  readonly controller: AbortController
  readonly outcome: Promise<Json>
  readonly questions: Question[]
  asked: () => void
  round: Json | null
  timer: NodeJS.Timeout | null
}

/** Requests whose result may be a question. */
export const MAY_ASK: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** After this, no answer is a no. */
const WAIT_MS = 5 * 60_000
const MAX_WAITING = 64
const KEY = 'answer'

export class Rounds {
  readonly #waiting = new Map<string, Work>()
  readonly #waitMs: number

  constructor(waitMs: number = WAIT_MS) {
    this.#waitMs = waitMs
  }

  /** Starts the work of a request, or continues it with an answer. Resolves to the result or the next question. */
  async answer(request: IncomingRequest, work: RoundWork): Promise<Json> {
    const { requestState, inputResponses } = request.params
    if (requestState === undefined) return this.#next(this.#begin(request, work), request)
    const waiting = this.#take(requestState, digestOf(request))
    const given = isRecord(inputResponses) ? inputResponses[KEY] : undefined
    if (isRecord(given)) waiting.questions.shift()?.answered(given)
    return this.#next(waiting, request)
  }

  close(): void {
    for (const state of this.#waiting.keys()) this.#drop(state)
  }

  #begin(request: IncomingRequest, run: RoundWork): Work {
    const controller = new AbortController()
    const questions: Question[] = []
    const elicit: Elicit = (params, signal) =>
      new Promise((resolve, reject) => {
        const ended = (): void => reject(new Error('the question was withdrawn'))
        if (signal.aborted || controller.signal.aborted) return ended()
        signal.addEventListener('abort', ended, { once: true })
        controller.signal.addEventListener('abort', ended, { once: true })
        questions.push({ params, answered: resolve })
        work.asked()
      })
    // The work may ask before its first await.
    const work: Work = {
      digest: digestOf(request),
      controller,
      questions,
      asked: () => {},
      round: request.params,
      timer: null,
      outcome: Promise.resolve().then(() => {
        controller.signal.throwIfAborted()
        return run(elicit, controller.signal, () => work.round)
      }),
    }
    // Dropped work fails without a listener. After its end, no request can carry a question (of a command that it
    // started in the background).
    work.outcome.catch(() => {}).finally(() => controller.abort())
    return work
  }

  async #next(work: Work, { params, signal }: IncomingRequest): Promise<Json> {
    work.round = params
    const abort = (): void => work.controller.abort()
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const asked = new Promise<null>((resolve) => {
        work.asked = () => resolve(null)
        if (work.questions.length > 0) resolve(null)
      })
      const result = await Promise.race([work.outcome, asked])
      return result ?? this.#suspend(work)
    } finally {
      work.round = null
      signal.removeEventListener('abort', abort)
    }
  }

  #suspend(work: Work): Json {
    if (this.#waiting.size >= MAX_WAITING) {
      work.controller.abort()
      throw new RpcError(ERROR.internal, `${MAX_WAITING} questions are open already`)
    }
    const state = randomBytes(24).toString('base64url')
    work.timer = setTimeout(() => this.#drop(state), this.#waitMs).unref()
    this.#waiting.set(state, work)
    return {
      resultType: 'input_required',
      inputRequests: {
        [KEY]: { method: 'elicitation/create', params: { mode: 'form', ...work.questions[0]!.params } },
      },
      requestState: state,
    }
  }

  /** A state opens its work once, and only for its own request. */
  #take(state: unknown, digest: string): Work {
    const work = typeof state === 'string' ? this.#waiting.get(state) : undefined
    if (!work || work.digest !== digest) {
      throw new RpcError(ERROR.params, 'this question is not open any more: send the request again without its state')
    }
    this.#waiting.delete(state as string)
    if (work.timer) clearTimeout(work.timer)
    return work
  }

  #drop(state: string): void {
    const work = this.#waiting.get(state)
    this.#waiting.delete(state)
    if (work?.timer) clearTimeout(work.timer)
    work?.controller.abort()
  }
}

function digestOf({ method, params }: IncomingRequest): string {
  const { _meta, inputResponses, requestState, ...own } = params
  return pinOf([method, own]).hash
}
