/** Glob matching without regular expressions, so that no pattern can backtrack beyond pattern × text. */

/** Matches one path segment (or basename): `*` any run of characters, `?` one character. */
export function matchSegment(pattern: string, text: string): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < text.length) {
    const code = pattern.charCodeAt(p)
    if (p < pattern.length && code === 42) {
      star = p++
      resume = t
    } else if (p < pattern.length && (code === 63 || code === text.charCodeAt(t))) {
      p++
      // `?` is one character for a person, which may be two code units.
      t += code === 63 && isHighSurrogate(text, t) ? 2 : 1
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (pattern.charCodeAt(p) === 42) p++
  return p === pattern.length
}

/** Matches whole paths split at `/`: `**` matches any number of segments, including none. */
export function matchSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < path.length) {
    if (p < pattern.length && pattern[p] === '**') {
      star = p++
      resume = t
    } else if (p < pattern.length && (pattern[p] === path[t] || matchSegment(pattern[p]!, path[t]!))) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++resume
    } else {
      return false
    }
  }
  while (pattern[p] === '**') p++
  return p === pattern.length
}

/** True when some name matches both patterns. */
export function segmentsMeet(a: string, b: string): boolean {
  // Row by row: which positions of `b` the read part of `a` can reach.
  let row = reach(new Set([0]), b)
  for (let at = 0; at < a.length; at++) {
    const next = new Set<number>()
    if (a[at] === '*') for (let start = Math.min(...row); start <= b.length; start++) next.add(start)
    else
      for (const position of row) {
        if (b[position] === '*') next.add(position)
        else if (position < b.length && (b[position] === '?' || a[at] === '?' || a[at] === b[position]))
          next.add(position + 1)
      }
    if (next.size === 0) return false
    row = reach(next, b)
  }
  return row.has(b.length)
}

/** Positions reached if the stars of `b` match nothing. */
function reach(positions: Set<number>, b: string): Set<number> {
  for (const position of positions) if (b[position] === '*') positions.add(position + 1)
  return positions
}

/** Whether the text contains a wildcard. */
export function isGlob(text: string): boolean {
  return text.includes('*') || text.includes('?')
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0xd800 && code <= 0xdbff
}

/** The words of a list that is written as text. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
