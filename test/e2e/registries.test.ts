/** Registries are seen before they are signed, hold as they were signed, and ask for a new signature when they change. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

it('a run says what has changed in the person’s own configuration, and the signed one applies', () => {
  const moved = new Project({
    'cordon.toml': `schema_version = 1
[permission]
mode = "contained"
[sandbox.os]
command_tools = [{ tool = "npm", fetch = true }]
[capabilities.allow.commands]
patterns = ["npm:*"]
`,
  })
  try {
    writeFileSync(join(moved.home, '.npmrc'), 'registry=https://first.example.org/npm/\n')
    expect(moved.cordon(['sign', '--yes']).code).toBe(0)
    expect(moved.cordon(['run', '--', 'npm', '--version']).err).not.toContain('registries')
    writeFileSync(join(moved.home, '.npmrc'), 'registry=https://second.example.org/npm/\n')
    for (let time = 0; time < 2; time++) {
      const { out, err } = moved.cordon(['run', '--', 'npm', 'config', 'get', 'registry'])
      expect(out).toContain('https://first.example.org/npm/')
      expect(err).toContain('the registries have changed since you signed')
      expect(err).toContain('+ npm reaches its registry https://second.example.org/npm/.')
      expect(err).toContain('- npm reaches its registry https://first.example.org/npm/.')
    }
    expect(moved.cordon(['run', '--', 'true']).err).not.toContain('registries')
    expect(moved.cordon(['sign', '--yes']).code).toBe(0)
    const { out, err } = moved.cordon(['run', '--', 'npm', 'config', 'get', 'registry'])
    expect(out).toContain('https://second.example.org/npm/')
    expect(err).not.toContain('registries')
  } finally {
    moved.remove()
  }
})

const WRAPPED = `schema_version = 1
[permission]
mode = "contained"
[sandbox.os]
command_tools = [{ tool = "npm", fetch = true, wrappers = ["make"] }]
[capabilities.allow.commands]
patterns = ["make:*", "npm run:*"]
`

it.each([
  { note: 'a wrapper', words: ['make'], reaches: true },
  { note: 'a shell never', words: ['sh', '-c', 'npm run p'], reaches: false },
  { note: 'a shell around the wrapper never', words: ['bash', '-c', 'make'], reaches: false },
])('a bundle comes alive alike under a signed manifest and a named one: $note', ({ words, reaches }) => {
  const wrapped = new Project({ 'cordon.toml': WRAPPED, Makefile: 'all:\n' })
  try {
    writeFileSync(join(wrapped.home, '.npmrc'), 'registry=https://mine.example.org/npm/\n')
    wrapped.cordon(['sign', '--yes'])
    for (const named of [[], ['--manifest', 'cordon.toml']]) {
      const { out, err } = wrapped.cordon(['run', '--plan', '--json', ...named, '--', ...words])
      expect(err).toBe('')
      const { hosts } = JSON.parse(out)
      expect(hosts.some((host: string) => host.startsWith('mine.example.org'))).toBe(reaches)
    }
  } finally {
    wrapped.remove()
  }
})

it('--tool knows the registry of a tool that is not in PATH, and what shows its folder', () => {
  const elsewhere = new Project({})
  try {
    const pnpm = join(elsewhere.home, 'tools/pnpm')
    mkdirSync(dirname(pnpm))
    writeFileSync(pnpm, '#!/bin/sh\necho ran\n', { mode: 0o755 })
    writeFileSync(join(elsewhere.home, '.npmrc'), 'registry=https://mine.example.org/npm/\n')
    const words = ['--tool', 'pnpm', '--', pnpm, 'install']
    expect(elsewhere.cordon(['run', ...words]).err).toContain('cordon run --read ~/tools …')
    expect(elsewhere.cordon(['run', '--read', dirname(pnpm), ...words]).out).toBe('ran\n')
    const { hosts } = JSON.parse(elsewhere.cordon(['run', '--plan', '--json', ...words]).out)
    expect(hosts.some((host: string) => host.startsWith('mine.example.org'))).toBe(true)
  } finally {
    elsewhere.remove()
  }
})
