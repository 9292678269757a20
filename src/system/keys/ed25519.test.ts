import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { isSignedBy } from './signing-key.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const key = `ed25519:${Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url').toString('base64')}`
const signature = sign(null, Buffer.from('message'), privateKey).toString('base64')

test('a signature counts for its message and its key', () => {
  expect(isSignedBy(key, 'message', signature)).toBe(true)
  expect(isSignedBy(key, 'another message', signature)).toBe(false)
  const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x!
  expect(isSignedBy(`ed25519:${Buffer.from(other, 'base64url').toString('base64')}`, 'message', signature)).toBe(false)
})

test.each([
  ['an empty one', key, ''],
  ['one of another length', key, signature.slice(4)],
  ['one in another writing of base64', key, `${signature} `],
  ['an invalid key', 'ed25519:AAAA', signature],
  ['no key at all', '', signature],
])('%s is not a signature', (_, badKey, badSignature) => {
  expect(isSignedBy(badKey, 'message', badSignature)).toBe(false)
})
