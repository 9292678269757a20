import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { namedWorktrees } from '../../call/decide/batch.ts'
import { parsePathPattern } from '../../files/path-pattern.ts'
import { type Files, machineFiles } from '../../system/files.ts'
import type { LoadedPolicy } from './load.ts'
import { ownWorktrees } from './repository-settings.ts'

let base: string
let root: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-worktrees-')))
  root = join(base, 'project')
  mkdirSync(join(root, '.git', 'worktrees'), { recursive: true })
})
afterEach(() => rmSync(base, { recursive: true }))

/** The repository's side: this an agent can write. */
function claim(name: string, place: string): string {
  const entry = join(root, '.git', 'worktrees', name)
  mkdirSync(entry)
  writeFileSync(join(entry, 'gitdir'), `${place}/.git\n`)
  return entry
}

/** The tree's side. */
function tree(name: string, entry: string): string {
  const place = join(base, name)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, '.git'), `gitdir: ${entry}\n`)
  return place
}

function found({ home = join(base, 'home'), writes = [] as string[], files = machineFiles as Files } = {}) {
  const allow = writes.map((text) => {
    const parsed = parsePathPattern(text, { root, home, files: null })
    if ('problem' in parsed) throw new Error(parsed.problem)
    return { pattern: parsed.pattern }
  })
  return ownWorktrees({ root, policy: { writes: { allow } } } as unknown as LoadedPolicy, home, files)
}

test('a tree that names the repository in turn is the project', () => {
  const entry = claim('a', join(base, 'a'))
  expect(found()).toEqual([])
  const place = tree('a', entry)
  expect(found()).toEqual([place])
})

test('a foreign directory that the repository claims is not one', () => {
  const victim = join(base, 'victim')
  mkdirSync(join(victim, '.git'), { recursive: true })
  claim('repository', victim)
  const other = tree('other', join(base, 'elsewhere', '.git', 'worktrees', 'b'))
  claim('b', other)
  claim('none', join(base, 'home'))
  claim('dots', `${victim}/../victim`)
  expect(found()).toEqual([])
})

test('a link on the way rules it out: it can be put there later', () => {
  const place = tree('real', join(root, '.git', 'worktrees', 'l'))
  symlinkSync(place, join(root, 'link'))
  claim('l', join(root, 'link'))
  expect(found()).toEqual([])
})

test('the home directory, its parents and those of the project are not worktrees, whatever they claim', () => {
  const entry = claim('h', join(base, 'home'))
  const home = tree('home', entry)
  expect(found({ home })).toEqual([])
  expect(found({ home: join(home, 'ada') })).toEqual([])
  writeFileSync(join(base, '.git'), `gitdir: ${claim('above', base)}\n`)
  expect(found({ home })).toEqual([])
})

test('a tree that an agent could have created is not one: write grants, caches, files of other users', () => {
  const entry = claim('g', join(base, 'notes'))
  tree('notes', entry)
  expect(found()).toHaveLength(1)
  expect(found({ writes: [`${base}/notes/*`] })).toEqual([])
  expect(found({ files: { ...machineFiles, isOwn: () => false } })).toEqual([])
  rmSync(join(base, 'notes'), { recursive: true })
  const home = join(base, 'home')
  tree('home/.npm/_cacache/x', claim('c', join(home, '.npm/_cacache/x')))
  expect(found({ home })).toEqual([])
})

test('a project that is not there has none; a log is judged by names', () => {
  rmSync(root, { recursive: true })
  expect(found()).toEqual([])
  expect(namedWorktrees('/p/app')).toContain('/p/app.worktrees')
})
