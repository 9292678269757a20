/** A hook whose whole host runs in `cordon run`: it knows where it is by the kernel, judges, wraps nothing, and nothing nests. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../../dist/cordon.cjs')

let base = ''
let project = ''

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-hook-inside-'))
  project = join(base, 'project')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  const shown = [dirname(CLI), dirname(process.execPath)].map((path) => JSON.stringify(`${path}/**`)).join(', ')
  writeFileSync(
    join(project, 'cordon.toml'),
    `schema_version = 1
[permission]
mode = "contained"
[capabilities.allow.read]
paths = ["**", ${shown}]
[capabilities.deny.commands]
patterns = ["git push:*"]
[capabilities.allow.commands]
patterns = [{ command = "env:*", domains = ["example.com"] }]
`,
  )
  expect(cordon(['sign', '--yes']).status).toBe(0)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

function cordon(args: readonly string[], input = '', env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [CLI, ...args], {
    cwd: project,
    env: { PATH: process.env.PATH ?? '', HOME: join(base, 'home'), ...env },
    input,
    encoding: 'utf8',
  })
}

const call = (command: string): string =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 's1',
    cwd: project,
    permission_mode: 'bypassPermissions',
    tool_name: 'Bash',
    tool_input: { command },
  })
const inside = (args: readonly string[], input = '') => cordon(['run', '--', process.execPath, CLI, ...args], input)
/** The same in a sandbox with a way out, as agents have one. */
const online = (args: readonly string[], input: string) =>
  cordon(['run', '--', 'env', '-u', 'NODE_OPTIONS', process.execPath, CLI, ...args], input)
const hook = ['hook', 'codex', '--root']

describe('the hook inside', () => {
  it('lets an allowed command go as it is: it is in the sandbox already', () => {
    const { status, stdout, stderr } = inside([...hook, project], call('ls'))
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('knows where it is in a sandbox with a way out too', () => {
    const { status, stdout } = online([...hook, project], call('ls'))
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  it('denies what the manifest denies', () => {
    expect(inside([...hook, project], call('git push')).stdout).toContain('"permissionDecision":"deny"')
  })

  it('denies what no one can be asked about', () => {
    expect(inside([...hook, project], call('npm publish')).stdout).toContain('no one can be asked')
  })

  it('blocks nonsense', () => {
    expect(inside([...hook, project], '{')).toMatchObject({ status: 2, stdout: '' })
  })
})

describe('nothing nests', () => {
  it.each([
    ['cordon run', ['run', '--', 'true']],
    ['cordon run with its own manifest', ['run', '--manifest', 'cordon.toml', '--', 'true']],
    ['a rewritten command', ['hook', 'run', '--host', 'codex', '--root', 'PROJECT', '--', 'true']],
  ])('%s fails inside', (_, args) => {
    const { status } = inside(args.map((word) => (word === 'PROJECT' ? project : word)))
    expect([125, 126]).toContain(status)
  })
})

it('is not fooled outside by a variable or a name', () => {
  const { stdout } = cordon([...hook, project], call('ls'), {
    CORDON_INSIDE: '1',
    CORDON_SANDBOX: '1',
    container: 'cordon',
  })
  expect(stdout).toContain('cordon-run')
})
