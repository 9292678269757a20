import { expect, it } from 'vitest'
import { foreignCredential } from './foreign-credential.ts'

const OURS = ['cordon_a_1', 'cordon_b_2']

it.each([
  ['nothing', '/v1', [], null],
  ['our key', '/v1', ['X-Api-Key', 'cordon_a_1'], null],
  ['our token', '/v1', ['Authorization', 'Bearer cordon_b_2'], null],
  ['both', '/v1', ['authorization', 'bearer  cordon_b_2', 'x-api-key', ' cordon_a_1 '], null],
  ['other headers', '/v1?model=key', ['x-request-id', 'abc', 'content-type', 'x'], null],
  ['another key', '/v1', ['x-api-key', 'sk-theirs'], 'x-api-key'],
  ['another key beside ours', '/v1', ['x-api-key', 'cordon_a_1', 'X-API-KEY', 'sk-theirs'], 'x-api-key'],
  [
    'another token beside our key',
    '/v1',
    ['x-api-key', 'cordon_a_1', 'authorization', 'Bearer theirs'],
    'authorization',
  ],
  ['ours with something around it', '/v1', ['x-api-key', 'theirs,cordon_a_1'], 'x-api-key'],
  ['an empty one', '/v1', ['authorization', ''], 'authorization'],
  ['a cookie', '/v1', ['cookie', 'session=1'], 'cookie'],
  ['a basic login', '/v1', ['authorization', 'Basic dGhlaXJz'], 'authorization'],
  ['a parameter', '/v1beta/files?alt=json&key=theirs', [], 'key'],
  ['a parameter in disguise', '/v1beta/files?%6Bey=theirs', [], 'key'],
  ['a parameter in capitals', '/v1?API_KEY=theirs', [], 'API_KEY'],
] as const)('%s', (_, path, rawHeaders, expected) => {
  expect(foreignCredential({ path, rawHeaders }, OURS)).toBe(expected)
})
