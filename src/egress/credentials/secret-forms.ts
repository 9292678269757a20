/** The shapes in which a host may send a secret back: as it is, quoted, percent-encoded, in base64, in hex. PURE. */

/** One shape of a secret, and what stands in its place. */
export interface SecretForm {
  readonly bytes: Buffer
  readonly replacement: Buffer
  /** As long as the form itself, for protocols that count bytes. */
  readonly sameLength: Buffer
}

/** Below this a form is so short that it would be found in what has nothing to do with the secret. */
const SHORTEST_ENCODED = 8

/** Every form of a value, each once, the longest first: a short one may be part of a longer one. */
export function secretForms(value: string, placeholder: string): SecretForm[] {
  const forms = new Map<string, SecretForm>()
  const add = (text: string, replacement: string, filler: string) => {
    if (text === '' || forms.has(text)) return
    const bytes = Buffer.from(text, 'latin1')
    const fitting = replacement.length === text.length ? replacement : filler.repeat(text.length)
    forms.set(text, { bytes, replacement: Buffer.from(replacement), sameLength: Buffer.from(fitting) })
  }
  add(value, placeholder, '*')
  if (value.length >= SHORTEST_ENCODED) {
    for (const text of quoted(value)) add(text, placeholder, '*')
    for (const text of percentEncoded(value)) add(text, placeholder, '*')
    // Zeros of the same length: a decoder still finds its way, and the secret in it is gone.
    for (const text of base64(value)) add(text, 'A'.repeat(text.length), 'A')
    for (const text of hex(value)) add(text, '0'.repeat(text.length), '0')
  }
  return [...forms.values()].sort((a, b) => b.bytes.length - a.bytes.length)
}

/** Characters that writers of JSON escape as `\\u…` beyond what JSON needs: Go and Rails; Gson; .NET; Django's `escapejs`. */
const JSON_ESCAPED: readonly string[] = ['<>&', "<>&='", '<>&\'"+`', '<>&\'"\\=-;`']
/** Characters that writers of HTML give as numbers beyond `<>&"'`: most none; Go and ASP.NET; Handlebars; Mustache. */
const HTML_NUMBERED: readonly string[] = ['', '+', '`=', '`=/']
const HTML_NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const HTML_NUMBERS: readonly ((code: number) => string)[] = [
  (code) => `&#${code};`,
  (code) => `&#x${hexOf(code)};`,
  (code) => `&#x${hexOf(code).toUpperCase()};`,
]

/** In JSON and in HTML. */
function quoted(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1)
  return [json, json.replaceAll('/', '\\/'), ...escapedJson(value), ...escapedHtml(value)]
}

function escapedJson(value: string): string[] {
  return JSON_ESCAPED.flatMap((signs) => {
    const written = Array.from(value, (sign) => {
      const needed = JSON.stringify(sign).slice(1, -1)
      return signs.includes(sign) ? `\\u${hexOf(sign.charCodeAt(0)).padStart(4, '0')}` : needed
    }).join('')
    return [written, written.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)]
  })
}

function escapedHtml(value: string): string[] {
  const write = (signs: string, names: Readonly<Record<string, string>>, number: (code: number) => string) =>
    Array.from(
      value,
      (sign) => names[sign] ?? (signs.includes(sign) || sign === "'" ? number(sign.charCodeAt(0)) : sign),
    )
  const { '"': _, ...unquoted } = HTML_NAMES
  return HTML_NUMBERED.flatMap((signs) =>
    HTML_NUMBERS.flatMap((number) => [
      write(signs, HTML_NAMES, number),
      write(`${signs}"`, unquoted, number),
      write(signs, { ...HTML_NAMES, "'": '&apos;' }, number),
      write(signs, { ...HTML_NAMES, "'": "'" }, number),
      write(signs, { ...unquoted, "'": "'" }, number),
      write(signs, unquoted, number),
    ]),
  ).map((signs) => signs.join(''))
}

function hexOf(code: number): string {
  return code.toString(16)
}

/** As URLs and forms write it, and with every character encoded; hex digits in either case. */
function percentEncoded(value: string): string[] {
  const url = encodeURIComponent(value)
  const strict = url.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const every = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(
    '',
  )
  const upper = [url, strict, strict.replaceAll('%20', '+'), encodeURI(value), every]
  return [...upper, ...upper.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
}

/** Wherever in the encoded text it starts: the characters that depend on the secret alone, at each of the three offsets. */
function base64(value: string): string[] {
  const standard = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
    return whole.toString('base64').slice(before === 0 ? 0 : before + 1, Math.floor((whole.length * 8) / 6))
  })
  return [...standard, ...standard.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}

function hex(value: string): string[] {
  const lower = Buffer.from(value).toString('hex')
  return [lower, lower.toUpperCase()]
}
