/** Brings text into the shape that a model reads it in: hidden parts made visible, disguises taken off, encodings undone. */

import { foldLetter, isInvisible, tagCharacter } from './confusables.ts'

/** A way of reading a text, with the place in the text that each of its characters comes from. */
export interface View {
  readonly text: string
  /** How the text was found: a reader who sees only the screen does not see the others. */
  readonly source: 'plain' | 'hidden' | 'encoded' | 'comment'
  /** The span of the original that a range of this view comes from. */
  readonly span: (from: number, to: number) => Span
}

export interface Span {
  readonly start: number
  readonly end: number
}

export interface Views {
  /** As written, without controls and invisible characters, in lower case. */
  readonly lines: View
  /** Words alone, one blank apart, letters folded to Latin. */
  readonly words: View
  /** What was hidden or encoded, as words. */
  readonly concealed: readonly View[]
  /** Invisible characters between letters, and bidi overrides: never by accident. */
  readonly invisible: number
  readonly overrides: number
}

const MAX_FRAGMENTS = 50

/** Reads a text in every way that matters. */
export function normalise(text: string): Views {
  if (!PLAIN_ASCII.test(text)) return normaliseFully(text)
  const lower = text.toLowerCase()
  const words = lower.replaceAll("'", '').replace(/[^a-z0-9]+/g, ' ')
  // The places are needed only when something was found, which is rare.
  let full: Views | null = null
  const places = (): Views => {
    full ??= normaliseFully(text)
    return full
  }
  const start = words.startsWith(' ') ? 1 : 0
  const read: View = { text: words.slice(start), source: 'plain', span: (from, to) => places().words.span(from, to) }
  const lines: View = { text: lower, source: 'plain', span: (from, to) => ({ start: from, end: to }) }
  const concealed = [...comments(text), ...encodings(text), ...disguises(read)]
  return { lines, words: read, concealed, invisible: 0, overrides: 0 }
}

const PLAIN_ASCII = /^[\t\n\r -~]*$/

function normaliseFully(text: string): Views {
  const lines = new ViewBuilder('plain')
  const words = new ViewBuilder('plain')
  const tags = new ViewBuilder('hidden')
  let invisible = 0
  let overrides = 0
  let lastLetter = false
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at)!
    const width = code > 0xffff ? 2 : 1
    if (code === 27 || code === 0x9b) {
      at += escapeLength(text, at)
      continue
    }
    const tag = code > 0xffff ? tagCharacter(code) : null
    if (tag !== null) tags.add(tag.toLowerCase(), at)
    else if (code > 127 && isInvisible(code)) {
      if (lastLetter && code !== 0xfe0f && code !== 0x200d) invisible++
      if (code >= 0x202a && code <= 0x202e) overrides++
    } else if (code > 127) {
      const char = String.fromCodePoint(code)
      lines.add(char.normalize('NFKC').toLowerCase(), at)
      addWord(words, foldLetter(char), at)
      lastLetter = /\p{L}/u.test(char)
    } else {
      lastLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
      const char = lastLetter ? String.fromCharCode(code | 32) : text[at]!
      if (code >= 32 || code === 9 || code === 10) lines.add(char, at)
      if (lastLetter || (code >= 48 && code <= 57)) words.add(char, at)
      // An apostrophe does not part a word: `don't`, `you're`.
      else if (code !== 39) words.blank(at)
    }
    at += width
  }
  const plain = lines.view()
  const read = words.view()
  const concealed: View[] = tags.length > 3 ? [wordsOf(tags.view())] : []
  concealed.push(...comments(text), ...encodings(text), ...disguises(read))
  return { lines: plain, words: read, concealed, invisible, overrides }
}

function addWord(words: ViewBuilder, folded: string, at: number): void {
  if (folded === '\u2019' || folded === '\u2018') return
  if (/^[\p{L}\p{N}]/u.test(folded)) words.add(folded, at)
  else words.blank(at)
}

/** The length of a terminal sequence; it moves the cursor or the colour, and hides text from a person. */
function escapeLength(text: string, at: number): number {
  ESCAPE.lastIndex = at
  return ESCAPE.exec(text)?.[0].length ?? 1
}

