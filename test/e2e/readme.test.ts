/** README is for a person who has five minutes: what it shows must be what happens. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const readme = readFileSync('README.md', 'utf8')
const blocks = [...readme.matchAll(/```console\n\$ cordon (\w+) -- (?:bash -c )?'(.*)'\n([\s\S]*?)```/g)]
const withoutPlaces = (text: string) => text.replace(/cordon\.toml:\d+:\d+/g, 'cordon.toml')

let project: Project
beforeAll(() => {
  project = new Project({ 'package.json': '{"scripts":{"test":"node --test"}}', '.env': 'KEY=1\n' })
  execFileSync('git', ['init', '-q', project.directory])
  project.cordon(['init'])
})
afterAll(() => project.remove())

it('shows what explain prints', () => {
  const [, verb, command, shown] = blocks.find(([, name]) => name === 'explain')!
  const printed = withoutPlaces(project.cordon([verb!, '--', command!]).out)
  for (const line of withoutPlaces(shown!)
    .split('\n')
    .filter((text) => text.trim() !== '')) {
    expect(printed).toContain(line.trim().replace(/^[│├└─ ]+/, ''))
  }
})

it('shows what run stops', () => {
  const [, verb, command, shown] = blocks.find(([, name]) => name === 'run')!
  const ran = project.cordon([verb!, '--manifest', 'cordon.toml', '--', 'bash', '-c', command!])
  const anyPlace = (line: string) => line.replace(/\/[^\s']*\/(?=\.ssh|\.env)/, '/').replace('bash: line 1:', 'bash:')
  const printed = ran.err.split('\n').map(anyPlace)
  for (const line of shown!.trim().split('\n')) expect(printed, ran.err).toContain(anyPlace(line))
  expect(ran.out).toBe('')
})
