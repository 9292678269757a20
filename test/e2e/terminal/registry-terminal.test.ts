/** A registry that has changed since it was signed asks at the terminal of the command that uses it, with the difference. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { Person } from './person.ts'

const MANIFEST = `schema_version = 1
[sandbox.os]
command_tools = [{ tool = "npm", fetch = true }]
[capabilities.allow.commands]
patterns = ["npm:*"]
`
let project: Project
let person: Person

beforeAll(() => {
  project = new Project({ 'cordon.toml': MANIFEST })
  writeFileSync(join(project.home, '.npmrc'), 'registry=https://first.example.org/npm/\n')
  project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
  writeFileSync(join(project.home, '.npmrc'), 'registry=https://second.example.org/npm/\n')
})
afterAll(() => project.remove())
beforeEach(async () => {
  person = new Person(project)
  await person.atPrompt()
})
afterEach(() => person.leaves())

it('a no leaves the signed one, a yes takes the new one', async () => {
  person.line('cordon run -- npm config get registry')
  const shown = await person.sees('Sign them now?')
  expect(shown).toContain('+ opens  npm reaches its registry https://second.example.org/npm/.')
  expect(shown).toContain('- closes npm reaches its registry https://first.example.org/npm/.')
  person.keys('n\r')
  await person.sees(/^https:\/\/first\.example\.org\/npm\//m)
  await person.atPrompt()
  person.line('cordon run -- npm config get registry')
  await person.sees('Sign them now?')
  person.keys('y\r')
  await person.sees(/^https:\/\/second\.example\.org\/npm\//m)
  await person.atPrompt()
})
