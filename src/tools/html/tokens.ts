/** Tokenizes HTML in one pass. */

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  uarr: '↑',
  darr: '↓',
  deg: '°',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  sect: '§',
  para: '¶',
  plusmn: '±',
  frac12: '½',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  aacute: 'á',
  ccedil: 'ç',
  ntilde: 'ñ',
  oacute: 'ó',
  iacute: 'í',
  uacute: 'ú',
  shy: '',
  zwnj: '',
  zwj: '',
}

/** Decodes character references; invalid ones stay. */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,10}));/g,
    (all, decimal, hex, name) => {
      if (name !== undefined) return Object.hasOwn(named, name) ? named[name]! : all
      const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16)
      const valid = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      return valid ? String.fromCodePoint(code) : '\ufffd'
    },
  )
}

export type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly kind: 'close'; readonly name: string }

/** Raw text up to their end tags. */
const RAW: ReadonlySet<string> = new Set('script style textarea title noscript iframe xmp noembed'.split(' '))
const MAX_ATTRIBUTES = 64

/** Skips comments, declarations and processing instructions. */
export function* tokenize(html: string): Generator<HtmlToken> {
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open < 0) {
      yield text(html.slice(at))
      return
    }
    if (open > at) yield text(html.slice(at, open))
    const next = html.charCodeAt(open + 1)
    if (html.startsWith('<!--', open)) at = after(html, '-->', open + 4)
    else if (next === 33 || next === 63) at = after(html, '>', open + 2)
    else if (next === 47 && isLetter(html.charCodeAt(open + 2))) {
      const nameEnd = endOfName(html, open + 2)
      yield { kind: 'close', name: html.slice(open + 2, nameEnd).toLowerCase() }
      at = after(html, '>', nameEnd)
    } else if (isLetter(next)) {
      const tag = readTag(html, open)
      yield { kind: 'open', name: tag.name, attributes: tag.attributes }
      at = tag.end
      if (RAW.has(tag.name)) {
        const close = findClose(html, tag.name, at)
        if (close > at) yield text(html.slice(at, close))
        at = close
      }
    } else {
      yield text('<')
      at = open + 1
    }
  }
}

function readTag(html: string, open: number): { name: string; attributes: Map<string, string>; end: number } {
  let at = endOfName(html, open + 1)
  const name = html.slice(open + 1, at).toLowerCase()
  const attributes = new Map<string, string>()
  for (;;) {
    at = skipSpace(html, at)
    const code = html.charCodeAt(at)
    if (at >= html.length) return { name, attributes, end: html.length }
    if (code === 62) return { name, attributes, end: at + 1 }
    if (code === 47) {
      at++
      continue
    }
    const nameStart = at
    while (at < html.length && !/[\s=>/]/.test(html[at]!)) at++
    if (at === nameStart) at++
    const key = html.slice(nameStart, at).toLowerCase()
    let value = ''
    const equals = skipSpace(html, at)
    if (html.charCodeAt(equals) === 61) {
      at = skipSpace(html, equals + 1)
      const quote = html[at]
      if (quote === '"' || quote === "'") {
        const end = html.indexOf(quote, at + 1)
        value = html.slice(at + 1, end < 0 ? html.length : end)
        at = end < 0 ? html.length : end + 1
      } else {
        const start = at
        while (at < html.length && !/[\s>]/.test(html[at]!)) at++
        value = html.slice(start, at)
      }
    }
    if (attributes.size < MAX_ATTRIBUTES && !attributes.has(key)) attributes.set(key, decodeEntities(value))
  }
}

// Compares in place, so that unclosed tags cost no copies.
function findClose(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return at
  }
  return html.length
}

function after(html: string, wanted: string, from: number): number {
  const at = html.indexOf(wanted, from)
  return at < 0 ? html.length : at + wanted.length
}

function endOfName(html: string, from: number): number {
  let at = from
  while (at < html.length && !/[\s/>]/.test(html[at]!)) at++
  return at
}

function skipSpace(html: string, from: number): number {
  let at = from
  while (at < html.length && /\s/.test(html[at]!)) at++
  return at
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

function text(value: string): HtmlToken {
  return { kind: 'text', text: decodeEntities(value) }
}
