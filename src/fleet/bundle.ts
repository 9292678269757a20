/**
 * A policy bundle: an organisation's rules for the machines of a fleet, signed by enough of its
 * keys (X8).
 */

import { createHash } from 'node:crypto'
import { attempt } from '../system/fault.ts'
import { isSignedBy, type PublicKey, parsePublicKey, type SigningKey } from '../system/keys/signing-key.ts'

/** A manifest for the machines of some groups; `*` is every machine. */
export interface PolicyLayer {
  readonly groups: readonly string[]
  /** In a staged roll-out: it is for machines that are also in one of these, or in none of those. */
  readonly only?: readonly string[]
  readonly except?: readonly string[]
  /** The text of a `cordon.toml`. */
  readonly manifest: string
  /** Seconds for which a break-glass may lift it; without it none may. */
  readonly liftable?: number
}

/** The place of a bundle in a staged roll-out, whose later bundles were signed together with it. */
export interface RolloutStage {
  readonly stage: number
  readonly stages: number
  /** The highest version that the roll-out uses: its way back. */
  readonly last: number
  /** No machine takes it before this time. */
  readonly starts: string
}

/** The OpenID provider whose people may answer, by their groups there. */
export interface Identity {
  readonly issuer: string
  readonly client: string
  /** The claim of an ID token that lists a person's groups. */
  readonly claim: string
  /** Machine groups by the provider's groups. */
  readonly groups: Readonly<Record<string, readonly string[]>>
  /** Seconds after a sign-in for which it counts. */
  readonly session: number
  /** The provider's public keys, as JSON Web Keys. */
  readonly keys: readonly Readonly<Record<string, string>>[]
}

/** A person who may answer asks of machines in some groups. */
export interface Approver {
  readonly key: PublicKey
  readonly name: string
  readonly groups: readonly string[]
  /** Of a person who signed in: the provider's name for them. */
  readonly subject?: string
}

/** How many people it takes, for machines of some groups and some tools; of several that fit, the most. */
interface ApprovalRule {
  readonly groups: readonly string[]
  readonly tools: readonly string[]
  readonly people: number
}

/** The effect of an expired bundle. */
type Closes = 'nothing' | 'network' | 'everything'

export interface Bundle {
  readonly fleet: string
  /** Only ever a higher one takes the place of another. */
  readonly version: number
  readonly issued: string
  readonly expires: string | null
  readonly closes: Closes
  /** Seconds after which a machine that could not prove its membership applies `closes`. */
  readonly grace?: number
  readonly layers: readonly PolicyLayer[]
  readonly approvers: readonly Approver[]
  readonly rules: readonly ApprovalRule[]
  /** Keys of machines, approvers and the team that count no more. */
  readonly revoked: readonly PublicKey[]
  /** After a rotation: the keys of the team, and how many of them must sign. */
  readonly keys?: readonly PublicKey[]
  readonly signers?: number
  readonly identity?: Identity
  readonly rollout?: RolloutStage
}

/** The conditions on a bundle. */
export interface BundleTrust {
  readonly fleet: string
  readonly keys: readonly PublicKey[]
  readonly signers: number
  /** Keys that the last good bundle revoked. */
  readonly revoked: readonly PublicKey[]
  /** Hashes of the key changes that were in force; a revoked key may have signed those. */
  readonly changes?: readonly string[]
  /** How many must have signed a new key change, if more than a bundle needs. */
  readonly rotation?: number
}

export type BundleProblem = 'unreadable' | 'unsigned' | 'other-fleet' | 'malformed'

export interface VerifiedBundle {
  readonly bundle: Bundle
  /** Of the signed text: it alone identifies bundles of one version. */
  readonly hash: string
  readonly signers: readonly PublicKey[]
  /** The team's keys after every key change, and how many must sign. */
  readonly keys: readonly PublicKey[]
  readonly needed: number
  /** Every key that the team has or had: those of its enrolments. */
  readonly team: readonly PublicKey[]
  readonly changes: readonly SignedText[]
}

type BundleVerdict = VerifiedBundle | { readonly problem: BundleProblem; readonly message: string }

/** JSON text and signatures over its exact characters. */
export interface SignedText {
  readonly payload: string
  readonly signatures: readonly { readonly key: string; readonly signature: string }[]
}

interface SignedBundle extends SignedText {
  readonly cordon_bundle: 1
  /** Every rotation of the team's keys, each signed by the keys before it. */
  readonly changes?: readonly SignedText[]
}

