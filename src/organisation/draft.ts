/** A policy before it is signed: a file, its changes, its effect on recorded calls; publishing. */

import { dirname, resolve } from 'node:path'
import { parseLine } from '../audit/event.ts'
import { type CallChecker, openChecker } from '../call/decide/check-call.ts'
import {
  type Bundle,
  claimedBundle,
  cosignBundle,
  followsHistory,
  type Identity,
  layersOf,
  missingSignatures,
  parseBundle,
  signBundle,
  type VerifiedBundle,
  verifyBundle,
} from '../fleet/bundle.ts'
import { signersNeeded, storedBundle, trustOf } from '../fleet/bundle-store.ts'
import { type FleetHttp, fleetHttp } from '../fleet/http.ts'
import { deskKey } from '../fleet/people.ts'
import { fetchPolicy } from '../fleet/policy-source.ts'
import { openManifest } from '../manifest/load.ts'
import type { Manifest } from '../manifest/schema/manifest.ts'
import { parseSeconds } from '../manifest/schema/shape.ts'
import { renderProblem } from '../manifest/toml/problem.ts'
import type { Verdict } from '../policy/order.ts'
import { loadPolicy } from '../project/load/load.ts'
import type { WrittenManifest } from '../project/load/memory.ts'
import { bundleNames } from '../sandbox/bundles/built-in.ts'
import { Fault } from '../system/fault.ts'
import { type Files, machineFiles, requirePlainOutput } from '../system/files.ts'
import type { PublicKey } from '../system/keys/signing-key.ts'
import type { Machine } from '../system/machine.ts'
import { discoverProvider } from './sign-in.ts'
import { onBus, portsOf } from './sync.ts'
import type { Team } from './team.ts'

interface DraftFile {
  /** Manifests by the files beside the draft. */
  readonly layers: readonly {
    readonly groups: readonly string[]
    readonly file: string
    /** How long a break-glass may lift it, such as "1h". */
    readonly breakglass?: string
  }[]
  /** How long the policy is valid, and its effect after that. */
  readonly days?: number
  readonly closes?: Bundle['closes']
  /** How long a machine may go without proving its membership, such as "15m". */
  readonly grace?: string
  readonly approvers?: Bundle['approvers']
  readonly rules?: Bundle['rules']
  readonly revoked?: Bundle['revoked']
  /** The team's keys from now on, and how many of them must sign. */
  readonly keys?: Bundle['keys']
  readonly signers?: number
  /** Who may answer by signing in; the provider's keys are fetched. */
  readonly identity?: Pick<Identity, 'issuer' | 'client' | 'groups'> & {
    readonly claim?: string
    readonly session?: string
    /** The key of the desk whose word counts for sign-ins with a code, which name no key. */
    readonly desk?: PublicKey
  }
  /** The groups that take it first, one after the other. */
  readonly rollout?: readonly DraftStage[]
}

export interface DraftStage {
  readonly groups: readonly string[]
  /** Such as "2h". */
  readonly for: string
  /** By how many percent of the calls refusals may rise (5). */
  readonly refusals?: number
}

const KNOWN = [
  ...['layers', 'days', 'closes', 'grace', 'approvers', 'rules', 'revoked'],
  ...['keys', 'signers', 'identity', 'rollout'],
]

/** A draft as a bundle, and the stages in which it is to be rolled out. */
export interface Draft {
  readonly bundle: Bundle
  readonly stages: readonly DraftStage[]
}

interface DraftFacts {
  readonly fleet: string
  readonly version: number
  readonly now: number
  readonly before: Bundle | null
  readonly http: FleetHttp
  /** Revoked besides the keys in the draft itself. */
  readonly revoked: readonly PublicKey[]
}

/** Reads a draft and its manifests; a Fault names any problem. */
async function readDraft(file: string, files: Files, facts: DraftFacts): Promise<Draft> {
  const draft = parseDraft(files.readText(file), file)
  const layers = []
  for (const { groups, file: name, breakglass } of draft.layers) {
    const path = resolve(dirname(file), name)
    const manifest = files.readText(path)
    await openLayer({ text: manifest, label: path })
    layers.push({ groups, manifest, ...(breakglass !== undefined && { liftable: parseSeconds(breakglass)! }) })
  }
  const { days, closes = 'nothing', grace, approvers = [], rules = [], revoked = [], rollout = [] } = draft
  const { keys = facts.before?.keys, signers = draft.keys === undefined ? facts.before?.signers : 1 } = draft
  const bundle: Bundle = {
    fleet: facts.fleet,
    version: facts.version,
    issued: new Date(facts.now).toISOString(),
    expires: days === undefined ? null : new Date(facts.now + days * 86_400_000).toISOString(),
    closes,
    ...(grace !== undefined && { grace: parseSeconds(grace)! }),
    layers,
    approvers,
    rules,
    revoked: [...new Set([...revoked, ...facts.revoked])],
    ...(keys !== undefined && { keys, signers: signers! }),
    ...(draft.identity !== undefined && { identity: await identityOf(draft.identity, facts.http) }),
  }
  if (parseBundle(JSON.stringify(bundle)) === null)
    throw bad(file, 'one of closes, grace, breakglass, approvers, rules, revoked, keys, signers, identity is wrong')
  return { bundle, stages: rollout }
}

