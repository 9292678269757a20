import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hiddenByList, keepSecret, keptSecretsFile, readKeptSecrets } from './kept.ts'

let base: string
let state: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-kept-')))
  state = join(base, 'state')
})
afterEach(() => rmSync(base, { recursive: true }))

test('a path is kept once, for the owner alone', () => {
  expect(readKeptSecrets(state, ['/p'])).toEqual([])
  expect(keepSecret(state, '/p/a\n"b', ['/p'])).toBe(true)
  expect(keepSecret(state, '/p/a\n"b', ['/p'])).toBe(false)
  expect(readKeptSecrets(state, ['/p'])).toEqual(['/p/a\n"b'])
  expect(statSync(keptSecretsFile(state)).mode & 0o777).toBe(0o600)
})

test('a line that was cut short takes no other with it', () => {
  keepSecret(state, '/p/a', ['/p'])
  appendFileSync(keptSecretsFile(state), '"/p/cut')
  keepSecret(state, '/p/b', ['/p'])
  expect(readKeptSecrets(state, ['/p'])).toEqual(['/p/a', '/p/b'])
})

test('a list that cannot be read is not an empty one', () => {
  mkdirSync(keptSecretsFile(state), { recursive: true })
  expect(() => readKeptSecrets(state, ['/p'])).toThrow()
})

test('only what is there needs to be hidden', () => {
  writeFileSync(join(base, 'there'), '')
  keepSecret(state, join(base, 'there'), ['/p'])
  keepSecret(state, join(base, 'gone'), ['/p'])
  expect(hiddenByList(state, ['/p'])).toEqual([join(base, 'there')])
})

test('a path is hidden in its own project alone, and one of an earlier list everywhere', () => {
  keepSecret(state, '/usr/x', ['/p'])
  appendFileSync(keptSecretsFile(state), '\n"/old"\n')
  expect(readKeptSecrets(state, ['/p'])).toEqual(['/usr/x', '/old'])
  expect(readKeptSecrets(state, ['/q'])).toEqual(['/old'])
})
