/** The last good bundle of a machine, the version below which it accepts none, and weakenings. */

import { join } from 'node:path'
import { Fault } from '../system/fault.ts'
import { type PublicKey, parsePublicKey } from '../system/keys/signing-key.ts'
import { withLock } from '../system/lock.ts'
import { openOwnDirectory, readOwnFile, readOwnJson, writeOwnFile, writeOwnJson } from '../system/state.ts'
import { peopleNeeded } from './ask.ts'
import {
  type Bundle,
  type BundleProblem,
  type BundleTrust,
  changeHash,
  type Identity,
  isFor,
  type VerifiedBundle,
  verifyBundle,
} from './bundle.ts'
import type { FleetSettings } from './settings.ts'

type RefusedBundle = BundleProblem | 'rolled-back' | 'forked' | 'expired' | 'too-early' | 'two-people'

type Acceptance =
  | { readonly accepted: VerifiedBundle; readonly isNew: boolean }
  | { readonly refused: RefusedBundle; readonly message: string }

interface Floor {
  readonly fleet: string
  readonly version: number
  readonly hash: string
  /** Every key that any bundle in force here has revoked: a later bundle that does not repeat one does not bring it back. */
  readonly revoked?: readonly PublicKey[]
  /** Hashes of the key changes in force: a bundle without them would bring rotated keys back. */
  readonly changes?: readonly string[]
}

/** The folder of a machine's fleet state. */
export function fleetDirectory(stateDir: string): string {
  return openOwnDirectory(join(openOwnDirectory(stateDir), 'fleet'))
}

/** The bundle in force, verified again; null before the first, a fault if no longer valid. */
export function storedBundle(stateDir: string, settings: FleetSettings): VerifiedBundle | null {
  const directory = fleetDirectory(stateDir)
  const bytes = readOwnFile(bundlePath(directory))
  const floor = readFloor(directory, settings.fleet)
  if (bytes === null) {
    if (floor === null) return null
    throw lost(`version ${floor.version} was in force here, and its file is gone`)
  }
  const verdict = verifyBundle(new TextDecoder().decode(bytes), trustOf(settings, []))
  if ('problem' in verdict) throw lost(`the stored policy does not count: ${verdict.message}`)
  if (floor !== null && verdict.bundle.version < floor.version)
    throw lost(`version ${floor.version} was in force here, and version ${verdict.bundle.version} is in its place`)
  return { ...verdict, bundle: { ...verdict.bundle, revoked: union(verdict.bundle.revoked, floor?.revoked) } }
}

/** Takes a bundle from anywhere: only one that is signed, newer and not expired takes the place of the last good one. */
export function acceptBundle(stateDir: string, settings: FleetSettings, text: string, now: number): Acceptance {
  const directory = fleetDirectory(stateDir)
  return withLock(join(directory, 'policy.lock'), () => {
    const before = lastGood(directory, settings)
    const floor = readFloor(directory, settings.fleet)
    const trusted = {
      ...trustOf(settings, union(before?.bundle.revoked, floor?.revoked)),
      changes: floor?.changes ?? [],
      rotation: needsSeveral(before?.bundle ?? null) ? 2 : 1,
    }
    const verdict = verifyBundle(text, trusted)
    if ('problem' in verdict) return { refused: verdict.problem, message: verdict.message }
    const { bundle, hash } = verdict
    const changes = verdict.changes.map(changeHash)
    if (trusted.changes.some((known, index) => changes[index] !== known))
      return { refused: 'rolled-back', message: 'it lacks a key change of the team that was in force here' }
    const revoked = union(bundle.revoked, before?.bundle.revoked, floor?.revoked)
    const known = Math.max(floor?.version ?? 0, before?.bundle.version ?? 0)
    if (bundle.version < known)
      return { refused: 'rolled-back', message: `version ${bundle.version} is older than ${known}, which was in force` }
    const knownHash = before?.bundle.version === known ? before.hash : floor?.hash
    if (bundle.version === known && knownHash !== undefined && knownHash !== hash)
      return { refused: 'forked', message: `there is another version ${known} than the one that was in force` }
    if (bundle.expires !== null && Date.parse(bundle.expires) <= now)
      return { refused: 'expired', message: `version ${bundle.version} has expired at ${bundle.expires}` }
    if (bundle.rollout !== undefined && Date.parse(bundle.rollout.starts) > now)
      return { refused: 'too-early', message: `version ${bundle.version} starts at ${bundle.rollout.starts}` }
    const needed = signersNeeded(verdict.needed, before?.bundle ?? null, bundle)
    if (verdict.signers.length < needed)
      return {
        refused: 'two-people',
        message: `version ${bundle.version} weakens rules that need several people, and one person signed it`,
      }
    const isNew = before?.hash !== hash
    // First the revocations of the older bundle, then the bundle: after a crash in between the
    // stored bundle is newer than the floor, never older.
    if (isNew && floor !== null && (floor.revoked?.length ?? 0) < revoked.length)
      writeOwnJson(floorPath(directory), { ...floor, revoked } satisfies Floor)
    if (isNew) writeOwnFile(bundlePath(directory), text)
    const next = { fleet: bundle.fleet, version: bundle.version, hash, revoked, changes } satisfies Floor
    if (JSON.stringify(floor) !== JSON.stringify(next)) writeOwnJson(floorPath(directory), next)
    return { accepted: { ...verdict, bundle: { ...bundle, revoked } }, isNew }
  })
}

