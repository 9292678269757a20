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
  const ascii = !BEYOND_ASCII.test(text)
  const seen = text.replace(ESCAPES, '')
  const tags = ascii ? '' : (seen.match(TAGS) ?? []).map((char) => tagCharacter(char.codePointAt(0)!)).join('')
  const visible = ascii ? seen : seen.replace(EACH_BEYOND_ASCII, shownOnly)
  const lines = ascii ? visible.toLowerCase() : visible.replace(EACH_BEYOND_ASCII, lowerCompatible).toLowerCase()
  const words = ascii ? lines : visible.replace(EACH_BEYOND_ASCII, foldLetter).toLowerCase()
  const read = words
    .replace(/['\u2018\u2019]/g, '')
    .replace(ascii ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu, ' ')
    .trimStart()
  // The places are needed only when something was found, which is rare.
  let places: Places | null = null
  const placed = (view: keyof Places) => (from: number, to: number) => {
    places ??= placesOf(text)
    const origins = places[view]
    return { start: origins[from] ?? 0, end: (origins[Math.max(from, to - 1)] ?? 0) + 1 }
  }
  const wordsView: View = { text: read, source: 'plain', span: placed('words') }
  const concealed: View[] = []
  if (tags.length > 3) concealed.push({ ...decodedView(tags, 'hidden', { start: 0, end: 1 }), span: placed('tags') })
  concealed.push(...comments(text), ...encodings(text), ...disguises(wordsView))
  return {
    lines: { text: lines, source: 'plain', span: placed('lines') },
    words: wordsView,
    concealed,
    invisible: ascii ? 0 : (seen.match(INSIDE_WORDS)?.length ?? 0),
    overrides: ascii ? 0 : (seen.match(OVERRIDES)?.length ?? 0),
  }
}

const BEYOND_ASCII = /[\u0080-\uffff]/
const EACH_BEYOND_ASCII = /[\u0080-\u{10ffff}]/gu
const TAGS = /[\u{e0020}-\u{e007e}]/gu
const INSIDE_WORDS = /(?<=\p{L})[\u00ad\u200b\u200c\u2060-\u2064\ufeff\u180e]+(?=\p{L})/gu
const OVERRIDES = /[\u202a-\u202e]/g

const shownOnly = (char: string): string => {
  const code = char.codePointAt(0)!
  return isInvisible(code) || tagCharacter(code) !== null ? '' : char
}

const lowerCompatible = (char: string): string => char.normalize('NFKC').toLowerCase()

/** For every character of a view, where it comes from. */
interface Places {
  readonly lines: number[]
  readonly words: number[]
  readonly tags: number[]
}

function placesOf(text: string): Places {
  const places: Places = { lines: [], words: [], tags: [] }
  let blank = true
  const add = (origins: number[], length: number, at: number) => {
    for (let i = 0; i < length; i++) origins.push(at)
  }
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at)!
    const skipped = code === 27 || code === 0x9b ? escapeLength(text, at) : 0
    if (skipped > 0) {
      at += skipped
      continue
    }
    const char = String.fromCodePoint(code)
    if (tagCharacter(code) !== null) places.tags.push(at)
    else if (code < 128 || !isInvisible(code)) {
      const folded = code < 128 ? char : foldLetter(char)
      add(places.lines, code < 128 ? 1 : lowerCompatible(char).length, at)
      if (/^[\p{L}\p{N}]/u.test(folded)) {
        add(places.words, folded.length, at)
        blank = false
      } else if (!/^['\u2018\u2019]/.test(folded) && !blank) {
        places.words.push(at)
        blank = true
      }
    }
    at += char.length
  }
  return places
}

function escapeLength(text: string, at: number): number {
  ESCAPE.lastIndex = at
  return ESCAPE.exec(text)?.[0].length ?? 0
}

