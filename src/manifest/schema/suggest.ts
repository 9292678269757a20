/** "Did you mean": the nearest known word, if one is near enough. */

/** Edits (insert, delete, replace, swap neighbours) from one word to another, or `limit + 1` when there are more. */
export function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1
  let before: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    let best = i
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1)
      }
      row.push(cost)
      best = Math.min(best, cost)
    }
    if (best > limit) return limit + 1
    before = previous
    previous = row
  }
  return Math.min(previous[to.length]!, limit + 1)
}

/** The candidate nearest to the word, at most a third of it away; null when nothing is near. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  // A word far longer than any key is not a typing error, and distance costs the product of the lengths.
  if (word.length > 80) return null
  const wanted = word.toLowerCase().replaceAll('-', '_')
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase().replaceAll('-', '_'), bestDistance - 1)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}
