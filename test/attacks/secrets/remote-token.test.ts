/** Credentials in git's configuration: commands work with the repository, and do not see them (O4, N7). */

import { execFileSync } from 'node:child_process'
import { linkSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

const TOKEN = 'ghp_TOPSECRETTOKEN0123'
let project: Project
let config = ''

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: project.directory, env: { PATH: process.env.PATH, HOME: project.home } })
const inside = (script: string, ...options: string[]) => {
  const { out, err } = project.cordon(['run', ...options, '--', 'bash', '-c', script])
  return { out, err }
}

beforeEach(() => {
  project = new Project({ 'a.txt': 'a\n' })
  git('init', '-q')
  config = join(project.directory, '.git/config')
})
afterEach(() => project.remove())

describe('with a token in the URL of a remote', () => {
  beforeEach(() => git('remote', 'add', 'origin', `https://bob:${TOKEN}@github.com/x/y`))

  test.each([
    ['git remote -v'],
    ['cat .git/config'],
    ['git config --list --show-origin'],
    ['grep -r ghp_ . ; dd if=.git/config'],
    ['cp .git/config c && cat c'],
    ['ln .git/config c; mv .git/config c; cat c'],
    ['mv .git x; cat x/config'],
    ['git init -q . ; cat .git/config'],
    ['git config user.name x; git remote remove origin; cat .git/config*'],
  ])('%s does not show it, and the file stays as it is', (script) => {
    const before = readFileSync(config, 'latin1')
    const { out, err } = inside(script)
    expect(out + err).not.toContain(TOKEN)
    expect(readFileSync(config, 'latin1')).toBe(before)
    expect(readdirSync(join(project.directory, '.git')).filter((name) => name.startsWith('.cordon'))).toEqual([])
  })

  test('the rest is there, and a refused change says why', () => {
    const { out, err } = inside('git remote get-url origin; git config user.name x')
    expect(out).toMatch(/^https:\/\/bob:cordon_git_[0-9a-f]{40}@github\.com\/x\/y\n$/)
    expect(err).toContain('it contains a credential, so commands see a copy without it')
  })

  test('of a submodule, a nested repository and a link, too', () => {
    git('init', '-q', '--bare', '.git/modules/sub')
    git('-C', '.git/modules/sub', 'remote', 'add', 'origin', `https://bob:${TOKEN}@github.com/x/z`)
    git('clone', '-q', '--bare', '.', 'vendor/x')
    git('-C', 'vendor/x', 'remote', 'set-url', 'origin', `https://bob:${TOKEN}@github.com/x/z`)
    symlinkSync('.git/config', join(project.directory, 'c'))
    const { out } = inside('cat c .git/modules/sub/config vendor/x/config')
    expect(out.match(/cordon_git_/g)).toHaveLength(3)
    expect(out).not.toContain(TOKEN)
  })

  test('a file tool asks about that file, and not about another repository’s', () => {
    const check = () => project.cordon(['check', '--tool', 'read', '--input', '{"path":".git/config"}']).out
    expect(check()).toMatch(/^ask .*contains a credential/)
    git('remote', 'set-url', 'origin', 'https://github.com/x/y')
    expect(check()).toMatch(/^allow/)
  })
})

test('control: without a token the file is shown, and changed as before', () => {
  git('remote', 'add', 'origin', 'https://github.com/x/y')
  expect(inside('git config user.name x; git remote get-url origin').out).toBe('https://github.com/x/y\n')
  expect(readFileSync(config, 'latin1')).toContain('name = x')
})

describe('a secret with a second, plain name', () => {
  test.each([['.env'], ['.ssh/deploy']])('%s is hidden by both', (path) => {
    project.write(path, `K=${TOKEN}\n`)
    linkSync(join(project.directory, path), join(project.directory, 'notes.txt'))
    expect(inside('cat notes.txt a.txt').out).toBe('a\n')
  })

  test('control: a plain file with two names is shown', () => {
    linkSync(join(project.directory, 'a.txt'), join(project.directory, 'b.txt'))
    expect(inside('cat b.txt').out).toBe('a\n')
  })
})
