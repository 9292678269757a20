/** What a watched run lacked: hidden paths and refused hosts. Probes do not count. */

import { basename, dirname, join } from 'node:path'
import type { EgressEvent } from '../egress/route/event.ts'
import { isInside } from '../files/baseline.ts'
import { isGlob } from '../files/glob.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import { requireGrantable } from '../one-off/grants.ts'
import { withTilde } from '../one-off/outside-words.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { SoughtPath } from '../sandbox/plan.ts'
import type { Violation } from '../sandbox/violation.ts'
import { coverSecrets } from '../scan/redact/redact.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'

/** What was observed in one run. */
export interface Observation {
  readonly exitCode: number
  readonly sought: readonly SoughtPath[]
  /** Paths beyond those recorded. */
  readonly leftOut: number
  readonly egress: readonly EgressEvent[]
  readonly violations: readonly Violation[]
  /** Ports it listened on that are not open. */
  readonly ports: readonly number[]
}

export interface Need {
  readonly kind: 'read' | 'write' | 'host' | 'variable'
  /** A variable, a canonical path, a link in a canonical folder, or a host with an unusual port. */
  readonly value: string
  /** A link's target. */
  readonly target?: string
  /** The observation in words. */
  readonly evidence: string
}

/** Something needed that is never proposed. */
export interface WithheldNeed {
  readonly subject: string
  readonly why: string
}

export interface Needs {
  readonly needs: readonly Need[]
  readonly withheld: readonly WithheldNeed[]
  /** Names of started programs. */
  readonly programs: ReadonlySet<string>
}

export interface NeedPlaces {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
  /** Whether the command saw a canonical path. */
  readonly isShown: (path: string) => boolean
}

export function readNeeds(observation: Observation, places: NeedPlaces): Needs {
  const { sought, egress, violations } = observation
  const programs = new Set(sought.filter(({ what }) => what === 'run').map(({ path }) => basename(path)))
  const needs = new Map<string, Need>()
  const withheld = new Map<string, WithheldNeed>()
  const withhold = (subject: string, why: string) => withheld.set(subject, { subject, why })
  for (const one of sought) {
    const need = pathNeed(one, programs, places)
    if (need === null || needs.has(`${need.kind} ${need.value}`)) continue
    const why = whyWithheld(need, places)
    if (why !== null) withhold(withTilde(need.value, places.machine.home), why)
    else needs.set(`${need.kind} ${need.value}`, need)
  }
  for (const { kind, path } of violations) {
    if (path === undefined) continue
    if (kind === 'mask-opened') withhold(withTilde(path, places.machine.home), 'it is a secret, and stays hidden')
    if (kind === 'change-refused') withhold(withTilde(path, places.machine.home), 'it is protected from changes')
  }
  for (const event of egress) {
    const need = hostNeed(event, egress)
    if (need === null || needs.has(`host ${need.value}`)) continue
    const why = hostWithheld(event, need)
    if (why !== null) withhold(need.value, why)
    else needs.set(`host ${need.value}`, need)
  }
  return { needs: [...needs.values()], withheld: [...withheld.values()], programs }
}

function pathNeed(
  { what, path }: SoughtPath,
  programs: ReadonlySet<string>,
  { loaded, machine, files, isShown }: NeedPlaces,
): Need | null {
  if (what === 'run') return null
  // Found later in PATH: a shell or interpreter was searching.
  const isSearch = what === 'program' || (machine.env.PATH ?? '').split(':').includes(dirname(path))
  if (what !== 'change' && isSearch && programs.has(basename(path))) return null
  const here = files.canonical(path)
  const exists = files.exists(here)
  const shown = withTilde(path, machine.home)
  if (what === 'change') {
    const value = exists ? here : dirname(here)
    if (!files.exists(value) || isAbove(value, loaded.root, machine.home)) return null
    return { kind: 'write', value, evidence: `it tried to change ${shown}` }
  }
  // It does not exist outside either: a search path or an optional file.
  if (!exists || isAbove(here, loaded.root, machine.home)) return null
  const link = ownLink(path, loaded, files)
  if (isShown(here) && (link === null || isShown(link))) return null
  const evidence = `it ${what === 'program' ? 'tried to run' : 'looked for'} ${shown}`
  return { kind: 'read', value: link ?? here, evidence, ...(link !== null && { target: here }) }
}

/** The path of a link outside the project, by which the sandbox knows it; otherwise null. */
function ownLink(path: string, { policy, root }: LoadedPolicy, files: Files): string | null {
  const at = join(files.canonical(dirname(path)), basename(path))
  const roots = [root, ...policy.additionalDirectories.map(({ value }) => value)]
  return files.isLink(at) && !roots.some((one) => isInside(at, one)) ? at : null
}

/** Every search for a configuration passes the parents and home. */
function isAbove(path: string, root: string, home: string): boolean {
  return isInside(root, path) || isInside(home, path)
}

function whyWithheld({ kind, value, target }: Need, { loaded, machine }: NeedPlaces): string | null {
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value)) return 'its name cannot be shown as it is'
  // A file named `*` would open its whole folder.
  if (isGlob(value) || !('pattern' in parsePathPattern(value, PLAIN))) return 'its name would be read as a pattern'
  if (coverSecrets(value) !== value) return 'its name looks like a secret'
  const how = kind === 'write' ? 'write' : 'read'
  const places = target === undefined ? [value] : [value, target]
  return places.map((place) => whyNotGranted(place, how, loaded, machine)).find((why) => why !== null) ?? null
}

const PLAIN = { root: '/', home: '/', files: null }

/** Home folders that every program uses: a grant for one would be a grant for all. */
const SHARED = '.config .cache .local .local/bin .local/lib .local/share .local/state Library bin'.split(' ')

/** Why a place is never proposed; null if it may be. */
export function whyNotGranted(
  place: string,
  how: 'read' | 'write',
  loaded: LoadedPolicy,
  machine: Machine,
): string | null {
  if (SHARED.some((folder) => join(machine.home, folder) === place)) return 'every program keeps something in it'
  try {
    requireGrantable(place, how, loaded, machine)
    return null
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.message.replace(/^[^:]*: /, '')
  }
}

/** A DNS request has no port yet; its connection does. */
function hostNeed(event: EgressEvent, all: readonly EgressEvent[]): Need | null {
  const { host, verdict, kind, port, count } = event
  if (host === null || verdict === 'fault' || (verdict === 'allow' && event.code !== 'granted')) return null
  if (verdict === 'allow') return null
  if (kind === 'name' && all.some((other) => other.host === host && other.kind !== 'name')) return null
  const usual = port === null || port === 443 || port === 80
  const evidence = `it asked for ${host}${usual ? '' : `:${port}`}${count > 1 ? ` ${count} times` : ''}`
  return { kind: 'host', value: usual ? host : `${host}:${port}`, evidence }
}

function hostWithheld({ code, message }: EgressEvent, { value }: Need): string | null {
  if (code !== 'host-unlisted') return message
  const parsed = parseHostPattern(value, null)
  if (!('pattern' in parsed)) return parsed.problem
  if (parsed.pattern.kind !== 'name') return 'it is an address; grant a host name instead'
  // Data can leave in names as well as in bodies.
  return coverSecrets(value) !== value ? 'its name looks like a secret' : null
}
