/**
 * A linear model beside the rules: it knows what orders to an agent sound like where no rule names their words. Its weights
 * are made by `scripts/injection/train.ts`; docs/guides/scan.md says how well it does and what it cannot do.
 */

import { readSentences } from './features.ts'
import { BIAS, LIMIT, NOTHING, UNIT, WEIGHTS } from './weights.generated.ts'

/** A sentence that reads like an order to an agent. */
export interface SuspiciousSentence {
  readonly start: number
  readonly end: number
  /** From the threshold of a hit on, up to 0.9. */
  readonly weight: number
}

const LEAST = 0.45
const MOST = 0.9
const MAX_SENTENCES = 20

/** The sentences of a text, in lower case, that read like orders to an agent. */
export function suspiciousSentences(text: string): readonly SuspiciousSentence[] {
  const found: SuspiciousSentence[] = []
  readSentences(text, (start, end, features, count) => {
    let sum = 0
    for (let at = 0; at < count; at++) sum += WEIGHTS.charCodeAt(features[at]!)
    const score = BIAS + ((sum - NOTHING * count) * UNIT) / Math.sqrt(count)
    if (score <= LIMIT || found.length >= MAX_SENTENCES) return
    found.push({ start, end, weight: Math.min(MOST, LEAST + (score - LIMIT) / 10) })
  })
  return found
}
