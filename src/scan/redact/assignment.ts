/** Reads one assignment around a key: `api_key=…`, `"token": "…"`, `--password …`, `<secret>…</secret>`. */

import { type gradeKey, isSecretValue, type KeyGrade, LEAST_VALUE } from './sensitive-keys.ts'

/** The value to mask. */
interface Assignment {
  readonly start: number
  readonly end: number
}

const MAX_KEY = 64
const MAX_GAP = 8
/** A value is judged by this much of it, so that one that is not masked costs little. */
const MAX_JUDGED = 256

/** Reads the identifier around `anchor` and, after a separator, its value. */
export function readAssignment(text: string, anchor: number, gradeOf: typeof gradeKey): Assignment | null {
  let keyStart = anchor
  while (keyStart > 0 && anchor - keyStart < MAX_KEY && isKeyChar(text.charCodeAt(keyStart - 1))) keyStart--
  let keyEnd = anchor
  while (keyEnd < text.length && keyEnd - anchor < MAX_KEY && isKeyChar(text.charCodeAt(keyEnd))) keyEnd++
  const joint = readJoint(text, keyStart, keyEnd)
  if (joint === null) return null
  const grade = gradeOf(text.slice(keyStart, keyEnd), wordBefore(text, keyStart))
  const needsName = joint.kind === 'space' || joint.kind === 'argument'
  if (grade === null || (needsName && grade !== 'password' && grade !== 'token')) return null
  return readValue(text, keyStart, keyEnd, joint, grade)
}

interface Joint {
  readonly kind: 'tight' | 'loose' | 'space' | 'tag' | 'argument'
  readonly valueAt: number
}