/** A rotation of the team's keys. */
interface KeyChange {
  readonly fleet: string
  /** The hash of the change before it. */
  readonly after: string | null
  /** The keys before it: they enrolled machines. */
  readonly before: readonly PublicKey[]
  readonly keys: readonly PublicKey[]
  readonly signers: number
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_SIGNATURES = 64
const MAX_CHANGES = 100

/** The text that a signer of a bundle signs. */
function bundleMessage(payload: string): string {
  return `cordon-fleet-bundle-v1\0${payload}`
}

function changeMessage(payload: string): string {
  return `cordon-fleet-keys-v1\0${payload}`
}

export function changeHash({ payload }: SignedText): string {
  return createHash('sha256').update(changeMessage(payload)).digest('hex')
}

/** The keys that signed a text. */
export function signersOf(
  { signatures }: SignedText,
  message: string,
  keys: readonly PublicKey[],
): readonly PublicKey[] {
  return [...new Set(keys)].filter((key) =>
    signatures.some((one) => one.key === key && isSignedBy(key, message, one.signature)),
  )
}

type TeamKeys = Pick<VerifiedBundle, 'keys' | 'needed' | 'team'>

/**
 * The team's keys after every change that the keys before it signed. A change that they did not sign
 * is passed over: settings of a new machine have its result already.
 */
function keysAfter(changes: readonly SignedText[], trust: BundleTrust): TeamKeys {
  let [keys, needed, team] = [trust.keys, trust.signers, trust.keys]
  for (const [index, change] of changes.entries()) {
    const isKnown = trust.changes?.[index] === changeHash(change)
    const counted = isKnown ? keys : keys.filter((key) => !trust.revoked.includes(key))
    const least = isKnown ? needed : Math.max(needed, trust.rotation ?? 0)
    if (signersOf(change, changeMessage(change.payload), counted).length < least) continue
    const value = parseKeyChange(change.payload)
    const after = index === 0 ? null : changeHash(changes[index - 1]!)
    if (value === null || value.fleet !== trust.fleet || value.after !== after) continue
    if (!value.before.every((key) => keys.includes(key))) continue
    keys = value.keys
    needed = value.signers
    team = [...new Set([...team, ...value.before, ...keys])]
  }
  return { keys, needed, team }
}

/** Verifies a bundle. Nothing of the untrusted text is parsed before enough keys have signed. */
export function verifyBundle(text: string, trust: BundleTrust): BundleVerdict {
  const signed = parseSigned(text)
  if (signed === null) return { problem: 'unreadable', message: 'it is not a signed bundle, or not all of one' }
  const { payload, changes = [] } = signed
  const team = keysAfter(changes, trust)
  const counted = team.keys.filter((key) => !trust.revoked.includes(key))
  const signers = signersOf(signed, bundleMessage(payload), counted)
  if (signers.length < team.needed)
    return {
      problem: 'unsigned',
      message: `${signers.length} of the ${team.needed} signatures that this machine asks for are good`,
    }
  const bundle = parseBundle(payload)
  if (bundle === null) return { problem: 'malformed', message: 'it is signed, and its content is not a bundle' }
  if (bundle.fleet !== trust.fleet)
    return { problem: 'other-fleet', message: `it is for the fleet "${bundle.fleet}", not for "${trust.fleet}"` }
  if (changes.length > 0 ? !sameKeys(bundle, team) : bundle.keys !== undefined)
    return { problem: 'malformed', message: 'it names other keys of the team than those that its key changes lead to' }
  return { bundle, hash: bundleHash(payload), signers, ...team, changes }
}

function sameKeys({ keys = [], signers }: Bundle, team: TeamKeys): boolean {
  return signers === team.needed && keys.length === team.keys.length && keys.every((key) => team.keys.includes(key))
}

/**
 * Whether an unverified bundle brings no other key change than the one that its shown content states:
 * after those that were published, and from keys that are known.
 */
export function followsHistory(text: string, { keys, changes }: TeamHistory): boolean {
  const signed = parseSigned(text)
  const bundle = signed && parseBundle(signed.payload)
  if (!bundle) return false
  const [added, ...more] = (signed.changes ?? []).slice(changes.length)
  if (more.length > 0 || changes.some((one, index) => one.payload !== signed.changes?.[index]?.payload)) return false
  if (added === undefined) return true
  const change = parseKeyChange(added.payload)
  return (
    change !== null &&
    change.fleet === bundle.fleet &&
    change.after === (changes.length > 0 ? changeHash(changes.at(-1)!) : null) &&
    change.before.every((key) => keys.includes(key)) &&
    sameKeys(bundle, { keys: change.keys, needed: change.signers, team: [] })
  )
}

/** The bundle in an unverified text: to show, to sign, never to use. */
export function claimedBundle(text: string): Bundle | null {
  const signed = parseSigned(text)
  return signed && parseBundle(signed.payload)
}

/** The keys of the team and its key changes, before and after a rotation. */
export type TeamHistory = Pick<VerifiedBundle, 'keys' | 'needed' | 'changes'>

/** The text of a bundle with one signature; `history`: the key changes before it, to which it adds its own. */
export function signBundle(bundle: Bundle, key: SigningKey, history?: TeamHistory): string {
  const payload = JSON.stringify(bundle)
  const known = history?.changes ?? []
  const isRotation = history !== undefined && bundle.keys !== undefined && !sameKeys(bundle, { ...history, team: [] })
  const added = isRotation ? [keyChange(bundle, history)] : []
  const changes = [...known, ...added.map((text) => ({ payload: text, signatures: [] }))]
  const unsigned = { cordon_bundle: 1 as const, ...(changes.length > 0 && { changes }), payload, signatures: [] }
  return cosigned(unsigned, key)
}

function keyChange({ fleet, keys, signers }: Bundle, history: TeamHistory): string {
  const last = history.changes.at(-1)
  const change = { fleet, after: last ? changeHash(last) : null, before: history.keys, keys: keys!, signers: signers! }
  return JSON.stringify(change satisfies KeyChange)
}

/** How many signatures a bundle still lacks, of which it needs at least so many. */
export function missingSignatures(text: string, history: TeamHistory, least: number): number {
  const signed = parseSigned(text)!
  const { keys = history.keys, signers = history.needed } = parseBundle(signed.payload)!
  const onBundle = signersOf(signed, bundleMessage(signed.payload), keys).length
  const added = (signed.changes ?? []).slice(history.changes.length)
  const onChanges = added.map((change) => signersOf(change, changeMessage(change.payload), history.keys).length)
  return Math.max(
    0,
    Math.max(signers, least) - onBundle,
    ...onChanges.map((count) => Math.max(history.needed, least) - count),
  )
}

/** The same bundle with one more signature; null if the text is not a bundle. */
export function cosignBundle(text: string, key: SigningKey): string | null {
  const signed = parseSigned(text)
  return signed && cosigned(signed, key)
}

/** Signs the bundle, and its last key change: an older one needs nothing more. */
function cosigned(signed: SignedBundle, key: SigningKey): string {
  const changes = signed.changes?.map((change, index, all) =>
    index === all.length - 1 ? withSignature(change, changeMessage(change.payload), key) : change,
  )
  const whole = withSignature(signed, bundleMessage(signed.payload), key)
  return `${JSON.stringify({ ...whole, ...(changes && { changes }) }, null, 1)}\n`
}

export function withSignature<T extends SignedText>(signed: T, message: string, key: SigningKey): T {
  const others = signed.signatures.filter((one) => one.key !== key.publicKey)
  return { ...signed, signatures: [...others, { key: key.publicKey, signature: key.sign(message) }] }
}

/** Whether something for some groups is for a machine of these. */
export function isFor(groups: readonly string[], machine: readonly string[]): boolean {
  return groups.includes('*') || groups.some((group) => machine.includes(group))
}

/** The layers for machines of these groups. */
export function layersOf(layers: readonly PolicyLayer[], groups: readonly string[]): readonly PolicyLayer[] {
  return layers.filter(
    ({ groups: theirs, only, except }) =>
      isFor(theirs, groups) && (only === undefined || isFor(only, groups)) && !isFor(except ?? [], groups),
  )
}

function bundleHash(payload: string): string {
  return createHash('sha256').update(bundleMessage(payload)).digest('hex')
}

function parseSigned(text: string): SignedBundle | null {
  if (text.length > MAX_BYTES) return null
  const value = parseJson(text) as Partial<SignedBundle> | null
  const { cordon_bundle, changes } = value ?? {}
  if (cordon_bundle !== 1 || !isSignedText(value)) return null
  const { payload, signatures } = value
  if (changes === undefined) return { cordon_bundle, payload, signatures }
  const whole = Array.isArray(changes) && changes.length <= MAX_CHANGES && changes.every(isSignedText)
  return whole ? { cordon_bundle, changes, payload, signatures } : null
}

export function isSignedText(value: unknown): value is SignedText {
  const { payload, signatures } = (value ?? {}) as Partial<SignedText>
  return (
    typeof payload === 'string' &&
    Array.isArray(signatures) &&
    signatures.length <= MAX_SIGNATURES &&
    signatures.every((one) => typeof one?.key === 'string' && typeof one?.signature === 'string')
  )
}

function parseKeyChange(payload: string): KeyChange | null {
  const value = parseJson(payload) as KeyChange | null
  return value !== null && [value.before, value.keys].every(isKeys) && isSigners(value.signers, value.keys)
    ? value
    : null
}

/** The check of each field: half a policy is not a policy. */
const FIELDS: Readonly<Record<keyof Bundle, (value: never, bundle: Bundle) => boolean>> = {
  fleet: (value) => typeof value === 'string',
  version: isCount,
  issued: isTime,
  expires: (value) => value === null || isTime(value),
  closes: (value) => ['nothing', 'network', 'everything'].includes(value),
  layers: (value) => isList<PolicyLayer>(value, isLayer),
  approvers: (value) =>
    isList<Approver>(
      value,
      (one) => isKey(one.key) && typeof one.name === 'string' && isGroups(one.groups) && !('subject' in one),
    ),
  rules: (value) =>
    isList<ApprovalRule>(value, (rule) => isGroups(rule.groups) && isGroups(rule.tools) && isPeople(rule.people)),
  revoked: (value) => Array.isArray(value) && (value as unknown[]).every(isKey),
  grace: isCount,
  keys: isKeys,
  signers: (value, { keys }) => isSigners(value, keys),
  // One person with a listed key and a sign-in would count as two.
  identity: (value, { approvers }) => isIdentity(value) && approvers?.length === 0,
  rollout: isRollout,
}
const OPTIONAL = ['grace', 'keys', 'signers', 'identity', 'rollout']

/** Parses a bundle; null unless every field is valid. */
export function parseBundle(payload: string): Bundle | null {
  const value = parseJson(payload) as Bundle | null
  if (typeof value !== 'object' || value === null || Object.keys(value).some((name) => !Object.hasOwn(FIELDS, name)))
    return null
  const whole = Object.entries(FIELDS).every(([name, check]) =>
    Object.hasOwn(value, name) ? check(value[name as keyof Bundle] as never, value) : OPTIONAL.includes(name),
  )
  return whole && 'keys' in value === 'signers' in value ? value : null
}

function isLayer({ groups, only, except, manifest, liftable, ...more }: PolicyLayer): boolean {
  return (
    [groups, only ?? groups, except ?? groups].every(isGroups) &&
    typeof manifest === 'string' &&
    (liftable === undefined || isCount(liftable)) &&
    Object.keys(more).length === 0
  )
}

function isIdentity(value: unknown): boolean {
  const { issuer, client, claim, groups, session, keys, ...more } = (value ?? {}) as Partial<Identity>
  return (
    [issuer, client, claim].every((text) => typeof text === 'string' && text !== '') &&
    typeof groups === 'object' &&
    groups !== null &&
    Object.values(groups).every(isGroups) &&
    isCount(session) &&
    Array.isArray(keys) &&
    keys.every((key) => typeof key === 'object' && key !== null && typeof key.kty === 'string') &&
    Object.keys(more).length === 0
  )
}

function isRollout(value: unknown): boolean {
  const { stage, stages, last, starts, ...more } = (value ?? {}) as Partial<RolloutStage>
  return [stage, stages, last].every(isCount) && isTime(starts) && Object.keys(more).length === 0
}

function isList<T>(value: readonly T[], check: (item: T) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && check(item))
}

function isGroups(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && name !== '')
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isKeys(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isKey) && new Set(value).size === value.length
}

function isSigners(value: unknown, keys: readonly PublicKey[] | undefined): boolean {
  return isCount(value) && (value as number) <= (keys?.length ?? 0)
}

function isPeople(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 9
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && parsePublicKey(value) === value
}

/** With its zone: without one it is another time on every machine. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value))
}

function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text), null)
}
