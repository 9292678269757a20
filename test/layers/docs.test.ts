/** The documents name only what is there: files, headings, scripts, commands and options, and every dependency. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SUITES } from '../../scripts/suites.ts'
import { commands } from '../../src/surfaces/cli/start/commands.ts'
import { TOOL_KEYS } from '../../src/tools/custom/tool-manifest.ts'

/** The list of messages quotes fragments of the sources. */
const DOCUMENTS = globSync(['*.md', 'docs/**/*.md']).filter((path) => path !== 'docs/reference/messages.md')
const { scripts, dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
  Record<'scripts' | 'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
>

/** The anchors that a document offers, as GitHub makes them of its headings. */
function anchors(file: string): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

const FILES = globSync('{src,test,scripts,native,bench,examples}/**/*')

/** Whether a path names the end of one that is there. */
function isThere(path: string): boolean {
  const pattern = path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')
  return FILES.some((file) => new RegExp(`(?:^|/)${pattern}$`).test(file))
}

const found = (text: string, pattern: RegExp): readonly string[][] =>
  [...text.matchAll(pattern)].map((match) => [...match])

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(document, 'utf8')

  it('links to what is there', () => {
    const broken = found(text, /\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g).filter(([, path, anchor]) => {
      const target = path ? join(dirname(document), path) : document
      return !existsSync(target) || (anchor && !anchors(target).includes(anchor))
    })
    expect(broken).toEqual([])
  })

  it('names files and scripts of this project', () => {
    // A shell script in an example is somebody else's, and so is `npm run dev`.
    const files = found(
      text,
      /(?:`|node )((?:(?:src|test|bench|docs|examples|native)\/[\w./*-]+|scripts\/[\w-]+\.ts))/g,
    )
    expect(files.filter(([, path]) => globSync(path!).length === 0)).toEqual([])
    // The short form, by which a document names a file of the folder that it speaks of.
    const short = found(text, /`([\w./*-]*[\w*-]\.(?:tsx?|c|h))`/g).filter(([, path]) => !isThere(path!))
    expect(short).toEqual([])
    const named = found(text, /npm run ([\w:]+)/g).filter(([, script]) => script !== 'dev')
    expect(named.filter(([, script]) => !Object.hasOwn(scripts, script!))).toEqual([])
    const suites = found(text, /npm test -- ([a-z][\w-]+)/g).filter(
      ([, name]) => !SUITES.some((suite) => suite.name === name),
    )
    expect(suites).toEqual([])
  })

  it('names commands and options of this program', () => {
    const lines = found(text, /(?:^(?: {4}|\$ )?|`)cordon ([a-z]+)((?: [^\s`#|]+)*)/gm)
    const wrong = lines.filter(([, name, rest]) => {
      const row = commands.find((candidate) => candidate.name === name)
      const own = rest!.split(' -- ')[0]!.split(' ')
      const flags = own.filter((word) => word.startsWith('--') && word !== '--').map((word) => word.split('=')[0])
      return !row || !flags.every((flag) => flag === '--help' || row.flags.some((known) => known.name === flag))
    })
    expect(wrong).toEqual([])
  })
})

it('every dependency has its reason, those of the run time with their versions, and no other package has one', () => {
  const rows = found(readFileSync('docs/project/dependencies.md', 'utf8'), /^\| (`.*?) \|/gm).map(([, cell]) => cell!)
  const named = rows.flatMap((cell) => found(cell, /`([^`]+)`/g).map(([, name]) => name!))
  expect(named.toSorted()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).toSorted())
  for (const [name, version] of Object.entries(dependencies)) expect(rows).toContain(`\`${name}\` ${version}`)
})

it('docs/guides/library.md has every key of a custom tool', () => {
  const guide = readFileSync('docs/guides/library.md', 'utf8')
  const [, table = ''] = guide.split('## Custom tools')
  expect(Array.from(table.matchAll(/^\| `(\w+)` \| (?:required|none|`|\d)/gm), ([, key]) => key)).toEqual(TOOL_KEYS)
})
