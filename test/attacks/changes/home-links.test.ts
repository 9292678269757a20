/** Dotfiles: what the home, and Cordon's own configuration, link to in the project is not changed by a command, and asks in file tools. */

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project
beforeEach(() => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n',
    bashrc: ': mine\n',
    plain: ': mine\n',
    gitconfig: '[user]\n\tname = x\n',
    'claude/user-settings.json': '{}',
    'codex-folder/config.toml': 'x = 1\n',
    'cordon-own/cordon.toml': 'schema_version = 1\n',
    'fish/conf.d/a.fish': ': mine\n',
  })
  link('.bashrc', 'bashrc')
  link('.gitconfig', 'gitconfig')
  link('.claude/settings.json', 'claude/user-settings.json')
  link('.codex', 'codex-folder')
  link('.config/cordon/cordon.toml', 'cordon-own/cordon.toml')
  link('.config/fish/conf.d', 'fish/conf.d')
  link('.zshrc', 'not-yet')
  project.cordon(['sign', '--yes'])
})
afterEach(() => project.remove())

function link(name: string, target: string): void {
  mkdirSync(dirname(join(project.home, name)), { recursive: true })
  symlinkSync(join(project.directory, target), join(project.home, name))
}

const at = (path: string) => join(project.directory, path)
const TARGETS = [
  'bashrc',
  'gitconfig',
  'claude/user-settings.json',
  'codex-folder/config.toml',
  'cordon-own/cordon.toml',
  'fish/conf.d/a.fish',
]

const WAYS: readonly (readonly [note: string, script: (path: string) => string])[] = [
  ['written', (path) => `echo evil >> ${path}`],
  ['replaced', (path) => `echo evil > x; mv x ${path}`],
  ['removed', (path) => `rm ${path}; echo evil > ${path}`],
  ['by a second name', (path) => `ln ${path} y; echo evil >> y`],
  ['by its folder', (path) => `mv $(dirname ${path}) z; mkdir -p $(dirname ${path}); echo evil > ${path}`],
]

it.each(WAYS)('no command changes what the home links to: %s', (_, script) => {
  for (const path of TARGETS) {
    const before = readFileSync(at(path), 'utf8')
    if (path.includes('/') || !script(path).includes('dirname')) project.cordon(['run', '--', 'sh', '-c', script(path)])
    expect(readFileSync(at(path), 'utf8'), path).toBe(before)
  }
})

it('nor makes what a link points to that is not there yet', () => {
  project.cordon(['run', '--', 'sh', '-c', 'echo evil > not-yet'])
  expect(existsSync(at('not-yet'))).toBe(false)
})

it('nor a new file in a folder that is linked', () => {
  project.cordon(['run', '--', 'sh', '-c', 'echo evil > fish/conf.d/b.fish'])
  expect(existsSync(at('fish/conf.d/b.fish'))).toBe(false)
})

it('control: a file that nothing links to is written', () => {
  expect(project.cordon(['run', '--', 'sh', '-c', 'echo mine >> plain'])).toMatchObject({ code: 0 })
  expect(readFileSync(at('plain'), 'utf8')).toContain('mine\nmine')
})

it('a file tool asks, and says whose file it is', () => {
  const input = JSON.stringify({ path: at('bashrc'), content: 'x' })
  const { out } = project.cordon(['check', '--json', '--tool', 'write', '--input', input])
  expect(JSON.parse(out)).toMatchObject({ decision: 'ask', reason: { message: expect.stringContaining('~/.bashrc') } })
})

it('a manifest that names the file opens it', () => {
  writeFileSync(
    at('cordon.toml'),
    'schema_version = 1\n[permission]\nmode = "contained"\n[capabilities.allow.write]\npaths = [".", "bashrc"]\n',
  )
  project.cordon(['sign', '--yes'])
  expect(project.cordon(['run', '--', 'sh', '-c', 'echo more >> bashrc'])).toMatchObject({ code: 0 })
  expect(readFileSync(at('bashrc'), 'utf8')).toContain('more')
})
