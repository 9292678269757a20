import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeText, type Encoding, encodeText, lineEndOf, looksLikeText, withLineEnds } from './text-encoding.ts'

describe('decodeText', () => {
  const rows: readonly [note: string, bytes: number[] | string, encoding: string, text: string | null][] = [
    ['plain text', 'héllo', 'utf-8', 'héllo'],
    ['nothing', '', 'utf-8', ''],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x61], 'utf-8-bom', 'a'],
    ['UTF-16, little end first', [0xff, 0xfe, 0x61, 0, 0xe4, 0], 'utf-16le', 'aä'],
    ['UTF-16, big end first', [0xfe, 0xff, 0, 0x61, 0, 0xe4], 'utf-16be', 'aä'],
    ['Latin-1', [0x61, 0xe4, 0x62], 'latin-1', 'aäb'],
    ['bytes', [0x61, 0, 0x62], 'application/octet-stream', null],
    ['an image', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], 'image/png', null],
    ['a word that begins like a picture', 'BMW is a car', 'utf-8', 'BMW is a car'],
    ['an executable', [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0], 'application/x-executable', null],
  ]
  it.each(rows)('%s', (_note, bytes, encoding, text) => {
    const decoded = decodeText(Buffer.from(bytes as string))
    if (text === null) expect(decoded).toEqual({ media: encoding })
    else expect(decoded).toEqual({ text, encoding })
    expect(looksLikeText(Buffer.from(bytes as string))).toBe(text !== null)
  })

  it('and back gives the same bytes, in every encoding', () => {
    const encodings: Encoding[] = ['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'latin-1']
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...encodings), (text, encoding) => {
        const bytes = encodeText(text, encoding)
        fc.pre(bytes !== null)
        const decoded = decodeText(bytes)
        if ('media' in decoded) return
        expect(encodeText(decoded.text, decoded.encoding)).toEqual(bytes)
      }),
    )
  })
})

describe('line ends', () => {
  it.each([
    ['a\nb\n', 'lf'],
    ['a\r\nb\r\n', 'crlf'],
    ['a\r\nb\n', 'mixed'],
    ['a', 'none'],
    ['', 'none'],
    ['\n', 'lf'],
  ] as const)('%j has %s', (text, end) => {
    expect(lineEndOf(text)).toBe(end)
  })

  it.each([
    ['plain text becomes the file’s', 'a\nb', 'crlf', 'a\r\nb'],
    ['text that has its own keeps it', 'a\r\nb\n', 'crlf', 'a\r\nb\n'],
    ['a file of LF changes nothing', 'a\r\nb', 'lf', 'a\r\nb'],
    ['a mixed file changes nothing', 'a\nb', 'mixed', 'a\nb'],
  ] as const)('%s', (_note, text, file, result) => {
    expect(withLineEnds(text, file)).toBe(result)
  })
})
