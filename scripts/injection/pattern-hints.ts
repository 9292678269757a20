/** Reads off a pattern what must be in a text wherever it matches, so that most texts need not be matched at all. */

/** A pattern taken apart, as far as hints need it. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** A character of a class. */
  | { readonly kind: 'any'; readonly of: string }
  | { readonly kind: 'all'; readonly parts: readonly Piece[] }
  | { readonly kind: 'one'; readonly parts: readonly Piece[] }
  | { readonly kind: 'times'; readonly part: Piece; readonly least: number; readonly most: number }
  /** Text after the match that must or must not follow: read, but no part of the match. */
  | { readonly kind: 'ahead'; readonly part: Piece }
  | { readonly kind: 'not' }
  /** Between words: a blank, or an end of the text. */
  | { readonly kind: 'edge' }

/** Plain characters, without a last one that is repeated. */
const PLAIN = /[a-z0-9 _]+(?![a-z0-9 _?*+{])/y
const EDGES = /\(\?<!\[\^ \]\)|\(\?!\[\^ \]\)/y
const GROUP = /\(\?(?:[:=!]|<[=!])/y
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]|\\p\{\w+\}|\\[sSwWdD]|\./y
const ANCHOR = /\\b|[\^$]/y
const LITERAL = /\\u\{[0-9a-f]+\}|\\[\s\S]|[^|)]/uy
const TIMES = /(?:[?*+]|\{(\d+)(,?)(\d*)\})\??/y

