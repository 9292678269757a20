/** Signs an approver in with OpenID Connect: in the browser (PKCE), or with a code on another device. */

import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Identity } from '../fleet/bundle.ts'
import { storedBundle } from '../fleet/bundle-store.ts'
import { type FleetHttp, type FleetResponse, fleetHttp } from '../fleet/http.ts'
import { machineKey, parseObject } from '../fleet/identity.ts'
import {
  isPerson,
  type Person,
  parsePeople,
  signIn,
  signInNonce,
  verifySignIn,
  vouchForSignIn,
} from '../fleet/people.ts'
import { fetchBeside } from '../fleet/policy-source.ts'
import { type FleetSettings, isSecureUrl } from '../fleet/settings.ts'
import { Fault } from '../system/fault.ts'
import { machineFiles, requirePlainOutput } from '../system/files.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { SigningKey } from '../system/keys/signing-key.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import { pause } from '../system/timing.ts'
import type { BusHolder } from './connection.ts'
import type { Team } from './team.ts'

export interface Provider {
  readonly authorization: string
  readonly token: string
  readonly device: string | null
  readonly keys: Identity['keys']
}

/** The addresses and keys of a provider, as it publishes them itself. */
export async function discoverProvider(issuer: string, http: FleetHttp): Promise<Provider> {
  const found = await readJson(http, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  // Metadata of another issuer would send people, and their codes, there.
  if (found.issuer !== issuer) throw failed(`${issuer} says that it is ${String(found.issuer)}`)
  const { authorization_endpoint, token_endpoint, device_authorization_endpoint = null, jwks_uri } = found
  // A browser opens it, whatever its scheme.
  if (!isSecureUrl(String(authorization_endpoint)))
    throw failed(`${String(authorization_endpoint)} is not an https URL`)
  const { keys } = await readJson(http, String(jwks_uri))
  if (!Array.isArray(keys)) throw failed(`${issuer} publishes no keys`)
  return {
    authorization: String(authorization_endpoint),
    token: String(token_endpoint),
    device: device_authorization_endpoint === null ? null : String(device_authorization_endpoint),
    keys: keys.map(publicPart),
  }
}

/** What verifies signatures: the chains of certificates that some providers add change without need. */
function publicPart(key: Record<string, unknown>): Readonly<Record<string, string>> {
  const names = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e']
  return Object.fromEntries(
    names.flatMap((name) => (typeof key[name] === 'string' ? [[name, key[name] as string]] : [])),
  )
}

export interface SignInRequest {
  readonly identity: Identity
  readonly fleet: string
  readonly key: SigningKey
  readonly http: FleetHttp
  readonly signal: AbortSignal
  /** Shows a person where to go, with the code to type there; null for the browser of this machine. */
  readonly show: (url: string, code: string | null) => void
}

/** Signs in. What the browser brings was verified as every machine will; a device's needs the desk's word. */
export async function signInWith(request: SignInRequest, way: 'browser' | 'device'): Promise<Person> {
  const { identity, fleet, key, http } = request
  const provider = await discoverProvider(identity.issuer, http)
  const token = await (way === 'browser' ? inBrowser : onDevice)(request, provider)
  const person = signIn(token, key)
  const verdict = verifySignIn(person, identity, fleet, Date.now(), way === 'browser')
  if ('problem' in verdict) throw failed(`the sign-in does not count: ${verdict.problem}`)
  return person
}

/** The authorization code flow with PKCE; the browser brings the code to this machine's loopback. */
async function inBrowser(
  { identity, fleet, key, http, signal, show }: SignInRequest,
  provider: Provider,
): Promise<string> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const arrived = Promise.withResolvers<URLSearchParams>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    if (url.pathname !== '/callback' || url.searchParams.get('state') !== state) return response.writeHead(404).end()
    response.end('You may close this page.')
    return arrived.resolve(url.searchParams)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const stop = () => arrived.reject(failed('nobody signed in'))
  signal.addEventListener('abort', stop)
  try {
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const url = new URL(provider.authorization)
    const query = { ...claimsOf(identity, fleet, key), response_type: 'code', redirect_uri: redirect, state }
    for (const [name, value] of Object.entries({ ...query, code_challenge: challenge, code_challenge_method: 'S256' }))
      url.searchParams.set(name, value)
    show(url.href, null)
    const answer = await arrived.promise
    // A code of another provider would be redeemed here, or ours there (RFC 9207).
    if ((answer.get('iss') ?? identity.issuer) !== identity.issuer) throw failed('the answer is of another provider')
    const code = answer.get('code')
    if (code === null) throw failed(`the provider answered ${answer.get('error') ?? 'nothing'}`)
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier }
    const { status, text } = await postForm(http, provider.token, { ...form, client_id: identity.client })
    return idTokenOf(status, text)
  } finally {
    signal.removeEventListener('abort', stop)
    server.close()
    server.closeAllConnections()
  }
}

/** The device flow: a person types a code at the provider, on any device. */
async function onDevice(
  { identity, fleet, key, http, signal, show }: SignInRequest,
  provider: Provider,
): Promise<string> {
  if (provider.device === null) throw failed(`${identity.issuer} has no device flow`)
  const begun = await postForm(http, provider.device, claimsOf(identity, fleet, key))
  const { device_code, user_code, verification_uri, verification_uri_complete, interval } =
    parseObject<Record<string, unknown>>(begun.text) ?? {}
  if (begun.status !== 200 || typeof device_code !== 'string') throw failed(`the provider answered ${begun.status}`)
  show(String(verification_uri_complete ?? verification_uri), String(user_code))
  let seconds = typeof interval === 'number' && interval > 0 ? interval : 5
  for (;;) {
    await pause(seconds * 1000, signal)
    if (signal.aborted) throw failed('nobody signed in')
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, client_id: identity.client }
    const { status, text } = await postForm(http, provider.token, form)
    const error = parseObject<{ error?: string }>(text)?.error
    if (error === 'slow_down') seconds += 5
    else if (error !== 'authorization_pending') return idTokenOf(status, text)
  }
}

