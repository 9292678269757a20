/** Builds the documentation site into build/site: `npm run docs:site`. The pages work from a server and from a folder. */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Page, readPages } from './pages.ts'
import { escapeHtml, type Rendered, renderPage } from './render.ts'

const here = import.meta.dirname
const { home, sections, all } = readPages()

/** An entry of the search index: a heading with the text below it. */
interface Entry {
  readonly url: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

function sidebar(current: Page): string {
  const link = (page: Page): string => {
    const mark = page.url === current.url ? ' aria-current="page"' : ''
    return `<a href="${relative(dirname(current.url), page.url)}"${mark}>${escapeHtml(page.label)}</a>`
  }
  return sections
    .map(({ title, pages }) => {
      const items = pages.map((page) => {
        const open = page.children.length > 0 && dirname(page.url) === dirname(current.url)
        const children = open ? `<ul>${page.children.map((child) => `<li>${link(child)}</li>`).join('')}</ul>` : ''
        return `<li>${link(page)}${children}</li>`
      })
      return `<h2>${escapeHtml(title)}</h2><ul>${items.join('\n')}</ul>`
    })
    .join('\n')
}

function contents({ headings }: Rendered): string {
  const both = headings.filter(({ depth }) => depth === 2 || depth === 3)
  const shown = both.length > 60 ? both.filter(({ depth }) => depth === 2) : both
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ id, text, depth }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  )
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}

function pager(current: Page): string {
  const at = all.findIndex(({ url }) => url === current.url)
  const link = (page: Page | undefined, rel: string, label: string): string =>
    page
      ? `<a rel="${rel}" href="${relative(dirname(current.url), page.url)}"><small>${label}</small>${escapeHtml(page.label)}</a>`
      : '<span></span>'
  return `<nav class="pager" aria-label="Pages">${link(all[at - 1], 'prev', 'Previous')}${link(all[at + 1], 'next', 'Next')}</nav>`
}

const HERO = `<section class="hero">
<p class="tagline">The permission and sandbox layer between an AI agent and your machine.</p>
<p class="actions"><a class="button" href="get-started.html">Get started</a>
<a class="button quiet" href="how-it-works/architecture.html">How it works</a></p>
<img src="try.svg" alt="A terminal running cordon try: a secret, a git hook, a write outside and a host are stopped.">
</section>`

function html(page: Page, rendered: Rendered): string {
  const root = relative(dirname(page.url), '.') || '.'
  const title = page === home ? 'Cordon' : `${page.title} · Cordon`
  const body = page === home ? rendered.html.replace(/<h1[\s\S]*?<\/p>/, `<h1>Cordon</h1>\n${HERO}`) : rendered.html
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(summaryOf(page))}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/style.css">
<script>try{document.documentElement.dataset.theme=localStorage.getItem('theme')??''}catch{}</script>
<script src="${root}/client.js" defer data-root="${root}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<button type="button" class="menu" aria-expanded="false" aria-controls="sidebar">Menu</button>
<a class="brand" href="${root}/index.html">Cordon</a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off">
<ol id="results" aria-label="Search results" hidden></ol>
</div>
<button type="button" class="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="layout">
<nav id="sidebar" aria-label="Documentation">${sidebar(page)}</nav>
<main id="main" tabindex="-1"><article>
${body}
</article>
${pager(page)}</main>
<aside>${contents(rendered)}</aside>
</div>
</body>
</html>
`
}

const plain = (text: string): string => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

function summaryOf(page: Page): string {
  const paragraph = page.markdown.split(/\n{2,}/).find((block) => /^[A-Z`*]/.test(block)) ?? page.title
  return paragraph
    .replace(/\s+/g, ' ')
    .replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1')
    .slice(0, 160)
}

function entriesOf(page: Page, rendered: Rendered): readonly Entry[] {
  const parts = rendered.html.split(/<h[1-4] id="/)
  return parts.slice(1).map((part, index) => {
    const { id, text } = rendered.headings[index]!
    const words = plain(part.replace(/^[\s\S]*?<\/h[1-4]>/, '').replaceAll('>Copy<', '><'))
    return { url: `${page.url}#${id}`, page: page.title, heading: text, text: withoutEntities(words).slice(0, 1_500) }
  })
}

const withoutEntities = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/** Writes the site into a folder that is replaced. */
export function buildSite(out: string): readonly string[] {
  rmSync(out, { recursive: true, force: true })
  const entries: Entry[] = []
  for (const page of all) {
    const rendered = renderPage(page, all)
    const path = join(out, page.url)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, html(page, rendered))
    entries.push(...entriesOf(page, rendered))
  }
  for (const name of ['style.css', 'client.js']) writeFileSync(join(out, name), readFileSync(join(here, name)))
  cpSync('docs/pictures', join(out, 'pictures'), { recursive: true })
  cpSync('docs/try.svg', join(out, 'try.svg'))
  writeFileSync(join(out, 'search-index.js'), `window.searchIndex = ${JSON.stringify(entries)}\n`)
  return all.map(({ url }) => url)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = buildSite('build/site')
  console.log(`build/site/index.html: ${pages.length} pages`)
}
