/** Counts a session's traffic to hosts with limits, and asks at a limit. */

import { Transform, type TransformCallback } from 'node:stream'
import type { HostRule } from '../../policy/policy.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import type { Target } from '../wire/target.ts'
import type { AskHost, FlowWatch, HostConcern } from './gate.ts'
import { type EgressRules, limitingRules } from './rules.ts'

interface Count {
  used: number
  /** The amount that a person granted beyond the limit. */
  more: number
  question: Promise<boolean> | null
}

/** The counts of one session, shared by its commands and its web tools. */
export class HostUsage {
  readonly #counts = new Map<string, Count>()

  count(key: string): Count {
    const known = this.#counts.get(key) ?? { used: 0, more: 0, question: null }
    this.#counts.set(key, known)
    return known
  }
}

export interface BudgetParts {
  readonly usage: HostUsage
  readonly rules: EgressRules
  readonly target: Target
  readonly ask: AskHost | undefined
  readonly flow?: FlowWatch | undefined
  readonly signal: AbortSignal
}

/** The remaining limits of a host. */
export class Budget {
  readonly #parts: BudgetParts
  readonly #limits: readonly HostRule[]
  readonly #flows = new Map<string, Promise<boolean>>()

  private constructor(parts: BudgetParts, limits: readonly HostRule[]) {
    this.#parts = parts
    this.#limits = limits
  }

  /** Null if nothing limits the host. */
  static of(parts: BudgetParts): Budget | null {
    const limits = limitingRules(parts.rules, parts.target)
    return limits.length === 0 && !parts.flow ? null : new Budget(parts, limits)
  }

  /**
   * Takes a request and the bytes of its head, or of a part of its body; a refused amount is not
   * taken.
   */
  async take(requests: number, bytes: number): Promise<EgressDenial | null> {
    const followed = await this.#follow()
    if (followed !== null) return followed
    for (const { pattern, maxRequests, maxUpload } of this.#limits) {
      const refusal =
        (await this.#takeOne(`${pattern.text} requests`, requests, maxRequests, 'max_requests')) ??
        (await this.#takeOne(`${pattern.text} bytes`, bytes, maxUpload, 'max_upload'))
      if (refusal !== null) return refusal
    }
    return null
  }

  /** Data that the session read since the command started. */
  async #follow(): Promise<EgressDenial | null> {
    const { flow, target } = this.#parts
    const agreed = new Set<string>()
    for (;;) {
      const found = flow?.(target, agreed) ?? null
      if (found === null) return null
      const { label, level, message } = found
      const refusal: EgressDenial = { code: 'flow-refused', message }
      if (level === 'deny') return refusal
      const answer =
        this.#flows.get(label) ?? this.#put({ code: 'flow', subject: `${label} -> ${target.host}`, message })
      this.#flows.set(label, answer)
      if (!(await answer)) return refusal
      agreed.add(label)
    }
  }

  async #takeOne(key: string, amount: number, limit: number | undefined, name: string): Promise<EgressDenial | null> {
    if (limit === undefined || amount === 0) return null
    const count = this.#parts.usage.count(key)
    // Taken before anything is awaited, so that concurrent requests cannot use the same amount.
    while (count.used + amount > limit + count.more) {
      const what = `${name} of ${this.#parts.target.host} is ${limit} a session, and ${count.used} are used`
      if (!(await this.#agreed(count, key, what, Math.max(limit, amount))))
        return { code: 'limit-reached', message: what }
    }
    count.used += amount
    return null
  }

  /** One question at a time; a no applies to the whole session. */
  #agreed(count: Count, key: string, what: string, step: number): Promise<boolean> {
    if (count.question !== null) return count.question
    const message = `A running command reached a limit: ${what}. A yes gives it ${step} more.`
    const answer = this.#put({ code: 'limit', subject: key, message })
    count.question = answer
    void answer.then((agreed) => {
      if (!agreed) return
      count.more += step
      count.question = null
    })
    return answer
  }

  #put(about: HostConcern): Promise<boolean> {
    const { ask, rules, target, signal } = this.#parts
    if (!ask) return Promise.resolve(false)
    const { message } = about
    const judgement = { verdict: 'deny', code: 'host-unlisted', message, matched: null } as const
    return ask({ command: rules.whole ?? rules.command, target, judgement, signal, about }).then(
      (given) => given === true,
      () => false,
    )
  }
}

/** Passes a body as far as the budget allows. */
export function metered(budget: Budget, onRefusal: (refusal: EgressDenial) => void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) {
      budget.take(0, chunk.length).then(
        (refusal) => (refusal === null ? done(null, chunk) : onRefusal(refusal)),
        (error: Error) => done(error),
      )
    },
  })
}

/** The bytes of a request's head, which can carry data out too. */
export function headBytes(method: string, path: string, rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, method.length + path.length + 12)
}
