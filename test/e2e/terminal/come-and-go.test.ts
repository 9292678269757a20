/** The first and the last minute at a real terminal: `cordon setup`, `cordon uninstall`, and a window that is closed. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookCommand } from '../../../src/surfaces/hook/host/hook-command.ts'
import { until } from '../../until.ts'
import { CLI, Project } from '../cordon.ts'
import { CTRL_C, Person } from './person.ts'

let project: Project
const inHome = (path: string): string => join(project.home, path)
beforeEach(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n' })
})
afterEach(() => {
  project.remove()
})

const env = { CORDON_KEYCHAIN: 'off', SHELL: '/bin/bash' }
const CLIENT = join(dirname(CLI), 'native', `cordon-client-${process.arch}`)
const LINK = '.local/bin/cordon'
const COMPLETIONS = '.local/share/bash-completion/completions/cordon'

it('setup shows what it writes and asks; uninstall shows what goes and asks', async () => {
  const person = new Person(project)
  await person.atPrompt()
  for (const no of ['n\r', CTRL_C]) {
    person.line('cordon setup')
    expect(await person.sees('[y/N] ')).toMatch(/link ~\/\.local\/bin\/cordon to .*\n {2}file ~.*completions/)
    person.keys(no)
    expect(await person.atPrompt()).toContain('nothing was changed')
    expect(existsSync(inHome('.local/bin'))).toBe(false)
  }
  person.line('export XDG_RUNTIME_DIR=$HOME/.runtime; mkdir -m 700 ~/.runtime; cordon setup')
  await person.sees('[y/N] ')
  person.line('y')
  expect((await person.atPrompt()).replace(/\s+/g, ' ')).toContain('~/.bashrc: export PATH="$HOME/.local/bin:$PATH"')
  expect(readlinkSync(inHome(LINK))).toMatch(/\/cordon$/)
  person.line('cordon setup')
  expect(await person.atPrompt()).toContain('Everything is set up already.')

  person.line('cordon sign --yes; cordon install claude-code --yes; cordon run -- true')
  await person.atPrompt()
  expect(readFileSync(inHome('.claude/settings.json'), 'utf8')).toContain('cordon hook')
  person.line(`unset CORDON_RESIDENT; ${CLIENT} "$NODE" "$CLI" run -- echo served`)
  await person.sees('\nserved')
  await person.atPrompt()
  person.line('cordon uninstall')
  const shown = await person.sees('[y/N] ')
  expect(shown).toContain('hook      claude-code (every project): ~/.claude/settings.json')
  expect(shown).toContain('folder    ~/.local/state/cordon: signatures, grants, the record')
  expect(shown).toMatch(/process {3}\d+, the resident/)
  expect(shown).toContain('stays: cordon.toml in your projects')
  person.keys(CTRL_C)
  expect(await person.atPrompt()).toContain('nothing was changed')
  expect(existsSync(inHome('.claude/settings.json'))).toBe(true)

  person.line('cordon uninstall --keep-record')
  await person.sees('[y/N] ')
  person.line('y')
  await person.sees('Cordon is removed')
  await person.atPrompt()
  for (const gone of ['.claude', '.runtime/cordon']) expect(existsSync(inHome(gone))).toBe(false)
  for (const path of [LINK, COMPLETIONS, '.cache/cordon'])
    expect([path, existsSync(inHome(path))]).toEqual([path, false])
  expect(readdirSync(inHome('.local/state/cordon')).sort()).toEqual([
    'audit',
    'audit-heads',
    'signing-key.pub',
    'version',
  ])
  expect(project.cordon(['audit', 'verify'], { env }).code).toBe(0)
  person.line('cordon uninstall --yes; cordon uninstall')
  await person.sees('Cordon is not set up')
  await person.atPrompt()
  expect(existsSync(inHome('.local/state/cordon'))).toBe(false)
  expect(existsSync(join(project.directory, 'cordon.toml'))).toBe(true)
  await person.leaves()
})

it('a window that is closed while a command prints is not a crash', async () => {
  project.cordon(['sign', '--yes'], { env })
  const person = new Person(project)
  await person.atPrompt()
  person.line("cordon run -- sh -c 'while echo tick; do sleep 0.02; done'")
  await person.sees('tick')
  await person.closesWindow()
  await until('the run has ended', () => !runsIn(project.directory))
  expect(existsSync(inHome('.local/state/cordon/crashdump'))).toBe(false)
})

describe('setup leaves what is not Cordon’s', () => {
  it.each([
    ['a program', () => writeFileSync(inHome(LINK), 'mine'), 1, 'is not Cordon’s'],
    ['a link to another program', () => symlinkSync('/usr/bin/env', inHome(LINK)), 1, 'is not Cordon’s'],
    ['a link to a Cordon that is gone: replaced', () => symlinkSync('/nowhere/cordon', inHome(LINK)), 0, 'instead of'],
  ])('%s', (_, prepare, code, said) => {
    mkdirSync(inHome('.local/bin'), { recursive: true })
    prepare()
    const ran = project.cordon(['setup', '--yes', '--json'], { env })
    expect([ran.code, JSON.parse(ran.out).written]).toEqual([code, true])
    expect(ran.err).toContain(said)
    expect(readlinkOr(inHome(LINK)).endsWith('/cordon')).toBe(code === 0)
  })
})

describe('uninstall removes only what is Cordon’s:', () => {
  beforeEach(() => void project.cordon(['sign', '--yes'], { env }))

  it('folders that look like projects stay', () => {
    const other = join(project.home, 'elsewhere')
    const places = { XDG_STATE_HOME: 'package.json', XDG_CONFIG_HOME: '.git', XDG_CACHE_HOME: 'src' }
    const entries = Object.entries(places).map(([name, entry]) => join(other, name, 'cordon', entry))
    for (const entry of entries) mkdirSync(entry, { recursive: true })
    const elsewhere = Object.fromEntries(Object.keys(places).map((name) => [name, join(other, name)]))
    const ran = project.cordon(['uninstall', '--yes', '--json'], { env: { ...env, ...elsewhere } })
    expect(JSON.parse(ran.out).stays).toEqual([
      ...Array(3).fill(expect.stringContaining('a project')),
      expect.anything(),
    ])
    expect(entries.filter((entry) => !existsSync(entry))).toEqual([])
  })

  it('a link stays, with what it points to', () => {
    mkdirSync(inHome('dotfiles'), { recursive: true })
    mkdirSync(inHome('.config'), { recursive: true })
    writeFileSync(inHome('dotfiles/cordon.toml'), 'schema_version = 1\n')
    symlinkSync(inHome('dotfiles'), inHome('.config/cordon'))
    const ran = project.cordon(['uninstall', '--yes', '--json'], { env })
    expect(JSON.parse(ran.out).stays[0]).toContain('it is a link')
    expect(existsSync(inHome('.config/cordon/cordon.toml'))).toBe(true)
    expect(existsSync(inHome('.local/state/cordon'))).toBe(false)
  })

  it('settings that cannot be read stop it before anything is removed', () => {
    project.cordon(['install', 'claude-code', '--yes'], { env })
    writeFileSync(inHome('.claude/settings.json'), `${readFileSync(inHome('.claude/settings.json'), 'utf8')}// x`)
    const ran = project.cordon(['uninstall', '--yes'], { env })
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('settings.json cannot take the hook')])
    expect(existsSync(inHome('.local/state/cordon/signatures'))).toBe(true)
  })

  it('a project’s hook is found from elsewhere', () => {
    project.cordon(['install', 'gemini', '--yes', '--project'], { env })
    const ran = project.cordon(['uninstall', '--yes', '--json'], { env, cwd: project.home })
    expect(JSON.parse(ran.out).hooks).toMatchObject([{ agent: 'gemini', scope: 'project', root: project.directory }])
    expect(existsSync(join(project.directory, '.gemini'))).toBe(false)
  })
})

it('a hook whose Cordon is gone blocks, and says how to remove it', () => {
  const line = hookCommand('codex', null, ['/nowhere/cordon-client-x64', '/nowhere/node', '/nowhere/cordon.cjs'])
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line], { input: '{}', encoding: 'utf8' })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain('If Cordon was removed, delete its hooks from the settings of codex.')
})

/** Whether a process is left that works in this folder. */
function runsIn(directory: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => readlinkOr(`/proc/${pid}/cwd`) === directory)
}

function readlinkOr(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
