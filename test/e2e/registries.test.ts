/** Registries are seen before they are signed, hold as they were signed, and ask for a new signature when they change. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const project = new Project({
  'cordon.toml': 'schema_version = 1\n[sandbox.os]\ncommand_tools = [{ tool = "npm", fetch = true }]\n',
  '.npmrc': 'registry=https://first.example.org/npm/\n',
})
afterAll(() => project.remove())

it('policy show lists what was signed, and what a new signature would change', () => {
  expect(project.cordon(['policy', 'show']).out).toContain('+ npm reaches its registry https://first.example.org/npm/.')
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  const signed = project.cordon(['policy', 'show']).out
  expect(signed).toContain('#   npm https://first.example.org/npm/')
  expect(signed).not.toContain('changed since')

  writeFileSync(join(project.directory, '.npmrc'), 'registry=https://second.example.org/npm/\n')
  const changed = project.cordon(['policy', 'show']).out
  expect(changed).toContain('#   npm https://first.example.org/npm/')
  expect(changed).toContain('#   + npm reaches its registry https://second.example.org/npm/.')
  expect(changed).toContain('#   - npm reaches its registry https://first.example.org/npm/.')
  expect(project.cordon(['verify']).out).toContain('the registries have changed since')
  expect(JSON.parse(project.cordon(['verify', '--json']).out).registries.opens).toHaveLength(1)

  const again = project.cordon(['sign', '--yes'])
  expect(again.out).toContain('https://second.example.org/npm/')
  const last = project.cordon(['policy', 'show']).out
  expect(last).toContain('#   npm https://second.example.org/npm/')
  expect(last).not.toContain('first.example.org')
})
