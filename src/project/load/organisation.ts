/** The organisation's layer of a policy: what the fleet's bundle has for this machine, verified at every start. */

import { isFor, type VerifiedBundle } from '../../fleet/bundle.ts'
import { fleetDirectory, storedBundle } from '../../fleet/bundle-store.ts'
import { type Enrolment, readEnrolment } from '../../fleet/identity.ts'
import { type FleetSettings, readFleetSettings } from '../../fleet/settings.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import type { WrittenManifest } from './written-manifests.ts'

/** The fleet of a machine as it is known here, without asking anybody. */
export interface FleetMembership {
  readonly settings: FleetSettings
  readonly enrolment: Enrolment | null
  readonly policy: VerifiedBundle | null
}

/** Reads it; null where this machine is in no fleet. */
export function fleetMembership(
  machine: Pick<Machine, 'systemDir' | 'configDir' | 'stateDir'>,
): FleetMembership | null {
  const settings = readFleetSettings(machine)
  if (settings === null) return null
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  const policy = settings.policy === null ? null : storedBundle(machine.stateDir, settings)
  return { settings, enrolment, policy }
}

/** The manifests that come before the user's own. A Fault where the fleet has a policy and this machine none that holds. */
export function organisationManifests(machine: Machine, now: number): readonly WrittenManifest[] {
  const membership = fleetMembership(machine)
  if (membership === null || membership.settings.policy === null) return []
  const { settings, enrolment, policy } = membership
  if (policy === null)
    throw new Fault('fleet-policy', `this machine is in the fleet "${settings.fleet}" and has no policy of it yet`, {
      remedy: 'Fetch it: cordon fleet sync.',
    })
  const { bundle } = policy
  if (enrolment !== null && bundle.revoked.includes(enrolment.machine))
    throw new Fault('fleet-revoked', `this machine was taken out of the fleet "${settings.fleet}"`, {
      remedy: 'Join it anew with a code of the team: cordon fleet join URL CODE.',
    })
  const groups = enrolment?.groups ?? []
  const label = `organisation ${bundle.fleet} v${bundle.version}`
  const written = bundle.layers
    .filter((layer) => isFor(layer.groups, groups))
    .map((layer) => ({ text: layer.manifest, label: `${label} (${layer.groups.join(', ')})` }))
  return [...written, ...closedBy(policy, label, now)]
}

/** What an expired bundle closes, as the layer that it is. */
function closedBy({ bundle }: VerifiedBundle, label: string, now: number): readonly WrittenManifest[] {
  if (bundle.expires === null || now < Date.parse(bundle.expires) || bundle.closes === 'nothing') return []
  if (bundle.closes === 'everything')
    throw new Fault(
      'fleet-policy',
      `the organisation’s policy has expired at ${bundle.expires}, and closes everything`,
      {
        remedy: 'Fetch a newer one: cordon fleet sync.',
      },
    )
  return [{ text: 'schema_version = 1\n[security]\ndeny_domains = ["*"]\n', label: `${label} (expired)` }]
}
