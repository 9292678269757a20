/** Masks and git: what is committed is shown, what is not stays hidden, and no command commits a mask. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project

beforeEach(() => {
  project = new Project({
    'server.key': 'COMMITTED-KEY\n',
    'sub/.env.test': 'COMMITTED-ENV\n',
    'plain.txt': 'text\n',
  })
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.com')
  git('add', '-A')
  git('commit', '-qm', 'one')
  project.write('sub/.env.test', 'CHANGED-SECRET\n')
  project.write('.env', 'UNTRACKED-SECRET\n')
})
afterEach(() => project.remove())

function git(...args: string[]): string {
  const env = { PATH: process.env.PATH ?? '', HOME: project.home, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', args, { cwd: project.directory, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs a script in the sandbox and returns all that it printed. */
function inside(script: string, ...options: string[]): string {
  const ran = project.cordon(['run', ...options, '--', 'bash', '-c', script])
  return ran.out + ran.err
}

describe('masks and git', () => {
  test('committed files are shown as committed, the others are hidden', () => {
    expect(inside('cat server.key sub/.env.test; echo "[$(cat .env)]"')).toMatch(/^COMMITTED-KEY\nCOMMITTED-ENV\n\[\]/)
  })

  test.each([
    ['git commit -qam x'],
    ['git add -A && git commit -qm x'],
    ['git add . ; git commit -qm x'],
    ['git stash -u && git stash pop'],
    ['git add -A && git stash && git stash apply'],
  ])('%s commits no mask', (command) => {
    expect(inside('git status --porcelain')).not.toMatch(/server\.key|\.env/)
    inside(`echo more >> plain.txt; ${command}`)
    expect(git('show', 'HEAD:server.key')).toBe('COMMITTED-KEY\n')
    expect(git('show', 'HEAD:sub/.env.test')).toBe('COMMITTED-ENV\n')
    expect(git('ls-tree', '-r', '--name-only', 'HEAD').split('\n')).not.toContain('.env')
    expect(git('ls-files').split('\n')).not.toContain('.env')
    expect(
      execFileSync('cat', [join(project.directory, '.env'), join(project.directory, 'sub/.env.test')]).toString(),
    ).toBe('UNTRACKED-SECRET\nCHANGED-SECRET\n')
  })

  test('mask_tracked hides what is committed, and what is hidden cannot be committed', () => {
    project.write('strict.toml', 'schema_version = 1\n[sandbox.os]\nmask_tracked = true\n')
    const manifest = ['--manifest', 'strict.toml']
    expect(inside('cat server.key', ...manifest)).not.toContain('COMMITTED-KEY')
    inside('git commit -qam x', ...manifest)
    expect(git('show', 'HEAD:server.key')).toBe('COMMITTED-KEY\n')
  })

  test('work on a shown file goes on: it is checked out, removed and created again', () => {
    const said = inside(
      'git rm -q server.key && git commit -qm gone && git checkout -q HEAD~1 -- server.key && cat server.key',
    )
    expect(said).toContain('COMMITTED-KEY')
  })
})

describe('attacks', () => {
  const tricks: readonly [name: string, script: string][] = [
    [
      'the index says that it is tracked',
      'git update-index --add --cacheinfo 100644,$(git hash-object -w plain.txt),.env',
    ],
    [
      'a commit says that it is tracked',
      'git update-index --add --cacheinfo 100644,$(git hash-object -w plain.txt),.env; git commit -qm forged',
    ],
    [
      'an object under another name',
      'id=$(git hash-object -w plain.txt); git update-index --add --cacheinfo 100644,$id,.env; git commit -qm forged; d=.git/objects/$(echo $id | cut -c1-2); chmod 600 $d/*; cp .git/objects/$(git rev-parse HEAD | cut -c1-2)/* $d/ 2>/dev/null',
    ],
    ['the repository is taken away', 'mv .git/objects .git/objects2 2>/dev/null; rm -rf .git/refs 2>/dev/null'],
    ['the packed refs are a pipe', 'rm -rf .git/refs/heads/*; mkfifo .git/packed-refs'],
    ['an endless list of refs', 'rm -rf .git/refs/heads/*; yes | head -c 40000000 > .git/packed-refs'],
    [
      'a folder becomes a package',
      'mkdir pkg && echo "{}" > pkg/package.json; mv sub pkg/sub; mkdir -p node_modules; mv pkg node_modules/pkg',
    ],
  ]

  test.each(tricks)('%s, and the secret stays hidden', (_, script) => {
    inside(script)
    const said = inside(
      'cat .env sub/.env.test node_modules/pkg/sub/.env.test 2>/dev/null; timeout 5 git show :.env HEAD:.env 2>/dev/null',
    )
    expect(said).not.toMatch(/UNTRACKED-SECRET|CHANGED-SECRET/)
  })

  test('control: with the mask opened by name the same reads it', () => {
    project.write('open.toml', 'schema_version = 1\n[capabilities.allow.read]\npaths = [".env", "**"]\n')
    expect(inside('cat .env', '--manifest', 'open.toml')).toContain('UNTRACKED-SECRET')
  })

  test('a project folder that is moved to node_modules takes its secrets along', () => {
    project.write('packages/api/package.json', '{}')
    project.write('packages/api/.env', 'API-SECRET\n')
    expect(inside('cat packages/api/.env; mv packages node_modules')).not.toContain('API-SECRET')
    expect(inside('cat node_modules/api/.env')).not.toContain('API-SECRET')
  })

  test('a link never hides a program of the system', () => {
    symlinkSync('/usr/bin/git', join(project.directory, 'link.key'))
    expect(inside('git --version; rm link.key')).toMatch(/git version/)
    expect(inside('git --version')).toMatch(/git version/)
  })

  test('what came with a package is not a secret, what was put there later is', () => {
    project.write('node_modules/a/package.json', '{}')
    project.write('node_modules/a/test/server.key', 'PACKAGE-KEY\n')
    mkdirSync(join(project.directory, 'node_modules/b'))
    project.write('node_modules/b/server.key', 'NO-PACKAGE\n')
    utimesSync(join(project.directory, 'node_modules/b/server.key'), 0, 0)
    const said = inside(
      'cat node_modules/a/test/server.key node_modules/b/server.key; rm -rf node_modules/a && echo gone',
    )
    expect(said).toContain('PACKAGE-KEY')
    expect(said).toContain('gone')
    expect(said).not.toContain('NO-PACKAGE')
    rmSync(join(project.directory, 'node_modules'), { recursive: true })
  })
})
