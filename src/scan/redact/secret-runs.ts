/** Secrets without a prefix: known values, passwords in URLs, and random-looking runs. */

import { characterClass, type TextBytes } from '../text-bytes.ts'
import { type Block, isSshPublicKey } from './blocks.ts'
import type { SecretSpan } from './mask.ts'
import { SHAPE_KINDS } from './secret-kinds.ts'

/** No run of token characters this long passes between two steps. */
const STRIDE = 24
const RUN: Uint8Array = characterClass('A-Za-z0-9_+/~-', 256)
const MAX_RANDOM = 512
const MAX_DECODED = 16_384

/**
 * Adds its findings to `spans`; `lags` are the positions of bytes inside a character. In `open`
 * blocks random-looking text is kept.
 */
export function findRuns(
  text: string,
  { bytes, size }: TextBytes,
  lags: readonly number[],
  open: readonly Block[],
  spans: SecretSpan[],
): void {
  let lag = 0
  for (let i = STRIDE - 1; i < size; i += STRIDE) {
    if (RUN[bytes[i]!] !== 1) continue
    let start = i
    // At most one stride back: further back was seen from the step before.
    while (start > 0 && RUN[bytes[start - 1]!] === 1) start--
    let end = i + 1
    while (end < size && RUN[bytes[end]!] === 1) end++
    if (end - start >= STRIDE) {
      while (lag < lags.length && lags[lag]! < start) lag++
      judgeRun(text, start - lag, end - lag, open, spans)
    }
    i = Math.max(i, end - 1)
  }
}

const LOWER_CASE_KINDS = SHAPE_KINDS.filter(([, where, mark]) => where === 'beside' || !/[A-Z0-9]/.test(mark))

function judgeRun(text: string, start: number, end: number, open: readonly Block[], spans: SecretSpan[]): void {
  const from = Math.max(0, start - 40)
  const run = text.slice(start, end)
  // Digests, ids and most paths have no capitals, and then no mark that has some.
  const hasCapitals = /[A-Z]/.test(run)
  const kinds = hasCapitals ? SHAPE_KINDS : LOWER_CASE_KINDS
  for (const [kind, where, mark, pattern] of kinds) {
    const marked =
      where === 'within'
        ? run.includes(mark)
        : text.startsWith(mark, end) || text.startsWith(mark, Math.max(0, start - mark.length))
    const match = marked ? pattern.exec(text.slice(from, Math.min(text.length, end + 64))) : null
    if (match !== null) spans.push({ start: from + match.index, end: from + match.index + match[0].length, kind })
  }
  if (!hasCapitals || open.some((block) => start >= block.start && end <= block.end) || isSshPublicKey(run)) return
  if (holdsEncodedKey(run)) spans.push({ start, end: end + paddingAt(text, end), kind: 'encoded' })
  else if (end - start >= 32 && end - start <= MAX_RANDOM && isRandom(text, start, end) && !isDigest(text, start)) {
    spans.push({ start, end, kind: 'random' })
  }
}

const ENCODED =
  /sk-[\w-]{20}|gh[pousr]_\w{20}|github_pat_|glpat-|AKIA[A-Z0-9]{16}|xox[abeprs]-|AIza[\w-]{30}|PRIVATE KEY-----/

/** Whether a run is the base64 of a text with a key of a known format in it. */
function holdsEncodedKey(run: string): boolean {
  if (run.length < 28 || run.length > MAX_DECODED) return false
  try {
    return ENCODED.test(
      atob(
        run
          .replaceAll('-', '+')
          .replaceAll('_', '/')
          .slice(0, run.length - (run.length % 4)),
      ),
    )
  } catch {
    return false
  }
}

function paddingAt(text: string, at: number): number {
  return text[at] !== '=' ? 0 : text[at + 1] === '=' ? 2 : 1
}

/** Upper case, lower case and digits alternate as by chance, unlike in identifiers and paths. */
function isRandom(text: string, start: number, end: number): boolean {
  if (!/[A-Z]/.test(text.slice(start, start + 24))) return false
  const counts = [0, 0, 0, 0]
  let changes = 0
  let last = -1
  let segment = 0
  let longest = 0
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    const kind = code >= 97 && code <= 122 ? 0 : code >= 65 && code <= 90 ? 1 : code >= 48 && code <= 57 ? 2 : 3
    counts[kind]!++
    if (last >= 0 && kind !== last) changes++
    last = kind
    segment = code === 47 || code === 45 ? 0 : segment + 1
    if (segment > longest) longest = segment
  }
  const [lower, upper, digits, marks] = counts as [number, number, number, number]
  const length = end - start
  return lower >= 3 && upper >= 3 && digits >= 2 && marks <= length / 6 && longest >= 14 && changes >= length * 0.42
}