async function identityOf(
  { issuer, client, groups, claim = 'groups', session = '12h', desk }: NonNullable<DraftFile['identity']>,
  http: FleetHttp,
): Promise<Identity> {
  const { keys } = await discoverProvider(issuer, http)
  return {
    issuer,
    client,
    claim,
    groups,
    session: parseSeconds(session)!,
    keys: [...keys, ...(desk === undefined ? [] : [deskKey(desk)])],
  }
}

function parseDraft(text: string, file: string): DraftFile {
  let draft: DraftFile
  try {
    draft = JSON.parse(text)
  } catch (error) {
    throw bad(file, 'it is not JSON', error)
  }
  const odd = Object.keys(draft ?? {}).find((name) => !KNOWN.includes(name))
  if (odd !== undefined) throw bad(file, `there is no field "${odd}"`)
  const whole =
    Array.isArray(draft?.layers) &&
    draft.layers.every((layer) => typeof layer?.file === 'string' && Array.isArray(layer.groups))
  if (!whole) throw bad(file, '"layers" must be a list of { groups, file }')
  if (draft.days !== undefined && !(draft.days > 0)) throw bad(file, '"days" must be a number above 0')
  if (draft.grace !== undefined && !(typeof draft.grace === 'string' && Number.isInteger(parseSeconds(draft.grace))))
    throw bad(file, '"grace" must be a time such as "15m"')
  const wrong = draft.rollout?.find(
    ({ groups, for: time, refusals = 0 }) =>
      !Array.isArray(groups) || groups.length === 0 || !Number.isInteger(parseSeconds(time)) || !(refusals >= 0),
  )
  if (wrong !== undefined) throw bad(file, '"rollout" must be a list of { groups, for: "2h" }')
  if (draft.grace !== undefined && (draft.closes ?? 'nothing') === 'nothing')
    throw bad(file, '"grace" needs "closes": "network" or "everything"')
  return draft
}

export async function openLayer({ text, label }: WrittenManifest): Promise<Manifest> {
  const result = await openManifest({ text, file: label }, { bundles: bundleNames() })
  if ('manifest' in result) return result.manifest
  throw new Fault('manifest', `the manifest does not load:\n${result.problems.map(renderProblem).join('\n')}`)
}

/** The manifests of a bundle for machines of these groups. */
export function layersFor(bundle: Bundle | null, groups: readonly string[]): readonly WrittenManifest[] {
  return layersOf(bundle?.layers ?? [], groups).map((layer) => ({
    text: layer.manifest,
    label: `organisation (${layer.groups.join(', ')})`,
  }))
}

interface FleetReplay {
  readonly calls: number
  /** Calls whose arguments were not recorded. */
  readonly unknown: number
  readonly changed: readonly {
    readonly tool: string
    readonly subject: string
    readonly project: string
    readonly before: Verdict
    readonly after: Verdict
    readonly message: string
  }[]
}

/**
 * Decides recorded calls under both bundles, each in its own project without other layers: the
 * effect of the change itself.
 */
export async function replayBundles(
  lines: readonly string[],
  bundles: { readonly before: Bundle | null; readonly after: Bundle },
  groups: readonly string[],
  machine: Machine,
  files: Files,
): Promise<FleetReplay> {
  const checkers = new Map<string, { readonly before: CallChecker; readonly after: CallChecker }>()
  const checkersOf = async (root: string) => {
    const known = checkers.get(root)
    if (known) return known
    const open = (bundle: Bundle | null) => checkerFor(root, layersFor(bundle, groups), machine, files)
    const pair = { before: await open(bundles.before), after: await open(bundles.after) }
    checkers.set(root, pair)
    return pair
  }
  const changed: FleetReplay['changed'][number][] = []
  let [calls, unknown] = [0, 0]
  for (const text of lines) {
    const line = parseLine(text)
    if (line === null || (line.type !== 'begin' && line.type !== 'denied')) continue
    calls++
    if (line.args === undefined || typeof line.tool !== 'string') {
      unknown++
      continue
    }
    const project = typeof line.project === 'string' ? line.project : '/'
    const { before, after } = await checkersOf(project)
    const call = { tool: line.tool, input: line.args, cwd: project }
    const [was, is] = [before.check(call).decision, after.check(call).decision]
    if (was.decision === is.decision) continue
    const subject = typeof line.subject === 'string' ? line.subject : ''
    const { tool } = call
    changed.push({ tool, subject, project, before: was.decision, after: is.decision, message: is.reason.message })
  }
  return { calls, unknown, changed }
}

