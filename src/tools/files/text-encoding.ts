/** Decodes and encodes text files, keeping encoding and line ends. */

export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'latin-1'
export type LineEnd = 'lf' | 'crlf' | 'mixed' | 'none'

export interface DecodedText {
  readonly text: string
  readonly encoding: Encoding
}

/** A file that is not text. */
export interface NoText {
  /** A media type, or `application/octet-stream`. */
  readonly media: string
}

const SNIFFED = 8192

const signatures: readonly (readonly [media: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['image/x-icon', 0, '\x00\x00\x01\x00'],
  ['image/avif', 4, 'ftypavif'],
  ['application/pdf', 0, '%PDF-'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/gzip', 0, '\x1f\x8b'],
  ['application/x-executable', 0, '\x7fELF'],
  ['application/wasm', 0, '\x00asm'],
  ['application/vnd.sqlite3', 0, 'SQLite format 3\x00'],
  ['video/mp4', 4, 'ftyp'],
  ['audio/mpeg', 0, 'ID3'],
]

/** Decodes a file, or names its type if it is not text. */
export function decodeText(bytes: Uint8Array): DecodedText | NoText {
  const encoding = encodingOf(bytes)
  if (typeof encoding !== 'string') return encoding
  if (encoding === 'utf-8') {
    try {
      return { text: strictDecoder.decode(bytes), encoding }
    } catch {
      return { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), encoding: 'latin-1' }
    }
  }
  const body = bytes.subarray(encoding === 'utf-8-bom' ? 3 : 2)
  const label = encoding === 'utf-8-bom' ? 'utf-8' : encoding
  return { text: new TextDecoder(label, { ignoreBOM: true }).decode(body), encoding }
}

/** Encodes a text; null if the encoding cannot. */
export function encodeText(text: string, encoding: Encoding): Buffer | null {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text, 'utf8')
    case 'utf-8-bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text, 'utf8')])
    case 'utf-16le':
      return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    case 'utf-16be':
      return Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()])
    case 'latin-1':
      return /[\u0100-\uffff]/.test(text) ? null : Buffer.from(text, 'latin1')
  }
}

/** Guesses from the first bytes, for choosing files to search. */
export function looksLikeText(start: Uint8Array): boolean {
  return typeof encodingOf(start) === 'string'
}

export function lineEndOf(text: string): LineEnd {
  let crlf = 0
  let lf = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) === 13) crlf++
    else lf++
  }
  if (crlf > 0) return lf > 0 ? 'mixed' : 'crlf'
  return lf > 0 ? 'lf' : 'none'
}

/** Converts LF-only text to the file's line ends. */
export function withLineEnds(text: string, file: LineEnd): string {
  return file === 'crlf' && !text.includes('\r') ? text.replaceAll('\n', '\r\n') : text
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function encodingOf(bytes: Uint8Array): Encoding | NoText {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8-bom'
  if (bytes[0] === 0xff && bytes[1] === 0xfe && bytes.length % 2 === 0) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes.length % 2 === 0) return 'utf-16be'
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SNIFFED)).toString('latin1')
  const signature = signatures.find(([, offset, text]) => start.startsWith(text, offset))
  const binary = start.includes('\0')
  // `BM` and `ID3` begin words too: a signature counts only before bytes that text does not contain.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish bytes from text.
  if (signature && (binary || /[\x00-\x08\x0e-\x1a\x7f-\x9f]/.test(start))) return { media: signature[0] }
  return binary ? { media: 'application/octet-stream' } : 'utf-8'
}
