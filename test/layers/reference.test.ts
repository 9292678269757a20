/** The generated pages about the command line and the library are up to date; `npm run docs` writes them. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { messagesIn, messagesPage } from '../../scripts/generate-messages.ts'
import { cliPage, exportsOf, packageModules } from '../../scripts/generate-reference.ts'
import { EXIT } from '../../src/surfaces/cli/usage.ts'

it('docs/reference/cli.md is what the command table says', () => {
  expect(readFileSync('docs/reference/cli.md', 'utf8')).toBe(cliPage())
})

it('docs/reference/messages.md is what the sources say', () => {
  expect(readFileSync('docs/reference/messages.md', 'utf8')).toBe(messagesPage())
})

it('messages are sentences of literals, templates and markup, not code', () => {
  const source = `import x from './a list of the names.ts'
    const a = 'the file is ' + name + ' and no other', b = \`\${count} of the rows are new\`, c = 'one'
    const view = <p class="a list of the names">Nothing is here yet.</p>, code = '() => the value of this'`
  expect(messagesIn('a.tsx', source)).toEqual([
    'the file is … and no other',
    '… of the rows are new',
    'Nothing is here yet.',
  ])
})

it.each(packageModules())('docs/reference/api.md lists the exports of $name', ({ name, types }) => {
  const section = readFileSync('docs/reference/api.md', 'utf8').split(`\n## ${name}\n`)[1]!.split('\n## ')[0]!
  const listed = [...section.matchAll(/^### (\w+)$/gm)].map(([, found]) => found)
  const source = types.replace('./dist/lib/', 'src/')
  const all = exportsOf(source, (file) => readFileSync(file.replace(/\.d\.ts$/, '.ts'), 'utf8'))
  expect(new Set(listed)).toEqual(new Set(all.map((one) => one.name)))
})

it('docs/reference/exit-codes.md lists every exit code', () => {
  const listed = [...readFileSync('docs/reference/exit-codes.md', 'utf8').matchAll(/^\| (\d+) \|/gm)].map(([, code]) =>
    Number(code),
  )
  for (const code of Object.values(EXIT)) expect(listed).toContain(code)
})
