/**
 * The changes of a new fleet policy: what its manifests open and close, and who decides about asks.
 */

import type { Approver, Bundle, Identity } from '../fleet/bundle.ts'
import { weakenedRules, widensIdentity } from '../fleet/bundle-store.ts'
import { mergeLayers } from '../manifest/layers.ts'
import { canonicalManifest } from '../manifest/sign/canonical.ts'
import { type ReachChange, reachDiff } from '../manifest/sign/reach-diff.ts'
import { keyId, type PublicKey } from '../system/keys/signing-key.ts'
import { layersFor, openLayer } from './draft.ts'

type Direction = ReachChange['direction']

interface FleetChange {
  readonly direction: Direction
  /** The field of the policy that changed. */
  readonly field: Exclude<keyof Bundle, 'fleet' | 'version' | 'issued'>
  readonly text: string
}

const ORDER: readonly Direction[] = ['opens', 'changes', 'closes']

/** What differs, opening changes first. `groups`: only for machines of exactly these; null: for every group that is named. */
export async function bundleDiff(
  before: Bundle | null,
  after: Bundle,
  groups: readonly string[] | null,
): Promise<readonly FleetChange[]> {
  const changes = [
    ...weakenedRules(before, after).map((text) => change('opens', 'rules', `${text}. Two of the team must sign this.`)),
    ...approverChanges(before?.approvers ?? [], after.approvers),
    ...ruleChanges(before, after),
    ...keyChanges(before?.revoked ?? [], after.revoked),
    ...endChanges(before, after),
    ...teamChanges(before, after),
    ...identityChanges(before?.identity, after.identity),
    ...liftChanges(before, after),
    ...rolloutChanges(before, after),
    ...(await layerChanges(before, after, groups)),
  ]
  return changes.toSorted((a, b) => ORDER.indexOf(a.direction) - ORDER.indexOf(b.direction))
}

function change(direction: Direction, field: FleetChange['field'], text: string): FleetChange {
  return { direction, field, text }
}

async function layerChanges(
  before: Bundle | null,
  after: Bundle,
  groups: readonly string[] | null,
): Promise<FleetChange[]> {
  const named = [...(before?.layers ?? []), ...after.layers].flatMap(({ groups: theirs, only = [], except = [] }) => [
    ...theirs,
    ...only,
    ...except,
  ])
  const audiences =
    groups === null ? [[], ...[...new Set(named)].filter((name) => name !== '*').map((name) => [name])] : [groups]
  const found: FleetChange[] = []
  const everywhere = new Set<string>()
  for (const audience of audiences) {
    const { opens, changes, closes } = reachDiff(
      before === null ? null : await canonicalFor(before, audience),
      await canonicalFor(after, audience),
    )
    for (const { direction, text } of [...opens, ...changes, ...closes]) {
      if (audience.length === 0) everywhere.add(text)
      else if (everywhere.has(text)) continue
      found.push(change(direction, 'layers', audience.length === 0 ? text : `Machines of ${listed(audience)}: ${text}`))
    }
  }
  // Comments, order and layers that say the same twice: no reach, and still another text that is signed.
  const same = JSON.stringify(before?.layers ?? []) === JSON.stringify(after.layers)
  if (found.length === 0 && !same)
    found.push(change('changes', 'layers', 'The manifests are written differently and have the same effect.'))
  return found
}

async function canonicalFor(bundle: Bundle, groups: readonly string[]): Promise<string> {
  const manifests = []
  for (const layer of layersFor(bundle, groups)) manifests.push(await openLayer(layer))
  return canonicalManifest(mergeLayers({ organisation: manifests }).manifest)
}

