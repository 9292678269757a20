/** The pages of the documentation site: which Markdown becomes which page, and in which order. docs/README.md is the list. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Page {
  /** The Markdown file. */
  readonly file: string
  /** Its place in the site, such as `guides/network.html`. */
  readonly url: string
  readonly title: string
  /** What the list of docs/README.md calls it. */
  readonly label: string
  readonly markdown: string
}

export interface Section {
  readonly title: string
  readonly pages: readonly (Page & { readonly children: readonly Page[] })[]
}

const HOME = 'docs/README.md'

function pageOf(file: string, label?: string): Page {
  const markdown = readFileSync(file, 'utf8')
  const place = file.startsWith('docs/') ? file.slice('docs/'.length) : file.toLowerCase()
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? file
  const url = place.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')
  return { file, url, title, label: label ?? title, markdown }
}

/** Every page, the first one first: the lists of docs/README.md, each folder's own index before its other pages. */
export function readPages(): {
  readonly home: Page
  readonly sections: readonly Section[]
  readonly all: readonly Page[]
} {
  const home = pageOf(HOME)
  const seen = new Set([HOME])
  const sections = home.markdown
    .split(/^## /m)
    .slice(1)
    .map((part): Section => {
      const links = [...part.matchAll(/\[([^\]]+)\]\(([^)#\s]+\.md)\)/g)].map(
        ([, label, path]) => [join(dirname(HOME), path!), capitalised(label!)] as const,
      )
      const files = links.map(([file]) => file)
      for (const file of files) seen.add(file)
      const pages = links.map(([file, label]) => ({ ...pageOf(file, label), children: childrenOf(file, seen) }))
      return { title: part.split('\n')[0]!, pages: [...pages, ...unlisted(files, seen)] }
    })
  const all = [home, ...sections.flatMap(({ pages }) => pages.flatMap((page) => [page, ...page.children]))]
  const missing = globSync('docs/**/*.md').filter((file) => !all.some((page) => page.file === file))
  if (missing.length > 0) throw new Error(`docs/README.md does not list ${missing.join(', ')}`)
  return { home, sections, all }
}

/** A label that starts a line; `macOS` stays as it is. */
const capitalised = (label: string): string =>
  /^[a-z]+[A-Z]/.test(label) ? label : label[0]!.toUpperCase() + label.slice(1)

/** The other pages of a folder that has an index. */
function childrenOf(file: string, seen: Set<string>): readonly Page[] {
  if (!file.endsWith('/README.md')) return []
  const others = globSync(`${dirname(file)}/*.md`).filter((other) => !seen.has(other))
  for (const other of others) seen.add(other)
  return others.toSorted().map((other) => pageOf(other))
}

/** Pages beside the listed ones that the list does not name yet. */
function unlisted(links: readonly string[], seen: Set<string>): readonly (Page & { children: readonly Page[] })[] {
  const folders = new Set(links.map((file) => dirname(file)).filter((folder) => folder.includes('/')))
  const others = [...folders].flatMap((folder) =>
    existsSync(`${folder}/README.md`) ? [] : globSync(`${folder}/*.md`).filter((file) => !seen.has(file)),
  )
  for (const file of others) seen.add(file)
  return others.toSorted().map((file) => ({ ...pageOf(file), children: [] }))
}
