/** The first minute at a real terminal: the lines that README gives, typed one after the other. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { CTRL_C, CTRL_D, Person } from './person.ts'

let project: Project
let person: Person
beforeAll(async () => {
  project = new Project({
    'package.json': '{"scripts":{"test":"node --test"}}',
    'sum.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2))\n",
  })
  person = new Person(project)
  await person.atPrompt()
})
afterAll(async () => {
  await person.leaves()
  project.remove()
})

const [, ...blocks] = readFileSync('README.md', 'utf8').split('```sh\n')
const lines = blocks
  .map((block) => block.split('```')[0]!)
  .find((block) => block.includes('cordon init'))!
  .split('\n')
  .filter((line) => line.startsWith('cordon'))
  .map((line) => line.replace(/\s+#.*$/, ''))

it('init, a run that offers to sign, and cordon alone', async () => {
  expect(lines).toEqual(['cordon init', 'cordon run -- npm test', 'cordon'])
  person.line(lines[0]!)
  expect(await person.atPrompt()).toMatch(/wrote .*cordon\.toml\n {2}found: Node \(npm, 1 script\)/)

  person.line(lines[1]!)
  const shown = await person.sees('[y/N] ')
  expect(shown).toContain('With this manifest, an agent in this project:')
  expect(shown).toContain('runs unasked')
  person.line('y')
  // npm leaves its own sign before the prompt.
  await person.sees(/pass 1[\s\S]*\$ $/)

  person.line(lines[2]!)
  const standing = await person.atPrompt()
  expect(standing).toContain('manifest   signed by you')
  expect(standing).toContain('stopped    nothing in the last day')
})

it.each([
  ['Ctrl-C', CTRL_C],
  ['Ctrl-D', CTRL_D],
])('%s at the question is a no', async (_, key) => {
  project.write('cordon.toml', 'schema_version = 1\n[permission]\nmode = "plan"\n')
  for (const command of ['cordon run -- touch new', 'cordon sign']) {
    person.line(`${command}; echo "code $?"`)
    await person.sees('[y/N] ')
    person.keys(key)
    const said = await person.sees(/code \d+/)
    expect(said).toMatch(/not signed|nothing was|cordon sign/)
    expect(said).toMatch(/code (?:1|125)$/)
    expect(said).not.toMatch(/crash|report|Abort/i)
    await person.atPrompt()
  }
})

it('a no to the signature runs nothing, and says how', async () => {
  project.write('cordon.toml', 'schema_version = 1\n[permission]\nmode = "auto"\n')
  person.line('cordon run -- touch new; echo "code $?"')
  expect(await person.sees('[y/N] ')).toContain('EVERYTHING')
  person.line('n')
  expect(await person.sees('code 125')).toContain('cordon sign')
  person.line('cordon run -i; echo "code $?"')
  await person.sees('[y/N] ')
  person.line('y')
  await person.sees(/\n[^\n]*[$#] $/)
  person.line("PS1='inside> '")
  await person.sees(/\ninside> /)
  person.line('ls new; exit 4')
  expect(await person.sees('code 4')).toContain('No such file')
})
