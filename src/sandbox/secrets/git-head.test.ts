import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GitHead } from './git-head.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-head-')))
})
afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

function git(...args: string[]): string {
  const env = { PATH: process.env.PATH ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always']
  return execFileSync('git', [...who, ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** What HEAD has, as text; `none` and `unknown` as they are. */
function at(path: string, folder = root): string {
  const head = GitHead.of(folder, [root])
  if (head === null) return 'no repository'
  const answer = head.at(join(folder, path))
  head.close()
  return typeof answer === 'string' ? answer : answer.bytes.toString()
}

function commit(): void {
  git('init', '-q')
  put('a/b/server.key', 'one\n')
  put('plain', 'x')
  git('add', '-A')
  git('commit', '-qm', 'one')
}

test('a loose object, a folder deep', () => {
  commit()
  expect(at('a/b/server.key')).toBe('one\n')
  expect(at('a/b/other')).toBe('none')
  expect(at('a/b')).toBe('none')
  expect(at('plain/x')).toBe('none')
})

test('packed objects with deltas, and packed refs', () => {
  git('init', '-q')
  const lines = Array.from({ length: 2_000 }, (_, line) => `line ${line}`)
  for (let round = 0; round < 12; round++) {
    lines[round * 3] = `changed ${round}`
    put('big.key', lines.join('\n'))
    put(`d/f${round}.pem`, `${round}`)
    git('add', '-A')
    git('commit', '-qm', `${round}`)
  }
  git('gc', '-q', '--aggressive', '--prune=now')
  git('pack-refs', '--all')
  expect(readdirSync(join(root, '.git/objects')).filter((name) => name.length === 2)).toEqual([])
  expect(at('big.key')).toBe(lines.join('\n'))
  expect(at('d/f7.pem')).toBe('7')
  git('checkout', '-q', 'HEAD~5')
  expect(at('d/f7.pem')).toBe('none')
  lines[0] = 'changed 0'
  expect(at('big.key')).toBe(git('show', 'HEAD:big.key'))
})

test('a repository of sha256', () => {
  git('init', '-q', '--object-format=sha256')
  put('server.key', 'one')
  git('add', '-A')
  git('commit', '-qm', 'one')
  expect(at('server.key')).toBe('one')
  git('gc', '-q', '--prune=now')
  expect(at('server.key')).toBe('one')
})

test('a branch without a commit has nothing, and the index is not asked', () => {
  git('init', '-q')
  put('server.key', 'one')
  git('add', '-A')
  expect(at('server.key')).toBe('none')
})

test('a linked worktree reads the objects of the one it belongs to', () => {
  commit()
  git('worktree', 'add', '-q', 'linked')
  expect(at('a/b/server.key', join(root, 'linked'))).toBe('one\n')
})

test('what is forged is not believed', () => {
  commit()
  const id = git('rev-parse', 'HEAD:a/b/server.key').trim()
  const other = git('hash-object', '-w', 'plain').trim()
  const file = (name: string) => join(root, '.git/objects', name.slice(0, 2), name.slice(2))
  chmodSync(file(id), 0o600)
  execFileSync('cp', [file(other), file(id)])
  expect(at('a/b/server.key')).toBe('unknown')
})

test('nothing is read through a link, an alternate or a pointer that points outside', () => {
  commit()
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-outside-')))
  try {
    execFileSync('mv', [join(root, '.git/objects'), join(outside, 'objects')])
    mkdirSync(join(root, '.git/objects/info'), { recursive: true })
    writeFileSync(join(root, '.git/objects/info/alternates'), `${outside}/objects\n`)
    expect(at('a/b/server.key')).toBe('unknown')
    rmSync(join(root, '.git/objects'), { recursive: true })
    symlinkSync(join(outside, 'objects'), join(root, '.git/objects'))
    expect(at('a/b/server.key')).toBe('unknown')
    rmSync(join(root, '.git'), { recursive: true })
    writeFileSync(join(root, '.git'), `gitdir: ${outside}\n`)
    expect(at('a/b/server.key')).toBe('no repository')
  } finally {
    rmSync(outside, { recursive: true, force: true })
  }
})

test.each([
  ['HEAD', 'ref: refs/heads/../../x\n'],
  ['HEAD', 'ref: refs/heads/.invalid\n'],
  ['HEAD', 'gibberish'],
  ['packed-refs', '\n'.repeat(4_000_000)],
])('a broken %s is unknown or nothing, and soon', (name, text) => {
  commit()
  if (name === 'packed-refs') rmSync(join(root, '.git/refs/heads'), { recursive: true })
  writeFileSync(join(root, '.git', name), text)
  expect(['unknown', 'none']).toContain(at('a/b/server.key'))
})

test('what is remembered between looks follows HEAD', () => {
  const memory = new Map()
  const look = () => {
    const head = GitHead.of(root, [root], memory)!
    const found = head.at(`${root}/.env.remembered`)
    head.close()
    return typeof found === 'string' ? found : found.bytes.toString()
  }
  const change = (text: string) => {
    writeFileSync(`${root}/.env.remembered`, text)
    git('add', '-f', '.env.remembered')
    git('commit', '-qm', text)
  }
  commit()
  change('one')
  expect([look(), look()]).toEqual(['one', 'one'])
  change('two')
  expect(look()).toBe('two')
  git('rm', '-q', '.env.remembered')
  git('commit', '-qm', 'gone')
  expect(look()).toBe('none')
})