async function checkerFor(
  root: string,
  organisation: readonly WrittenManifest[],
  machine: Machine,
  files: Files,
): Promise<CallChecker> {
  const choice = { kind: 'object', object: { schema_version: 1 } } as const
  const outcome = await loadPolicy({ machine, files, root, choice, organisation })
  if ('problems' in outcome)
    throw new Fault('manifest', `the policy does not load:\n${outcome.problems.map(renderProblem).join('\n')}`)
  return openChecker(outcome.loaded, machine, files, undefined, { alone: true })
}

function bad(file: string, why: string, cause?: unknown): Fault {
  return new Fault('manifest', `${file} is not a draft of a policy: ${why}`, { cause })
}

/** The bundle that machines would fetch now; null where none was published yet. */
export async function publishedBundle(team: Team, machine: Machine): Promise<VerifiedBundle | null> {
  const { settings } = team
  const { policy } = settings
  const texts = [team.newest()]
  try {
    const fetched =
      policy && (await onBus(settings, machine, (bus) => fetchPolicy(policy, null, portsOf(settings, bus))))
    if (fetched && fetched !== 'unchanged') texts.push(fetched.text)
  } catch (error) {
    if (!(error instanceof Fault && ['fleet-unreachable', 'fleet-refused'].includes(error.code))) throw error
  }
  const known = [storedBundle(machine.stateDir, settings)]
  for (const text of texts) {
    const verdict = text === null ? null : verifyBundle(text, trustOf(settings, []))
    if (verdict !== null && !('problem' in verdict)) known.push(verdict)
  }
  // The highest: a place that was rolled back must not make us use a version again.
  return known.reduce((best, one) => (one && (best?.bundle.version ?? 0) <= one.bundle.version ? one : best), null)
}

/** The version after a bundle and everything that was signed together with it. */
function versionAfter(before: Bundle | null): number {
  return (before?.rollout?.last ?? before?.version ?? 0) + 1
}

export function nextBundle(team: Team, draft: string, before: Bundle | null, files: Files): Promise<Draft> {
  return readDraft(draft, files, {
    fleet: team.settings.fleet,
    version: versionAfter(before),
    now: Date.now(),
    before,
    http: fleetHttp(team.settings.tls),
    revoked: team.revoked(),
  })
}

/** The content of an earlier bundle as the next one; what was revoked or rotated since stays so. */
export function earlierBundle(team: Team, earlier: Bundle, before: Bundle, now: number): Bundle {
  const { rollout: _, keys: __, signers: ___, expires, ...content } = earlier
  const { keys, signers } = before
  const lasts = expires === null ? null : Date.parse(expires) - Date.parse(earlier.issued)
  return {
    ...content,
    version: versionAfter(before),
    issued: new Date(now).toISOString(),
    expires: lasts === null ? null : new Date(now + lasts).toISOString(),
    revoked: [...new Set([...earlier.revoked, ...before.revoked, ...team.revoked()])],
    ...(keys !== undefined && { keys, signers: signers! }),
  }
}

/** The text of a bundle with the team member's signature, and how many more it needs to follow `before`. */
export function signedBundle(
  team: Team,
  bundle: Bundle | string,
  before: VerifiedBundle | null,
): { readonly text: string; readonly missing: number } {
  const { settings, key } = team
  const history = before ?? { keys: settings.keys, needed: settings.signers, changes: [] }
  const content = typeof bundle === 'string' ? claimedBundle(bundle) : bundle
  if (content === null) throw new Fault('manifest', 'that is not a bundle')
  // Our signature is for what was shown, and not for another key change beside it.
  if (typeof bundle === 'string' && !followsHistory(bundle, history))
    throw new Fault('manifest', 'the bundle does not follow the published one: create it again from its draft')
  const text = typeof bundle === 'string' ? cosignBundle(bundle, key)! : signBundle(bundle, key, history)
  const needed = signersNeeded(history.needed, before?.bundle ?? null, content)
  if (needed > Math.min(history.keys.length, content.keys?.length ?? Number.POSITIVE_INFINITY))
    throw new Fault(
      'fleet-settings',
      'this policy weakens rules that need several people, so two of the team must sign',
      {
        remedy: 'Create the fleet with a second key (cordon fleet init NAME --key KEY), or keep the rules.',
      },
    )
  return { text, missing: missingSignatures(text, history, needed) }
}

/** Where a bundle was put. */
export async function putBundle(team: Team, machine: Machine, text: string, out: string | null): Promise<string> {
  team.archive(text)
  const place = out ?? team.settings.policy
  if (out === null && place === 'nats') {
    return onBus(team.settings, machine, async (holder) => {
      const { putPolicy } = await import('../fleet/nats/admin.ts')
      const bus = await holder.open()
      await putPolicy(bus, text)
      return `the bucket ${bus.names.bucket}`
    })
  }
  if (place === null || !place.startsWith('/'))
    throw new Fault('fleet-settings', 'say where to put it: --out FILE, which your web server then serves')
  requirePlainOutput(place)
  machineFiles.writeText(place, text)
  return place
}

/** The unverified bundle in a file: for a person to read before signing. */
export function shownBundle(text: string): Bundle | null {
  return claimedBundle(text)
}
