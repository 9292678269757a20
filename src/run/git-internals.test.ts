import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { comingTogether } from '../files/protected-paths.ts'
import { gitInternalAt } from './git-internals.ts'

let base: string

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-git-')))
  execFileSync('git', ['init', '-q', '--bare', join(base, 'store')])
  mkdirSync(join(base, 'half/objects'), { recursive: true })
  mkdirSync(join(base, 'half/refs'))
  writeFileSync(join(base, 'half/config'), '')
  mkdirSync(join(base, 'plain/objects'), { recursive: true })
  mkdirSync(join(base, 'plain/refs'))
})
afterAll(() => rmSync(base, { recursive: true }))

test.each([
  ['store/config', true, 'the configuration of a repository, whatever it is called'],
  ['store/hooks/update', true, 'a hook of it'],
  ['store/config.worktree', true, 'one that is not there yet'],
  ['store/HEAD', false, 'ordinary work'],
  ['store/refs/heads/hooks', false, 'a branch of that name'],
  ['half/HEAD', true, 'what makes a repository of a configuration that was written before'],
  ['half/config', false, 'not yet one'],
  ['plain/HEAD', false, 'nothing in it that runs'],
  ['config', false, 'a file of that name'],
  ['src/hooks/use.ts', false, 'a folder of that name'],
])('%s is protected: %s (%s)', (path, expected) => {
  expect(gitInternalAt(join(base, path)) !== null).toBe(expected)
})

test.each([
  ['new/config', ['new/config', 'new/HEAD', 'new/objects/x', 'new/refs/x'], true, 'a repository in one patch'],
  ['new/objects/x', ['new/hooks/update', 'new/HEAD', 'new/objects/x', 'new/refs/x'], true, 'the last part of it'],
  ['half/HEAD', ['half/HEAD', 'half/x'], true, 'where the rest is there'],
  ['new/commondir', ['new/HEAD', 'new/commondir'], true, 'settings of another folder'],
  ['new/HEAD', ['new/HEAD', 'new/commondir'], true, 'the same by the other part'],
  ['new/HEAD', ['new/HEAD', 'new/objects/x', 'new/refs/x'], false, 'nothing in it that runs'],
  ['new/config', ['new/config', 'new/HEAD', 'new/refs/x'], false, 'not yet one'],
])('%s of %j is protected: %s (%s)', (path, together, expected) => {
  const coming = comingTogether(together.map((one) => join(base, one)))
  expect(gitInternalAt(join(base, path), coming) !== null).toBe(expected)
})
