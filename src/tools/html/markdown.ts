/** Converts HTML to Markdown, without scripts, styles and hidden parts. */

import { type HtmlToken, tokenize } from './tokens.ts'

export interface MarkdownPage {
  readonly title: string | null
  readonly markdown: string
}

const DROPPED: ReadonlySet<string> = new Set(
  'script style noscript template svg math iframe object embed canvas video audio select textarea button dialog'.split(
    ' ',
  ),
)
const BLOCKS: ReadonlySet<string> = new Set(
  'p div section article main header footer aside nav figure figcaption address details summary dl dt dd table thead tbody tfoot tr ul ol li blockquote pre hr h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
)
const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
)
const EMPHASIS: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', del: '~~', s: '~~' }
const MAX_INDENT = 12
/** Breaks paragraphs, which stay paragraphs, so that links are near a line's start. */
const MAX_LINE = 4000

/** Converts a page with absolute links, in linear time. */
export function htmlToMarkdown(html: string, base: string): MarkdownPage {
  const writer = new Writer(base)
  for (const token of tokenize(html)) writer.take(token)
  return writer.page()
}

class Writer {
  readonly #base: string
  readonly #lines: string[] = []
  /** Open lists, innermost last: the next number, or null for bullets. */
  readonly #lists: (number | null)[] = []
  /** Open links, innermost last: target and start of the text. */
  readonly #links: { readonly href: string | null; readonly at: number }[] = []
  #line = ''
  #marker = ''
  #quotes = 0
  #pre = false
  #title: string | null = null
  #inTitle = false
  #dropped: { readonly name: string; depth: number } | null = null
  #cells: string[] | null = null

  constructor(base: string) {
    this.#base = base
  }

  take(token: HtmlToken): void {
    if (token.kind === 'text') this.#text(token.text)
    else if (token.kind === 'open') this.#open(token.name, token.attributes)
    else this.#close(token.name)
  }

