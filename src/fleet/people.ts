/**
 * People who signed in with OpenID Connect. An ID token whose nonce names a key is the provider's
 * word for whose key it is: every machine verifies it with the keys in its policy.
 */

import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { attempt } from '../system/fault.ts'
import { isSignedBy, type PublicKey, type SigningKey } from '../system/keys/signing-key.ts'
import type { Approver, Bundle, Identity } from './bundle.ts'
import { parseObject } from './identity.ts'

/** A key, the ID token of its person, and the key's signature over who that is: nobody claims another's key. */
export interface Person {
  readonly key: PublicKey
  readonly token: string
  readonly signature: string
}

const MAX_TOKEN = 16 * 1024
const MAX_PEOPLE = 1000
const SKEW_SECONDS = 300

/** Binds a sign-in to one key in one fleet. */
export function signInNonce(fleet: string, key: PublicKey): string {
  return createHash('sha256').update(`cordon-fleet-sign-in-v1\0${fleet}\0${key}`).digest('base64url')
}

/** Of the person and the time: a desk replaces the token by its own, with the same claims. */
function signInMessage(token: string): string {
  const { iss, sub, iat } = parseObject<Record<string, unknown>>(decode(token.split('.')[1] ?? '')) ?? {}
  return `cordon-fleet-person-v1\0${JSON.stringify([iss, sub, iat])}`
}

export function signIn(token: string, key: SigningKey): Person {
  return { key: key.publicKey, token, signature: key.sign(signInMessage(token)) }
}

/** The list of people as the fleet's bucket has it: nothing in it is trusted. */
export function parsePeople(text: string | null): readonly Person[] {
  const value = text === null ? null : parseObject<readonly Person[]>(text)
  if (!Array.isArray(value)) return []
  return value.slice(0, MAX_PEOPLE).filter(isPerson)
}

export function isPerson(value: unknown): value is Person {
  const { key, token, signature } = (value ?? {}) as Partial<Person>
  return [key, token, signature].every((text) => typeof text === 'string')
}

/** Those who count as approvers now; a key is one person. */
export function signedIn(bundle: Bundle, people: readonly Person[], now: number): readonly Approver[] {
  const { identity, fleet } = bundle
  if (identity === undefined) return []
  const found = people.flatMap((person) => {
    const verdict = verifySignIn(person, identity, fleet, now)
    return 'approver' in verdict ? [[person.key, verdict.approver] as const] : []
  })
  return [...new Map(found).values()]
}

/** The name of a desk's key among those of a provider. */
const DESK = 'desk'

/** The key of a desk as a policy lists it among those of the provider: its word counts like theirs. */
export function deskKey(key: PublicKey): Readonly<Record<string, string>> {
  const x = Buffer.from(key.slice('ed25519:'.length), 'base64').toString('base64url')
  return { kty: 'OKP', crv: 'Ed25519', x, kid: DESK, alg: 'EdDSA', use: 'sig' }
}

/**
 * A desk's word for a sign-in whose token names no key: the device flow has no nonce. Null where the
 * policy does not take its word.
 */
export function vouchForSignIn(person: Person, identity: Identity, fleet: string, desk: SigningKey): Person | null {
  const { x } = deskKey(desk.publicKey)
  if (!identity.keys.some((one) => one.kid === DESK && one.x === x)) return null
  const claims = parseObject<object>(decode(person.token.split('.')[1]!))
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const nonce = signInNonce(fleet, person.key)
  const text = `${part({ alg: 'EdDSA', kid: DESK, typ: 'JWT' })}.${part({ ...claims, nonce })}`
  return { ...person, token: `${text}.${Buffer.from(desk.sign(text), 'base64').toString('base64url')}` }
}

/** The approver of a sign-in, or why it does not count. `bound` false: of a token that names no key. */
export function verifySignIn(
  { key, token, signature }: Person,
  identity: Identity,
  fleet: string,
  now: number,
  bound = true,
): { readonly approver: Approver } | { readonly problem: string } {
  const parts = token.length > MAX_TOKEN ? [] : token.split('.')
  const [header, claims] = parts.slice(0, 2).map((part) => parseObject<Record<string, unknown>>(decode(part)))
  if (parts.length !== 3 || !header || !claims) return { problem: 'it is not an ID token' }
  if (!isSignedBy(key, signInMessage(token), signature)) return { problem: 'its key did not sign it' }
  // An access token (`at+jwt`) or a logout token proves no sign-in.
  if (header.typ !== undefined && String(header.typ).toUpperCase() !== 'JWT') return { problem: 'it is another token' }
  if (!isSigned(parts, header, identity.keys)) return { problem: 'no key of the provider signed it' }
  const { iss, aud, azp, nonce, iat, exp, nbf, sub } = claims
  if (iss !== identity.issuer) return { problem: `it is by ${String(iss)}` }
  const audience = Array.isArray(aud) ? aud : [aud]
  if (
    !audience.includes(identity.client) ||
    (azp ?? (audience.length > 1 ? null : identity.client)) !== identity.client
  )
    return { problem: 'it is for another program' }
  if (nonce !== (bound ? signInNonce(fleet, key) : undefined)) return { problem: 'it is for another key' }
  const seconds = now / 1000
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp < iat || iat > seconds + SKEW_SECONDS)
    return { problem: 'its time is not valid' }
  if (typeof nbf === 'number' && nbf > seconds + SKEW_SECONDS) return { problem: 'its time is not valid' }
  if (seconds >= iat + identity.session) return { problem: 'the sign-in is too long ago' }
  if (typeof sub !== 'string' || sub === '') return { problem: 'it names nobody' }
  const theirs = claims[identity.claim]
  const groups = Array.isArray(theirs) ? theirs.flatMap((group) => machineGroups(identity, group)) : []
  if (groups.length === 0) return { problem: 'it names no group that may answer' }
  const name = [claims.preferred_username, claims.email, sub].find((one) => typeof one === 'string') as string
  return { approver: { key, name, groups: [...new Set(groups)], subject: sub } }
}

function machineGroups({ groups }: Identity, group: unknown): readonly string[] {
  return typeof group === 'string' && Object.hasOwn(groups, group) ? groups[group]! : []
}

/** The key types of the accepted algorithms: a public key never serves as a shared secret. */
const ALGORITHMS: Readonly<Record<string, { readonly type: string; readonly hash: string | null }>> = {
  RS256: { type: 'rsa', hash: 'sha256' },
  ES256: { type: 'ec', hash: 'sha256' },
  EdDSA: { type: 'ed25519', hash: null },
}

function isSigned(
  [header, claims, signature]: readonly string[],
  { alg, kid }: Record<string, unknown>,
  keys: Identity['keys'],
): boolean {
  const algorithm = typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg]! : null
  if (algorithm === null) return false
  return keys.some((jwk) => {
    if (kid !== undefined && jwk.kid !== undefined && jwk.kid !== kid) return false
    if ((jwk.alg ?? alg) !== alg || (jwk.use ?? 'sig') !== 'sig') return false
    const key = publicKeyOf(jwk)
    if (key === null || key.asymmetricKeyType !== algorithm.type) return false
    const bytes = Buffer.from(`${header}.${claims}`)
    return verify(algorithm.hash, bytes, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature!, 'base64url'))
  })
}

function publicKeyOf(jwk: Readonly<Record<string, string>>): KeyObject | null {
  return attempt(() => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }), null)
}

function decode(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8')
}