/** Takes a pattern apart. Throws on syntax it does not know. */
export function parsePattern(source: string): Piece {
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    at += found?.[0].length ?? 0
    return found
  }
  const choice = (): Piece => {
    const parts = [sequence()]
    while (source[at] === '|') {
      at++
      parts.push(sequence())
    }
    return parts.length === 1 ? parts[0]! : { kind: 'one', parts }
  }
  const sequence = (): Piece => {
    const parts: Piece[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = repeated(single())
      const last = parts.at(-1)
      if (part.kind === 'text' && last?.kind === 'text')
        parts[parts.length - 1] = { kind: 'text', text: last.text + part.text }
      else parts.push(part)
    }
    return parts.length === 1 ? parts[0]! : { kind: 'all', parts }
  }
  const single = (): Piece => {
    const run = take(PLAIN)
    if (run) return { kind: 'text', text: run[0] }
    if (take(EDGES)) return { kind: 'edge' }
    const group = take(GROUP)
    if (group || source[at] === '(') {
      if (!group) at++
      const part = choice()
      if (source[at++] !== ')') throw new SyntaxError(`an open group in ${source}`)
      if (!group || group[0] === '(?:') return part
      return group[0] === '(?=' ? { kind: 'ahead', part } : { kind: 'not' }
    }
    const one = take(CLASS)
    if (one) return { kind: 'any', of: one[0] }
    if (take(ANCHOR)) return { kind: 'not' }
    const literal = take(LITERAL)?.[0]
    if (literal === undefined || /^[*+?{]/.test(literal)) throw new SyntaxError(`cannot read on at ${at} in ${source}`)
    return { kind: 'text', text: plain(literal) }
  }
  const repeated = (part: Piece): Piece => {
    const times = take(TIMES)
    if (!times) return part
    const [sign, least, comma, most] = times
    if (least === undefined)
      return {
        kind: 'times',
        part,
        least: sign[0] === '+' ? 1 : 0,
        most: sign[0] === '?' ? 1 : Number.POSITIVE_INFINITY,
      }
    const upTo = most ? Number(most) : comma ? Number.POSITIVE_INFINITY : Number(least)
    return { kind: 'times', part, least: Number(least), most: upTo }
  }
  const whole = choice()
  if (at !== source.length) throw new SyntaxError(`cannot read on at ${at} in ${source}`)
  return whole
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

function plain(literal: string): string {
  if (literal[0] !== '\\' || literal.length === 1) return literal
  return ESCAPED[literal.slice(1)] ?? literal.slice(1)
}

/** The most words that a match on words, with its lookahead, covers. */
export function mostWords(pattern: Piece): number {
  return mostBlanks(pattern) + 1
}

function mostBlanks(piece: Piece): number {
  switch (piece.kind) {
    case 'text':
      return piece.text.split(' ').length - 1
    case 'all':
      return piece.parts.reduce((sum, part) => sum + mostBlanks(part), 0)
    case 'one':
      return Math.max(...piece.parts.map(mostBlanks))
    case 'times':
      return mostBlanks(piece.part) === 0 ? 0 : piece.most * mostBlanks(piece.part)
    case 'ahead':
      return mostBlanks(piece.part)
    case 'any':
      // `[^ ]` is the one class that patterns on words repeat without end.
      return piece.of.startsWith('[^') === piece.of.includes(' ') ? 0 : 1
    default:
      return 0
  }
}

/** Longer ones are hardly more selective. */
const MAX_HINT = 8

/**
 * One of the ways in which a pattern can match: sets of texts, one of each set occurs. The most
 * selective come first.
 */
export interface PatternWay {
  /** As words, one blank apart, with the blanks around them where they have some. */
  readonly words: readonly (readonly string[])[]
  /** As written: texts without letters, or with others than those of words. */
  readonly signs: readonly (readonly string[])[]
}

/** A neighbour that is known not to be a letter. */
const GAP = '\0'

/**
 * The ways in which a pattern can match, on words or on lines; a hint at a line is searched for in
 * its words if possible.
 */
export function waysOf(pattern: Piece): readonly PatternWay[] {
  const inner = pattern.kind === 'all' && pattern.parts.length === 3 && pattern.parts[0]!.kind === 'edge'
  const body = inner ? pattern.parts[1]! : pattern
  const branches = body.kind === 'one' ? body.parts : [body]
  return branches.map((branch) => {
    const sets = required(branch, inner, inner).sort((a, b) => shortest(b) - shortest(a) || a.length - b.length)
    const inWords = sets.filter((set) => set.every((text) => /[a-z0-9]{2}/.test(asWords(text))))
    const others = sets
      .filter((set) => !inWords.includes(set))
      .map((set) => set.map((text) => text.replaceAll(GAP, '')))
    return {
      words: inWords.map((set) => [...new Set(set.map(asWords))]),
      signs: inner ? [] : others.filter((set) => set.every((text) => text.trim() !== '')),
    }
  })
}

/** A text in the form of words. */
function asWords(text: string): string {
  return text.replaceAll("'", '').replace(/[^a-z0-9]+/g, ' ')
}

function required(piece: Piece, blankBefore: boolean, blankBehind: boolean): string[][] {
  switch (piece.kind) {
    case 'text': {
      const text = `${blankBefore ? GAP : ''}${piece.text}${blankBehind ? GAP : ''}`
      return [[text.slice(0, MAX_HINT)]]
    }
    case 'all':
      return piece.parts.flatMap((part, index) => {
        const before = sideIsBlank(piece.parts.slice(0, index).reverse(), 'end', blankBefore)
        const behind = sideIsBlank(piece.parts.slice(index + 1), 'start', blankBehind)
        return required(part, before, behind)
      })
    case 'one': {
      const sets = piece.parts.map((part) => rarest(required(part, blankBefore, blankBehind)))
      return sets.some((set) => set === null) ? [] : [[...new Set(sets.flatMap((set) => set!))]]
    }
    case 'times':
      // Of several rounds the first is the one that is known to have this before it.
      return piece.least === 0 ? [] : required(piece.part, blankBefore, blankBehind && piece.most === 1)
    default:
      return []
  }
}

/** The set whose shortest text is longest. */
function rarest(sets: readonly string[][]): string[] | null {
  let best: string[] | null = null
  for (const set of sets) if (best === null || shortest(set) > shortest(best)) best = set
  return best
}

/** How selective a set is: the length of its shortest text, as words. */
function shortest(set: readonly string[]): number {
  return Math.min(...set.map((text) => asWords(text).trim().length))
}

/** Whether whatever matches these parts, one after the other, shows a blank on that side; the first part is the nearest. */
function sideIsBlank(parts: readonly Piece[], side: 'start' | 'end', otherwise: boolean): boolean {
  for (const part of parts) {
    const shown = blankness(part, side)
    if (shown !== 'maybe') return shown === 'blank'
  }
  return otherwise
}

/** `maybe`: it can be empty, and shows a blank if it is not. */
function blankness(piece: Piece, side: 'start' | 'end'): 'blank' | 'other' | 'maybe' {
  switch (piece.kind) {
    case 'edge':
      return 'blank'
    case 'text':
      return isGap(piece.text.at(side === 'start' ? 0 : -1)!) ? 'blank' : 'other'
    case 'any':
      return isGapClass(piece.of) ? 'blank' : 'other'
    case 'not':
      return 'maybe'
    case 'ahead':
      return side === 'start' && blankness(piece.part, side) === 'blank' ? 'blank' : 'maybe'
    case 'all': {
      const order = side === 'start' ? piece.parts : [...piece.parts].reverse()
      for (const part of order) {
        const shown = blankness(part, side)
        if (shown !== 'maybe') return shown
      }
      return 'maybe'
    }
    case 'one': {
      const shown = new Set(piece.parts.map((part) => blankness(part, side)))
      return shown.has('other') ? 'other' : shown.has('maybe') ? 'maybe' : 'blank'
    }
    case 'times': {
      const shown = blankness(piece.part, side)
      return shown === 'blank' && piece.least === 0 ? 'maybe' : shown
    }
  }
}

/**
 * Whether a character is a gap among words. An apostrophe is not: it is dropped, and the letters
 * around it join.
 */
function isGap(char: string): boolean {
  return /[\s!-&(-/:-@[-`{-~]/.test(char)
}

function isGapClass(source: string): boolean {
  if (source === '\\s') return true
  const listed = /^\[(?!\^)(.*)\]$/s.exec(source)?.[1]
  return listed !== undefined && [...listed.replaceAll('\\n', '\n').replaceAll('\\', '')].every(isGap)
}
