/**
 * Decodes escapes in which a host may write the characters of a secret: URLs, JSON, HTML and
 * programming languages. PURE.
 */

/** Bytes without a layer of escapes. */
export interface UnescapedBytes {
  readonly bytes: Buffer
  /** The position of each byte in the original text, and its length at the end. */
  readonly starts: Uint32Array
}

/** The longest escape that is decoded. */
export const LONGEST_ESCAPE = 10

const [PERCENT, AMPERSAND, BACKSLASH, SEMICOLON, HASH] = [0x25, 0x26, 0x5c, 0x3b, 0x23]

/** Named HTML references to ASCII characters. */
const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    '!': 'excl',
    '"': 'quot QUOT',
    '#': 'num',
    $: 'dollar',
    '%': 'percnt',
    '&': 'amp AMP',
    "'": 'apos',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast midast',
    '+': 'plus',
    ',': 'comma',
    '.': 'period',
    '/': 'sol',
    ':': 'colon',
    ';': 'semi',
    '<': 'lt LT',
    '=': 'equals',
    '>': 'gt GT',
    '?': 'quest',
    '@': 'commat',
    '[': 'lsqb lbrack',
    '\\': 'bsol',
    ']': 'rsqb rbrack',
    '^': 'Hat',
    _: 'lowbar',
    '`': 'grave',
    '{': 'lcub lbrace',
    '|': 'verbar vert',
    '}': 'rcub rbrace',
  }).flatMap(([character, names]) => names.split(' ').map((name) => [name, character.charCodeAt(0)] as const)),
)

/**
 * The bytes without one more layer of escapes; null without any. `starts` has their positions in
 * the original text.
 */
export function unescapeBytes(source: Buffer, starts: Uint32Array | null = null): UnescapedBytes | null {
  let bytes: Buffer | null = null
  let places = NOTHING
  let length = 0
  for (let at = 0; at < source.length; ) {
    const byte = source[at]!
    const read = byte === PERCENT || byte === BACKSLASH || byte === AMPERSAND ? readEscape(source, at, byte) : 0
    if (read !== 0 && bytes === null) {
      bytes = Buffer.allocUnsafe(source.length)
      places = new Uint32Array(source.length + 1)
      for (; length < at; length++) places[length] = starts === null ? length : starts[length]!
      source.copy(bytes, 0, 0, at)
    }
    if (bytes !== null) {
      places[length] = starts === null ? at : starts[at]!
      bytes[length++] = read === 0 ? byte : read & 0xff
    }
    at += read === 0 ? 1 : read >> 8
  }
  if (bytes === null) return null
  places[length] = starts === null ? source.length : starts[source.length]!
  return { bytes: bytes.subarray(0, length), starts: places.subarray(0, length + 1) }
}

const NOTHING = new Uint32Array(0)

/** The length of the escape that starts here, times 256, plus its byte; 0 without one. */
function readEscape(source: Buffer, at: number, kind: number): number {
  if (kind === AMPERSAND) return readReference(source, at)
  const next = source[at + 1]!
  if (kind === PERCENT) return next === 0x75 ? hexEscape(source, at, 2, 4) : hexEscape(source, at, 1, 2)
  if (next === 0x75) return hexEscape(source, at, 2, 4)
  if (next === 0x78) return hexEscape(source, at, 2, 2)
  if (next >= 0x30 && next <= 0x33) return octalEscape(source, at, next)
  return QUOTED.has(next) ? (2 << 8) | next : 0
}

/** Characters that mean themselves after a backslash. */
const QUOTED: ReadonlySet<number> = new Set(Buffer.from('"\'/\\$&`'))

function octalEscape(source: Buffer, at: number, first: number): number {
  const [second, third] = [source[at + 2]! - 0x30, source[at + 3]! - 0x30]
  const isOctal = second >= 0 && second < 8 && third >= 0 && third < 8
  return isOctal ? (4 << 8) | ((first - 0x30) * 64 + second * 8 + third) : 0
}

function hexEscape(source: Buffer, at: number, head: number, digits: number): number {
  let value = 0
  for (let index = at + head; index < at + head + digits; index++) {
    const digit = digitOf(source[index])
    if (digit < 0) return 0
    value = value * 16 + digit
  }
  return value > 0xff ? 0 : ((head + digits) << 8) | value
}

function digitOf(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function readReference(source: Buffer, at: number): number {
  let end = 2
  while (source[at + end] !== SEMICOLON) if (++end === LONGEST_ESCAPE) return 0
  const name = source.toString('latin1', at + 1, at + end)
  const value = source[at + 1] === HASH ? numberOf(name.slice(1)) : NAMED.get(name)
  return value === undefined || value > 0xff ? 0 : ((end + 1) << 8) | value
}

function numberOf(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text)
  return /^x[0-9a-f]+$/i.test(text) ? Number.parseInt(text.slice(1), 16) : undefined
}
