/** Proposes the smallest grants: bundles before paths, folders for three or more files. */

import { basename, dirname } from 'node:path'
import { isInside } from '../files/baseline.ts'
import { matchSegment } from '../files/glob.ts'
import { withTilde } from '../one-off/outside-words.ts'
import { freeHosts } from '../project/load/extend.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { builtInBundles } from '../sandbox/bundles/built-in.ts'
import { type Bundle, selectBundles } from '../sandbox/bundles/bundle.ts'
import { interpreterOf } from '../shell/inspect/interpreters.ts'
import type { Need, Needs } from './needs.ts'

export interface ProposedLine {
  readonly kind: 'tool' | 'host' | 'read' | 'write' | 'port' | 'variable' | 'command' | 'directory' | 'flow'
  /** A bundle, variable, host, canonical path, port or command pattern. */
  readonly value: string
  /** A bundle's wrapper program. */
  readonly wrapper?: string
  readonly why: string
  readonly evidence: readonly string[]
}

export interface Proposal {
  readonly lines: readonly ProposedLine[]
  /** Reasons to read what the command does before agreeing. */
  readonly warnings: readonly string[]
  /** True if more was requested than an honest command needs; nothing is opened to test it. */
  readonly flooded: boolean
}

export interface ProposalPlaces {
  readonly command: readonly string[]
  readonly loaded: LoadedPolicy
  readonly home: string
  /** Whether a folder may be granted for its files. */
  readonly isGrantable: (folder: string, how: 'read' | 'write') => boolean
  /** Hosts of a bundle's registries here. */
  readonly registryHosts: (tool: string) => readonly string[]
}

/** This many files of one folder become the folder. */
const FOLDER_FROM = 3
/** A person does not read more; a command that asks for more may be widening the proposal. */
const MOST_PATHS = 64
const MOST_HOSTS = 12
const MOST_VARIABLES = 8
const MOST_LINES = 16

/** `leftOut`: paths that were not even recorded. */
export function propose(
  { needs, programs }: Pick<Needs, 'needs' | 'programs'>,
  leftOut: number,
  places: ProposalPlaces,
): Proposal {
  const bundled = chooseBundles(needs, programs, places)
  const paths = bundled.rest
    .filter(({ kind }) => kind === 'read' || kind === 'write')
    .map((need) => lastingPlace(need, places))
  const variables = bundled.rest.filter(({ kind }) => kind === 'variable')
  const hosts = bundled.rest.filter(({ kind }) => kind === 'host')
  const flooded = leftOut > 0 || paths.length > MOST_PATHS || hosts.length > MOST_HOSTS
  const all = [
    ...bundled.lines,
    ...hosts.map(({ value, evidence }) => line('host', value, 'the command connects to it', [evidence])),
    ...variables
      .slice(0, MOST_VARIABLES)
      .map(({ value, evidence }) => line('variable', value, 'the command names it', [evidence])),
    // A flood is not grouped: a folder would open more.
    ...(flooded ? withoutCovered(paths) : grouped(withoutCovered(paths), places)).map((need) => pathLine(need, places)),
  ]
  const lines = all.slice(0, MOST_LINES)
  const warnings = flooded
    ? [
        `it looked for ${paths.length + leftOut} places outside and ${hosts.length} hosts, more than a command needs: the first ${lines.length} are listed one by one and nothing is tried. Read what it does before you grant any of it.`,
      ]
    : all.length > lines.length
      ? [`${all.length - lines.length} more lines are left out: run it again once these are granted`]
      : []
  return { lines, warnings, flooded }
}

function line(kind: ProposedLine['kind'], value: string, why: string, evidence: readonly string[]): ProposedLine {
  return { kind, value, why, evidence: evidence.slice(0, 5) }
}

/** A folder named after a hash or process is different next time; its parent stays. */
const PASSING = /^(?=.*\d)[\da-f]{16,}$|^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

function lastingPlace(need: Need, { isGrantable }: ProposalPlaces): Need {
  const names = need.value.split('/')
  const at = names.findIndex((name) => PASSING.test(name.replace(/\.\w+$/, '')))
  const folder = names.slice(0, at).join('/')
  return at > 1 && isGrantable(folder, need.kind === 'write' ? 'write' : 'read') ? { ...need, value: folder } : need
}

interface PathNeed {
  readonly kind: Need['kind']
  readonly value: string
  readonly evidence: readonly string[]
}

function pathLine({ kind, value, evidence }: PathNeed, { home }: ProposalPlaces): ProposedLine {
  const why = kind === 'write' ? 'the command changes it' : 'it exists, but is hidden from the sandbox'
  return line(kind === 'write' ? 'write' : 'read', value, `${withTilde(value, home)}: ${why}`, evidence)
}

