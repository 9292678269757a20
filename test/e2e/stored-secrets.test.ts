/** Secrets that a person stores for a manifest, and what is said where there is not a keychain (N7, A4). */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CLI, Project } from './cordon.ts'

const VALUE = 'v8Rk2vXw7LmT4nZs'
const OFF = { env: { CORDON_KEYCHAIN: 'off' } }
const manifest = (source: string) => `schema_version = 1
[capabilities.allow.commands]
patterns = [{ command = "printenv:*", domains = ["api.example.org"] }]
[[secrets]]
name = "API_TOKEN"
source = "${source}"
hosts = ["api.example.org"]
header = "authorization"
`

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

function sign(source: string): void {
  project.write('cordon.toml', manifest(source))
  expect(project.cordon(['sign', '--yes'], OFF).code).toBe(0)
}

it('a value is stored, listed without being shown, given to commands as a placeholder only, and removed', () => {
  const stored = project.cordon(['secrets', 'set', 'github'], { ...OFF, input: `${VALUE}\n` })
  expect([stored.code, stored.out]).toEqual([0, 'stored github; a manifest names it with source = "keychain:github"\n'])
  expect(stored.err).toContain('owner-only')
  const file = join(project.home, '.local/state/cordon/keys/secret.github')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8').trim()).toBe(VALUE)
  expect(JSON.parse(project.cordon(['secrets', '--json'], OFF).out)).toMatchObject([{ name: 'github', kept: 'file' }])
  expect(project.cordon(['secrets'], OFF).out).toMatch(/^github {2}since 20.*, in a file for you alone$/m)
  sign('keychain:github')
  const inside = project.cordon(['run', '--', 'printenv', 'API_TOKEN'], OFF)
  expect([inside.code, inside.out.includes(VALUE)]).toEqual([0, false])
  expect(inside.out.trim()).not.toBe('')
  expect(project.cordon(['secrets', 'remove', 'github'], OFF).code).toBe(0)
  expect(JSON.parse(project.cordon(['secrets', '--json'], OFF).out)).toEqual([])
  expect(project.cordon(['run', '--', 'printenv', 'API_TOKEN'], OFF).code).toBe(125)
})

it('at a terminal the value is not echoed', async () => {
  const child = spawn('script', ['-qec', `${process.execPath} ${CLI} secrets set typed`, '/dev/null'], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, CORDON_KEYCHAIN: 'off' },
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk
    if (said.endsWith('(it is not shown): ')) child.stdin.write(`${VALUE}\r`)
  })
  await once(child, 'close')
  expect(said).toContain('stored typed')
  expect(said).not.toContain(VALUE)
  const file = join(project.home, '.local/state/cordon/keys/secret.typed')
  expect(readFileSync(file, 'utf8').trim()).toBe(VALUE)
})

it('a keychain that cannot be used is a clear error and no crash', () => {
  sign('keychain:github')
  const { code, err } = project.cordon(['run', '--', 'printenv', 'API_TOKEN'], OFF)
  expect(code).toBe(125)
  expect(err).toMatch(/the secret github cannot be read: the system's keychain cannot be used here/)
  expect(err).toContain('cordon secrets set github')
  expect(err).not.toContain('internal error')
})

it.each(['file:/nowhere/token', 'env:NOBODY_SET_THIS'])('without a value at %s its variable is empty', (source) => {
  sign(source)
  const { code, out } = project.cordon(['run', '--', 'printenv', 'API_TOKEN'], OFF)
  expect([code, out]).toEqual([0, '\n'])
})

it('Cordon’s own keys are no secrets that a manifest can have sent anywhere', () => {
  sign('keychain:signing-key')
  const { code, out } = project.cordon(['run', '--', 'printenv', 'API_TOKEN'], OFF)
  expect([code, out]).toEqual([125, ''])
})

it('a server does not start for a project that is not signed', () => {
  project.write('cordon.toml', manifest('env:X'))
  for (const args of [['mcp'], ['mcp', '--http'], ['mcp', 'wrap', '--', 'true']]) {
    const { code, err } = project.cordon(args, OFF)
    expect([args, code]).toEqual([args, 125])
    expect(err).toMatch(/unsigned.*cordon sign/s)
  }
})
