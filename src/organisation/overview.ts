/** A fleet at a glance: its machines by the health that they reported, for people, pages and Prometheus. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { storedBundle } from '../fleet/bundle-store.ts'
import { type Counts, type Health, type ReportedHealth, verifyHealth } from '../fleet/health.ts'
import { Fault } from '../system/fault.ts'
import { keyId } from '../system/keys/signing-key.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory, readOwnFile, writeOwnFile } from '../system/state.ts'
import type { BusHolder } from './connection.ts'
import { publishedBundle } from './draft.ts'
import { type RolloutState, readRollout } from './rollout.ts'
import { fleetView, onBus } from './sync.ts'
import { openTeam, runsFleet, type Team } from './team.ts'

export interface MachineRow {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly groups: readonly string[]
  /** Cordon's version, and the version of the policy in force there; null before it reported. */
  readonly cordon: string | null
  readonly policy: number | null
  /** Whether its policy is the published text. */
  readonly isPublished: boolean
  readonly seen: string | null
  /** Seconds since it reported. */
  readonly silent: number | null
  readonly problem: string | null
  readonly closed: boolean
  /** In which way it differs from what it should be; null if it does not. */
  readonly drift: string | null
  readonly now: Counts
  readonly before: Counts
  readonly total: Counts
  readonly rules: Health['rules']
}

export interface FleetOverview {
  readonly fleet: string
  readonly time: string
  readonly policy: number | null
  readonly machines: readonly MachineRow[]
  /** How many machines have each. */
  readonly versions: Readonly<Record<string, number>>
  readonly policies: Readonly<Record<string, number>>
  readonly refusals: Readonly<Record<string, number>>
  readonly total: Counts
  /** Open questions; null where nobody could count them. */
  readonly asks: number | null
  readonly openings: Health['openings']
  readonly rollout: (Pick<RolloutState, 'at' | 'since' | 'outcome' | 'reason'> & { readonly stages: number }) | null
}

const NOTHING: Counts = { calls: 0, refused: 0, asked: 0 }
const SILENT_SECONDS = 3600

/** Evaluates everything that was reported. */
export async function fleetOverview(
  team: Team,
  machine: Machine,
  bus: BusHolder,
  now: number = Date.now(),
): Promise<FleetOverview> {
  const { settings } = team
  const published = await publishedBundle(team, machine)
  const keys = published?.team ?? settings.keys
  const revoked = [...team.revoked(), ...(published?.bundle.revoked ?? [])]
  const newest = new Map<string, ReportedHealth>()
  for (const text of await healthTexts(team, bus)) {
    const found = verifyHealth(text, { fleet: settings.fleet, keys }, revoked, now)
    const known = found && newest.get(found.enrolment.machine)
    if (found && (!known || known.health.time < found.health.time)) newest.set(found.enrolment.machine, found)
  }
  const machines = team
    .members()
    .map((member) => row(member, newest.get(member.machine)?.health ?? null, published, now))
    .toSorted((a, b) => Number(a.drift === null) - Number(b.drift === null) || a.name.localeCompare(b.name))
  const add = (a: Counts, b: Counts): Counts => ({
    calls: a.calls + b.calls,
    refused: a.refused + b.refused,
    asked: a.asked + b.asked,
  })
  const state = readRollout(team)
  const openings = [...newest.values()].flatMap(({ health }) => health.openings)
  return {
    fleet: settings.fleet,
    time: new Date(now).toISOString(),
    policy: published?.bundle.version ?? null,
    machines,
    versions: tallied(machines.map(({ cordon }) => [cordon ?? 'unknown', 1])),
    policies: tallied(machines.map(({ policy }) => [String(policy ?? 'none'), 1])),
    refusals: tallied(machines.flatMap(({ rules }) => Object.entries(rules))),
    total: machines.map(({ total }) => total).reduce(add, NOTHING),
    asks: await openAsks(team, machine, bus, now),
    openings: [...new Map(openings.map((one) => [one.id, one])).values()],
    rollout: state && {
      at: state.at,
      since: state.since,
      outcome: state.outcome,
      reason: state.reason,
      stages: state.stages.length + 1,
    },
  }
}

type Published = Awaited<ReturnType<typeof publishedBundle>>

function row(
  { machine, name, role, groups }: ReturnType<Team['members']>[number],
  health: Health | null,
  published: Published,
  now: number,
): MachineRow {
  const silent = health === null ? null : Math.max(0, Math.round((now - Date.parse(health.time)) / 1000))
  const isPublished = health?.policy?.hash === published?.hash
  const drift =
    silent === null
      ? 'it has never reported'
      : silent > SILENT_SECONDS
        ? 'it has not reported for an hour'
        : isPublished
          ? (health!.problem?.message ?? null)
          : `it has policy ${health!.policy?.version ?? 'none'} instead of ${published?.bundle.version}`
  return {
    id: keyId(machine),
    name,
    role,
    groups,
    cordon: health?.cordon ?? null,
    policy: health?.policy?.version ?? null,
    isPublished,
    seen: health?.time ?? null,
    silent,
    problem: health?.problem?.message ?? null,
    closed: health?.closed ?? false,
    drift,
    now: health?.now ?? NOTHING,
    before: health?.before ?? NOTHING,
    total: health?.total ?? NOTHING,
    rules: health?.rules ?? {},
  }
}

function tallied(entries: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>()
  for (const [name, count] of entries) sums.set(name, (sums.get(name) ?? 0) + count)
  return Object.fromEntries([...sums].toSorted((a, b) => b[1] - a[1]))
}

