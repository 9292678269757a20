/** The three verdicts and their one order: the strictest part of a call decides. */

/** Strictest first. */
export const VERDICTS = ['deny', 'ask', 'allow'] as const
export type Verdict = (typeof VERDICTS)[number]

const STRICTNESS: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

/** The stricter of two verdicts: allow < ask < deny. */
export function stricter(a: Verdict, b: Verdict): Verdict {
  return STRICTNESS[a] >= STRICTNESS[b] ? a : b
}

/** Orders verdicts from lenient to strict, for sorting and comparing. */
export function compareVerdicts(a: Verdict, b: Verdict): number {
  return STRICTNESS[a] - STRICTNESS[b]
}