function approverChanges(before: readonly Approver[], after: readonly Approver[]): FleetChange[] {
  const entries = (list: readonly Approver[]) =>
    list.flatMap(({ key, name, groups }) =>
      groups.map((group) => ({ id: JSON.stringify([key, name, group]), key, name, group })),
    )
  const [old, now] = [entries(before), entries(after)]
  const words = ({ key, name, group }: (typeof old)[number]) =>
    `${name} (key ${keyId(key)}) ${group === '*' ? 'for every machine' : `for machines of "${group}"`}`
  const missingFrom = (list: typeof old) => (one: (typeof old)[number]) => !list.some(({ id }) => id === one.id)
  return [
    ...now.filter(missingFrom(old)).map((one) => change('opens', 'approvers', `New approver: ${words(one)}.`)),
    ...old
      .filter(missingFrom(now))
      .map((one) => change('closes', 'approvers', `No longer an approver: ${words(one)}.`)),
    ...reordered(old, now, 'approvers'),
  ]
}

function ruleChanges(before: Bundle | null, after: Bundle): FleetChange[] {
  const words = (bundle: Bundle | null) =>
    (bundle?.rules ?? []).map(
      ({ groups, tools, people }) => `${people} must agree to ${listed(tools)} on machines of ${listed(groups)}`,
    )
  const [old, now] = [words(before), words(after)]
  return [
    ...now.filter((text) => !old.includes(text)).map((text) => change('changes', 'rules', `New rule: ${text}.`)),
    ...old.filter((text) => !now.includes(text)).map((text) => change('opens', 'rules', `Rule removed: ${text}.`)),
    ...reordered(old, now, 'rules'),
  ]
}

/** The same entries in another order or number: no effect, but another text that is signed. */
function reordered(old: readonly unknown[], now: readonly unknown[], field: 'rules' | 'approvers'): FleetChange[] {
  const [a, b] = [old.map((one) => JSON.stringify(one)), now.map((one) => JSON.stringify(one))]
  const sameSet = a.every((one) => b.includes(one)) && b.every((one) => a.includes(one))
  return sameSet && a.join() !== b.join()
    ? [change('changes', field, `The ${field} are listed differently and have the same effect.`)]
    : []
}

function keyChanges(before: readonly PublicKey[], after: readonly PublicKey[]): FleetChange[] {
  return [
    ...before
      .filter((key) => !after.includes(key))
      .map((key) =>
        change(
          'opens',
          'revoked',
          `The key ${keyId(key)} is no longer listed as revoked. Machines that took an earlier version keep it revoked; new machines would trust it.`,
        ),
      ),
    ...after
      .filter((key) => !before.includes(key))
      .map((key) => change('closes', 'revoked', `The key ${keyId(key)} is revoked.`)),
  ]
}

const CLOSED: readonly Bundle['closes'][] = ['nothing', 'network', 'everything']

function endChanges(before: Bundle | null, after: Bundle): FleetChange[] {
  const found: FleetChange[] = []
  const add = (wider: boolean, field: 'expires' | 'closes' | 'grace', text: string) =>
    found.push(change(wider ? 'opens' : 'closes', field, text))
  const [was, is] = [before?.closes ?? 'nothing', after.closes]
  if (was !== is)
    add(CLOSED.indexOf(is) < CLOSED.indexOf(was), 'closes', `Once it has expired it closes ${is} (it was ${was}).`)
  const lasts = (bundle: Bundle | null) =>
    bundle === null || bundle.expires === null ? Infinity : Date.parse(bundle.expires) - Date.parse(bundle.issued)
  if (lasts(before) !== lasts(after))
    add(
      lasts(after) > lasts(before),
      'expires',
      `It is in force for ${days(lasts(after))} (it was ${days(lasts(before))}).`,
    )
  const grace = (bundle: Bundle | null) => bundle?.grace ?? Infinity
  if (grace(before) !== grace(after))
    add(
      grace(after) > grace(before),
      'grace',
      after.grace === undefined
        ? 'A machine that cannot prove its membership no longer closes before the policy expires.'
        : `A machine that cannot prove its membership for ${after.grace} seconds closes ${is}.`,
    )
  return found
}

