/**
 * A policy bundle: an organisation's rules for the machines of a fleet, signed by enough of its
 * keys (X8).
 */

import { createHash } from 'node:crypto'
import { isSignedBy, type PublicKey, parsePublicKey, type SigningKey } from '../system/keys/signing-key.ts'

/** A manifest for the machines of some groups; `*` is every machine. */
interface PolicyLayer {
  readonly groups: readonly string[]
  /** The text of a `cordon.toml`. */
  readonly manifest: string
}

/** A person who may answer asks of machines in some groups. */
export interface Approver {
  readonly key: PublicKey
  readonly name: string
  readonly groups: readonly string[]
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
}

/** The conditions on a bundle. */
export interface BundleTrust {
  readonly fleet: string
  readonly keys: readonly PublicKey[]
  readonly signers: number
  /** Keys that the last good bundle took back. */
  readonly revoked: readonly PublicKey[]
}

export type BundleProblem = 'unreadable' | 'unsigned' | 'other-fleet' | 'malformed'

export interface VerifiedBundle {
  readonly bundle: Bundle
  /** Of the signed text: it alone identifies bundles of one version. */
  readonly hash: string
  readonly signers: readonly PublicKey[]
}

type BundleVerdict = VerifiedBundle | { readonly problem: BundleProblem; readonly message: string }

interface SignedBundle {
  readonly cordon_bundle: 1
  /** The bundle as JSON text: the exact signed characters. */
  readonly payload: string
  readonly signatures: readonly { readonly key: string; readonly signature: string }[]
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_SIGNATURES = 64

/** The text that a signer of a bundle signs. */
function bundleMessage(payload: string): string {
  return `cordon-fleet-bundle-v1\0${payload}`
}

/** Verifies a bundle. Nothing of the untrusted text is parsed before enough keys have signed. */
export function verifyBundle(text: string, trust: BundleTrust): BundleVerdict {
  const signed = parseSigned(text)
  if (signed === null) return { problem: 'unreadable', message: 'it is not a signed bundle, or not all of one' }
  const { payload, signatures } = signed
  const counted = trust.keys.filter(
    (key) =>
      !trust.revoked.includes(key) &&
      signatures.some((one) => one.key === key && isSignedBy(key, bundleMessage(payload), one.signature)),
  )
  const signers = [...new Set(counted)]
  if (signers.length < trust.signers)
    return {
      problem: 'unsigned',
      message: `${signers.length} of the ${trust.signers} signatures that this machine asks for are good`,
    }
  const bundle = parseBundle(payload)
  if (bundle === null) return { problem: 'malformed', message: 'it is signed, and its content is not a bundle' }
  if (bundle.fleet !== trust.fleet)
    return { problem: 'other-fleet', message: `it is for the fleet "${bundle.fleet}", not for "${trust.fleet}"` }
  return { bundle, hash: bundleHash(payload), signers }
}

/** The bundle in an unverified text: to show, to sign, never to use. */
export function claimedBundle(text: string): Bundle | null {
  const signed = parseSigned(text)
  return signed && parseBundle(signed.payload)
}

/** The text of a bundle with one signature. */
export function signBundle(bundle: Bundle, key: SigningKey): string {
  const payload = JSON.stringify(bundle)
  return printSigned({ cordon_bundle: 1, payload, signatures: [signatureOf(payload, key)] })
}

/** The same bundle with one more signature; null if the text is not a bundle. */
export function cosignBundle(text: string, key: SigningKey): string | null {
  const signed = parseSigned(text)
  if (signed === null) return null
  const others = signed.signatures.filter((one) => one.key !== key.publicKey)
  return printSigned({ ...signed, signatures: [...others, signatureOf(signed.payload, key)] })
}

/** Whether something for some groups is for a machine of these. */
export function isFor(groups: readonly string[], machine: readonly string[]): boolean {
  return groups.includes('*') || groups.some((group) => machine.includes(group))
}

function signatureOf(payload: string, key: SigningKey): SignedBundle['signatures'][number] {
  return { key: key.publicKey, signature: key.sign(bundleMessage(payload)) }
}

function printSigned(signed: SignedBundle): string {
  return `${JSON.stringify(signed, null, 1)}\n`
}

function bundleHash(payload: string): string {
  return createHash('sha256').update(bundleMessage(payload)).digest('hex')
}

function parseSigned(text: string): SignedBundle | null {
  if (text.length > MAX_BYTES) return null
  const value = parseJson(text) as Partial<SignedBundle> | null
  const { cordon_bundle, payload, signatures } = value ?? {}
  if (cordon_bundle !== 1 || typeof payload !== 'string' || !Array.isArray(signatures)) return null
  if (signatures.length > MAX_SIGNATURES) return null
  const whole = signatures.every((one) => typeof one?.key === 'string' && typeof one?.signature === 'string')
  return whole ? { cordon_bundle, payload, signatures } : null
}

/** Parses a bundle; null unless every field is valid: half a policy is not a policy. */
export function parseBundle(payload: string): Bundle | null {
  const value = parseJson(payload) as Bundle | null
  if (typeof value !== 'object' || value === null) return null
  const { fleet, version, issued, expires, closes, grace, layers, approvers, rules, revoked } = value
  const whole =
    typeof fleet === 'string' &&
    Number.isSafeInteger(version) &&
    version >= 1 &&
    isTime(issued) &&
    (expires === null || isTime(expires)) &&
    ['nothing', 'network', 'everything'].includes(closes) &&
    (grace === undefined || (Number.isSafeInteger(grace) && grace > 0)) &&
    isList(layers, (layer) => isGroups(layer.groups) && typeof layer.manifest === 'string') &&
    isList(approvers, (one) => isKey(one.key) && typeof one.name === 'string' && isGroups(one.groups)) &&
    isList(rules, (rule) => isGroups(rule.groups) && isGroups(rule.tools) && isPeople(rule.people)) &&
    Array.isArray(revoked) &&
    revoked.every(isKey) &&
    Object.keys(value).length === ('grace' in value ? 10 : 9)
  return whole ? value : null
}

function isList<T>(value: readonly T[], check: (item: T) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && check(item))
}

function isGroups(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && name !== '')
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
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
