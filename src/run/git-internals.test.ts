import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
