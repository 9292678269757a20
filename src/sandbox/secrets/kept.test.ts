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
  expect(readKeptSecrets(state)).toEqual([])
  expect(keepSecret(state, '/p/a\n"b')).toBe(true)
  expect(keepSecret(state, '/p/a\n"b')).toBe(false)
  expect(readKeptSecrets(state)).toEqual(['/p/a\n"b'])
  expect(statSync(keptSecretsFile(state)).mode & 0o777).toBe(0o600)
})

test('a line that was cut short takes no other with it', () => {
  keepSecret(state, '/p/a')
  appendFileSync(keptSecretsFile(state), '"/p/cut')
  keepSecret(state, '/p/b')
  expect(readKeptSecrets(state)).toEqual(['/p/a', '/p/b'])
})

test('a list that cannot be read is no empty one', () => {
  mkdirSync(keptSecretsFile(state), { recursive: true })
  expect(() => readKeptSecrets(state)).toThrow()
})

test('only what is there needs to be hidden', () => {
  writeFileSync(join(base, 'there'), '')
  keepSecret(state, join(base, 'there'))
  keepSecret(state, join(base, 'gone'))
  expect(hiddenByList(state)).toEqual([join(base, 'there')])
})
