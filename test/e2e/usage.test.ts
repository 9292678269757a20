/** Slips at the command line: each is named with its remedy, on stderr, with the documented exit code, and as JSON where that was asked for. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../src/surfaces/cli/start/commands.ts'
import { Project } from './cordon.ts'

let project: Project
beforeAll(() => {
  project = new Project()
})
afterAll(() => project.remove())

const rows: readonly [string, string][] = [
  ['nonsense', 'there is no command "nonsense"'],
  ['chekc', 'did you mean "check"?'],
  ['--versoin', 'did you mean "--version"?'],
  ['help nonsense', 'there is no command "nonsense"'],
  ['run', 'name a command to run'],
  ['run --json ls', '--json goes with --plan'],
  ['run --root nowhere ls', 'nowhere is not a directory'],
  ['run --timeout soon ls', '--timeout takes seconds'],
  ['check --root nowhere -- ls', 'nowhere is not a directory'],
  ['check --jsno -- ls', 'did you mean --json?'],
  ['verify --root nowhere', 'nowhere is not a directory'],
  ['sign now', 'does not take “now”'],
  ['policy shwo', 'did you mean show?'],
  ['policy show it', 'does not take “it”'],
  ['tools lst', 'did you mean list?'],
  ['skills aprove x', 'did you mean approve?'],
  ['keys rset', 'did you mean reset?'],
  ['keys untrust', 'cordon keys untrust ed25519:BASE64'],
  ['grants rvoke x', 'did you mean revoke?'],
  ['approvals allow', 'cordon approvals allow ID'],
  ['audit tial', 'did you mean tail?'],
  ['audit query --since yesterday', 'takes a time such as'],
  ['audit query --verdict maybe', 'allow, ask or deny, not “maybe”'],
  ['audit verify --session gone', 'there is no record of a session gone'],
  ['audit query --type foo', 'begin, denied, end'],
  ['audit query --type violation', 'begin, denied, end'],
  ['run --env NOSUCH -- true', 'there is no such variable here'],
  ['install claud-code', 'did you mean claude-code?'],
  ['import cladue-code', 'did you mean claude-code?'],
  ['completions tcsh', 'bash, zsh or fish, not “tcsh”'],
  ['mcp --port 3', '--port goes with --http'],
  ['scan page.md', 'does not take “page.md”'],
  ['redact app.log', 'does not take “app.log”'],
]

it.each(rows)('cordon %s', (line, said) => {
  const ran = project.cordon(line.split(' '))
  expect([ran.code, line.includes('--json') ? '' : ran.out]).toEqual([2, ''])
  expect(ran.err).toContain(said)
  expect(ran.err).toMatch(/^ {2}cordon .*--help (shows how|lists the commands)\.$/m)
})

describe('help', () => {
  it.each(commands.map(({ name }) => name))('of %s, wherever it is asked for', (name) => {
    const asked = [
      ['help', name],
      [name, '--help'],
      [name, '-h'],
    ].map((args) => project.cordon(args))
    expect(new Set(asked.map(({ out }) => out)).size).toBe(1)
    expect(asked[0]!.out).toContain(`Usage:\n  cordon ${name}`)
    expect(asked.map(({ code, err }) => [code, err])).toEqual(Array(3).fill([0, '']))
  })

  it('of a command that is run is its own', () => {
    expect(project.cordon(['run', 'ls', '--help']).out).toContain('Usage: ls')
  })
})

it.each([
  ['check', '--nope'],
  ['check', '--manifest', 'missing.toml', '--', 'ls'],
  ['sign'],
  ['run', '--plan', '--root', 'nowhere', 'ls'],
])('an error is JSON too, where JSON was asked for: %s', (name, ...args) => {
  const ran = project.cordon([name, '--json', ...args])
  expect(JSON.parse(ran.out)).toMatchObject({ error: expect.any(String), code: expect.any(String) })
  expect(ran.err).not.toBe('')
})

it('colours come only when they are asked for, where nobody looks', () => {
  const painted = (env: Record<string, string>) => project.cordon(['check', '--', 'ls'], { env }).out.includes('\u001b')
  const without: readonly Record<string, string>[] = [{}, { NO_COLOR: '1', FORCE_COLOR: '1' }, { CLICOLOR_FORCE: '0' }]
  const wanted: readonly Record<string, string>[] = [{ FORCE_COLOR: '1', NO_COLOR: '' }, { CLICOLOR_FORCE: '1' }]
  expect([...without, ...wanted].map(painted)).toEqual([false, false, false, true, true])
})

it('a state that cannot be written is a separate fault, not an error of usage', () => {
  project.write('cordon.toml', 'schema_version = 1\n')
  project.write('file', '')
  const ran = project.cordon(['sign', '--yes'], { env: { XDG_STATE_HOME: join(project.directory, 'file') } })
  expect([ran.code, ran.err]).toEqual([125, expect.stringContaining('[state-unwritable]')])
})

it('an installed hook that would deny everything says so at once', () => {
  const own = new Project()
  try {
    const install = () => own.cordon(['install', 'claude-code', '--yes']).err
    expect(install()).toContain('there is no cordon.toml here')
    own.cordon(['init'])
    expect(install()).toContain('cordon.toml is not signed, so every call is denied')
    own.cordon(['sign', '--yes'])
    expect(install()).not.toContain('cordon.toml')
    own.write('cordon.toml', 'x =')
    expect(install()).toContain('cordon.toml does not load')
  } finally {
    own.remove()
  }
})