function union(...lists: readonly (readonly PublicKey[] | undefined)[]): readonly PublicKey[] {
  return [...new Set(lists.flatMap((list) => list ?? []))]
}

/** The conditions on a bundle for this machine. */
export function trustOf({ fleet, keys, signers }: FleetSettings, revoked: readonly PublicKey[]): BundleTrust {
  return { fleet, keys, signers, revoked }
}

/** The stored bundle as far as it counts: a damaged one must not keep a good one out. */
function lastGood(directory: string, settings: FleetSettings): VerifiedBundle | null {
  const bytes = readOwnFile(bundlePath(directory))
  if (bytes === null) return null
  const verdict = verifyBundle(new TextDecoder().decode(bytes), trustOf(settings, []))
  return 'problem' in verdict ? null : verdict
}

function readFloor(directory: string, fleet: string): Floor | null {
  const floor = readOwnJson(floorPath(directory), isFloor)
  return floor?.fleet === fleet ? floor : null
}

function bundlePath(directory: string): string {
  return join(directory, 'policy.bundle')
}

function floorPath(directory: string): string {
  return join(directory, 'policy-floor.json')
}

function isFloor(value: unknown): value is Floor {
  const floor = value as Partial<Floor> | null
  return (
    typeof floor === 'object' &&
    floor !== null &&
    typeof floor.fleet === 'string' &&
    Number.isSafeInteger(floor.version) &&
    typeof floor.hash === 'string' &&
    (floor.revoked === undefined ||
      (Array.isArray(floor.revoked) && floor.revoked.every((key) => parsePublicKey(key) === key))) &&
    (floor.changes === undefined ||
      (Array.isArray(floor.changes) && floor.changes.every((hash) => typeof hash === 'string')))
  )
}

function lost(message: string): Fault {
  return new Fault('fleet-policy', `the organisation’s policy cannot be used: ${message}`, {
    remedy: 'Fetch it again: cordon fleet sync.',
  })
}

/** No rule or approver names it, so it shows the rules for everybody. */
const ANY = '\0any'

/** The sentences that say where `after` weakens a rule that needed several people; empty where it does not. */
export function weakenedRules(before: Bundle | null, after: Bundle): readonly string[] {
  if (before === null) return []
  const rules = [...before.rules, ...after.rules]
  const groups = named(rules.flatMap((rule) => rule.groups).concat(before.approvers.flatMap((one) => one.groups)))
  const tools = named(rules.flatMap((rule) => rule.tools))
  const pairs = groups.flatMap((group) => tools.map((tool) => ({ group, tool })))
  const fewer = pairs.flatMap(({ group, tool }) => {
    const [was, is] = [peopleNeeded(before, tool, [group]), peopleNeeded(after, tool, [group])]
    return is < was ? [`${count(is)} instead of ${was} must agree to ${toolName(tool)}${machines(group)}`] : []
  })
  const guarded = groups.filter((group) => tools.some((tool) => peopleNeeded(before, tool, [group]) > 1))
  const joined = after.approvers.flatMap((one) =>
    guarded
      .filter((group) => isFor(one.groups, [group]) && !answers(before, one, group))
      .map((group) => `${one.name} can be one of several who must agree${machines(group)}`),
  )
  const widened = guarded.length > 0 && widensIdentity(before.identity, after.identity)
  const signedIn = `Other people who sign in at ${after.identity?.issuer} can be among several who must agree`
  return [...new Set([...fewer, ...joined, ...(widened ? [signedIn] : [])])]
}

/** Whether a sign-in may count that did not before: of another provider, key or group, or for longer. */
export function widensIdentity(before: Identity | undefined, after: Identity | undefined): boolean {
  if (after === undefined) return false
  const parts = ({ issuer, client, claim, groups, keys }: Identity): readonly string[] => [
    JSON.stringify([issuer, client, claim]),
    ...keys.map((key) => JSON.stringify(key)),
    ...Object.entries(groups).flatMap(([theirs, ours]) => ours.map((group) => JSON.stringify([theirs, group]))),
  ]
  if (before === undefined || after.session > before.session) return true
  const known = parts(before)
  return parts(after).some((part) => !known.includes(part))
}

/** Whether a rule needs several people: then one person does not bring new keys of the team either. */
function needsSeveral(bundle: Bundle | null): boolean {
  return bundle?.rules.some(({ people }) => people > 1) ?? false
}

/** How many of the team's keys must have signed `after` when it follows `before`. */
export function signersNeeded(signers: number, before: Bundle | null, after: Bundle): number {
  const rotates = needsSeveral(before) && JSON.stringify(before?.keys) !== JSON.stringify(after.keys)
  return weakenedRules(before, after).length === 0 && !rotates ? signers : Math.max(signers, 2)
}

/** Two keys of one name count as one person, so a key under another name is another person. */
function answers(bundle: Bundle, { key, name }: Bundle['approvers'][number], group: string): boolean {
  return bundle.approvers.some((one) => one.key === key && one.name === name && isFor(one.groups, [group]))
}

function named(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== '*')), ANY]
}

function count(people: number): string {
  return people === 1 ? 'One person' : `${people} people`
}

function toolName(tool: string): string {
  return tool === ANY ? 'other tools' : tool
}

function machines(group: string): string {
  return group === ANY ? '' : ` on machines of "${group}"`
}
