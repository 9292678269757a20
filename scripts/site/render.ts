/** Markdown to the HTML of one page: headings with anchors, tables that scroll, code with colours, links within the site. */

import { dirname, join, relative } from 'node:path'
import { Marked, type Tokens } from 'marked'
import type { Page } from './pages.ts'

export interface Heading {
  readonly id: string
  readonly text: string
  readonly depth: number
}

export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The anchor of a heading, as GitHub writes it. */
export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')

/** Comments, strings and the words before `=` or `:`; enough for the languages of the documents. */
const TOKENS: Readonly<Record<string, RegExp>> = {
  sh: /(?<comment>(?<=^|\s)#.*$)|(?<string>'[^'\n]*'|"[^"\n]*")|(?<key>(?<=^|&& |\| )\.?\/?[a-z][\w-]*(?= |$))/gm,
  toml: /(?<comment>#.*$)|(?<string>"[^"\n]*")|(?<key>^\s*\[+[^\]\n]+\]+|\b[\w-]+(?= = ))/gm,
  json: /(?<key>"[^"\n]*"(?=\s*:))|(?<string>"[^"\n]*")/g,
  typescript:
    /(?<comment>\/\*[\s\S]*?\*\/|\/\/.*$)|(?<string>'[^'\n]*'|`[^`]*`)|(?<key>\b(?:import|from|export|const|await|async|new|interface|type|function|class|readonly|return|extends)\b)/gm,
}
const ALIASES: Readonly<Record<string, string>> = { ts: 'typescript', console: 'sh', bash: 'sh' }

function highlighted(code: string, language: string): string {
  const pattern = TOKENS[ALIASES[language] ?? language]
  if (!pattern) return escapeHtml(code)
  let html = ''
  let last = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups!).find(([, text]) => text !== undefined)!
    html += `${escapeHtml(code.slice(last, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    last = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(last))
}

/** The target of a link in the site; null if it is not part of the site. */
function target(page: Page, href: string, pages: readonly Page[]): string | null {
  if (/^(?:\w+:|#)/.test(href)) return href
  const [path, anchor] = href.split('#') as [string, string | undefined]
  const file = join(dirname(page.file), path)
  const found = pages.find((other) => other.file === file)
  if (found) return relative(dirname(page.url), found.url) + (anchor === undefined ? '' : `#${anchor}`)
  return /\.(?:png|svg)$/.test(file) ? relative(dirname(page.url), file.replace(/^docs\//, '')) : null
}

export function renderPage(page: Page, pages: readonly Page[]): Rendered {
  const headings: Heading[] = []
  const marked = new Marked({
    // `codex@0.166.0` is a version, not an address.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const words = text.replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')
        const taken = headings.filter(({ id }) => id.replace(/-\d+$/, '') === slug(words)).length
        const id = slug(words) + (taken > 0 ? `-${taken}` : '')
        headings.push({ id, text: words, depth })
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to: ${escapeHtml(words)}">#</a>`
        return `<h${depth} id="${id}">${inner} ${anchor}</h${depth}>\n`
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string): string =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        // A header without a text is not a header to a screen reader.
        const head = cells(token.header, 'th').replaceAll('<th></th>', '<td></td>')
        const body = token.rows.map((row) => cells(row, 'td')).join('\n')
        return `<div class="table" tabindex="0" role="group" aria-label="Table">
<table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`
      },
      code({ text, lang }: Tokens.Code) {
        const language = (lang ?? '').split(' ')[0]!
        return `<div class="code"><button type="button" class="copy">Copy</button>
<pre tabindex="0"><code>${highlighted(text, language)}</code></pre></div>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens)
        const to = target(page, href, pages)
        return to === null ? inner : `<a href="${escapeHtml(to)}">${inner}</a>`
      },
      image({ href, text }: Tokens.Image) {
        const to = target(page, href, pages) ?? href
        return `<img src="${escapeHtml(to)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
    },
  })
  const html = marked.parse(page.markdown.replace(/<!--[\s\S]*?-->/g, ''), { async: false })
  return { html, headings }
}