/** `sha512-…`, `base64,…` and the `h1:` of a line in go.sum are content, not credentials. */
function isDigest(text: string, start: number): boolean {
  return (
    / v\d[\w.+-]*(?:\/go\.mod)? h1:$/.test(text.slice(Math.max(0, start - 80), start)) ||
    /(?:sha(?:1|256|384|512)[-:=]?|SHA(?:1|256|384|512):|base64,)$/.test(text.slice(Math.max(0, start - 12), start)) ||
    /^sha(?:1|256|384|512)-/.test(text.slice(start, start + 8))
  )
}

/** Shorter values are too common to be masked wherever they occur. */
const MIN_SECRET = 6
const MIN_FRAGMENT = 8

/** Every text to look for when this value must not appear. */
export function secretForms(secret: string): readonly string[] {
  const forms = new Set<string>()
  for (const value of [secret, secret.trim()]) {
    if (value.length < MIN_SECRET) continue
    forms.add(value)
    addEncodings(value, forms)
  }
  // A block that is logged line by line never appears as a whole.
  const lines = secret.split(/\r?\n/)
  if (lines.length > 1) for (const line of lines) if (line.trim().length >= 16) forms.add(line.trim())
  return [...forms]
}

function addEncodings(value: string, forms: Set<string>): void {
  const json = JSON.stringify(value).slice(1, -1)
  forms.add(json)
  forms.add(JSON.stringify(json).slice(1, -1))
  forms.add(json.replaceAll('/', '\\/'))
  const url = percentEncoded(value)
  forms.add(url)
  forms.add(url.replaceAll('%20', '+'))
  forms.add(url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
  forms.add(encodeMore(url))
  forms.add(
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;'),
  )
  forms.add(value.replaceAll("'", `'\\''`))
  const bytes = new TextEncoder().encode(value)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  forms.add(hex)
  forms.add(hex.toUpperCase())
  for (const fragment of base64Fragments(bytes)) {
    if (fragment.length < MIN_FRAGMENT) continue
    forms.add(fragment)
    forms.add(fragment.replaceAll('+', '-').replaceAll('/', '_'))
  }
}

function percentEncoded(value: string): string {
  return value.isWellFormed() ? encodeURIComponent(value) : value
}

/** What stricter encoders escape beyond `encodeURIComponent`. */
function encodeMore(url: string): string {
  return url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The characters of a base64 text that depend on these bytes alone, wherever they lie in a longer input. */
function base64Fragments(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.length)
    padded.set(bytes, offset)
    const text = btoa(String.fromCharCode(...padded)).replaceAll('=', '')
    const first = [0, 2, 3][offset]!
    const wholeBits = (offset + bytes.length) * 8
    return text.slice(first, Math.floor(wholeBits / 6))
  })
}

/** Credentials inside a URL: `scheme://user:password@host`, `https://token@host`. */
const MAX_AUTHORITY = 512

/** The password of the URL whose `://` is at `at`; null without one. */
export function readUserInfo(text: string, at: number): { start: number; end: number; kind: string } | null {
  const start = at + 3
  const limit = Math.min(text.length, start + MAX_AUTHORITY)
  let colon = -1
  let sign = -1
  let end = start
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code <= 32 || code === 34 || code === 39 || code === 60 || code === 62 || code === 96) break
    if (code === 58 && text.startsWith('://', end)) break
    if (code === 58 && colon < 0) colon = end
    if (code === 64) sign = end
    // `/`, `?`, `#` end the authority, unless what follows the colon can be no port: then it is an unescaped password.
    if ((code === 47 || code === 63 || code === 35) && (sign >= 0 || colon < 0 || isPort(text, colon + 1, end))) break
  }
  if (sign < 0) return null
  if (colon >= 0 && colon < sign) {
    const secret = colon + 1
    if (sign - secret < 1 || /^(?:[$<{*]|\[REDACTED)/.test(text.slice(secret, secret + 10))) return null
    return { start: secret, end: sign, kind: 'url-password' }
  }
  const user = text.slice(start, sign)
  return user.length >= 16 && /[0-9]/.test(user) && !user.includes('.') ? { start, end: sign, kind: 'url-token' } : null
}

function isPort(text: string, from: number, to: number): boolean {
  return to - from <= 5 && /^[0-9]*$/.test(text.slice(from, to))
}

/** The password before the `@` of a Go data source name: `user:password@tcp(host:3306)/db`. */
export function readSourceName(text: string, at: number): { start: number; end: number; kind: string } | null {
  const from = Math.max(0, at - 128)
  const [, before, password] = /(?:^|[\s"'`=])([\w.%-]{1,64}:)([^\s"'`]{1,128})$/.exec(text.slice(from, at)) ?? []
  if (before === undefined || password === undefined || /^[$<{*]/.test(password)) return null
  return { start: at - password.length, end: at, kind: 'source-name' }
}
