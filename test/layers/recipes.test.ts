/** The recipes of CONTRIBUTING, each walked in a copy of the sources: what its row names is enough. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let base: string
let copy: string
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-recipes-'))
  copy = join(base, 'copy')
  for (const part of [
    'src',
    'package.json',
    'biome.json',
    '.gitignore',
    'scripts/bundle-file.ts',
    'scripts/generate-bundle-doc.ts',
    'scripts/lint-prose.ts',
  ])
    cpSync(part, join(copy, part), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(copy, 'node_modules'))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** Puts text behind the first match of a pattern. */
interface Insertion {
  readonly file: string
  readonly after: RegExp
  readonly text: string
}

interface Recipe {
  /** The first cell of its row. */
  readonly change: string
  readonly edits: readonly Insertion[]
  readonly manifest?: string
  readonly cordon: readonly string[]
  readonly says: string
}

const END = /(?![\s\S])/

const recipes: readonly Recipe[] = [
  {
    change: 'a wrapper (a program that runs another)',
    edits: [
      {
        file: 'src/shell/tables/programs/wrappers.ts',
        after: /return \{\n/,
        text: "  onceover: { partial: true, wraps: [{ options: '\\n  -q\\n  -n <text>', run: 'words' }] },\n",
      },
    ],
    cordon: ['explain', '--', 'onceover -n 5 git push'],
    says: 'git push',
  },
  {
    change: 'a CLI command',
    edits: [
      {
        file: 'src/surfaces/cli/start/commands.ts',
        after: /const rows: .* = \[\n/,
        text: "{ name: 'greet', load: () => import('../commands/run/greet.ts'), summary: 'Greet.', usage: 'cordon greet', flags: [], details: '' },\n",
      },
      {
        file: 'src/surfaces/cli/commands/run/greet.ts',
        after: END,
        text: "export function run({ terminal }) {\n  terminal.out('Good morning.')\n  return 0\n}\n",
      },
    ],
    cordon: ['greet'],
    says: 'Good morning.',
  },
  {
    change: 'a manifest key',
    edits: [
      {
        file: 'src/manifest/schema/guard.ts',
        after: /(?=^ {4}flag\('system_python')/m,
        text: "    flag('brand_new', false, false, 'Permits something new.'),\n",
      },
      {
        file: 'src/manifest/sign/setting-words.ts',
        after: /(?=^ {2}'security.system_python')/m,
        text: "  'security.brand_new': flag('Something new is permitted'),\n",
      },
    ],
    manifest: '[security]\nbrand_new = true\n',
    cordon: ['sign', '--yes'],
    says: 'Something new is permitted',
  },
  {
    change: 'a bundle',
    edits: [
      {
        file: 'src/sandbox/bundles/greeter.toml',
        after: END,
        text: 'tool = "greeter"\nsummary = "Greets."\nprograms = ["greeter"]\nread = ["~/.greeter"]\n',
      },
    ],
    cordon: ['bundles', 'greeter'],
    says: '~/.greeter',
  },
  {
    change: 'a secret shape, a protected path',
    edits: [{ file: 'src/files/secret-shapes.ts', after: /secretShapes: .* = words\(`\n/, text: '*.brand-new-key\n' }],
    cordon: ['check', '--', 'cat ./my.brand-new-key'],
    says: 'secret',
  },
]

const rows = readFileSync('CONTRIBUTING.md', 'utf8').split('\n')

test.each(recipes)('$change', ({ change, edits, manifest = '', cordon, says }) => {
  writeFileSync(join(copy, 'cordon.toml'), `schema_version = 1\n${manifest}`)
  const [, , places = ''] = rows.find((row) => row.startsWith(`| ${change} |`))!.split('|')
  const named = [...places.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
  for (const { file, after, text } of edits) {
    expect(named.some((name) => file.startsWith(name.replace(/\*.*/, '')))).toBe(true)
    const before = after === END ? '' : readFileSync(join(copy, file), 'utf8')
    expect(before).toMatch(after)
    writeFileSync(
      join(copy, file),
      before.replace(after, (found) => found + text),
    )
  }
  expect(named.length).toBeLessThanOrEqual(2)
  if (edits.some(({ file }) => file.endsWith('.toml'))) node(join(copy, 'scripts/generate-bundle-doc.ts'))
  const main = JSON.stringify(join(copy, 'src/surfaces/cli/start/main.ts'))
  const code = `const { main } = await import(${main}); await main(process.argv.slice(1))`
  expect(node('--input-type=module', '--eval', code, '--', ...cordon)).toContain(says)
})

/** Runs Node in the copy, for a person with an empty home. */
function node(...args: string[]): string {
  const PATH = `${join(process.cwd(), 'node_modules/.bin')}:${process.env.PATH}`
  return execFileSync(process.execPath, args, { cwd: copy, env: { PATH, HOME: join(base, 'home') }, encoding: 'utf8' })
}
