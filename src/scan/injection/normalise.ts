/**
 * Normalises text to what a model reads: hidden parts visible, disguises removed, encodings
 * decoded.
 */

import { characterClass, createByteReader } from '../text-bytes.ts'
import { decodeAll, undisguise } from './encodings.ts'

/** A way of reading a text, with the place in the text that each of its characters comes from. */
export interface View {
  readonly text: string
  /** The source of the text: a person who sees only the screen does not see the others. */
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
  /** Hidden or encoded text, as words. */
  readonly concealed: readonly View[]
  /** Invisible characters between letters, and bidi overrides: never by accident. */
  readonly invisible: number
  readonly overrides: number
}

const MAX_FRAGMENTS = 50

/** Reads a text in every way that matters. */
export function normalise(text: string): Views {
  const ascii = !BEYOND_ASCII.test(text)
  const seen = text.includes(ESC) || text.includes(CSI) ? text.replace(ESCAPES, '') : text
  const read = ascii ? readAscii(seen) : readUnicode(seen)
  // Positions are needed only after a finding, which is rare.
  let places: Places | null = null
  const placed = (view: keyof Places) => (from: number, to: number) => {
    places ??= placesOf(text)
    const origins = places[view]
    return { start: origins[from] ?? 0, end: (origins[Math.max(from, to - 1)] ?? 0) + 1 }
  }
  const concealed: View[] = []
  if (read.tags.length > 3)
    concealed.push({ ...decodedView(read.tags, 'hidden', { start: 0, end: 1 }), span: placed('tags') })
  for (const comment of comments(text)) concealed.push(comment)
  for (const { text: decoded, start, end } of decodeAll(text))
    concealed.push(decodedView(decoded, 'encoded', { start, end }))
  const wordsView: View = { text: read.words, source: 'plain', span: placed('words') }
  for (const plain of undisguise(read.words)) {
    const whole = wordsView.span(0, read.words.length)
    concealed.push({ text: plain, source: 'encoded', span: () => whole })
  }
  return {
    lines: { text: read.lines, source: 'plain', span: placed('lines') },
    words: wordsView,
    concealed,
    invisible: read.invisible,
    overrides: read.overrides,
  }
}

interface Reading extends Pick<Views, 'invisible' | 'overrides'> {
  readonly lines: string
  readonly words: string
  /** The text that tag characters spell. */
  readonly tags: string
}

function readAscii(seen: string): Reading {
  const lines = seen.toLowerCase()
  return { lines, words: plainWords(lines), tags: '', invisible: 0, overrides: 0 }
}

/** Each different character is looked into once: few are, however long a text is. */
function readUnicode(seen: string): Reading {
  const known = new Map<string, { readonly line: string; readonly word: string; readonly tag: string }>()
  const lower = seen.toLowerCase()
  // A few letters are longer in lower case; then the parts between them are lowered by themselves.
  const aligned = lower.length === seen.length
  let lines = ''
  let words = ''
  let tags = ''
  let at = 0
  const add = (from: number, to: number) => {
    const plain = aligned ? lower.slice(from, to) : seen.slice(from, to).toLowerCase()
    lines += plain
    words += plain
  }
  for (let run = RUN_BEYOND_ASCII.exec(seen); run !== null; run = RUN_BEYOND_ASCII.exec(seen)) {
    add(at, run.index)
    at = run.index + run[0].length
    for (const char of run[0]) {
      let read = known.get(char)
      if (read === undefined) {
        read = readCharacter(char)
        known.set(char, read)
      }
      lines += read.line
      words += read.word
      tags += read.tag
    }
  }
  add(at, seen.length)
  return {
    lines,
    words: plainWords(words),
    tags,
    invisible: INVISIBLE.test(seen) ? (seen.match(INSIDE_WORDS)?.length ?? 0) : 0,
    overrides: seen.match(OVERRIDES)?.length ?? 0,
  }
}

