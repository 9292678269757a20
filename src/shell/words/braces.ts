/** Brace expansion the way bash does it: on the written text of a word, before any other expansion. */

import type { Piece } from './pieces.ts'

/** One written character, or a piece that braces do not look into. */
type Token = string | Piece

/** Most words that one word may become; more counts as unknown. */
const MAX_WORDS = 128

/** The words that braces make of one; null when the result is not certain or too large. */
export function expandBraces(pieces: readonly Piece[]): readonly (readonly Piece[])[] | null {
  if (!pieces.some((piece) => piece.written && piece.values?.[0]?.includes('{'))) return [pieces]
  const tokens: Token[] = pieces.flatMap((piece): Token[] => (piece.written ? [...(piece.values?.[0] ?? '')] : [piece]))
  const words = expand(tokens)
  if (words === null || words.some(makesExpansion)) return null
  if (words.length === 1 && words[0]?.length === tokens.length) return [pieces]
  return words.map(assemble)
}

/** True when braces put `$` or `$name` before something that bash then reads together: `{$x,y}1` reads `$x1`. */
function makesExpansion(tokens: readonly Token[]): boolean {
  return tokens.some((token, index) => {
    const next = tokens[index + 1]
    if (token === '$') return next !== undefined
    return typeof token !== 'string' && token.bare === true && typeof next === 'string' && /[\w[]/.test(next)
  })
}

function expand(tokens: readonly Token[]): Token[][] | null {
  for (let open = 0; open < tokens.length; open++) {
    if (tokens[open] !== '{') continue
    if (open === 0 && tokens[1] === '}') continue
    const close = closing(tokens, open)
    if (close === -1) continue
    const before = tokens.slice(0, open)
    const middles = alternatives(tokens.slice(open + 1, close))
    const afters = expand(tokens.slice(close + 1))
    if (middles === null || afters === null || middles.length * afters.length > MAX_WORDS) return null
    return middles.flatMap((middle) => afters.map((after) => [...before, ...middle, ...after]))
  }
  return [[...tokens]]
}

/** Where the brace closes; a pair without a comma or `..` of its own is not a pair to bash, which reads on. */
function closing(tokens: readonly Token[], open: number): number {
  let level = 0
  let separated = false
  for (let i = open + 1; i < tokens.length; i++) {
    const token = tokens[i]
    if (token === '}' && level === 0 && separated) return i
    if (token === '{') level++
    else if (token === '}' && level > 0) level--
    else if (level > 0) continue
    else if (token === ',') separated = true
    else if (token === '.' && tokens[i + 1] === '.' && tokens[i + 2] !== '}') separated = true
  }
  return -1
}

function alternatives(inside: readonly Token[]): Token[][] | null {
  if (!inside.includes(',')) return sequence(inside)
  const parts: Token[][] = [[]]
  let level = 0
  for (const token of inside) {
    if (token === '{') level++
    if (token === '}' && level > 0) level--
    if (token === ',' && level === 0) parts.push([])
    else parts.at(-1)?.push(token)
  }
  // Without a comma at this level bash drops or keeps the braces depending on what is inside.
  if (parts.length === 1) return null
  const words: Token[][] = []
  for (const part of parts) {
    const expanded = expand(part)
    if (expanded === null) return null
    words.push(...expanded)
  }
  return words
}

/** `1..3`, `3..1`, `1..9..2`, `a..e`: anything else is left unknown. */
function sequence(inside: readonly Token[]): Token[][] | null {
  if (inside.some((token) => typeof token !== 'string')) return null
  const text = inside.join('')
  const numbers = /^(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))(?:\.\.([1-9]\d{0,4}))?$/.exec(text)
  if (numbers !== null) {
    return range(Number(numbers[1]), Number(numbers[2]), Number(numbers[3] ?? 1))?.map((n) => [...String(n)]) ?? null
  }
  const letters = /^(?:([a-z])\.\.([a-z])|([A-Z])\.\.([A-Z]))$/.exec(text)
  if (letters === null) return null
  const [from, to] = [(letters[1] ?? letters[3]) as string, (letters[2] ?? letters[4]) as string]
  return range(from.charCodeAt(0), to.charCodeAt(0), 1)?.map((code) => [String.fromCharCode(code)]) ?? null
}

function range(from: number, to: number, step: number): number[] | null {
  const count = Math.floor(Math.abs(to - from) / step) + 1
  if (count > MAX_WORDS) return null
  const sign = to < from ? -step : step
  return Array.from({ length: count }, (_, index) => from + index * sign)
}

function assemble(tokens: readonly Token[]): Piece[] {
  const pieces: Piece[] = []
  let text = ''
  const flush = (): void => {
    if (text !== '')
      pieces.push({ values: [text], quoted: false, written: true, list: false, integer: false, dynamic: [] })
    text = ''
  }
  for (const token of tokens) {
    if (typeof token === 'string') text += token
    else {
      flush()
      pieces.push(token)
    }
  }
  flush()
  return pieces
}
