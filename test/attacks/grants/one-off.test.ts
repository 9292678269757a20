/** Attacks on what a person grants in passing: one-off grants, `cordon add`, and what a command could do to be granted more. */

import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project
const env = { CORDON_KEYCHAIN: 'off' }
const home = (path: string) => join(project.home, path)
const inProject = (path: string) => join(project.directory, path)

beforeAll(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n', '.env': 'TOKEN=hidden\n' })
  project.cordon(['sign', '--yes'], { env })
  for (const folder of ['.ssh', 'lib/.git/hooks', '.config/autostart', '.config/op', 'keys'])
    mkdirSync(home(folder), { recursive: true })
  writeFileSync(home('.ssh/id_rsa'), 'PRIVATE\n')
  writeFileSync(home('lib/a.txt'), 'open\n')
  writeFileSync(home('lib/.env'), 'PRIVATE\n')
  writeFileSync(home('.config/op/config'), 'PRIVATE\n')
  symlinkSync(home('.ssh'), inProject('innocent'))
  symlinkSync(home('.ssh/id_rsa'), home('lib/link'))
})
afterAll(() => project.remove())

const run = (...args: string[]) => project.cordon(['run', ...args], { env })

describe('what no grant of a run opens', () => {
  it.each([
    { note: 'a secret by its name', args: () => ['--read', home('.ssh/id_rsa')] },
    { note: 'its folder', args: () => ['--read', home('.ssh')] },
    { note: 'its folder by a link of the project', args: () => ['--read', inProject('innocent')] },
    { note: 'a secret of the project', args: () => ['--read', inProject('.env')] },
    { note: 'the home directory', args: () => ['--read', project.home] },
    { note: 'the machine', args: () => ['--read', '/'] },
    { note: 'the machine, to write', args: () => ['--write', '/'] },
    { note: 'Cordon’s state', args: () => ['--read', home('.local/state/cordon')] },
    { note: 'a folder in Cordon’s state', args: () => ['--read', home('.local/state/cordon/keys')] },
    { note: 'the manifest, to write', args: () => ['--write', inProject('cordon.toml')] },
    { note: 'hooks of another repository', args: () => ['--write', home('lib/.git/hooks')] },
    { note: 'what the desktop starts', args: () => ['--write', home('.config/autostart')] },
    { note: 'a folder of the system, to write', args: () => ['--write', '/usr/local/bin'] },
  ])('$note', ({ args }) => {
    const ran = run(...args(), '--', 'true')
    expect(ran.code, ran.err).toBe(125)
    expect(ran.err).toMatch(/\[not-grantable\]/)
  })

  it('what a denial of the manifest names, or lies in what is granted', () => {
    const denies = `schema_version = 1\n[capabilities.deny.read]\npaths = ["${home('keys')}/**"]\n`
    project.write('deny.toml', denies)
    writeFileSync(home('keys/k'), 'PRIVATE\n')
    const ran = run('--manifest', 'deny.toml', '--read', home('keys'), '--', 'true')
    expect(ran).toMatchObject({ code: 125 })
    expect(ran.err).toContain('denies it')
    rmSync(inProject('deny.toml'))
  })
})

describe('in what is granted', () => {
  it('control: the rest is there', () => {
    expect(run('--read', home('lib'), '--', 'cat', home('lib/a.txt'))).toMatchObject({ code: 0, out: 'open\n' })
  })

  it('secrets stay hidden, by name and by link', () => {
    const ran = run('--read', home('lib'), '--', 'sh', '-c', `cat ${home('lib/.env')} ${home('lib/link')}; true`)
    expect(ran.out).not.toContain('PRIVATE')
    const places = run('--read', home('.config'), '--', 'sh', '-c', `cat ${home('.config/op/config')}; true`)
    expect(places.out).not.toContain('PRIVATE')
  })

  it('what is shown for reading is not changed, and the project still is', () => {
    const script = `echo x > ${home('lib/b.txt')}; rm ${home('lib/a.txt')}; echo y > mine; true`
    run('--read', home('lib'), '--', 'sh', '-c', script)
    expect(readdirSync(home('lib')).sort()).toEqual(['.env', '.git', 'a.txt', 'link'])
    expect(readFileSync(inProject('mine'), 'utf8')).toBe('y\n')
  })

  it('what is granted for writing keeps its hooks and what the machine starts', () => {
    const script = [
      `echo evil > ${home('lib/.git/hooks/pre-commit')}`,
      `echo fine > ${home('lib/new')}`,
      `echo evil > ${home('.config/autostart/x.desktop')}`,
      'true',
    ].join(';')
    run('--write', home('lib'), '--write', home('.config'), '--', 'sh', '-c', script)
    expect(readdirSync(home('lib/.git/hooks'))).toEqual([])
    expect(readdirSync(home('.config/autostart'))).toEqual([])
    expect(readFileSync(home('lib/new'), 'utf8')).toBe('fine\n')
  })

  it('it ends with the run', () => {
    run('--read', home('lib'), '--', 'true')
    expect(run('--', 'cat', home('lib/a.txt')).code).toBe(1)
  })
})

describe('a command inside', () => {
  const cli = join(import.meta.dirname, '../../../dist')
  it('does not add to the manifest, even with Cordon shown to it', () => {
    const before = readFileSync(inProject('cordon.toml'), 'utf8')
    const script = `${process.execPath} ${cli}/cordon.cjs add host evil.example.org --yes; echo "code $?"; echo '[http]' >> cordon.toml; true`
    const node = join(process.execPath, '..')
    const ran = run('--read', cli, '--read', node, '--', 'sh', '-c', script)
    expect(ran.out).not.toContain('code 0')
    expect(readFileSync(inProject('cordon.toml'), 'utf8')).toBe(before)
    expect(project.cordon(['verify'], { env }).code).toBe(0)
    // Control: outside it does.
    expect(project.cordon(['add', 'host', 'fine.example.org', '--yes'], { env }).code).toBe(0)
    expect(readFileSync(inProject('cordon.toml'), 'utf8')).toContain('fine.example.org')
  })

  it('only says that it listens', () => {
    const ran = run('--', 'sh', '-c', 'echo "listening on 5173"; echo "cordon: listening on 5173" >&2')
    expect(ran.err).not.toContain('--port')
    const name = inProject('\u001b[2J\u202eevil')
    mkdirSync(`${home('lib')}/\u001b]0;evil\u0007`, { recursive: true })
    const hint = run('--', 'cat', `${home('lib')}/\u001b]0;evil\u0007/x`, `${home('lib')}/\u001b]0;evil\u0007`, name)
    expect(hint.err).toContain('--read')
    expect(
      hint.err
        .split('\n')
        .filter((line) => line.startsWith('cordon:'))
        .join(),
    ).not.toContain('\u001b')
    rmSync(`${home('lib')}/\u001b]0;evil\u0007`, { recursive: true })
  })
})