function claimsOf({ client, claim }: Identity, fleet: string, { publicKey }: SigningKey): Record<string, string> {
  const claims = JSON.stringify({ id_token: { [claim]: null, email: null, preferred_username: null } })
  return { client_id: client, scope: `openid ${claim}`, nonce: signInNonce(fleet, publicKey), claims }
}

function idTokenOf(status: number, text: string): string {
  const { id_token, error } = parseObject<{ id_token?: unknown; error?: string }>(text) ?? {}
  if (status !== 200 || typeof id_token !== 'string') throw failed(`the provider answered ${error ?? status}`)
  return id_token
}

function postForm(http: FleetHttp, url: string, form: Record<string, string>): Promise<FleetResponse> {
  if (!isSecureUrl(url)) throw failed(`${url} is not an https URL`)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return http({ url, method: 'POST', headers, body: new URLSearchParams(form).toString() })
}

async function readJson(http: FleetHttp, url: string): Promise<Record<string, unknown>> {
  if (!isSecureUrl(url)) throw failed(`${url} is not an https URL`)
  const { status, text } = await http({ url, method: 'GET' })
  const value = status === 200 ? parseObject<Record<string, unknown>>(text) : null
  if (value === null) throw failed(`${url} answered ${status}`)
  return value
}

function failed(why: string): Fault {
  return new Fault('fleet-refused', `the sign-in failed: ${why}`)
}

/** Signs the person of this machine's key in, and brings that to the team's desk. */
export async function handInSignIn(
  settings: FleetSettings,
  machine: Machine,
  desk: string,
  way: 'browser' | 'device',
  show: SignInRequest['show'],
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly groups: readonly string[]; readonly until: string }> {
  const bundle = storedBundle(machine.stateDir, settings)?.bundle
  if (bundle?.identity === undefined) throw failed('the policy names no provider')
  if (!isSecureUrl(desk)) throw failed(`${desk} is not an https URL`)
  const { identity, fleet } = bundle
  const { key } = machineKey(openKeyStore(machine.stateDir))
  const http = fleetHttp(settings.tls)
  const person = await signInWith({ identity, fleet, key, http, signal, show }, way)
  const now = Date.now()
  const verdict = verifySignIn(person, identity, fleet, now, way === 'browser')
  if ('problem' in verdict) throw failed(verdict.problem)
  const url = new URL('/sign-in', desk).href
  const { status } = await http({ url, method: 'POST', body: JSON.stringify(person) })
  if (status !== 202) throw failed(`the desk answered ${status}`)
  const { name, groups } = verdict.approver
  return { name, groups, until: new Date(now + identity.session * 1000).toISOString() }
}

const MAX_AGE_MS = 10 * 60_000

/** The desk's word for a sign-in on another device: a fresh token, and each one once. */
function vouched(team: Team, person: Person, identity: Identity, now: number): Person | null {
  const { fleet } = team.settings
  if ('problem' in verifySignIn(person, { ...identity, session: MAX_AGE_MS / 1000 }, fleet, now, false)) return null
  const name = createHash('sha256').update(person.token.split('.').slice(0, 2).join('.')).digest('hex')
  const path = join(team.directory, 'sign-ins.json')
  const isNew = withLock(`${path}.lock`, () => {
    const known = Object.entries(readOwnJson(path, isTimes) ?? {}).filter(([, until]) => until > now)
    if (known.some(([one]) => one === name)) return false
    // For longer than the token counts, also where the clock differs.
    writeOwnJson(path, { ...Object.fromEntries(known), [name]: now + 4 * MAX_AGE_MS })
    return true
  })
  return isNew ? vouchForSignIn(person, identity, fleet, team.key) : null
}

function isTimes(value: unknown): value is Readonly<Record<string, number>> {
  return typeof value === 'object' && value !== null && Object.values(value).every((time) => typeof time === 'number')
}

/** Puts a sign-in where machines find it; false for one that does not count. */
export async function takeSignIn(
  team: Team,
  machine: Machine,
  bus: BusHolder,
  body: string,
  now: number,
): Promise<boolean> {
  const given = parseObject<Person>(body)
  const bundle = storedBundle(machine.stateDir, team.settings)?.bundle
  if (bundle?.identity === undefined || !isPerson(given) || bundle.revoked.includes(given.key)) return false
  const { identity, fleet } = bundle
  const counts = (one: Person) => 'approver' in verifySignIn(one, identity, fleet, now)
  const person = counts(given) ? given : vouched(team, given, identity, now)
  if (person === null || !counts(person)) return false
  const changed = (text: string | null): string => {
    const others = parsePeople(text).filter((one) => one.key !== person.key && counts(one))
    return JSON.stringify([...others, person])
  }
  const { policy } = team.settings
  if (policy === 'nats') {
    const { changePeople } = await import('../fleet/nats/admin.ts')
    await changePeople(await bus.open(), changed)
  } else if (policy?.startsWith('/')) {
    const path = `${policy}.people`
    requirePlainOutput(path)
    machineFiles.writeText(path, changed(await fetchBeside(policy, 'people', fleetHttp({}))))
  } else return false
  return true
}
