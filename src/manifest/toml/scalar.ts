/** The scalar values of TOML 1.0: strings, numbers, booleans and dates, read from a cursor. */

import { visible } from '../../scan/visible-text.ts'
import { quoteShort, type ScalarNode } from './tree.ts'

/** A place in the text that moves forward as values are read. */
export interface Cursor {
  readonly text: string
  at: number
}

/** The text is not TOML at this place. */
export class TomlError extends Error {
  readonly at: number
  readonly expected: string
  readonly found: string

  constructor(at: number, message: string, expected: string, found: string) {
    super(message)
    this.at = at
    this.expected = expected
    this.found = found
  }
}

const TAB = 0x09
const NEWLINE = 0x0a
const RETURN = 0x0d
const QUOTE = 0x22
const APOSTROPHE = 0x27
const BACKSLASH = 0x5c

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const UNPLAIN = /[\\\u0000-\u0008\u000a-\u001f\u007f]/

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
}

/** The token at a place, for a message. */
export function foundAt(text: string, at: number): string {
  if (at >= text.length) return 'the end of the file'
  const code = text.charCodeAt(at)
  if (code === NEWLINE || (code === RETURN && text.charCodeAt(at + 1) === NEWLINE)) return 'the end of the line'
  return `"${visible(String.fromCodePoint(text.codePointAt(at)!))}"`
}

/** Throws for the token at the cursor. */
export function fail(cursor: Cursor, message: string, expected: string, at: number = cursor.at): never {
  throw new TomlError(at, message, expected, foundAt(cursor.text, at))
}

/** True for a control character that TOML forbids everywhere but in escapes: all but tab. */
function isForbiddenControl(code: number): boolean {
  return (code < 0x20 && code !== TAB) || code === 0x7f
}

/** Reads the string that starts at the cursor; `multiline` says whether `"""` and `'''` are welcome (not in keys). */
export function readString(cursor: Cursor, multiline: boolean): string {
  const quote = cursor.text.charCodeAt(cursor.at)
  const triple =
    cursor.text.charCodeAt(cursor.at + 1) === quote && cursor.text.charCodeAt(cursor.at + 2) === quote ? 3 : 1
  if (triple === 3) {
    if (!multiline) fail(cursor, 'a key cannot be a multi-line string', 'a key in single quotes of one kind')
    return readMultiline(cursor, quote)
  }
  return readSingleLine(cursor, quote)
}

function readSingleLine(cursor: Cursor, quote: number): string {
  const { text } = cursor
  const start = cursor.at
  // Nearly every string is plain, and a native search is many times faster than a loop that has not been compiled yet.
  const close = text.indexOf(quote === QUOTE ? '"' : "'", start + 1)
  const plain = text.slice(start + 1, Math.max(close, start + 1))
  if (close > 0 && !UNPLAIN.test(plain)) {
    cursor.at = close + 1
    return plain
  }
  let value = ''
  let from = start + 1
  let i = from
  for (;;) {
    const code = text.charCodeAt(i)
    if (code === quote) {
      cursor.at = i + 1
      return value + text.slice(from, i)
    }
    if (code === BACKSLASH && quote === QUOTE) {
      value += text.slice(from, i)
      cursor.at = i
      value += readEscape(cursor)
      i = cursor.at
      from = i
    } else if (i >= text.length || code === NEWLINE || code === RETURN) {
      fail(cursor, 'the string is not closed on its line', quote === QUOTE ? 'a closing "' : "a closing '", i)
    } else if (isForbiddenControl(code)) {
      fail(cursor, 'a string contains a control character', 'an escape such as \\u0000', i)
    } else i++
  }
}

function readMultiline(cursor: Cursor, quote: number): string {
  const { text } = cursor
  const start = cursor.at
  let i = start + 3
  if (text.charCodeAt(i) === RETURN && text.charCodeAt(i + 1) === NEWLINE) i += 2
  else if (text.charCodeAt(i) === NEWLINE) i++
  let value = ''
  let from = i
  for (;;) {
    const code = text.charCodeAt(i)
    if (i >= text.length) {
      throw new TomlError(start, 'the multi-line string is never closed', 'three closing quotes', 'the end of the file')
    }
    if (code === quote) {
      let run = 1
      while (run < 5 && text.charCodeAt(i + run) === quote) run++
      if (run >= 3) {
        cursor.at = i + run
        return value + text.slice(from, i + run - 3)
      }
      i += run
    } else if (code === BACKSLASH && quote === QUOTE) {
      value += text.slice(from, i)
      const folded = afterLineEndingBackslash(text, i)
      cursor.at = i
      if (folded === null) value += readEscape(cursor)
      else cursor.at = folded
      i = cursor.at
      from = i
    } else if (code === NEWLINE) i++
    else if (code === RETURN && text.charCodeAt(i + 1) === NEWLINE) {
      // A file with Windows line ends means the same text as one without.
      value += `${text.slice(from, i)}\n`
      i += 2
      from = i
    } else if (isForbiddenControl(code)) {
      fail(cursor, 'a string contains a control character', 'an escape such as \\u0000', i)
    } else i++
  }
}

