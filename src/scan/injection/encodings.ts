/** Undoes encodings and disguises that a model reads as easily as plain text. */

interface DecodedText {
  readonly text: string
  /** The span it was decoded from. */
  readonly start: number
  readonly end: number
}

/** Of each encoding. */
const MAX_FRAGMENTS = 50

/** Everything in a text that decodes to readable text. */
export function decodeAll(text: string): DecodedText[] {
  const found: DecodedText[] = []
  const add = (start: number, end: number, decoded: string | null) => {
    if (decoded !== null && isReadable(decoded)) found.push({ text: decoded, start, end })
  }
  for (const { start, end } of base64Parts(text)) add(start, end, fromBase64(text.slice(start, end)))
  for (const { signs, pattern, decode, escaped } of ESCAPES) {
    if (signs === null ? runsOf(text, HEX, MIN_HEX).next().done : !signs.some((sign) => text.includes(sign))) continue
    let count = 0
    for (const match of text.matchAll(pattern)) {
      if (++count > MAX_FRAGMENTS) break
      // A sentence may begin unescaped: `ignore%20all`.
      const start = escaped ? wordStart(text, match.index) : match.index
      const stop = match.index + match[0].length
      const end = escaped ? Math.min(text.length, stop + 120) : stop
      add(start, end, decode(text.slice(start, end)))
    }
  }
  return found
}

const BASE64 = 1
const HEX = 2
const RUN_KINDS = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') mark(char, BASE64)
for (const char of '0123456789abcdefABCDEF :') mark(char, HEX)

function mark(char: string, kind: number): void {
  RUN_KINDS[char.charCodeAt(0)]! |= kind
}

function isOf(kind: number, text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code < 128 && (RUN_KINDS[code]! & kind) !== 0
}

const MIN_BASE64 = 24
const MAX_BASE64 = 20_000
const MIN_HEX = 32

/** Runs of at least so many characters of a kind. Every one of them has a character at a multiple of that many. */
function* runsOf(text: string, kind: number, least: number): Generator<{ start: number; end: number }> {
  for (let at = 0; at < text.length; at += least) {
    if (!isOf(kind, text, at)) continue
    let start = at
    let end = at + 1
    while (start > 0 && isOf(kind, text, start - 1)) start--
    while (end < text.length && isOf(kind, text, end)) end++
    if (end - start >= least) yield { start, end }
    at = end - (end % least)
  }
}

/** What may be base64, with its padding; a run beyond any size is cut. */
function* base64Parts(text: string): Generator<{ start: number; end: number }> {
  let count = 0
  for (const run of runsOf(text, BASE64, MIN_BASE64)) {
    for (let { start } = run; run.end - start >= MIN_BASE64; start += MAX_BASE64) {
      if (++count > MAX_FRAGMENTS) return
      let end = Math.min(run.end, start + MAX_BASE64)
      while (end < run.end + 2 && end >= run.end && text[end] === '=') end++
      yield { start, end }
    }
  }
}

function wordStart(text: string, from: number): number {
  let at = from
  while (at > 0 && from - at < 40 && /\S/.test(text[at - 1]!)) at--
  return at
}

interface Escape {
  /** One of these occurs wherever the pattern matches; null: a long run of hexadecimal digits does. */
  readonly signs: readonly string[] | null
  readonly pattern: RegExp
  readonly decode: (match: string) => string | null
  /** Plain characters separate the encoded ones. */
  readonly escaped?: true
}

