/** The names of fields in a form as it passes, wherever its pieces are cut. PURE. */

/** A name that is longer is nobody's. */
const LONGEST = 256
const [AMPERSAND, SEMICOLON, EQUALS] = [0x26, 0x3b, 0x3d]

/** Gives the names of fields that are whole with this piece. */
export type FieldReader = (piece: Buffer) => string[]

/** A reader for a body of one of these types, whichever of them its host believes; null where none is a form. */
export function fieldReader(contentTypes: readonly string[]): FieldReader | null {
  const readers = contentTypes.flatMap((type) => {
    if (/^\s*application\/x-www-form-urlencoded\b/i.test(type)) return [urlencodedFields()]
    return /^\s*multipart\//i.test(type) ? [multipartFields()] : []
  })
  return readers.length === 0 ? null : (piece) => readers.flatMap((read) => read(piece))
}

/** True for a form in letters that are not read here: a server may turn them into names that were never looked at. */
export function isInOddLetters(contentTypes: readonly string[]): boolean {
  return contentTypes.some((type) =>
    [...type.matchAll(/charset\s*=\s*["']?\s*([^"';\s]*)/gi)].some(([, name = '']) => !LETTERS.has(name.toLowerCase())),
  )
}

const LETTERS: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-1', 'windows-1252'])

/** What the head of a part says; over lines that are folded, too. */
const PART = /content-disposition[ \t]*:((?:[^\r\n]|\r?\n[ \t]){0,16000})/gi
const NAME = /\bname\*?[ \t]*=[ \t]*(?:[\w-]*'[\w-]*')?(?:"((?:[^"\\]|\\.){0,256})|([^\s;"]{1,256}))/gi
/** As much as a head needs; what goes on beyond it is not read, and so is held for the worst that it could be. */
const HEAD = 16_000
const ENDLESS = 'credential'

function multipartFields(): FieldReader {
  let tail = ''
  return (piece) => {
    const text = tail + piece.toString('latin1')
    tail = text.slice(-HEAD - 'content-disposition:'.length)
    return [...text.matchAll(PART)].flatMap(([, head = '']) =>
      head.length === HEAD ? ENDLESS : [...head.matchAll(NAME)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
    )
  }
}

function urlencodedFields(): FieldReader {
  let name: number[] = []
  let inName = true
  return (piece) => {
    const found: string[] = []
    for (const byte of piece) {
      const parts = byte === AMPERSAND || byte === SEMICOLON
      if (inName && (parts || byte === EQUALS)) {
        found.push(Buffer.from(name).toString('latin1'))
        inName = false
      }
      if (parts) {
        inName = true
        name = []
      } else if (inName && name.length < LONGEST) name.push(byte)
    }
    return found.filter((one) => one !== '')
  }
}
