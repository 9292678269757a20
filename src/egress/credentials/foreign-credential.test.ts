import { describe, expect, it } from 'vitest'
import { type Bystanders, foreignCredential } from './foreign-credential.ts'

const OURS = { placeholders: ['cordon_a_1', 'cordon_b_2'], headers: [], parameters: [] }
const LOOSE: Bystanders = { ...OURS, strict: false }
const STRICT: Bystanders = { ...OURS, strict: true, headers: ['anthropic-*', 'x-app'], parameters: ['beta'] }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

type Row = readonly [note: string, path: string, rawHeaders: readonly string[], found: string | null]

const EITHER: readonly Row[] = [
  ['nothing', '/v1', [], null],
  ['our key', '/v1', ['X-Api-Key', 'cordon_a_1'], null],
  ['our token', '/v1', ['Authorization', 'Bearer cordon_b_2'], null],
  ['both', '/v1', ['authorization', 'bearer  cordon_b_2', 'x-api-key', ' cordon_a_1 '], null],
  ['ours as git sends it', '/v1', ['authorization', basic('x-access-token:cordon_a_1')], null],
  ['ours as a name without a password', '/v1', ['authorization', basic('cordon_a_1:')], null],
  [
    'ours beside a key as the name',
    '/v1',
    ['authorization', basic('sk_live_0123456789abcdefghij:cordon_a_1')],
    'authorization',
  ],
  ['harmless ones', '/v1', ['user-agent', 'x', 'content-type', 'application/json', 'npm-session', 'abc'], null],
  ['another key', '/v1', ['x-api-key', 'sk-theirs'], 'x-api-key'],
  ['another key beside ours', '/v1', ['x-api-key', 'cordon_a_1', 'X-API-KEY', 'sk-theirs'], 'x-api-key'],
  ['another token beside our key', '/v1', ['x-api-key', 'cordon_a_1', 'authorization', 'Bearer t'], 'authorization'],
  ['ours with something around it', '/v1', ['x-api-key', 'theirs,cordon_a_1'], 'x-api-key'],
  ['an empty one', '/v1', ['authorization', ''], 'authorization'],
  ['a cookie', '/v1', ['cookie', 'session=1'], 'cookie'],
  ['a basic login', '/v1', ['authorization', basic('me:theirs')], 'authorization'],
  ['a private token', '/v1', ['Private-Token', 'theirs'], 'private-token'],
  ['a proof of possession', '/v1', ['dpop', 'theirs'], 'dpop'],
  ['a parameter', '/v1beta/files?alt2=json&key=theirs', [], 'key'],
  ['a parameter in disguise', '/v1beta/files?%6Bey=theirs', [], 'key'],
  ['a parameter in a disguise of its disguise', '/v1beta/files?%256Bey=theirs', [], 'key'],
  ['a parameter in capitals', '/v1?API_KEY=theirs', [], 'API_KEY'],
  ['oauth_token', '/v1?oauth_token=theirs', [], 'oauth_token'],
  ['a key in one word', '/v1?accessKey=theirs', [], 'accessKey'],
  ['a key of an app', '/v1', ['X-AppKey', 'theirs'], 'x-appkey'],
  ['a login of two parameters', '/v1?user=them&pass=theirs', [], 'pass'],
  ['a passphrase', '/v1', ['X-Passphrase', 'theirs'], 'x-passphrase'],
  ['an assertion', '/v1?client_assertion=theirs', [], 'client_assertion'],
  ['bearer_token', '/v1?bearer_token=theirs', [], 'bearer_token'],
  ['a parameter after a semicolon', '/v1?x=1;key=theirs', [], 'key'],
  ['a parameter of a path segment', '/v1;key=theirs/files', [], 'key'],
  ['the same, encoded', '/v1%3Bkey=theirs/files', [], 'key'],
  ['requests in a request', '/batch', ['content-type', 'multipart/mixed; boundary=x'], 'content-type'],
  ['a request as a body', '/', ['content-type', 'Application/HTTP'], 'content-type'],
  ['another path', '/v1', ['x-envoy-original-path', '/v1?key=theirs'], 'x-envoy-original-path'],
  ['another path with underscores', '/v1', ['x_original_url', '/v1?key=theirs'], 'x_original_url'],
  ['another method', '/v1', ['x-http-method-override', 'PUT'], 'x-http-method-override'],
  [
    'a key as a subprotocol of WebSocket',
    '/v1',
    ['sec-websocket-protocol', 'realtime, openai-insecure-api-key.sk-theirs'],
    'sec-websocket-protocol',
  ],
  [
    'a token as a subprotocol, which does not say so',
    '/v1',
    ['sec-websocket-protocol', 'v1, dGhlaXJzIGFuZCBub3Qgb3Vycw'],
    'sec-websocket-protocol',
  ],
]

describe.each([
  ['loose', LOOSE],
  ['strict', STRICT],
] as const)('what could be a credential: %s', (name, by) => {
  it.each(EITHER)('%s', (_, path, rawHeaders, expected) => {
    const found = foreignCredential({ path, rawHeaders }, by)
    // Strict mode may report an earlier field.
    if (name === 'strict' && expected !== null) expect(found).not.toBeNull()
    else expect(found).toBe(expected)
  })
})

describe('what is neither known to be harmless nor a credential by its name', () => {
  it.each([
    ['a header', '/v1', ['x-github-api-version', '2022'], null, 'x-github-api-version'],
    ['a listed header', '/v1', ['anthropic-beta', 'x', 'x-app', 'cli'], null, null],
    ['a parameter', '/v1?model=key', [], null, 'model'],
    ['a listed session', '/v1', ['anthropic-session-id', 'x'], 'anthropic-session-id', null],
    ['a login below a listed prefix', '/v1', ['anthropic-api-key', 'x'], 'anthropic-api-key', 'anthropic-api-key'],
    [
      'a token below a listed prefix',
      '/v1',
      ['Anthropic-Auth-Token', 'x'],
      'anthropic-auth-token',
      'anthropic-auth-token',
    ],
    ['a listed parameter', '/v1?beta=true', [], null, null],
    ['a place for more', '/v1?page_token=abc', [], null, 'page_token'],
    [
      'an ordinary subprotocol',
      '/v1',
      ['sec-websocket-protocol', 'graphql-transport-ws'],
      null,
      'sec-websocket-protocol',
    ],
    ['a batch, which git-lfs has too', '/info/lfs/objects/batch', [], null, 'batch'],
    ['batches, which is another thing', '/v1/messages/batches', [], null, null],
  ] as const)('%s', (_, path, rawHeaders, loose, strict) => {
    expect(foreignCredential({ path, rawHeaders }, LOOSE)).toBe(loose)
    expect(foreignCredential({ path, rawHeaders }, STRICT)).toBe(strict)
  })
})
