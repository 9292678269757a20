/** Removing a hook reverts the trust that came with it, and nothing that the person wrote. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { forgetTrust, keepTrust, type TrustEntry, trustOf, withoutTrust } from './installed-trust.ts'

let base = ''
let state = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-trust-'))
  state = join(base, 'state')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const toml: TrustEntry = {
  agent: 'codex',
  scope: 'project',
  root: '/p',
  path: '/h/.codex/config.toml',
  table: 'projects."/p"',
  key: 'trust_level',
  before: null,
  after: 'trusted',
}
const nested: TrustEntry = { ...toml, path: '/p/s.json', table: 'a', key: 'b', after: 'true' }
const json: TrustEntry = { ...toml, agent: 'gemini', path: '/h/t.json', table: null, key: '/p', after: 'TRUST_FOLDER' }

it('remembers by installation, and what was there first', () => {
  keepTrust(state, [{ ...toml, before: 'untrusted' }, json])
  keepTrust(state, [{ ...toml, before: 'trusted', after: 'trusted' }])
  expect(trustOf(state, toml)).toEqual([{ ...toml, before: 'untrusted' }])
  expect(trustOf(state, { ...toml, root: '/q' })).toEqual([])
  forgetTrust(state, [toml])
  expect(trustOf(state, toml)).toEqual([])
  expect(trustOf(state, json)).toEqual([json])
})

it('a hook of the user is taken out from any project', () => {
  keepTrust(state, [{ ...toml, scope: 'user' }])
  expect(trustOf(state, { agent: 'codex', scope: 'user', root: '/elsewhere' })).toHaveLength(1)
})

it.each([
  ['the table goes', 'a = 1\n\n[projects."/p"]\ntrust_level = "trusted"\n', toml, 'a = 1\n'],
  ['the file goes', '\n[projects."/p"]\ntrust_level = "trusted"\n', toml, null],
  [
    'the earlier value returns',
    '[projects."/p"]\ntrust_level = "trusted"\n',
    { ...toml, before: 'untrusted' },
    '[projects."/p"]\ntrust_level = "untrusted"\n',
  ],
  [
    'changed since',
    '[projects."/p"]\ntrust_level = "untrusted"\n',
    toml,
    '[projects."/p"]\ntrust_level = "untrusted"\n',
  ],
  ['gone already', 'a = 1\n', toml, 'a = 1\n'],
  ['the folder goes', '{"/q":"TRUST_FOLDER","/p":"TRUST_FOLDER"}', json, '{"/q":"TRUST_FOLDER"}'],
  ['the file goes', '{"/p":"TRUST_FOLDER"}', json, null],
  ['the object goes', '{"x":1,"a":{"b":true}}', nested, '{"x":1}'],
  ['the file goes', '{"a":{"b":true}}', nested, null],
  ['the earlier value returns', '{"a":{"b":true,"c":1}}', { ...nested, before: 'false' }, '{"a":{"b":false,"c":1}}'],
  ['changed since', '{"a":{"b":"true"}}', nested, '{"a":{"b":"true"}}'],
  ['no such object', '{"a":7}', nested, '{"a":7}'],
  ['distrusted since', '{"/p":"DO_NOT_TRUST"}', json, '{"/p":"DO_NOT_TRUST"}'],
])('%s: %j', (_, text, entry, expected) => {
  expect(withoutTrust(text, [entry])).toBe(expected)
})
