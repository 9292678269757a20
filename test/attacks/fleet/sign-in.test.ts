/** An ID token counts for one person, one key, one program and one provider, for a limited time. */

import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { approversFor, personOf } from '../../../src/fleet/ask.ts'
import type { Identity } from '../../../src/fleet/bundle.ts'
import {
  deskKey,
  type Person,
  parsePeople,
  signedIn,
  signIn,
  signInNonce,
  verifySignIn,
  vouchForSignIn,
} from '../../../src/fleet/people.ts'
import { holdBus } from '../../../src/organisation/connection.ts'
import { putBundle, signedBundle } from '../../../src/organisation/draft.ts'
import { discoverProvider, signInWith, takeSignIn } from '../../../src/organisation/sign-in.ts'
import { syncPolicy } from '../../../src/organisation/sync.ts'
import { foundFleet } from '../../../src/organisation/team.ts'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import { bundle, FLEET, NOW, openFleetWorld } from '../../fleet/fleet-world.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = (key: KeyObject, more: Record<string, string>) =>
  ({ ...key.export({ format: 'jwk' }), ...more }) as Record<string, string>
const IDENTITY: Identity = {
  issuer: 'https://id.example.com',
  client: 'cordon',
  claim: 'groups',
  groups: { sre: ['prod'], dev: ['dev'] },
  session: 3600,
  keys: [
    jwk(rsa.publicKey, { kid: 'r', alg: 'RS256', use: 'sig' }),
    jwk(ec.publicKey, { kid: 'e' }),
    jwk(other.publicKey, { kid: 'enc', use: 'enc' }),
  ],
}
const { key } = makeSigningKey()
const { key: eve } = makeSigningKey()
const seconds = NOW / 1000
const CLAIMS = {
  iss: IDENTITY.issuer,
  aud: 'cordon',
  sub: 'ann',
  iat: seconds,
  exp: seconds + 600,
  nonce: signInNonce(FLEET, key.publicKey),
  groups: ['sre', 'unknown'],
  email: 'ann@example.com',
} as const
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function token(claims: object = {}, header: object = {}, with_: KeyObject = rsa.privateKey): string {
  const text = `${part({ alg: 'RS256', kid: 'r', typ: 'JWT', ...header })}.${part({ ...CLAIMS, ...claims })}`
  return `${text}.${sign('sha256', Buffer.from(text), { key: with_, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const by = (text: string, with_ = key): Person => signIn(text, with_)
const verdict = (person: Person, now = NOW, identity = IDENTITY) => {
  const found = verifySignIn(person, identity, FLEET, now)
  return 'approver' in found ? `${found.approver.name} for ${found.approver.groups.join()}` : found.problem
}
const GOOD = 'ann@example.com for prod'

function hmac(): string {
  const text = `${part({ alg: 'HS256', kid: 'r', typ: 'JWT' })}.${part(CLAIMS)}`
  const secret = rsa.publicKey.export({ format: 'pem', type: 'spki' })
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

describe('an ID token', () => {
  const rows: readonly [string, () => Person, string][] = [
    ['the control', () => by(token()), GOOD],
    ['the control by another algorithm', () => by(token({}, { alg: 'ES256', kid: 'e' }, ec.privateKey)), GOOD],
    ['the control for several programs', () => by(token({ aud: ['cordon', 'x'], azp: 'cordon' })), GOOD],
    [
      'of another provider',
      () => by(token({ iss: 'https://id.example.com.evil.test' })),
      'it is by https://id.example.com.evil.test',
    ],
    ['signed by another provider’s key', () => by(token({}, {}, other.privateKey)), 'no key of the provider signed it'],
    [
      'signed by a key that only encrypts',
      () => by(token({}, { kid: 'enc' }, other.privateKey)),
      'no key of the provider signed it',
    ],
    ['without a signature', () => by(`${part({ alg: 'none' })}.${part(CLAIMS)}.`), 'no key of the provider signed it'],
    ['with the public key as a shared secret', () => by(hmac()), 'no key of the provider signed it'],
    [
      'with an algorithm of another key type',
      () => by(token({}, { alg: 'ES256' })),
      'no key of the provider signed it',
    ],
    [
      'whose algorithm is a name of every object',
      () => by(token({}, { alg: 'constructor' })),
      'no key of the provider signed it',
    ],
    ['for another program', () => by(token({ aud: 'wiki' })), 'it is for another program'],
    [
      'for several, on behalf of another',
      () => by(token({ aud: ['cordon', 'wiki'], azp: 'wiki' })),
      'it is for another program',
    ],
    ['for several, on behalf of nobody', () => by(token({ aud: ['cordon', 'wiki'] })), 'it is for another program'],
    ['an access token', () => by(token({}, { typ: 'at+jwt' })), 'it is another token'],
    ['a logout token', () => by(token({}, { typ: 'logout+jwt' })), 'it is another token'],
    ['without a nonce', () => by(token({ nonce: undefined })), 'it is for another key'],
    ['for another key', () => by(token(), eve), 'it is for another key'],
    [
      'for the same key in another fleet',
      () => by(token({ nonce: signInNonce('other', key.publicKey) })),
      'it is for another key',
    ],
    [
      'that somebody else puts under a key',
      () => ({ ...by(token({ sub: 'eve' }), eve), key: key.publicKey }),
      'its key did not sign it',
    ],
    ['from the future', () => by(token({ iat: seconds + 3600, exp: seconds + 7200 })), 'its time is not valid'],
    ['without a time', () => by(token({ iat: undefined })), 'its time is not valid'],
    ['of nobody', () => by(token({ sub: '' })), 'it names nobody'],
    ['of a group that may not answer', () => by(token({ groups: ['sales'] })), 'it names no group that may answer'],
    [
      'of a group that is a name of every object',
      () => by(token({ groups: ['toString', '__proto__'] })),
      'it names no group that may answer',
    ],
    ['whose groups are a text', () => by(token({ groups: 'sre' })), 'it names no group that may answer'],
    ['cut', () => by(token().slice(0, -40)), 'no key of the provider signed it'],
    ['that is not one', () => by('x.y'), 'it is not an ID token'],
  ]
  test.each(rows)('%s', (_, person, expected) => {
    expect(verdict(person())).toBe(expected)
  })

  it('counts for the time of the policy, also if the clock was set back', () => {
    expect(verdict(by(token()), NOW + 3599_000)).toBe(GOOD)
    expect(verdict(by(token()), NOW + 3600_000)).toBe('the sign-in is too long ago')
    expect(verdict(by(token()), NOW - 3600_000)).toBe('its time is not valid')
  })
})

describe('a token that names no key', () => {
  const { key: desk } = makeSigningKey()
  const vouching = { ...IDENTITY, keys: [...IDENTITY.keys, deskKey(desk.publicKey)] }
  const device = by(token({ nonce: undefined }))
  it('counts by the word of the desk that the policy names, for the key that signed', () => {
    expect(verdict(vouchForSignIn(device, vouching, FLEET, desk)!, NOW, vouching)).toBe(GOOD)
    expect(verdict(vouchForSignIn(device, vouching, FLEET, desk)!)).toBe('no key of the provider signed it')
    expect(vouchForSignIn(device, IDENTITY, FLEET, desk)).toBe(null)
    expect(vouchForSignIn(device, vouching, FLEET, eve)).toBe(null)
  })
  it('is taken by nobody else: the desk sees a key that did not sign it', () => {
    const stolen = { ...device, key: eve.publicKey }
    const found = verifySignIn(stolen, vouching, FLEET, NOW, false)
    expect(found).toEqual({ problem: 'its key did not sign it' })
  })
  it('is not a token that names a key', () => {
    expect(verifySignIn(by(token(), eve), vouching, FLEET, NOW, false)).toEqual({ problem: 'it is for another key' })
  })
})

it('the desk takes each token that names no key once, while it is fresh, and lists it for its key alone', async () => {
  const world = openFleetWorld()
  const { machine } = world
  const policy = join(world.base, 'policy.bundle')
  const team = foundFleet(machine, { fleet: FLEET, policy }, NOW)
  const keys = [...IDENTITY.keys, deskKey(team.key.publicKey)]
  const vouching = { ...IDENTITY, keys }
  await putBundle(team, machine, signedBundle(team, bundle({ identity: vouching }), null).text, null)
  const bus = holdBus(team.settings, machine)
  await syncPolicy(team.settings, machine, NOW)
  const take = (person: Person, now = NOW) => takeSignIn(team, machine, bus, JSON.stringify(person), now)
  const listed = () => parsePeople(existsSync(`${policy}.people`) ? readFileSync(`${policy}.people`, 'utf8') : null)
  const device = by(token({ nonce: undefined }))
  expect(await take(device, NOW + 11 * 60_000)).toBe(false)
  expect(await take({ ...device, key: eve.publicKey })).toBe(false)
  expect(listed()).toEqual([])
  expect(await take(device)).toBe(true)
  expect(signedIn(bundle({ identity: vouching }), listed(), NOW)).toMatchObject([
    { key: key.publicKey, subject: 'ann' },
  ])
  // A second key with the very token, as its thief would have it.
  expect(await take(by(token({ nonce: undefined }), eve))).toBe(false)
  // The control: a token of the right kind.
  expect(await take(by(token({ nonce: undefined, jti: '2' }), eve))).toBe(true)
  expect(listed()).toHaveLength(2)
  world.close()
})

describe('who counts', () => {
  const policy = bundle({ identity: IDENTITY })
  const machine = makeSigningKey().key.publicKey
  const names = (people: readonly Person[], revoked: readonly `ed25519:${string}`[] = []) =>
    approversFor({ ...policy, revoked }, machine, ['prod'], { people, now: NOW }).map(personOf)
  const second = token({ nonce: signInNonce(FLEET, eve.publicKey) })

  it('the same person with two keys is one', () => {
    const people = [by(token()), by(second, eve)]
    expect(new Set(names(people))).toEqual(new Set(['ann']))
  })
  it('a key is one person, however many sign in with it', () => {
    expect(signedIn(policy, [by(token()), by(token({ sub: 'bob' }))], NOW)).toHaveLength(1)
  })
  it('a revoked key, and a policy without a provider', () => {
    expect(names([by(token())])).toEqual(['ann'])
    expect(names([by(token())], [key.publicKey])).toEqual([])
    expect(signedIn(bundle(), [by(token())], NOW)).toEqual([])
  })
})

describe('a provider', () => {
  const METADATA = {
    issuer: IDENTITY.issuer,
    authorization_endpoint: `${IDENTITY.issuer}/auth`,
    token_endpoint: `${IDENTITY.issuer}/token`,
    jwks_uri: `${IDENTITY.issuer}/jwks`,
  }
  const http =
    (metadata: object) =>
    async ({ url }: { url: string }) => ({
      status: 200,
      header: () => null,
      text: JSON.stringify(url.endsWith('/jwks') ? { keys: IDENTITY.keys } : metadata),
    })
  it('that says it is another is not asked', async () => {
    await expect(discoverProvider(IDENTITY.issuer, http({ ...METADATA, issuer: 'https://evil.test' }))).rejects.toThrow(
      'says that it is',
    )
    expect(await discoverProvider(IDENTITY.issuer, http(METADATA))).toMatchObject({ device: null })
  })
  it('whose keys come over plain HTTP is not asked', async () => {
    const plain = http({ ...METADATA, jwks_uri: 'http://id.example.com/jwks' })
    await expect(discoverProvider(IDENTITY.issuer, plain)).rejects.toThrow('not an https URL')
    for (const page of ['http://evil.test/auth', 'file:///etc/passwd', 'javascript:alert(1)'])
      await expect(
        discoverProvider(IDENTITY.issuer, http({ ...METADATA, authorization_endpoint: page })),
      ).rejects.toThrow('not an https URL')
  })
  test.each([
    ['the control', `&iss=${encodeURIComponent(IDENTITY.issuer)}`, 'the provider answered 400'],
    ['an answer of another provider', '&iss=https://evil.test', 'the answer is of another provider'],
    ['an error', '&error=access_denied', 'access_denied'],
  ])('%s at the callback', async (_, more, expected) => {
    const answer = async (request: { url: string }) =>
      request.url.endsWith('/token') ? { status: 400, header: () => null, text: '{}' } : http(METADATA)(request)
    const signed = signInWith(
      {
        identity: IDENTITY,
        fleet: FLEET,
        key,
        http: answer,
        signal: new AbortController().signal,
        show: (url) => {
          const { searchParams } = new URL(url)
          expect(searchParams.get('code_challenge_method')).toBe('S256')
          const back = `${searchParams.get('redirect_uri')}?state=`
          const code = more.includes('error') ? '' : '&code=x'
          // Another state is another sign-in: it ends nothing.
          void fetch(`${back}wrong&code=x`).then(() => fetch(`${back}${searchParams.get('state')}${code}${more}`))
        },
      },
      'browser',
    )
    await expect(signed).rejects.toThrow(expected)
  })
})