const ESCAPES: readonly Escape[] = [
  { signs: null, pattern: /(?:[0-9a-fA-F]{2}[ :]?){16,10000}/g, decode: fromHex },
  {
    signs: ['\\x'],
    pattern: /(?:\\x[0-9a-fA-F]{2}){8,5000}/g,
    decode: (match) => fromHex(match.replaceAll('\\x', '')),
  },
  { signs: ['%'], pattern: /(?:%[0-9a-fA-F]{2}[^\s%]{0,40}){4,2000}/g, decode: fromPercent, escaped: true },
  {
    signs: ['&#', '\\u'],
    pattern: /(?:(?:&#x?[0-9a-fA-F]{2,6};|\\u[0-9a-fA-F]{4})[^\s&\\]{0,20}\s?){6,4000}/g,
    decode: fromEscapes,
    escaped: true,
  },
]

/** Enough to distinguish most binary from text, and a whole number of groups. */
const BASE64_SAMPLE = 32

function fromBase64(match: string): string | null {
  // Words of a path or an identifier decode to noise; so do most of them, cheaply.
  if (!/[A-Z]/.test(match) || !/[a-z]/.test(match)) return null
  const whole = match.replace(/[=]+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!mayBeUtf8(atob(whole.slice(0, Math.min(BASE64_SAMPLE, whole.length & ~3))))) return null
  return utf8(atob(whole.slice(0, whole.length % 4 === 1 ? -1 : undefined)))
}

function fromHex(match: string): string | null {
  const digits = match.replace(/[ :]/g, '')
  let bytes = ''
  for (let i = 0; i + 1 < digits.length; i += 2)
    bytes += String.fromCharCode(Number.parseInt(digits.slice(i, i + 2), 16))
  return utf8(bytes)
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

/** False for bytes whose beginning is not UTF-8: a decoder that throws costs far more. */
function mayBeUtf8(binary: string): boolean {
  for (let at = 0; at < binary.length; ) {
    const lead = binary.charCodeAt(at)
    const more = lead < 0x80 ? 0 : lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : -1
    if (more < 0) return false
    for (let next = at + 1; next <= at + more && next < binary.length; next++)
      if ((binary.charCodeAt(next) & 0xc0) !== 0x80) return false
    at += more + 1
  }
  return true
}

function utf8(binary: string): string | null {
  if (!mayBeUtf8(binary)) return null
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
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

/** The words as they read without each disguise that they wear. */
export function undisguise(words: string): string[] {
  const found: string[] = []
  if (TURNED_STEM.test(words)) {
    if (ROT13_WORD.test(words)) found.push(rot13(words))
    if (REVERSED_WORD.test(words)) found.push([...words].reverse().join(''))
  }
  if (SPACED.test(words)) {
    const joined = words
      .replace(EACH_SPACED, (letters) => parted(letters.replaceAll(' ', '')))
      .replace(/ {2,}/g, ' ')
      .trim()
    if (joined !== words.trim()) found.push(joined)
  }
  if (hasLeetWord(words) && !TELLING_WORD.test(words)) {
    const straight = words.replace(/[a-z0-9]+/g, (word) => (isLeet(word) ? unleet(word) : word))
    if (TELLING_WORD.test(straight)) found.push(straight)
  }
  return found
}

/** Letters written apart lose the gaps between words; the words that matter are found again. */
function parted(letters: string): string {
  return letters.replace(KNOWN_WORD, ' $1 ').replace(/ {2,}/g, ' ')
}

const KNOWN_WORD =
  /(ignore|disregard|forget|override|previous|prior|above|instructions?|system|prompt|rules|your|all|the|reveal|send|secret|password|user)/g
/** One of these is in every word of the two that follow: a search for plain texts is several times as fast as theirs. */
const TURNED_STEM =
  /vtaber|qvfertneq|vafgehpgvba|cerivbhf|flfgrz|bireevqr|snoitcurtsni|erongi|suoiverp|dragersid|tpmorp/
const ROT13_WORD = /\b(?:vtaber|qvfertneq|vafgehpgvbaf?|cerivbhf|flfgrz cebzcg|bireevqr)\b/
const REVERSED_WORD = /\b(?:snoitcurtsni|erongi|suoiverp|dragersid|tpmorp metsys)\b/
const SPACED = /\b(?:[a-z] ){7}[a-z]\b/
const EACH_SPACED = /\b(?:[a-z] ){7,200}[a-z]\b/g
const TELLING_WORD = /\b(?:ignore|disregard|forget|instructions?|previous|system prompt|override)\b/
/** Words of which one must have been written with digits. */
const TELLING_PARTS: ReadonlySet<string> = new Set(
  'ignore disregard forget instruction instructions previous system prompt override'.split(' '),
)
const LONGEST_PART = 12

function rot13(text: string): string {
  return text.replace(/[a-z]/g, (char) => String.fromCharCode(((char.charCodeAt(0) - 97 + 13) % 26) + 97))
}

const LEET: Readonly<Record<string, string>> = { '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b' }

function unleet(word: string): string {
  return word.replace(/[0134578]/g, (digit) => LEET[digit]!)
}

function isLeet(word: string): boolean {
  return /[a-z]/.test(word) && /[0134578]/.test(word)
}

/** Whether a word with digits reads as one of these. It goes from digit to digit: few texts do. */
function hasLeetWord(words: string): boolean {
  const digits = /[0134578]/g
  for (let digit = digits.exec(words); digit !== null; digit = digits.exec(words)) {
    let start = digit.index
    let end = digit.index + 1
    while (isWordCharacter(words.charCodeAt(start - 1))) start--
    while (isWordCharacter(words.charCodeAt(end))) end++
    if (end - start <= LONGEST_PART) {
      const word = words.slice(start, end)
      if (isLeet(word) && TELLING_PARTS.has(unleet(word))) return true
    }
    digits.lastIndex = end
  }
  return false
}

function isWordCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
}