const [ESC, CSI, BEL] = [27, 0x9b, 7].map((code) => String.fromCharCode(code))
const ESCAPE = new RegExp(
  `(?:${ESC}\\[|${CSI})[0-?]{0,32}[ -/]{0,4}[@-~]|${ESC}\\][^${BEL}${ESC}]{0,512}(?:${BEL}|${ESC}\\\\)|${ESC}.`,
  'y',
)

class ViewBuilder {
  readonly #source: View['source']
  readonly #parts: string[] = []
  readonly #origins: number[] = []
  #blank = true

  constructor(source: View['source']) {
    this.#source = source
  }

  get length(): number {
    return this.#origins.length
  }

  add(text: string, at: number): void {
    this.#parts.push(text)
    for (let i = 0; i < text.length; i++) this.#origins.push(at)
    this.#blank = false
  }

  /** One blank between words, none at the start. */
  blank(at: number): void {
    if (this.#blank) return
    this.add(' ', at)
    this.#blank = true
  }

  view(): View {
    const origins = this.#origins
    return {
      text: this.#parts.join(''),
      source: this.#source,
      span: (from, to) => ({ start: origins[from] ?? 0, end: (origins[Math.max(from, to - 1)] ?? 0) + 1 }),
    }
  }
}

/** A decoded text as words; its span is the span of what it was decoded from. */
function decodedView(text: string, source: View['source'], span: Span): View {
  const words = text
    .toLowerCase()
    .replace(/['\u2019]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return { text: words, source, span: () => span }
}

function wordsOf(view: View): View {
  return { ...view, text: view.text.replace(/[^\p{L}\p{N}]/gu, ' ') }
}

/** HTML and XML comments, and elements styled away: text that a rendered page does not show. */
function comments(text: string): View[] {
  const found: View[] = []
  for (const pattern of [COMMENT, CONCEALED_ELEMENT]) {
    for (const match of text.matchAll(pattern)) {
      if (found.length >= MAX_FRAGMENTS) break
      const body = match[1] ?? ''
      if (body.trim().length < 12) continue
      found.push(decodedView(body, 'comment', { start: match.index, end: match.index + match[0].length }))
    }
  }
  return found
}

const COMMENT = /<!--((?:(?!-->)[\s\S]){1,20000})-->/g
const CONCEALED_ELEMENT =
  /<[a-z][a-z0-9]{0,10}\s[^>]{0,200}?(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%)?\b|opacity\s{0,2}:\s{0,2}0\b|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent)|\shidden\b|aria-hidden="true")[^>]{0,200}>([^<]{12,4000})/gi

/** Base64, hexadecimal, percent, entity and Unicode escapes that decode to readable text. */
function encodings(text: string): View[] {
  const found: View[] = []
  for (const { pattern, decode } of ENCODINGS) {
    let count = 0
    for (const match of text.matchAll(pattern)) {
      if (++count > MAX_FRAGMENTS) break
      const decoded = decode(match[0])
      if (decoded === null || !isReadable(decoded)) continue
      found.push(decodedView(decoded, 'encoded', { start: match.index, end: match.index + match[0].length }))
    }
  }
  return found
}

interface Encoding {
  readonly pattern: RegExp
  readonly decode: (match: string) => string | null
}

const ENCODINGS: readonly Encoding[] = [
  { pattern: /[A-Za-z0-9+/_-]{24,20000}={0,2}/g, decode: fromBase64 },
  { pattern: /(?:[0-9a-fA-F]{2}[ :]?){16,10000}/g, decode: fromHex },
  { pattern: /(?:\\x[0-9a-fA-F]{2}){8,5000}/g, decode: (match) => fromHex(match.replaceAll('\\x', '')) },
  { pattern: /(?:[^\s%]{0,40}%[0-9a-fA-F]{2}){4,2000}[^\s%]{0,40}/g, decode: fromPercent },
  { pattern: /(?:[^\s&\\]{0,20}(?:&#x?[0-9a-fA-F]{2,6};|\\u[0-9a-fA-F]{4})\s?){6,4000}/g, decode: fromEscapes },
]

function fromBase64(match: string): string | null {
  // Words of a path or an identifier decode to noise; so do most of them, cheaply.
  if (!/[A-Z]/.test(match) || !/[a-z]/.test(match)) return null
  const whole = match.replace(/[=]+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  return utf8(() => atob(whole.slice(0, whole.length % 4 === 1 ? -1 : undefined)))
}

function fromHex(match: string): string | null {
  const digits = match.replace(/[ :]/g, '')
  return utf8(() => {
    let bytes = ''
    for (let i = 0; i + 1 < digits.length; i += 2)
      bytes += String.fromCharCode(Number.parseInt(digits.slice(i, i + 2), 16))
    return bytes
  })
}

function fromPercent(match: string): string | null {
  try {
    return decodeURIComponent(match.replaceAll('+', ' '))
  } catch {
    return null
  }
}

function fromEscapes(match: string): string {
  return match.replace(
    /&#(x?)([0-9a-fA-F]{2,6});|\\u([0-9a-fA-F]{4})/g,
    (_, hex: string, entity?: string, unicode?: string) => {
      const code = entity === undefined ? Number.parseInt(unicode!, 16) : Number.parseInt(entity, hex === '' ? 10 : 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' '
    },
  )
}

function utf8(binary: () => string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary(), (char) => char.charCodeAt(0)))
  } catch {
    return null
  }
}

/** Letters and blanks, as a sentence has them. */
function isReadable(text: string): boolean {
  const sample = text.slice(0, 400)
  const letters = sample.match(/[\p{L} ]/gu)?.length ?? 0
  return sample.length >= 10 && letters / sample.length > 0.75 && /\p{L}{2,} \p{L}/u.test(sample)
}

/** ROT13, words backwards, letters apart, digits for letters: undone only where a telling word comes out. */
function disguises(words: View): View[] {
  const found: View[] = []
  const whole: Span = words.span(0, words.text.length)
  const add = (text: string, span: Span) => found.push({ text, source: 'encoded', span: () => span })
  if (ROT13_WORD.test(words.text)) add(rot13(words.text), whole)
  if (REVERSED_WORD.test(words.text)) add([...words.text].reverse().join(''), whole)
  for (const match of words.text.matchAll(SPACED)) {
    if (found.length >= MAX_FRAGMENTS) break
    add(parted(match[0].replaceAll(' ', '')), words.span(match.index, match.index + match[0].length))
  }
  const straight = words.text.replace(/[a-z0-9]+/g, (word) =>
    /[a-z]/.test(word) && /[0134578]/.test(word) ? unleet(word) : word,
  )
  if (straight !== words.text && TELLING_WORD.test(straight) && !TELLING_WORD.test(words.text)) add(straight, whole)
  return found
}

/** Letters written apart lose the gaps between words; the words that matter are found again. */
function parted(letters: string): string {
  return letters.replace(KNOWN_WORD, ' $1 ').replace(/ {2,}/g, ' ')
}

const KNOWN_WORD =
  /(ignore|disregard|forget|override|previous|prior|above|instructions?|system|prompt|rules|your|all|the|reveal|send|secret|password|user)/g
const ROT13_WORD = /\b(?:vtaber|qvfertneq|vafgehpgvbaf?|cerivbhf|flfgrz cebzcg|bireevqr)\b/
const REVERSED_WORD = /\b(?:snoitcurtsni|erongi|suoiverp|dragersid|tpmorp metsys)\b/
const SPACED = /\b(?:[a-z] ){7,200}[a-z]\b/g
const TELLING_WORD = /\b(?:ignore|disregard|forget|instructions?|previous|system prompt|override)\b/

function rot13(text: string): string {
  return text.replace(/[a-z]/g, (char) => String.fromCharCode(((char.charCodeAt(0) - 97 + 13) % 26) + 97))
}

const LEET: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b' }

function unleet(word: string): string {
  return word.replace(/[0134578]/g, (digit) => LEET[digit]!)
}
