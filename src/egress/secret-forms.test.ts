import { describe, expect, it } from 'vitest'
import { scrubBytes, scrubStream } from './scrub-stream.ts'
import { secretForms } from './secret-forms.ts'

const VALUE = 'ghp_r3al+Value/of "the" <Token>&0123'
const PLACEHOLDER = 'cordon_t_0123456789abcdef'
const forms = secretForms(VALUE, PLACEHOLDER)
const base64 = (text: string) => Buffer.from(text).toString('base64')

const echoes: { name: string; echo: string; note: string }[] = [
  { name: 'as it is', echo: `you sent ${VALUE}`, note: '' },
  { name: 'in JSON', echo: JSON.stringify({ token: VALUE }), note: 'quotes are escaped' },
  { name: 'in JSON with escaped slashes', echo: JSON.stringify(VALUE).replaceAll('/', '\\/'), note: 'PHP' },
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
  { name: 'in base64', echo: base64(VALUE), note: '' },
  { name: 'in base64 after one byte', echo: base64(`:${VALUE}`), note: 'every offset is another text' },
  { name: 'in base64 after two bytes, and more behind', echo: base64(`u:${VALUE} and more`), note: '' },
  { name: 'as Basic credentials', echo: `Basic ${base64(`x-access-token:${VALUE}`)}`, note: 'git' },
  { name: 'in URL-safe base64', echo: Buffer.from(`{"t":"${VALUE}"`).toString('base64url'), note: 'tokens' },
  { name: 'in hex', echo: Buffer.from(VALUE).toString('hex'), note: '' },
  { name: 'in upper-case hex', echo: Buffer.from(VALUE).toString('hex').toUpperCase(), note: '' },
]

function lowerCodes(): string {
  return encodeURIComponent(VALUE).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

/** Every way to read a text, so that what is left of a secret shows. */
function readings(text: string): string[] {
  const tokens = text.match(/[A-Za-z0-9+/_=-]{8,}/g) ?? []
  const decodedTokens = tokens.flatMap((token) => [
    Buffer.from(token, 'base64').toString('latin1'),
    Buffer.from(token, 'hex').toString('latin1'),
  ])
  const plain = text
    .replace(/\+/g, ' ')
    .replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return [text, plain, ...decodedTokens]
}

describe('forms of a secret', () => {
  it.each(echoes)('are taken out $name', ({ echo }) => {
    for (const sameLength of [false, true]) {
      const left = scrubBytes(Buffer.from(echo), forms, sameLength).toString('latin1')
      expect(left).not.toBe(echo)
      for (const reading of readings(left)) expect(reading).not.toContain(VALUE.slice(3, -3))
      if (sameLength) expect(left).toHaveLength(echo.length)
    }
  })

  it.each(echoes)('are taken out $name, wherever the stream is cut', async ({ echo }) => {
    const text = `before ${echo} after`
    const whole = scrubBytes(Buffer.from(text), forms).toString('latin1')
    for (let cut = 1; cut < text.length; cut++) {
      const stream = scrubStream(forms, false)
      stream.write(text.slice(0, cut))
      stream.end(text.slice(cut))
      let left = ''
      for await (const chunk of stream) left += chunk
      expect(left).toBe(whole)
    }
  })

  it('are taken out byte by byte too', async () => {
    const text = echoes.map(({ echo }) => echo).join('\n')
    const stream = scrubStream(forms, true)
    for (const byte of Buffer.from(text)) stream.write(Buffer.of(byte))
    stream.end()
    let left = ''
    for await (const chunk of stream) left += chunk
    expect(left).toHaveLength(text.length)
    expect(left).not.toContain(VALUE)
  })

  it('leave everything else as it is, and hold nothing back', async () => {
    const text = `${'ordinary text '.repeat(1000)}\n`
    const stream = scrubStream(forms, false)
    stream.write(text)
    expect(String(stream.read())).toBe(text)
    stream.destroy()
  })

  it('of a short value are the value alone, since its encodings are found by accident', () => {
    expect(secretForms('abcd', PLACEHOLDER).map((form) => form.bytes.toString())).toEqual(['abcd'])
  })
})