const [ESC, CSI, BEL] = [27, 0x9b, 7].map((code) => String.fromCharCode(code))
/** Terminal sequences: they move the cursor or the colour, and hide text from a person. */
const ESCAPE = new RegExp(
  `(?:${ESC}\\[|${CSI})[0-?]{0,32}[ -/]{0,4}[@-~]|${ESC}\\][^${BEL}${ESC}]{0,512}(?:${BEL}|${ESC}\\\\)|${ESC}[^]`,
  'y',
)
const ESCAPES = new RegExp(ESCAPE.source, 'g')

/** A decoded text as words; its span is the span of what it was decoded from. */
function decodedView(text: string, source: View['source'], span: Span): View {
  const words = text
    .toLowerCase()
    .replace(/['\u2019]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
  return { text: words, source, span: () => span }
}

/** HTML and XML comments, and elements styled away: text that a rendered page does not show. */
function comments(text: string): View[] {
  const found: View[] = []
  const add = (body: string, start: number, end: number) => {
    if (body.trim().length >= 12) found.push(decodedView(body, 'comment', { start, end }))
  }
  for (let from = 0; found.length < MAX_FRAGMENTS; ) {
    const start = text.indexOf('<!--', from)
    const end = start < 0 ? -1 : text.indexOf('-->', start)
    if (end < 0) break
    add(text.slice(start + 4, end), start, end + 3)
    from = end + 3
  }
  for (const match of text.matchAll(CONCEALED_ELEMENT)) {
    if (found.length >= MAX_FRAGMENTS) break
    add(match[1] ?? '', match.index, match.index + match[0].length)
  }
  return found
}

const CONCEALED_ELEMENT =
  /<[a-z][a-z0-9]{0,10}\s[^>]{0,200}?(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%)?\b|opacity\s{0,2}:\s{0,2}0\b|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent)|\bhidden\b(?!:)|aria-hidden="true")[^>]{0,200}>([^<]{12,4000})/gi

/** Base64, hexadecimal, percent, entity and Unicode escapes that decode to readable text. */
function encodings(text: string): View[] {
  const found: View[] = []
  for (const { pattern, decode, escaped } of ENCODINGS) {
    let count = 0
    for (const match of text.matchAll(pattern)) {
      if (++count > MAX_FRAGMENTS) break
      // A sentence may begin unescaped: `ignore%20all`.
      const start = escaped ? wordStart(text, match.index) : match.index
      const stop = match.index + match[0].length
      const end = escaped ? Math.min(text.length, stop + 120) : stop
      const decoded = decode(text.slice(start, end))
      if (decoded !== null && isReadable(decoded)) found.push(decodedView(decoded, 'encoded', { start, end }))
    }
  }
  return found
}

function wordStart(text: string, from: number): number {
  let at = from
  while (at > 0 && from - at < 40 && /\S/.test(text[at - 1]!)) at--
  return at
}

interface Encoding {
  readonly pattern: RegExp
  readonly decode: (match: string) => string | null
  /** Plain characters stand between the encoded ones. */
  readonly escaped?: true
}

const ENCODINGS: readonly Encoding[] = [
  { pattern: /[A-Za-z0-9+/_-]{24,20000}={0,2}/g, decode: fromBase64 },
  { pattern: /(?:[0-9a-fA-F]{2}[ :]?){16,10000}/g, decode: fromHex },
  { pattern: /(?:\\x[0-9a-fA-F]{2}){8,5000}/g, decode: (match) => fromHex(match.replaceAll('\\x', '')) },
  { pattern: /(?:%[0-9a-fA-F]{2}[^\s%]{0,40}){4,2000}/g, decode: fromPercent, escaped: true },
  {
    pattern: /(?:(?:&#x?[0-9a-fA-F]{2,6};|\\u[0-9a-fA-F]{4})[^\s&\\]{0,20}\s?){6,4000}/g,
    decode: fromEscapes,
    escaped: true,
  },
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
  const joined = words.text
    .replace(SPACED, (letters) => parted(letters.replaceAll(' ', '')))
    .replace(/ {2,}/g, ' ')
    .trim()
  if (joined !== words.text.trim()) add(joined, whole)
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
