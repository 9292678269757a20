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

/** Matches whole paths split at `/`: `**` stands for any number of segments, also none. */
export function matchSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let p = 0
  let t = 0
  let star = -1
  let resume = 0
  while (t < path.length) {
    if (p < pattern.length && pattern[p] === '**') {
      star = p++
      resume = t
    } else if (p < pattern.length && matchSegment(pattern[p]!, path[t]!)) {
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

/** True when the text holds a wildcard. */
export function isGlob(text: string): boolean {
  return text.includes('*') || text.includes('?')
}

function isHighSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0xd800 && code <= 0xdbff
}