function readJoint(text: string, keyStart: number, keyEnd: number): Joint | null {
  let at = keyEnd
  if (text[at] === '>' && (text[keyStart - 1] === '<' || text[keyStart - 1] === ':')) {
    return { kind: 'tag', valueAt: at + 1 }
  }
  // `PASSWORD('…')`, `withPassword("…")`
  if (text[at] === '(' && isQuote(text[at + 1]) && SETS_PASSWORD.test(text.slice(keyStart, at)))
    return { kind: 'argument', valueAt: at + 1 }
  if (text[at] === '\\') at++
  const closing = isQuote(text[at])
  if (closing) at++
  if (text[at] === ']') at++
  const afterKey = at
  TYPED.lastIndex = at
  const typed = TYPED.exec(text)
  if (typed) return { kind: 'loose', valueAt: at + typed[0].length }
  ENCODED.lastIndex = at
  const encoded = ENCODED.exec(text)
  if (encoded) return { kind: 'tight', valueAt: at + encoded[0].length }
  at = skipBlanks(text, at)
  const mark = text[at]
  if (mark === '=' || mark === ':') {
    if (mark === '=' && (text[at + 1] === '=' || text[at + 1] === '~')) return null
    // `std::token`, `https://`
    if (mark === ':' && (text[at + 1] === ':' || text[at + 1] === '/')) return null
    const width = text[at + 1] === '=' || (mark === '=' && text[at + 1] === '>') ? 2 : 1
    const valueAt = skipBlanks(text, at + width)
    return { kind: mark === '=' && valueAt === keyEnd + 1 ? 'tight' : 'loose', valueAt }
  }
  if (closing) {
    // `define('DB_PASSWORD', '…')`, `setenv("API_KEY", "…")`
    ARGUMENT.lastIndex = afterKey
    const argument = /[(,]\s?\\?["']$/.test(text.slice(Math.max(0, keyStart - 4), keyStart)) && ARGUMENT.exec(text)
    if (argument) return { kind: 'argument', valueAt: afterKey + argument[0].length }
    // `key="ApiKey" value="…"` and `{"name":"API_KEY","value":"…"}`
    VALUE_FIELD.lastIndex = afterKey
    const field = VALUE_FIELD.exec(text)
    return field === null ? null : { kind: 'loose', valueAt: afterKey + field[0].length }
  }
  if (at === afterKey) return null
  const flag = text.startsWith('--', keyStart) || text.startsWith('-', keyStart)
  const quoted = isQuote(mark)
  if (flag || quoted || isNetrc(text, keyStart)) return { kind: 'space', valueAt: at }
  if (text.startsWith('is ', at)) return { kind: 'space', valueAt: skipBlanks(text, at + 3) }
  return null
}

const SETS_PASSWORD = /^(?:[\w.]*(?:set|with|use)_?)?(?:password|passphrase|passwd)$/i

/** `apiKey: string = "…"`, `api_key: &'static str = "…"`, `apiKey string = "…"`, `key[] = "…"`, `key <- "…"`, `token("…")`. */
const TYPED =
  /(?:(?:\s{0,2}:\s{0,2}|\s{1,4})(?:&?(?:'static\s)?(?:[Ss]tring|str|String\?|std::string))\s{0,4}:?=\s{0,4}|\[\d{0,6}\]\s{0,4}=\s{0,4}|\s{0,4}<-\s{0,4})(?=\\?["'`])/y

/** A key and its value in a URL, or JSON in one. */
const ENCODED = /%3[Dd]|%22%3[Aa](?:%20)?%22/y

/** The next argument of a call: a text that ends it. */
const ARGUMENT = /\s{0,4},\s{0,4}(?=\\?(["'])(?:(?!\1)[^\\\n]){1,256}\\?\1\s{0,4}[,)])/y

const VALUE_FIELD = /\s{0,8},?\s{0,8}["']?[Vv]alue["']?\s{0,4}[:=]\s{0,4}/y

function isNetrc(text: string, keyStart: number): boolean {
  return (
    text.startsWith('password', keyStart) && /\blogin\s+\S+\s+$/.test(text.slice(Math.max(0, keyStart - 100), keyStart))
  )
}

function readValue(text: string, keyStart: number, keyEnd: number, joint: Joint, grade: KeyGrade): Assignment | null {
  let start = joint.valueAt
  const escaped = text[start] === '\\' && isQuote(text[start + 1])
  if (escaped) start++
  // `N'…'` of SQL, `b'…'` of Python, `$'…'` of bash
  if (isQuote(text[start + 1]) && /[bBeEfFnNrRuU$]/.test(text[start]!)) start++
  const quote = isQuote(text[start]) ? text[start]! : null
  if (quote !== null) start++
  if (grade === 'header' || joint.kind === 'loose' || joint.kind === 'tight') start += schemeLength(text, start)
  const least = joint.kind === 'tight' ? 1 : LEAST_VALUE[grade]
  if (quote === null && joint.kind !== 'tag' && endsWithin(text, start, least)) return null
  const endFrom = (limit: number): number => {
    if (joint.kind === 'tag') return endOfTag(text, start, limit)
    return quote === null
      ? endOfWord(text, start, limit, startsLine(text, keyStart))
      : endOfQuote(text, start, limit, quote, escaped)
  }
  const end = endFrom(Math.min(text.length, start + MAX_JUDGED))
  // `--password <password>  the password` is a usage text, not an element.
  if (joint.kind === 'tag' && isBlank(text[start]) && !text.startsWith('</', end)) return null
  const value = text.slice(start, end)
  const style = {
    quoted: quote !== null || joint.kind === 'tag' || joint.kind === 'space',
    tight: joint.kind === 'tight',
    named: joint.kind === 'tight' && EXACT_KEY.test(text.slice(keyStart, keyEnd)),
    endsLine: end >= text.length || text[end] === '\n' || text[end] === '\r',
    apiKey: joint.kind === 'loose' && API_KEY.test(text.slice(keyStart, keyEnd)),
  }
  const isPath = /^(?:old)?pwd$/i.test(text.slice(keyStart, keyEnd)) && /^["']?[/~]/.test(value)
  if (isPath || !isSecretValue(value, grade, style)) return null
  // "password is incorrect" is prose; "password is hunter2" is not.
  if (
    joint.kind === 'space' &&
    quote === null &&
    text.startsWith('is ', skipBlanks(text, keyEnd)) &&
    !/[0-9]/.test(value)
  ) {
    return null
  }
  return { start, end: endFrom(text.length) }
}

/** Keys whose values are masked even if they are short. */
const EXACT_KEY = /^(?:api[_-]?key|token|secret)$/i

/** Nothing but a key follows: `apikey: …`, `x-api-key: …`. */
const API_KEY = /(?:^|[_.-])api[_-]?key$/i

/** True if a word ends before it has so many characters. Most values are counts, and need no closer look. */
function endsWithin(text: string, start: number, least: number): boolean {
  for (let at = start; at < start + least; at++) {
    if (at >= text.length || isBlankOrQuote(text.charCodeAt(at))) return true
  }
  return false
}

function schemeLength(text: string, at: number): number {
  SCHEME.lastIndex = at
  return SCHEME.exec(text)?.[0].length ?? 0
}

const SCHEME = /(?:bearer|basic|token|digest|apikey|aws4-hmac-sha256|negotiate|ntlm|key)[ \t]{1,4}/iy

function startsLine(text: string, keyStart: number): boolean {
  let at = keyStart
  while (at > 0 && keyStart - at < 24 && text[at - 1] !== '\n') at--
  return (
    (at === 0 || text[at - 1] === '\n') &&
    /^(?:\s|export |set |setenv |ENV |ARG |[-+>#"'])*$/.test(text.slice(at, keyStart))
  )
}

function endOfTag(text: string, start: number, limit: number): number {
  let at = start
  while (at < limit && text[at] !== '<' && text[at] !== '\n') at++
  return at
}

// An unclosed quote masks to the end of its line: fail closed, without a second scan of the same
// text.
function endOfQuote(text: string, start: number, limit: number, quote: string, escaped: boolean): number {
  for (let at = start; at < limit; at++) {
    const char = text[at]
    if (char === '\n') return at
    if (char === '\\') {
      if (escaped && text[at + 1] === quote) return at
      at++
    } else if (char === quote) return at
  }
  return limit
}

function endOfWord(text: string, start: number, limit: number, wholeLine: boolean): number {
  let at = start
  while (at < limit && !(wholeLine ? isBlankOrQuote(text.charCodeAt(at)) : isBreak(text.charCodeAt(at)))) at++
  while (wholeLine && at > start && ',;'.includes(text[at - 1]!)) at--
  return at
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at - from < MAX_GAP && (text[at] === ' ' || text[at] === '\t')) at++
  return at
}

function wordBefore(text: string, keyStart: number): string {
  if (text[keyStart - 1] !== ' ') return ''
  let at = keyStart - 1
  while (at > 0 && keyStart - at < 24 && isKeyChar(text.charCodeAt(at - 1))) at--
  const word = text.slice(at, keyStart - 1)
  // Only a word can qualify a key (`API key`); numbers and the like would fill the memory of graded keys.
  return /^[A-Za-z]+$/.test(word) ? word : ''
}

function isBlank(char: string | undefined): boolean {
  return char === undefined || char <= ' '
}

function isQuote(char: string | undefined): boolean {
  return char === '"' || char === "'" || char === '`'
}

function isKeyChar(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 45 ||
    code === 46
  )
}

function isBlankOrQuote(code: number): boolean {
  return code <= 32 || code === 34 || code === 39
}

const BREAKS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  code <= 32 || '"\'`,;&)}]<>|\\'.includes(String.fromCharCode(code)) ? 1 : 0,
)

function isBreak(code: number): boolean {
  return BREAKS[code] === 1
}
