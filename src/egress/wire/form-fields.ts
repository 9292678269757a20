/** Finds the names of form fields in a passing body, however it is split. PURE. */

/** Longer names are ignored. */
const LONGEST = 256
const [AMPERSAND, SEMICOLON, EQUALS] = [0x26, 0x3b, 0x3d]

/** Returns the field names that this piece completes. */
export type FieldReader = (piece: Buffer) => string[]

/**
 * A reader for a body of one of these types, whichever of them the host uses; null if none is a
 * form.
 */
export function fieldReader(
  contentTypes: readonly string[],
  more: { readonly json?: boolean } = {},
): FieldReader | null {
  // Some servers treat a body without a type as a form.
  const types = contentTypes.every((type) => type.trim() === '') ? [URLENCODED] : contentTypes
  const readers = types.flatMap((type) => {
    if (/^\s*application\/x-www-form-urlencoded\b/i.test(type)) return [urlencodedFields()]
    if (/^\s*multipart\//i.test(type)) return [multipartFields()]
    return more.json && /[/+]json\b/i.test(type) ? [jsonKeys()] : []
  })
  return readers.length === 0 ? null : (piece) => readers.flatMap((read) => read(piece))
}

const URLENCODED = 'application/x-www-form-urlencoded'

/** Whether a form has an unsupported charset: a server may decode names that were never checked. */
export function isInOddLetters(contentTypes: readonly string[]): boolean {
  return contentTypes.some((type) =>
    [...type.matchAll(/charset\s*=\s*["']?\s*([^"';\s]*)/gi)].some(([, name = '']) => !LETTERS.has(name.toLowerCase())),
  )
}

const LETTERS: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-1', 'windows-1252'])

/** What the head of a part says, at the start of a line as any server may see one; over lines that are folded, too. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: signs that end a line in some language.
const PART = /(?:^|[\n-\r\x1c-\x1e\x85])[ \t]*content-disposition[ \t]*:((?:[^\r\n]|\r?\n[ \t]){0,16000})/gi
/** A file name may come in pieces. */
const OF_FILE = /^filename(?:\*\d*\*?)?$/i
/** Enough for a head; a longer one counts as the worst case. */
const HEAD = 16_000
export const UNREAD_NAME = 'credential'

function multipartFields(): FieldReader {
  let tail = ''
  return (piece) => {
    const text = tail + piece.toString('latin1')
    tail = text.slice(-HEAD - 'content-disposition:'.length)
    return [...text.matchAll(PART)].flatMap(([, head = '']) => (head.length === HEAD ? UNREAD_NAME : namesIn(head)))
  }
}

/**
 * The names that a server may read; split parameters (RFC 2231) and comments are not resolved here.
 */
function namesIn(head: string): string[] {
  const names: string[] = []
  for (const { 0: parameter, index } of head.matchAll(/[^;,]+/g)) {
    const equals = parameter.indexOf('=')
    const key = parameter.slice(0, Math.max(0, equals)).trim()
    if (!/name/i.test(key) || OF_FILE.test(key)) continue
    VALUE.lastIndex = index + equals + 1
    const [, quoted, bare = ''] = VALUE.exec(head)!
    const value = (quoted ?? bare).replace(/^[\w-]*'[\w-]*'/, '')
    names.push(
      ...(/^name\*?$/i.test(key) && !value.includes('=?') ? [value, value.replace(/\\(.)/gs, '$1')] : [UNREAD_NAME]),
    )
  }
  return [...new Set(names)]
}

const VALUE = /\s*(?:"((?:[^"\\]|\\.){0,256})|([^\s;,"]{0,256}))/sy

function urlencodedFields(): FieldReader {
  let [name, value] = ['', '']
  let inName = true
  return (piece) => {
    const found: string[] = []
    for (const byte of piece) {
      const parts = byte === AMPERSAND || byte === SEMICOLON
      if (inName && (parts || byte === EQUALS)) {
        found.push(name)
        inName = false
      } else if (inName && name.length < LONGEST) name += String.fromCharCode(byte)
      else if (!inName && value.length < LONGEST_METHOD) {
        value += String.fromCharCode(byte)
        if (name.toLowerCase() === 'method' && isMethod(value)) found.push(OTHER_METHOD)
      }
      if (parts) [name, value, inName] = ['', '', true]
    }
    return found.filter((one) => one !== '')
  }
}

/** Represents a field called `method`, whose value may override the method. */
const OTHER_METHOD = '_method'
const LONGEST_METHOD = 7

export function isMethod(value: string): boolean {
  return /^(?:delete|get|head|options|patch|post|put)$/i.test(value)
}

/** The keys of objects anywhere in the text. */
function jsonKeys(): FieldReader {
  let text: string | null = null
  let escaped = false
  let last: string | null = null
  return (piece) => {
    const found: string[] = []
    for (const sign of piece.toString('latin1')) {
      if (text !== null) {
        if (sign === '"' && !escaped) [last, text] = [text, null]
        else if (text.length < LONGEST) text += sign
        escaped = sign === '\\' && !escaped
      } else if (sign === '"') text = ''
      else if (sign === ':' && last !== null) found.push(unescaped(last))
      if (text !== null || !/[\s"]/.test(sign)) last = null
    }
    return found
  }
}

function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}
