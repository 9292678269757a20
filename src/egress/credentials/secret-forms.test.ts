import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unescapeBytes } from './escapes.ts'
import { envelopeHead, eventStreamHead, scrubFrames, websocketHead } from './scrub-frames.ts'
import { Scrubber, scrubBytes, scrubStream } from './scrub-stream.ts'
import { secretForms } from './secret-forms.ts'
import { createSearch } from './secret-search.ts'

const VALUE = 'ghp_r3al+Value/of "the" <Token>&01=23'
const PLACEHOLDER = 'cordon_t_0123456789abcdef'
const search = createSearch([secretForms(VALUE, PLACEHOLDER)])
/** The head of an event of AWS without headers. */
function eventHead(size: number): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt32BE(size + head.length)
  head.writeUInt32BE(crc32(head.subarray(0, 8)), 8)
  return head
}
const base64 = (text: string) => Buffer.from(text).toString('base64')

const echoes: { name: string; echo: string; note: string }[] = [
  { name: 'as it is', echo: `you sent ${VALUE}`, note: '' },
  { name: 'in JSON', echo: JSON.stringify({ token: VALUE }), note: 'quotes are escaped' },
  { name: 'in JSON with escaped slashes', echo: JSON.stringify(VALUE).replaceAll('/', '\\/'), note: 'PHP' },
  { name: 'in JSON of Go', echo: escaped(/[<>&]/g), note: 'it is safe inside HTML' },
  { name: 'in JSON of Gson', echo: escaped(/[<>&=']/g), note: 'so is this' },
  {
    name: 'in JSON of .NET',
    echo: escaped(/[<>&'"+`]/g).replace(/\\u00[0-9a-f]{2}/g, (code) => `\\u${code.slice(2).toUpperCase()}`),
    note: 'a plus, too, and upper-case digits',
  },
  {
    name: 'in HTML of Handlebars',
    echo: VALUE.replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll('=', '&#x3D;'),
    note: 'an equals sign',
  },
  {
    name: 'in HTML of Go',
    echo: VALUE.replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&#34;')
      .replaceAll('+', '&#43;'),
    note: 'quotes and a plus as numbers',
  },
  {
    name: 'in HTML',
    echo: VALUE.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    note: 'an error page',
  },
  { name: 'in a URL', echo: `/?key=${encodeURIComponent(VALUE)}`, note: '' },
  { name: 'in a form', echo: String(new URLSearchParams({ key: VALUE })), note: 'a space is a plus' },
  {
    name: 'percent-encoded in lower case',
    echo: lowerCodes(),
    note: '',
  },
  {
    name: 'with every character percent-encoded',
    echo: [...VALUE].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join(''),
    note: '',
  },
  { name: 'percent-encoded by Python', echo: percent(/[^\w.~/-]/g), note: 'a slash stays' },
  { name: 'percent-encoded by Go', echo: percent(/[^\w.~$&+=:@-]/g), note: 'as a segment of a path' },
  { name: 'percent-encoded by Java', echo: percent(/[^\w.*-]/g).replaceAll('%20', '+'), note: 'URLEncoder' },
  { name: 'percent-encoded twice', echo: encodeURIComponent(encodeURIComponent(VALUE)), note: 'a URL in a URL' },
  { name: 'in JSON in JSON', echo: JSON.stringify(JSON.stringify({ VALUE })), note: 'a log line' },
  { name: 'in JSON in a URL', echo: encodeURIComponent(JSON.stringify({ VALUE })), note: '' },
  { name: 'in a bytea of PostgreSQL', echo: VALUE.replaceAll('"', '\\042'), note: 'octal' },
  { name: 'in base64', echo: base64(VALUE), note: '' },
  { name: 'in base64 after one byte', echo: base64(`:${VALUE}`), note: 'every offset is another text' },
  { name: 'in base64 after two bytes, and more behind', echo: base64(`u:${VALUE} and more`), note: '' },
  { name: 'as Basic credentials', echo: `Basic ${base64(`x-access-token:${VALUE}`)}`, note: 'git' },
  { name: 'in URL-safe base64', echo: Buffer.from(`{"t":"${VALUE}"`).toString('base64url'), note: 'tokens' },
  { name: 'in hex', echo: Buffer.from(VALUE).toString('hex'), note: '' },
  { name: 'in upper-case hex', echo: Buffer.from(VALUE).toString('hex').toUpperCase(), note: '' },
]

function escaped(signs: RegExp): string {
  const json = signs.test('"') ? VALUE : JSON.stringify(VALUE).slice(1, -1)
  return json.replace(signs, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function percent(signs: RegExp): string {
  return VALUE.replace(signs, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

function lowerCodes(): string {
  return encodeURIComponent(VALUE).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

/** All readings of a text, to find remains of a secret. */
function readings(text: string): string[] {
  const tokens = text.match(/[A-Za-z0-9+/_=-]{8,}/g) ?? []
  const decodedTokens = tokens.flatMap((token) => [
    Buffer.from(token, 'base64').toString('latin1'),
    Buffer.from(token, 'hex').toString('latin1'),
  ])
  const plain = text
    .replace(/\+/g, ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  const unescaped = text
    .replace(/\\u([0-9a-f]{4})|&#x([0-9a-f]+);/gi, (_, a, b) => String.fromCharCode(Number.parseInt(a ?? b, 16)))
    .replace(/&#([0-9]+);/g, (_, code) => String.fromCharCode(Number(code)))
  return [text, plain, unescaped, ...decodedTokens]
}

describe('forms of a secret', () => {
  it.each(echoes)('are taken out $name', ({ echo }) => {
    for (const sameLength of [false, true]) {
      const left = scrubBytes(Buffer.from(echo), search, sameLength).toString('latin1')
      expect(left).not.toBe(echo)
      for (const reading of readings(left)) expect(reading).not.toContain(VALUE.slice(3, -3))
      if (sameLength) expect(left).toHaveLength(echo.length)
    }
  })

  it.each(echoes)('are taken out $name, wherever the stream is cut', async ({ echo }) => {
    const text = `before ${echo} after`
    const whole = scrubBytes(Buffer.from(text), search).toString('latin1')
    for (let cut = 1; cut < text.length; cut++) {
      const stream = scrubStream(search)
      stream.write(text.slice(0, cut))
      stream.end(text.slice(cut))
      let left = ''
      for await (const chunk of stream) left += chunk
      expect(left).toBe(whole)
    }
  })

  /** Encodings of one character; a writer may mix them. */
  const hex = (sign: string) => sign.charCodeAt(0).toString(16)
  const WRITTEN: readonly ((sign: string) => string)[] = [
    (sign) => sign,
    (sign) => `%${hex(sign)}`,
    (sign) => `%${hex(sign).toUpperCase()}`,
    (sign) => `%25${hex(sign)}`,
    (sign) => `%2525${hex(sign)}`,
    (sign) => `%u00${hex(sign)}`,
    (sign) => `\\u00${hex(sign)}`,
    (sign) => `\\\\u00${hex(sign).toUpperCase()}`,
    (sign) => `\\x${hex(sign)}`,
    (sign) => `&#${sign.charCodeAt(0)};`,
    (sign) => `&#x${hex(sign)};`,
    (sign) => `&amp;#x00${hex(sign)};`,
  ]
  const ways = fc.array(fc.nat(WRITTEN.length - 1), { minLength: VALUE.length, maxLength: VALUE.length })
  const before = fc.constantFrom('', 'x', '%', '%4', '\\', '\\u', '\\u00', '\\\\', '&', '&#', '%25', '&amp;')

  it('are removed however each character is written, whatever precedes them, and wherever the stream is cut', () => {
    const property = fc.property(ways, before, fc.nat(), fc.boolean(), (how, start, cut, sameLength) => {
      const echo = [...VALUE].map((sign, at) => WRITTEN[how[at]!]!(sign)).join('')
      const text = Buffer.from(`a line\n${start}${echo} after`)
      const scrubber = new Scrubber(search, sameLength)
      const at = cut % text.length
      const left = [scrubber.take(text.subarray(0, at)), scrubber.take(text.subarray(at)), scrubber.end()]
      let reading: Buffer | undefined = Buffer.concat(left)
      if (sameLength) expect(reading).toHaveLength(text.length)
      for (; reading !== undefined; reading = unescapeBytes(reading)?.bytes) {
        expect(reading.includes(VALUE.slice(-8))).toBe(false)
        expect(reading.includes(VALUE.slice(8, 16))).toBe(false)
      }
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it('that overlap are taken out together', () => {
    const periodic = createSearch([secretForms('abcabcab', PLACEHOLDER)])
    expect(scrubBytes(Buffer.from('xabcabcabcabx'), periodic, true).toString()).toBe('x***********x')
    const scrubber = new Scrubber(periodic, true)
    const left = ['xabcabcab', 'cabx\n'].map((piece) => scrubber.take(Buffer.from(piece)).toString())
    expect(left.join('')).toBe('x***********x\n')
  })

  it.each([
    { name: 'WebSocket', head: (size: number) => Buffer.of(0x81, 126, size >> 8, size & 255), read: websocketHead },
    { name: 'gRPC', head: (size: number) => Buffer.of(0, 0, 0, size >> 8, size & 255), read: envelopeHead },
    {
      name: 'AWS event stream',
      head: eventHead,
      read: eventStreamHead,
    },
  ])(
    'are blotted out of $name frames, whatever the pieces, and each frame goes on when it is whole',
    async ({ head, read }) => {
      const frames = echoes.map(({ echo }) => Buffer.concat([head(echo.length), Buffer.from(echo)]))
      for (const size of [1, 3, 7, 50, 10_000]) {
        const stream = scrubFrames(search, read, 0)
        let left = Buffer.alloc(0)
        for (const frame of frames) {
          for (let at = 0; at < frame.length; at += size) stream.write(frame.subarray(at, at + size))
          left = Buffer.concat([left, (stream.read() as Buffer | null) ?? Buffer.alloc(0)])
        }
        expect(left).toHaveLength(Buffer.concat(frames).length)
        for (const [at, { echo }] of echoes.entries()) {
          const from = frames.slice(0, at).reduce((sum, frame) => sum + frame.length, 0)
          const start = from + frames[at]!.length - echo.length
          expect(left.subarray(from, start)).toEqual(frames[at]!.subarray(0, start - from))
          const text = left.toString('latin1', start, start + echo.length)
          expect(text).not.toBe(echo)
          for (const reading of readings(text)) expect(reading).not.toContain(VALUE.slice(3, -3))
        }
      }
    },
  )

  it.each([
    { name: 'a mask that no server may use', read: websocketHead, bytes: [0x81, 0x85, 1, 2, 3, 4, 0, 0, 0, 0, 0] },
    { name: 'an extension that was not agreed on', read: websocketHead, bytes: [0xc1, 2, 1, 2] },
    { name: 'a kind of frame that there is not', read: websocketHead, bytes: [0x83, 2, 1, 2] },
    { name: 'text instead of frames', read: websocketHead, bytes: [...Buffer.from(`echo ${VALUE}`)] },
    { name: 'a packed gRPC message', read: envelopeHead, bytes: [1, 0, 0, 0, 2, 1, 2] },
    {
      name: 'an event frame that text begins',
      read: eventStreamHead,
      bytes: [0, 0, 0, 16, ...Buffer.from(`12345678${VALUE} and more`)],
    },
    {
      name: 'an event frame that ends within it',
      read: eventStreamHead,
      bytes: [...eventHead(8), ...Buffer.from(`${VALUE} and more`)],
    },
  ])('cannot hide behind $name', async ({ read, bytes }) => {
    const stream = scrubFrames(search, read)
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve))
    stream.write(Buffer.from(bytes))
    expect((await failed).message).toMatch(/mask|frame|gRPC|event/)
    expect(stream.read()).toBeNull()
  })

  it('are taken out of a WebSocket message that comes in fragments, with a ping between them', async () => {
    const echo = `{"token":"${VALUE.replaceAll('"', '\\"')}"}`
    for (let cut = 0; cut <= echo.length; cut++) {
      const frames = Buffer.concat([
        Buffer.from([0x01, cut, ...Buffer.from(echo.slice(0, cut))]),
        Buffer.from([0x89, 4, ...Buffer.from('ping')]),
        Buffer.from([0x80, echo.length - cut, ...Buffer.from(echo.slice(cut))]),
      ])
      const stream = scrubFrames(search, websocketHead, 0)
      for (const byte of frames) stream.write(Buffer.of(byte))
      const left = stream.read() as Buffer
      expect(left).toHaveLength(frames.length)
      expect(left.subarray(2 + cut, 8 + cut)).toEqual(frames.subarray(2 + cut, 8 + cut))
      const payload = Buffer.concat([left.subarray(2, 2 + cut), left.subarray(10 + cut)]).toString()
      expect(payload).toMatch(/^\{"token":"\*+"\}$/)
    }
  })

  it.each([
    { name: 'WebSocket', read: websocketHead, bytes: [0x81, 127, ...Buffer.from(VALUE.slice(0, 7))] },
    { name: 'an event stream', read: eventStreamHead, bytes: [...Buffer.from(VALUE.slice(0, 11))] },
  ])('cannot hide in the head of a frame of $name that never ends', async ({ read, bytes }) => {
    const stream = scrubFrames(search, read)
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve))
    stream.end(Buffer.from(bytes))
    expect((await failed).message).toMatch(/head of a frame/)
    expect(stream.read()).toBeNull()
  })

  it('leave the trailers of gRPC in a browser', async () => {
    const stream = scrubFrames(search, envelopeHead)
    const frame = Buffer.from([0x80, 0, 0, 0, 2, 1, 2])
    stream.end(frame)
    expect(Buffer.concat(await stream.toArray())).toEqual(frame)
  })

  it('leave everything else as it is, and hold nothing back', async () => {
    const text = `${'ordinary text '.repeat(1000)}\n`
    const stream = scrubStream(search)
    stream.write(text)
    expect(String(stream.read())).toBe(text)
    stream.destroy()
  })

  it('of a short value are the value alone, since its encodings are found by accident', () => {
    expect(secretForms('abcd', PLACEHOLDER).map((form) => form.bytes.toString())).toEqual(['abcd'])
  })
})
