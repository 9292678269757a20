/** Punycode (RFC 3492), decoding only: the check that an `xn--` label says what it claims to. */

const BASE = 36
const T_MIN = 1
const T_MAX = 26
const SKEW = 38
const DAMP = 700

/** The Unicode label behind the part after `xn--`; null when it is not Punycode. */
export function decodePunycode(text: string): string | null {
  const delimiter = text.lastIndexOf('-')
  const points = [...(delimiter > 0 ? text.slice(0, delimiter) : '')].map((character) => character.charCodeAt(0))
  let point = 128
  let bias = 72
  let index = 0
  for (let at = delimiter + 1; at < text.length; ) {
    const before = index
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(at++))
      if (digit < 0) return null
      index += digit * weight
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX)
      if (digit < threshold) break
      weight *= BASE - threshold
      if (weight > 0x7fffffff || index > 0x7fffffff) return null
    }
    const length = points.length + 1
    bias = adapt(index - before, length, before === 0)
    point += Math.floor(index / length)
    index %= length
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return null
    points.splice(index++, 0, point)
  }
  return String.fromCodePoint(...points)
}

function digitOf(code: number): number {
  if (code >= 97 && code <= 122) return code - 97
  if (code >= 48 && code <= 57) return code - 22
  return -1
}

function adapt(delta: number, length: number, first: boolean): number {
  let rest = Math.floor(first ? delta / DAMP : delta / 2)
  rest += Math.floor(rest / length)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}
