/** docs/reference/spec.md is written from the rows (`npm run docs`), and knows every requirement that is cited. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Cell, cellOf, type PromiseRow, SURFACE_TITLES, SURFACES, type SurfaceName } from './promise.ts'
import { ROWS } from './rows.ts'

const SECTIONS: readonly (readonly [string, string])[] = [
  ['M', 'The manifest'],
  ['P', 'Permissions'],
  ['S', 'Commands'],
  ['F', 'Files'],
  ['O', 'The sandbox'],
  ['N', 'The network'],
  ['T', 'Tools'],
  ['A', 'Record, secrets, faults'],
  ['X', 'Surfaces'],
]

const INTRODUCTION = `# What Cordon promises

The requirement IDs that the sources cite, and what each surface does about them.
\`npm run docs\` writes this page from \`test/promises/\`.
\`test/promises/matrix.test.ts\` tries every cell that says *yes*.

- *yes*: an experiment shows it on this surface, or a test that is named below the table.
- *–*: the promise is not about this surface. The reason is below the table.
- *no*: it is promised, and not built here. What is missing is below the table.
`

const byId = new Map<string, PromiseRow[]>()
for (const row of ROWS) byId.set(row.id, [...(byId.get(row.id) ?? []), row])

/** What a surface does about a promise: every row of it counts. */
function mark(rows: readonly PromiseRow[], surface: SurfaceName): string {
  const cells = rows.map((row) => cellOf(row, surface)!)
  if (cells.some((cell) => 'missing' in cell)) return 'no'
  return cells.every((cell) => 'no' in cell) ? '–' : 'yes'
}

function notes(id: string, rows: readonly PromiseRow[]): readonly string[] {
  const said = rows.flatMap((row) =>
    SURFACES.flatMap((surface) => {
      const why = reasonOf(cellOf(row, surface)!)
      return why === null ? [] : [{ why, surface: SURFACE_TITLES[surface] }]
    }),
  )
  return [...Map.groupBy(said, ({ why }) => why)].map(([why, of]) => {
    const names = [...new Set(of.map(({ surface }) => surface))]
    return folded(`- ${id}, ${names.length === SURFACES.length ? 'everywhere' : names.join(', ')}: ${why}`)
  })
}

/** In lines of at most 100 columns. */
function folded(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + word.length < 98) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(`  ${word}`)
  }
  return lines.join('\n')
}

function reasonOf(cell: Cell): string | null {
  if ('by' in cell) return `\`${cell.by}\` shows it.`
  return 'no' in cell ? cell.no : 'missing' in cell ? `Not built. ${cell.missing}` : null
}

function section([letter, title]: readonly [string, string]): string {
  const promises = [...byId].filter(([id]) => id.startsWith(letter))
  const rows = promises.map(([id, own]) => {
    const said = [...new Set(own.map(({ promise }) => promise))].join(' ')
    const tests = [...new Set(own.flatMap(({ shown }) => shown))].map((path) => `\`${path}\``).join(', ')
    return `| ${[id, said, ...SURFACES.map((surface) => mark(own, surface)), tests].join(' | ')} |`
  })
  const columns = ['ID', 'promise', ...SURFACES.map((surface) => SURFACE_TITLES[surface]), 'further tests']
  const table = [`| ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length)}`, ...rows]
  return `## ${letter}. ${title}\n${table.join('\n')}\n\n${promises.flatMap(([id, own]) => notes(id, own)).join('\n')}\n`
}

it('the document is as the rows are', async () => {
  const text = [INTRODUCTION, ...SECTIONS.map(section)].join('\n')
  await expect(text).toMatchFileSnapshot('../../docs/reference/spec.md')
})

it.each(ROWS.flatMap(({ id, shown }) => shown.map((path) => ({ id, path }))))('$id: $path is there', ({ path }) => {
  expect(path.endsWith('.test.ts') && existsSync(path)).toBe(true)
})

const pointers = ROWS.flatMap((row) =>
  SURFACES.flatMap((surface) => {
    const cell = cellOf(row, surface)
    return cell && 'by' in cell ? [{ id: row.id, surface, ...cell }] : []
  }),
)
it.each(pointers)('$id, $surface: $by has “$title”', ({ by, title }) => {
  const titles = [...readFileSync(by, 'utf8').matchAll(/(?:it|test|each\([\s\S]*?\))\(\s*(['"`])(.*?)\1/g)]
  expect(titles.map(([, , name]) => name)).toContain(title)
})

it('what the sources and documents cite is there', () => {
  const files = globSync(['src/**/*.ts', 'native/**/*.[ch]', 'test/**/*.ts', 'docs/**/*.md', '*.md']).filter(
    (path) => !/\.generated\.|\.fixture\.|document\.test\.ts$/.test(path),
  )
  const cited = files.flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const prose = path.endsWith('.md') ? text : (text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? []).join('\n')
    return [...prose.matchAll(/[(,] ?([MPSFONTAX]\d{1,2})(?=[),])|\b([MPSFONTAX]\d{1,2}): /g)].map(
      ([, inside, before]) => ({ path, id: (inside ?? before)! }),
    )
  })
  expect(cited.length).toBeGreaterThan(60)
  expect(cited.filter(({ id }) => !byId.has(id))).toEqual([])
})