/** A backslash at the end of a line swallows the line end and all white space up to the next character. */
function afterLineEndingBackslash(text: string, at: number): number | null {
  let i = at + 1
  let lines = 0
  for (;;) {
    const code = text.charCodeAt(i)
    if (code === NEWLINE) lines++
    else if (code === RETURN && text.charCodeAt(i + 1) === NEWLINE) {
      lines++
      i++
    } else if (code !== TAB && code !== 0x20) return lines > 0 ? i : null
    i++
  }
}

function readEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at + 1] ?? ''
  const simple = ESCAPES[letter]
  if (simple !== undefined) {
    cursor.at += 2
    return simple
  }
  const digits = letter === 'u' ? 4 : letter === 'U' ? 8 : 0
  const hex = cursor.text.slice(cursor.at + 2, cursor.at + 2 + digits)
  if (digits === 0 || !/^[0-9A-Fa-f]+$/.test(hex) || hex.length !== digits) {
    fail(cursor, 'the escape is not known to TOML 1.0', '\\b \\t \\n \\f \\r \\" \\\\ \\uXXXX or \\UXXXXXXXX')
  }
  const point = Number.parseInt(hex, 16)
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    fail(cursor, 'the escape is not a Unicode scalar value', 'a code point that is a character')
  }
  cursor.at += 2 + digits
  return String.fromCodePoint(point)
}

const TOKEN = /[0-9A-Za-z_+.:-]+(?: [0-9]{2}:[0-9.:]+(?:[Zz]|[+-][0-9:]+)?)?/y
const DECIMAL = /^[+-]?(?:0|[1-9](?:_?[0-9])*)$/
const PREFIXED = /^0(?:x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/
const FLOAT = /^[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/
const SPECIAL_FLOAT = /^([+-]?)(inf|nan)$/
const DATE = '([0-9]{4})-([0-9]{2})-([0-9]{2})'
const TIME = '([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\\.[0-9]+)?'
const DATETIME = new RegExp(`^(?:${DATE}(?:[Tt ]${TIME}([Zz]|[+-][0-9]{2}:[0-9]{2})?)?|${TIME})$`)
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** Reads a boolean, a number or a date. */
export function readBareValue(cursor: Cursor): ScalarNode {
  const { at } = cursor
  TOKEN.lastIndex = at
  const token = TOKEN.exec(cursor.text)?.[0]
  if (token === undefined) fail(cursor, 'a value is missing', 'a string, number, boolean, date, array or inline table')
  const node = bareValue(token, at)
  if (node === null) {
    const expected = 'a string in quotes, true, false, a number or a date'
    throw new TomlError(at, `${quoteShort(token)} is not a value`, expected, quoteShort(token))
  }
  cursor.at += token.length
  return node
}

function bareValue(token: string, at: number): ScalarNode | null {
  if (token === 'true' || token === 'false') return { kind: 'boolean', value: token === 'true', at }
  if (DECIMAL.test(token) || PREFIXED.test(token)) return integer(token.replaceAll('_', ''), at)
  if (FLOAT.test(token)) return { kind: 'float', value: Number(token.replaceAll('_', '')), at }
  const special = SPECIAL_FLOAT.exec(token)
  if (special) {
    const value = special[2] === 'nan' ? Number.NaN : special[1] === '-' ? -Infinity : Infinity
    return { kind: 'float', value, at }
  }
  const date = DATETIME.exec(token)
  return date && isRealDate(date) ? { kind: 'datetime', value: token, at } : null
}

function integer(digits: string, at: number): ScalarNode {
  // No 64-bit number has more than 66 characters; a longer one must not cost a big conversion first.
  const big = digits.length > 70 ? INT64_MAX + 1n : BigInt(digits.replace(/^[+-]/, ''))
  const value = digits.startsWith('-') ? -big : big
  if (value < INT64_MIN || value > INT64_MAX) {
    throw new TomlError(at, 'the integer does not fit 64 bits', 'an integer from -2^63 to 2^63-1', digits.slice(0, 24))
  }
  const small = Number(value)
  return { kind: 'integer', value: Number.isSafeInteger(small) ? small : value, at }
}

function isRealDate(match: RegExpExecArray): boolean {
  const [, year, month, day, hour, minute, second, zone, soloHour, soloMinute, soloSecond] = match
  if (year !== undefined) {
    const m = Number(month)
    const leap = (Number(year) % 4 === 0 && Number(year) % 100 !== 0) || Number(year) % 400 === 0
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m - 1]
    if (days === undefined || Number(day) < 1 || Number(day) > days) return false
  }
  const offset = zone?.length === 6 ? zone.slice(1).split(':').map(Number) : [0, 0]
  if (offset[0]! > 23 || offset[1]! > 59) return false
  const inTime = (h?: string, m?: string, s?: string): boolean =>
    h === undefined || (Number(h) < 24 && Number(m) < 60 && Number(s) <= 60)
  return inTime(hour, minute, second) && inTime(soloHour, soloMinute, soloSecond)
}

export { APOSTROPHE, NEWLINE, QUOTE, RETURN, TAB }