  page(): MarkdownPage {
    this.#flush()
    const markdown = this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
    return { title: this.#title?.replace(/\s+/g, ' ').trim() || null, markdown }
  }

  #text(text: string): void {
    if (this.#inTitle) this.#title ??= text.slice(0, 500)
    if (this.#inTitle || this.#dropped) return
    if (this.#pre) this.#line += text
    else {
      if (this.#line.length > MAX_LINE && !this.#cells) this.#flush()
      const collapsed = text.replace(/\s+/g, ' ')
      this.#line += this.#line === '' || this.#line.endsWith(' ') ? collapsed.replace(/^ /, '') : collapsed
    }
  }

  #open(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === 'title') {
      this.#inTitle = true
      return
    }
    if (this.#dropped) {
      if (name === this.#dropped.name) this.#dropped.depth++
      return
    }
    if (DROPPED.has(name) || isHidden(attributes)) {
      if (!VOID.has(name)) this.#dropped = { name, depth: 1 }
      return
    }
    if (BLOCKS.has(name)) this.#openBlock(name)
    else if (name === 'br') this.#break()
    else if (name === 'a') this.#links.push({ href: this.#absolute(attributes.get('href')), at: this.#line.length })
    else if (name === 'img') this.#image(attributes)
    else if (name === 'td' || name === 'th') this.#startCell()
    else if (name === 'code' || name === 'kbd') this.#inlineCode()
    else if (EMPHASIS[name] && !this.#pre) this.#line += EMPHASIS[name]
  }

  #close(name: string): void {
    if (name === 'title') {
      this.#inTitle = false
      return
    }
    if (this.#dropped) {
      if (name === this.#dropped.name && --this.#dropped.depth === 0) this.#dropped = null
      return
    }
    if (BLOCKS.has(name)) this.#closeBlock(name)
    else if (name === 'a') this.#endLink()
    else if (name === 'td' || name === 'th') this.#endCell()
    else if (name === 'code' || name === 'kbd') this.#inlineCode()
    else if (EMPHASIS[name] && !this.#pre) this.#line = closeEmphasis(this.#line, EMPHASIS[name])
  }

  #openBlock(name: string): void {
    if (this.#cells && name !== 'tr' && name !== 'table') {
      this.#line += ' '
      return
    }
    // End tags of rows and cells are optional.
    this.#endRow()
    this.#flush()
    if (/^h[1-6]$/.test(name)) {
      this.#blank()
      this.#marker = `${'#'.repeat(Number(name[1]))} `
    } else if (name === 'ul' || name === 'ol') {
      if (this.#lists.length === 0) this.#blank()
      this.#lists.push(name === 'ol' ? 1 : null)
    } else if (name === 'li') this.#startItem()
    else if (name === 'blockquote') {
      this.#blank()
      this.#quotes = Math.min(this.#quotes + 1, MAX_INDENT)
    } else if (name === 'pre') {
      this.#blank()
      this.#lines.push(`${this.#prefix()}\`\`\``)
      this.#pre = true
    } else if (name === 'hr') {
      this.#blank()
      this.#lines.push('---')
      this.#blank()
    } else if (name === 'tr') this.#cells = []
    else if (name === 'p' || name === 'table') this.#blank()
  }

  #closeBlock(name: string): void {
    if (name === 'tr' || name === 'table') this.#endRow()
    if (this.#cells || name === 'tr') return
    if (name === 'pre' && this.#pre) {
      for (const line of withoutOuterLines(this.#line).split('\n')) this.#lines.push(this.#prefix() + line)
      this.#line = ''
      this.#pre = false
      this.#lines.push(`${this.#prefix()}\`\`\``)
      this.#blank()
      return
    }
    this.#flush()
    if (name === 'ul' || name === 'ol') {
      this.#lists.pop()
      if (this.#lists.length === 0) this.#blank()
    } else if (name === 'blockquote') {
      this.#quotes = Math.max(0, this.#quotes - 1)
      this.#blank()
    } else if (/^h[1-6]$/.test(name) || name === 'p' || name === 'table') this.#blank()
  }

  #startItem(): void {
    const depth = this.#lists.length - 1
    const number = this.#lists[depth] ?? null
    if (number !== null) this.#lists[depth] = number + 1
    const indent = '  '.repeat(Math.max(0, Math.min(depth, MAX_INDENT)))
    this.#marker = `${indent}${number === null ? '-' : `${number}.`} `
  }

  #endLink(): void {
    const link = this.#links.pop()
    if (!link?.href || this.#pre || link.at > this.#line.length) return
    const text = this.#line.slice(link.at).trim()
    const lead = /^\s/.test(this.#line.slice(link.at)) ? ' ' : ''
    if (text === '') return
    this.#line = `${this.#line.slice(0, link.at)}${lead}[${text.replace(/[[\]]/g, '\\$&')}](${link.href})`
  }

  #image(attributes: ReadonlyMap<string, string>): void {
    const alt = attributes.get('alt')?.replace(/\s+/g, ' ').trim()
    const source = this.#absolute(attributes.get('src'))
    if (alt && source) this.#line += `![${alt.replace(/[[\]]/g, '\\$&')}](${source})`
  }

  #startCell(): void {
    this.#cells ??= []
    this.#endCell()
    this.#cells.push('')
  }

  #endCell(): void {
    if (!this.#cells || this.#cells.length === 0) return
    if (this.#line.trim() !== '') this.#cells[this.#cells.length - 1] = this.#line.trim().replaceAll('|', '\\|')
    this.#line = ''
    this.#links.length = 0
  }

  #endRow(): void {
    this.#endCell()
    const cells = this.#cells
    this.#cells = null
    if (!cells?.length) return
    const isFirst = this.#lines.at(-1) === '' || this.#lines.length === 0
    this.#lines.push(`| ${cells.join(' | ')} |`)
    if (isFirst) this.#lines.push(`|${' --- |'.repeat(cells.length)}`)
  }

  #inlineCode(): void {
    if (!this.#pre) this.#line += '`'
  }

  #break(): void {
    if (this.#pre) this.#line += '\n'
    else if (this.#cells) this.#line += ' '
    else this.#flush()
  }

  #flush(): void {
    if (this.#pre) return
    const text = this.#line.trim()
    this.#line = ''
    this.#links.length = 0
    if (text === '') return
    this.#lines.push(this.#prefix() + this.#marker + text)
    // Further lines of an item are indented.
    this.#marker = /^\s*(-|\d+\.) $/.test(this.#marker) ? ' '.repeat(this.#marker.length) : ''
    if (this.#lists.length === 0) this.#marker = ''
  }

  #blank(): void {
    this.#marker = ''
    if (this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('')
  }

  #prefix(): string {
    return '> '.repeat(this.#quotes)
  }

  /** Only fetchable addresses; scripts and inline data become null. */
  #absolute(href: string | undefined): string | null {
    if (href === undefined || !URL.canParse(href, this.#base)) return null
    const url = new URL(href, this.#base)
    if (!['http:', 'https:', 'mailto:'].includes(url.protocol)) return null
    return url.href
      .replace(/[()\s]/g, encodeURIComponent)
      .replaceAll('(', '%28')
      .replaceAll(')', '%29')
  }
}

// Hidden text is a place for injected instructions.
function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  if (attributes.size === 0) return false
  const style = attributes.get('style') ?? ''
  return (
    attributes.has('hidden') ||
    attributes.get('aria-hidden') === 'true' ||
    /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])/i.test(
      style.slice(0, 2000),
    )
  )
}

function withoutOuterLines(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 10) end--
  return text.slice(text.startsWith('\n') ? 1 : 0, end)
}

/** Drops emphasis around nothing. */
function closeEmphasis(line: string, mark: string): string {
  if (line.endsWith(mark)) return line.slice(0, -mark.length)
  return line.endsWith(' ') ? `${line.trimEnd()}${mark} ` : line + mark
}
