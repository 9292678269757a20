/** The saved grants that rules of a decision stand for: they answered for a person. */

/** The id of the saved grant that a rule stands for; null for every other rule. */
export function savedGrantOf(rule: string): string | null {
  return /^saved grant (g[a-z0-9]+)$/.exec(rule)?.[1] ?? null
}
