/** Secrets among the words of commands: none of them is stored, in the record, in undo or in what is shown later. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project

/** Each leaves something in the record and, where it changes a file, in undo. */
const rows: readonly { note: string; argv: readonly string[]; secrets: readonly string[] }[] = [
  {
    note: 'in a separate word',
    argv: ['echo', 'docker', 'login', '-u', 'a', '-p', 'Zq7wordQQ', 'reg'],
    secrets: ['Zq7wordQQ'],
  },
  {
    note: 'twice in one text, where the second would uncover the first',
    argv: ['sh', '-c', 'echo curl -u bob:Zq7firstQQ http://a && echo curl -u bob:Zq7nextQQ http://a'],
    secrets: ['Zq7firstQQ', 'Zq7nextQQ'],
  },
  {
    note: 'in a command that changes a file, which undo describes',
    argv: ['sh', '-c', 'echo mysql -pZq7undoQQ > kept.txt; rm kept.txt; echo Bearer abcdefghijklmnop > kept.txt'],
    secrets: ['Zq7undoQQ', 'abcdefghijklmnop'],
  },
  {
    note: 'between options of one letter',
    argv: ['sh', '-c', 'echo curl -su bob:Zq7shortQQ http://a; echo unzip -qP Zq7zipQQ a.zip'],
    secrets: ['Zq7shortQQ', 'Zq7zipQQ'],
  },
]

beforeAll(() => {
  project = new Project({
    'cordon.toml':
      'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n[audit]\narguments = true\n',
    'kept.txt': 'before\n',
  })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  for (const { argv } of rows) expect(project.cordon(['run', '--', ...argv]).code).toBe(0)
  // The control: what is not a secret is stored as it was given.
  expect(project.cordon(['run', '--', 'sh', '-c', 'echo Zq7plainQQ > kept.txt']).code).toBe(0)
})
afterAll(() => project?.remove())

/** Every file of the state directory that holds a text. */
function holding(text: string): string[] {
  const state = join(project.home, '.local/state/cordon')
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(state, name)).isFile(),
  )
  // What undo keeps of a file is that file.
  return files.filter((name) => !/kept\/|\/\d+$/.test(name) && readFileSync(join(state, name)).includes(text))
}

it('the control: a word that is no secret is in the record and in undo', () => {
  const found = holding('Zq7plainQQ')
  expect(found.some((name) => name.startsWith('audit/'))).toBe(true)
  expect(found.some((name) => name.endsWith('about.json'))).toBe(true)
})

it.each(rows)('is not stored: $note', ({ secrets }) => {
  for (const secret of secrets) expect(holding(secret)).toEqual([])
  const shown = [
    ['audit', 'query', '--json'],
    ['audit', 'query', '--ocsf'],
    ['undo', '--list'],
    ['audit', 'report'],
  ]
  for (const args of shown) {
    const { out } = project.cordon(args)
    for (const secret of secrets) expect(out).not.toContain(secret)
  }
})
