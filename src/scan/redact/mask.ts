/** Spans of secrets, and a text without them. */

/** The replacement of a secret. */
export const MASK = '[REDACTED]'

export interface SecretSpan {
  readonly start: number
  readonly end: number
  readonly kind: string
}

/** In order, and those that overlap as one. */
export function mergeSpans(spans: SecretSpan[]): SecretSpan[] {
  if (spans.length < 2) return spans
  const sorted = spans.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const merged: SecretSpan[] = [sorted[0]!]
  for (const span of sorted.slice(1)) {
    const last = merged.at(-1)!
    if (span.start >= last.end) merged.push(span)
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end }
  }
  return merged
}

/** The text with a mask instead of every span. */
export function maskSpans(text: string, spans: readonly SecretSpan[]): string {
  if (spans.length === 0) return text
  let out = ''
  let from = 0
  for (const { start, end } of spans) {
    out += text.slice(from, start)
    // A block keeps its line count, so that output keeps the lines of its input.
    out += text
      .slice(start, end)
      .split('\n')
      .map(() => MASK)
      .join('\n')
    from = end
  }
  return out + text.slice(from)
}
