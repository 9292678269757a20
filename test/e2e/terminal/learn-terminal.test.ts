/** `cordon learn` at a real terminal: a yes to try it, a yes to sign it, and the command works from then on. */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { Person } from './person.ts'

let project: Project
let person: Person
beforeAll(async () => {
  project = new Project()
  mkdirSync(join(project.home, 'lib'))
  writeFileSync(join(project.home, 'lib/a.txt'), 'from outside\n')
  person = new Person(project)
  await person.atPrompt()
})
afterAll(async () => {
  await person.leaves()
  project.remove()
})

it('a no leaves everything as it was', async () => {
  person.line('cordon learn -- cat ~/lib/a.txt')
  await person.sees('+ read ~/lib/a.txt')
  await person.sees('[y/N] ')
  person.line('n')
  const seen = await person.atPrompt()
  expect(seen).toContain('it was not run with it')
  expect(seen).not.toContain('from outside')
  expect(existsSync(join(project.directory, 'cordon.toml'))).toBe(false)
})

it('two yeses try it, then write and sign it', async () => {
  person.line('cordon learn -- cat ~/lib/a.txt')
  await person.sees('Run it again with this open')
  await person.sees('[y/N] ')
  person.line('y')
  await person.sees('from outside')
  await person.sees('It works with this open, and with nothing less')
  await person.sees('sign it? [y/N] ')
  person.line('y')
  await person.sees('written and signed')
  await person.atPrompt()
  person.line('cordon run -- cat ~/lib/a.txt')
  await person.sees('\nfrom outside')
})