/** Bundles whose hosts or folders were missing, chosen by the command or a program it starts. */
function chooseBundles(
  needs: readonly Need[],
  programs: ReadonlySet<string>,
  places: ProposalPlaces,
): { readonly lines: readonly ProposedLine[]; readonly rest: readonly Need[] } {
  const { command, loaded } = places
  const chosen = new Set(loaded.sandbox.bundles.map(({ value }) => value.tool))
  const lines: ProposedLine[] = []
  let rest = needs
  for (const bundle of builtInBundles()) {
    if (chosen.has(bundle.tool) || rest.length === 0) continue
    const how = appliesTo(bundle, command, programs)
    if (how === null) continue
    const covers = coverOf(bundle, places)
    const covered = rest.filter(covers)
    if (covered.length === 0) continue
    rest = rest.filter((need) => !covered.includes(need))
    const why = `what ${bundle.tool} needs, as its bundle (cordon bundles ${bundle.tool})`
    const evidence = covered.map((need) => need.evidence)
    lines.push({ ...line('tool', bundle.tool, why, evidence), ...(how.wrapper !== null && { wrapper: how.wrapper }) })
  }
  return { lines, rest }
}

/**
 * How a bundle would apply to the command, or null. A program that runs any code is not a wrapper.
 */
function appliesTo(
  bundle: Bundle,
  command: readonly string[],
  programs: ReadonlySet<string>,
): { readonly wrapper: string | null } | null {
  const choice = { tool: bundle.tool, fetch: null, install: null, defaultDomains: true, wrappers: [] }
  if (selectBundles([choice], command, () => bundle).length > 0) return { wrapper: null }
  const [first = ''] = command
  const starts = bundle.programs.some((program) => [...programs].some((name) => matchSegment(program, name)))
  if (!starts || !/^[\w./+-]+$/.test(first) || interpreterOf(basename(first)) !== null) return null
  const wrapped = { ...choice, wrappers: [first] }
  return selectBundles([wrapped], command, () => bundle).length > 0 ? { wrapper: first } : null
}

function coverOf(bundle: Bundle, { home, registryHosts }: ProposalPlaces): (need: Need) => boolean {
  const places = (paths: readonly string[]) => paths.map((path) => path.replace(/^~/, () => home))
  const shown = places([...bundle.read, ...bundle.cache])
  // Installed programs are visible; only a bundle with `install` may change them.
  const installed = places(bundle.install)
  let hosts: readonly string[] | null = null
  return ({ kind, value }) => {
    const inside = (folder: string): boolean => isInside(value, folder)
    if (kind === 'variable') return false
    if (kind !== 'host') return shown.some(inside) || (kind === 'read' && installed.some(inside))
    hosts ??= [...freeHosts(bundle), ...registryHosts(bundle.tool)]
    return hosts.some((host) => host === value || (host.startsWith('*.') && value.endsWith(host.slice(1))))
  }
}

/** Removes what other lines cover; between a folder and a file in it, the file was meant. */
function withoutCovered(paths: readonly Need[]): PathNeed[] {
  const inner = (need: Need): boolean =>
    paths.some((other) => other !== need && other.value !== need.value && isInside(other.value, need.value))
  const written = new Set(paths.filter(({ kind }) => kind === 'write').map(({ value }) => value))
  return paths
    .filter((need) => !(need.kind === 'read' && (written.has(need.value) || inner(need))))
    .map(({ kind, value, evidence }) => ({ kind, value, evidence: [evidence] }))
}

function grouped(paths: readonly PathNeed[], { isGrantable }: ProposalPlaces): PathNeed[] {
  const byFolder = new Map<string, PathNeed[]>()
  for (const need of paths) {
    const key = `${need.kind} ${dirname(need.value)}`
    byFolder.set(key, [...(byFolder.get(key) ?? []), need])
  }
  const drawn = [...byFolder.values()].flatMap((needs) => {
    const { kind, value } = needs[0]!
    const folder = dirname(value)
    if (needs.length < FOLDER_FROM || !isGrantable(folder, kind === 'write' ? 'write' : 'read')) return needs
    return [{ kind, value: folder, evidence: needs.flatMap(({ evidence }) => evidence) }]
  })
  return drawn.filter((need) => !drawn.some((other) => other !== need && covers(other, need)))
}

function covers(other: PathNeed, need: PathNeed): boolean {
  if (other.value === need.value) return other.kind === 'write' && need.kind !== 'write'
  return isInside(need.value, other.value) && (other.kind === 'write' || need.kind !== 'write')
}