async function openAsks(team: Team, machine: Machine, bus: BusHolder, now: number): Promise<number | null> {
  if (team.settings.nats === null) return null
  const { readAsks } = await import('../fleet/nats/admin.ts')
  const { verifyAsk } = await import('../fleet/ask.ts')
  const policy = storedBundle(machine.stateDir, team.settings)
  const keys = { fleet: team.settings.fleet, keys: policy?.team ?? team.settings.keys }
  const texts = await readAsks(await bus.open(), now)
  const open = texts.map((text) => verifyAsk(text, keys, team.revoked()))
  return open.filter((found) => found !== null && Date.parse(found.ask.deadline) > now).length
}

async function healthTexts(team: Team, bus: BusHolder): Promise<readonly string[]> {
  if (team.settings.nats !== null) {
    const { readHealths } = await import('../fleet/nats/admin.ts')
    return readHealths(await bus.open())
  }
  const folder = healthFolder(team)
  return readdirSync(folder).flatMap((name) => {
    const bytes = name.endsWith('.json') ? readOwnFile(join(folder, name)) : null
    return bytes === null ? [] : [new TextDecoder().decode(bytes)]
  })
}

/** Keeps the health that a machine brought to the desk; false for one that is not its own word, or older. */
export function takeHealth(team: Team, text: string, keys: readonly `ed25519:${string}`[], now: number): boolean {
  const teamKeys = { fleet: team.settings.fleet, keys }
  const found = verifyHealth(text, teamKeys, team.revoked(), now)
  if (found === null || !team.members().some((one) => one.machine === found.enrolment.machine)) return false
  const path = join(healthFolder(team), `${keyId(found.enrolment.machine)}.json`)
  const bytes = readOwnFile(path)
  const known = bytes && verifyHealth(new TextDecoder().decode(bytes), teamKeys, team.revoked(), now)
  if (known && known.health.time >= found.health.time) return false
  writeOwnFile(path, text, 0o600, false)
  return true
}

function healthFolder({ directory }: Team): string {
  return openOwnDirectory(join(directory, 'health'))
}

/** The overview in the text format of Prometheus. */
export function prometheusText(overview: FleetOverview): string {
  const { machines, total, policy, asks, openings, rollout } = overview
  const sample = (labels: Readonly<Record<string, string>>, value: number): string => {
    const inside = Object.entries(labels).map(([name, text]) => `${name}="${escaped(text)}"`)
    return `${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}`
  }
  const metrics: readonly [name: string, type: 'gauge' | 'counter', help: string, samples: readonly string[]][] = [
    [
      'machines',
      'gauge',
      'Machines of the fleet by the versions of Cordon and of the policy.',
      Object.entries(
        tallied(machines.map(({ cordon, policy: own }) => [JSON.stringify([cordon ?? 'unknown', own ?? 'none']), 1])),
      ).map(([pair, count]) => {
        const [cordon, own] = JSON.parse(pair) as [string, string]
        return sample({ cordon, policy: String(own) }, count)
      }),
    ],
    [
      'machines_drifting',
      'gauge',
      'Machines that differ from what they should be.',
      [sample({}, machines.filter(({ drift }) => drift !== null).length)],
    ],
    [
      'machines_closed',
      'gauge',
      'Machines on which every call is refused.',
      [sample({}, machines.filter(({ closed }) => closed).length)],
    ],
    [
      'silent_seconds_max',
      'gauge',
      'The longest time since a machine reported.',
      [sample({}, Math.max(0, ...machines.map(({ silent }) => silent ?? 0)))],
    ],
    ['policy_version', 'gauge', 'The version of the published policy.', policy === null ? [] : [sample({}, policy)]],
    [
      'calls_total',
      'counter',
      'Calls by what became of them.',
      [sample({ outcome: 'started' }, total.calls - total.refused), sample({ outcome: 'refused' }, total.refused)],
    ],
    ['calls_asked_total', 'counter', 'Calls that somebody was asked about.', [sample({}, total.asked)]],
    [
      'refusals_total',
      'counter',
      'Refused calls by rule.',
      Object.entries(overview.refusals).map(([rule, count]) => sample({ rule }, count)),
    ],
    ['asks_open', 'gauge', 'Questions that wait for an answer.', asks === null ? [] : [sample({}, asks)]],
    ['break_glass_open', 'gauge', 'Break-glass openings that count now.', [sample({}, openings.length)]],
    [
      'rollout_stage',
      'gauge',
      'The stage of the roll-out in force, from 1.',
      rollout === null ? [] : [sample({ outcome: rollout.outcome }, rollout.at + 1)],
    ],
  ]
  return metrics
    .filter(([, , , samples]) => samples.length > 0)
    .map(([name, type, help, samples]) => {
      const full = `cordon_fleet_${name}`
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${samples.map((one) => `${full}${one}\n`).join('')}`
    })
    .join('')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** This machine in its fleet and, for the user who runs that, the overview, or why there is none now. */
export async function fleetReport(machine: Machine): Promise<object | null> {
  const view = fleetView(machine, Date.now())
  return view && { ...view, overview: await ownOverview(machine) }
}

/** The overview of the fleet that this user runs, or why there is none now; null if they run none. */
export async function ownOverview(machine: Machine): Promise<FleetOverview | string | null> {
  if (!runsFleet(machine)) return null
  const team = openTeam(machine)
  try {
    return await onBus(team.settings, machine, (bus) => fleetOverview(team, machine, bus))
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}
