/** Publishes a policy: compares it with the one before, signs it, and puts it where machines fetch it. */

import { type Bundle, claimedBundle, cosignBundle, signBundle, verifyBundle } from '../fleet/bundle.ts'
import { storedBundle, trustOf } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import { fetchPolicy } from '../fleet/policy-source.ts'
import { signersNeeded } from '../fleet/weakening.ts'
import { Fault } from '../system/fault.ts'
import { type Files, machineFiles, requirePlainOutput } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { fleetBucket, openBus } from './connection.ts'
import { readDraft } from './draft.ts'
import type { Team } from './team.ts'

/** The bundle that machines would fetch now; null where none was published yet. */
export async function publishedBundle(team: Team, machine: Machine): Promise<Bundle | null> {
  const { settings } = team
  const known = storedBundle(machine.stateDir, settings)?.bundle ?? null
  if (settings.policy === null) return known
  const ports = { http: fleetHttp(settings.tls), bucket: () => fleetBucket(settings, machine) }
  try {
    const fetched = await fetchPolicy(settings.policy, null, ports)
    if (fetched === 'unchanged') return known
    const verdict = verifyBundle(fetched.text, trustOf(settings, []))
    // The higher of the two: a place that was rolled back must not make us use a version again.
    if ('problem' in verdict || (known && known.version > verdict.bundle.version)) return known
    return verdict.bundle
  } catch (error) {
    if (error instanceof Fault && ['fleet-unreachable', 'fleet-refused'].includes(error.code)) return known
    throw error
  }
}

/** The next bundle as a draft has it. */
export function nextBundle(team: Team, draft: string, before: Bundle | null, files: Files): Promise<Bundle> {
  const version = (before?.version ?? 0) + 1
  return readDraft(draft, files, { fleet: team.settings.fleet, version, now: Date.now(), revoked: team.revoked() })
}

/** The text of a bundle with the team member's signature, and how many more it needs to follow `before`. */
export function signedBundle(
  team: Team,
  bundle: Bundle | string,
  before: Bundle | null,
): { readonly text: string; readonly missing: number } {
  const text = typeof bundle === 'string' ? cosignBundle(bundle, team.key) : signBundle(bundle, team.key)
  if (text === null) throw new Fault('manifest', 'that is not a bundle')
  const counted = team.settings.keys.filter(
    (key) => !('problem' in verifyBundle(text, { ...trustOf(team.settings, []), keys: [key], signers: 1 })),
  )
  const needed = signersNeeded(team.settings.signers, before, claimedBundle(text)!)
  if (needed > team.settings.keys.length)
    throw new Fault(
      'fleet-settings',
      'this policy weakens rules that need several people, so two of the team must sign',
      {
        remedy: 'Create the fleet with a second key (cordon fleet init NAME --key KEY), or keep the rules.',
      },
    )
  return { text, missing: Math.max(0, needed - counted.length) }
}

/** Where a bundle was put. */
export async function putBundle(team: Team, machine: Machine, text: string, out: string | null): Promise<string> {
  const place = out ?? team.settings.policy
  if (out === null && place === 'nats') {
    const bus = await openBus(team.settings, machine)
    try {
      const { putPolicy } = await import('../fleet/nats/admin.ts')
      await putPolicy(bus, text)
    } finally {
      await bus.close()
    }
    return `the bucket ${bus.names.bucket}`
  }
  if (place === null || !place.startsWith('/'))
    throw new Fault('fleet-settings', 'say where to put it: --out FILE, which your web server then serves')
  requirePlainOutput(place)
  machineFiles.writeText(place, text)
  return place
}

/** The bundle in a file, not verified: for a person to look at before they sign it. */
export function shownBundle(text: string): Bundle | null {
  return claimedBundle(text)
}
