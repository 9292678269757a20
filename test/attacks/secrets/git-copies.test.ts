/** Denied paths of a repository: in its working trees and clones, and in what git prints out of its objects. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project
const at = (path: string) => join(project.directory, path)

beforeAll(() => {
  project = new Project({
    'cordon.toml':
      'schema_version = 1\n[permission]\nmode = "contained"\n[capabilities.deny.read]\npaths = ["private/**"]\n',
    'private/x.txt': 'SECRET-OF-THE-PROJECT\n',
    'a.txt': 'a\n',
  })
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.org')
  git('add', '-A')
  git('commit', '-qm', '1')
  git('worktree', 'add', '-q', 'wt')
  git('clone', '-q', '.', 'deep/cl')
  project.cordon(['sign', '--yes'])
})
afterAll(() => project.remove())

function git(...words: string[]): void {
  const env = { PATH: process.env.PATH, HOME: project.home, GIT_CONFIG_NOSYSTEM: '1' }
  const { status, stderr } = spawnSync('git', words, { cwd: project.directory, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const decided = (command: string): string =>
  JSON.parse(project.cordon(['check', '--json', '--', command]).out).decision as string

describe('denied', () => {
  it.each([
    'cat wt/private/x.txt',
    'cat deep/cl/private/x.txt',
    'git worktree add wt2 && cat wt2/private/x.txt',
    'git clone . cl2; cat cl2/private/x.txt',
    'git log -p -- private',
    'git log -p',
    'git show',
    'git show HEAD:private/x.txt',
    'git diff HEAD~1',
    'git grep SECRET',
    'git grep SECRET -- private',
    'git archive HEAD | tar xO',
    'git archive HEAD private',
    'git blame private/x.txt',
    'git cat-file --batch-all-objects --batch',
    'git checkout-index -a --prefix=out/',
    'git format-patch --stdout HEAD',
    'git fast-export --all',
    'git stash show -p',
    'git -C wt log -p',
    'git -C wt show HEAD',
  ])('%s', (command) => expect(decided(command)).toBe('deny'))
})

describe('the control: allowed', () => {
  it.each([
    'cat wt/a.txt',
    'git status',
    'git log --oneline',
    'git log --stat -- private',
    'git show --stat',
    'git diff --name-only',
    'git log -p -- a.txt',
    "git log -p -- . ':(exclude)private'",
    "git grep x -- . ':!private'",
    'git worktree add wt3',
  ])('%s', (command) => expect(decided(command)).toBe('allow'))
})

it.each(['wt/private/x.txt', 'deep/cl/private/x.txt'])('%s is hidden from programs', (path) => {
  const program = 'import sys; print(open("/".join(sys.argv[1:])).read())'
  const done = project.cordon(['run', '--', 'python3', '-c', program, ...at(path).split('/')])
  expect(done.out).not.toContain('SECRET')
  const control = project.cordon(['run', '--', 'python3', '-c', program, ...at('wt/a.txt').split('/')])
  expect(control.out).toContain('a')
})
