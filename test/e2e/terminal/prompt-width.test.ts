/** The prompt in windows of three widths, with letters that take two columns, and undo, as a person sees them. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eastAsianWidth } from 'get-east-asian-width'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { Person } from './person.ts'

let project: Project
const NAME = 'データ-💾-größer als das Fenster breit ist und noch ein Stück weiter'

beforeAll(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n', 'notes.txt': 'what I wrote\n' })
  project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
  mkdirSync(join(project.home, NAME), { recursive: true })
  writeFileSync(join(project.home, NAME, 'a.txt'), 'found\n')
})
afterAll(() => project.remove())

/** Columns that a line takes on a terminal. */
function columnsOf(line: string): number {
  return [...line].reduce((sum, character) => sum + eastAsianWidth(character.codePointAt(0)!), 0)
}

describe.each([60, 80, 120])('in %d columns', (columns) => {
  it('no line of the prompt is wider than the window', async () => {
    const person = new Person(project, { rows: 40, columns })
    await person.atPrompt()
    person.line('cordon run -- cat ~/データ*/a.txt')
    const reason = await person.sees('outside the project')
    const rest = await person.sees('with a message')
    await person.answers('n')
    await person.atPrompt()
    await person.leaves()
    const lines = `${reason}${rest}`
      .split('\n')
      .slice(1)
      .filter((line) => !line.startsWith('cordon: '))
    expect(lines.length).toBeGreaterThan(4)
    expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([])
  })
})

it('what a command deleted comes back with one word', async () => {
  const person = new Person(project)
  await person.atPrompt()
  person.line('cordon run -- rm notes.txt; ls')
  expect(await person.atPrompt()).not.toContain('\nnotes.txt')
  person.line('cordon undo --last')
  expect(await person.atPrompt()).toContain('Undone: ')
  await person.leaves()
  expect(readFileSync(join(project.directory, 'notes.txt'), 'utf8')).toBe('what I wrote\n')
})