/** What the team itself is, after a rotation of its keys. */
function teamChanges(before: Bundle | null, after: Bundle): FleetChange[] {
  const [was, is] = [before?.keys ?? [], after.keys ?? []]
  const signers = (bundle: Bundle | null) => bundle?.signers ?? 1
  const named = (keys: readonly PublicKey[]) => keys.map(keyId).join(', ') || 'those of each machine’s settings'
  const added = is.filter((key) => !was.includes(key))
  return [
    ...(was.toSorted().join() === is.toSorted().join()
      ? was.join() === is.join()
        ? []
        : [change('changes', 'keys', 'The keys of the team are listed differently and have the same effect.')]
      : [
          change(
            added.length > 0 ? 'opens' : 'closes',
            'keys',
            `The keys of the team become ${named(is)}; they were ${named(was)}.`,
          ),
        ]),
    ...(signers(before) === signers(after)
      ? []
      : [
          change(
            signers(after) < signers(before) ? 'opens' : 'closes',
            'signers',
            `${signers(after)} of the team must sign a policy (it was ${signers(before)}).`,
          ),
        ]),
  ]
}

function identityChanges(before: Identity | undefined, after: Identity | undefined): FleetChange[] {
  const text = (identity: Identity | undefined) => JSON.stringify(identity ?? null)
  if (text(before) === text(after)) return []
  const direction = widensIdentity(before, after) ? 'opens' : 'closes'
  if (after === undefined) return [change(direction, 'identity', 'Nobody answers by signing in any more.')]
  const groups = Object.entries(after.groups).map(([theirs, ours]) => `${theirs} for machines of ${listed(ours)}`)
  const keys = after.keys.map((key) => key.kid ?? key.kty).join(', ')
  return [
    change(
      direction,
      'identity',
      `People who sign in at ${after.issuer} (client ${after.client}, keys ${keys}) answer for ${after.session} seconds, by "${after.claim}": ${groups.join('; ')}.`,
    ),
  ]
}

function liftChanges(before: Bundle | null, after: Bundle): FleetChange[] {
  const longest = (bundle: Bundle | null) => {
    const found = new Map<string, number>()
    for (const { groups, manifest, liftable = 0 } of bundle?.layers ?? [])
      found.set(
        JSON.stringify([groups, manifest]),
        Math.max(liftable, found.get(JSON.stringify([groups, manifest])) ?? 0),
      )
    return found
  }
  const [was, is] = [longest(before), longest(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((layer) => {
    const [old, now] = [was.get(layer) ?? 0, is.get(layer) ?? 0]
    const [groups] = JSON.parse(layer) as [readonly string[]]
    if (old === now) return []
    const text = now === 0 ? 'No break-glass lifts' : `A break-glass of up to ${now} seconds lifts`
    return [
      change(
        now > old ? 'opens' : 'closes',
        'layers',
        `${text} a layer of machines of ${listed(groups)} (it was ${old}).`,
      ),
    ]
  })
}

function rolloutChanges(before: Bundle | null, after: Bundle): FleetChange[] {
  const { rollout } = after
  if (JSON.stringify(before?.rollout) === JSON.stringify(rollout)) return []
  if (rollout === undefined)
    return [change('changes', 'rollout', 'It is for every machine at once: it ends the roll-out.')]
  const { stage, stages, starts, last } = rollout
  return [
    change(
      'changes',
      'rollout',
      `Stage ${stage} of ${stages} of a roll-out, not before ${starts}; versions up to ${last} are signed with it.`,
    ),
  ]
}

function days(ms: number): string {
  return ms === Infinity ? 'an unlimited time' : `${Math.round((ms / 86_400_000) * 100) / 100} days`
}

function listed(names: readonly string[]): string {
  return names.map((name) => (name === '*' ? 'every group' : `"${name}"`)).join(', ')
}