/** A character beyond ASCII in the lines and in the words, where others than letters are gaps. */
function readCharacter(char: string): { line: string; word: string; tag: string } {
  const code = char.codePointAt(0)!
  const tag = tagCharacter(code) ?? ''
  if (tag !== '' || isInvisible(code)) return { line: '', word: '', tag }
  const word = foldLetter(char)
    .replace(/['\u2018\u2019]/g, '')
    .replace(/[^\p{L}\p{N}]/gu, ' ')
  return { line: lowerCompatible(char), word, tag: '' }
}

const BEYOND_ASCII = /[\u0080-\uffff]/
const RUN_BEYOND_ASCII = /[\u0080-\uffff]+/g
const INVISIBLE = /[\u00ad\u200b\u200c\u2060-\u2064\ufeff\u180e]/
const INSIDE_WORDS = /(?<=\p{L})[\u00ad\u200b\u200c\u2060-\u2064\ufeff\u180e]+(?=\p{L})/gu
const OVERRIDES = /[\u202a-\u202e]/g

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
      if (code < 128 ? isAsciiWord(code) : /^[\p{L}\p{N}]/u.test(folded)) {
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

function isAsciiWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

function escapeLength(text: string, at: number): number {
  ESCAPE.lastIndex = at
  return ESCAPE.exec(text)?.[0].length ?? 0
}

const ESC = String.fromCharCode(27)
const CSI = String.fromCharCode(0x9b)
const BEL = String.fromCharCode(7)
/** Terminal sequences: they move the cursor or the colour, and hide text from a person. */
const ESCAPE = new RegExp(
  `(?:${ESC}\\[|${CSI})[0-?]{0,32}[ -/]{0,4}[@-~]|${ESC}\\][^${BEL}${ESC}]{0,512}(?:${BEL}|${ESC}\\\\)|${ESC}[^]`,
  'y',
)
const ESCAPES = new RegExp(ESCAPE.source, 'g')

/** A decoded text as words; its span is that of the encoded text. */
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
  if (!text.includes('<') || !CONCEALING.test(text)) return found
  for (const match of text.matchAll(CONCEALED_ELEMENT)) {
    if (found.length >= MAX_FRAGMENTS) break
    add(match[1] ?? '', match.index, match.index + match[0].length)
  }
  return found
}

/** One of these occurs in every concealed element. */
const CONCEALING = /display|visibility|font-size|opacity|color|hidden/i
const CONCEALED_ELEMENT =
  /<[a-z][a-z0-9]{0,10}\s[^>]{0,200}?(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%)?\b|opacity\s{0,2}:\s{0,2}0\b|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent)|\bhidden\b(?!:)|aria-hidden="true")[^>]{0,200}>([^<]{12,4000})/gi

const BLANK = 0x20
const APOSTROPHE = 0x27
/** What stays: digits, small letters, and every byte of a character beyond ASCII. */
const KEPT: Uint8Array = characterClass('0-9a-z', 256).fill(1, 0x80)

const readBytes = createByteReader()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * A text in lower case without its apostrophes; anything else that is not a letter or digit becomes
 * a single blank, none at the start.
 */
export function plainWords(text: string): string {
  const { bytes, size } = readBytes(text)
  let end = 0
  let gap = true
  for (let at = 0; at < size; at++) {
    const byte = bytes[at]!
    if (KEPT[byte] === 1) {
      bytes[end++] = byte
      gap = false
    } else if (!gap && byte !== APOSTROPHE) {
      bytes[end++] = BLANK
      gap = true
    }
  }
  return decoder.decode(bytes.subarray(0, end))
}

/** Zero-width, joiners, bidi controls, soft hyphen, variation selectors, fillers: seen by a model, not by a person. */
function isInvisible(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x34f ||
    code === 0x61c ||
    code === 0x115f ||
    code === 0x1160 ||
    (code >= 0x17b4 && code <= 0x17b5) ||
    (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0x3164 ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff ||
    code === 0xffa0 ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0100 && code <= 0xe01ef)
  )
}

/** The ASCII of a tag character; null for any other. */
function tagCharacter(code: number): string | null {
  return code >= 0xe0020 && code <= 0xe007e ? String.fromCharCode(code - 0xe0000) : null
}

const PAIRS =
  'аa вb еe ѕs іi јj кk мm нh оo рp сc тt уy хx ԁd ԛq ԝw һh ӏl ґr гr пn иu зe шw ъb ьb яr ' +
  'αa βb γy εe ζz ηn ιi κk νv οo ρp σo τt υu χx ωw ' +
  'ɑa ɡg ɩi ɪi ʟl ɴn ʀr ʏy ᴀa ᴄc ᴅd ᴇe ᴊj ᴋk ᴍm ᴏo ᴘp ᴛt ᴜu ᴠv ᴡw ᴢz ꜱs ʙb ɢg ʜh ' +
  'օo սu հh ոn ցg ɡg ıi łl øo đd ħh ŧt'

const LOOKALIKES: ReadonlyMap<string, string> = new Map(PAIRS.split(' ').map((pair) => [pair[0]!, pair[1]!]))

/** The Latin letter that a character looks like, or itself. Marks are dropped. */
function foldLetter(char: string): string {
  const plain = char.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  return LOOKALIKES.get(plain) ?? plain
}
