/** A secret that cannot be brokered is reported to the person who can fix it. */

import { expect, it } from 'vitest'
import type { SecretSetting } from '../../manifest/schema/settings.ts'
import { thisMachine } from '../../system/machine.ts'
import { readSecret } from './brokered-secret.ts'

const setting: SecretSetting = { name: 'KEY', source: { kind: 'env', name: 'KEY' }, hosts: [], header: 'authorization' }
const read = (KEY: string) => readSecret(setting, { ...thisMachine(), env: { KEY } })

it.each([
  ['one character', 'x', 'secret-unfit'],
  ['three', 'abc', 'secret-unfit'],
  ['a line end behind it', 'sk-real\n', 'secret-unfit'],
  ['letters that no header takes', 'sk-réal', 'secret-unfit'],
  ['nothing', '', 'secret-missing'],
])('%s', (_, value, code) => {
  expect(() => read(value)).toThrow(expect.objectContaining({ code, remedy: expect.any(String) }))
})

it('four characters are enough', () => {
  expect(read('abcd').value).toBe('abcd')
})
