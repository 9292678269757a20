/** Paths that an agent never changes, whatever was granted (F8): Cordon's own places and what runs code for the host. */

import { posix } from 'node:path'
import { matchSegment } from './glob.ts'
import { foldName, foldPath } from './path-bytes.ts'
import { splitPath } from './path-pattern.ts'
import {
  isOfPackage,
  isOnWayToWorktree,
  type ProtectedKind,
  type ProtectedName,
  protectedNames,
} from './protected-names.ts'

export { foldName } from './path-bytes.ts'
export { isOfPackage, type ProtectedKind, type ProtectedName, protectedNames } from './protected-names.ts'

/** Where the project and Cordon's own files are. */
export interface ProtectedFacts {
  readonly root: string
  readonly home: string
  readonly configDir: string
  readonly stateDir: string
  readonly manifestPath: string
  /** Cordon's own package, where it is installed among those of a project. */
  readonly program?: string | null
  /** Further places of this machine and project: folders on PATH, the folder that `core.hooksPath` names. */
  readonly places?: readonly ProtectedPlace[]
}

/** A place that is protected on this machine: with everything below it, or only where `names` has the name below it. */
export interface ProtectedPlace {
  readonly path: string
  readonly kind: ProtectedKind
  readonly reason: string
  /** In a folder of a package manager's programs: the names that would be in the way of another program. */
  readonly names?: ReadonlySet<string>
  /** A person may allow it: their own file, in a place they work on. */
  readonly asks?: boolean
}

/** Why a path is protected. */
interface ProtectedPath {
  /** A phrase for people: "a git hook, which git runs outside the sandbox". */
  readonly reason: string
  readonly kind: ProtectedKind
  /** Cordon's own configuration, state, keys and audit are not even readable. */
  readonly unreadable: boolean
  /** A person may answer for a change of it. */
  readonly asks?: boolean
}

/** Parts of a git directory that make git run code. `modules` and `worktrees` contain others. */
const GIT_INTERNALS: readonly (readonly [name: string, reason: string])[] = [
  ['hooks', 'a git hook, which git runs outside the sandbox'],
  ['config', 'the configuration of a git repository, whose keys can run code; use `git config` for ordinary keys'],
  ['config.worktree', 'the configuration of a git worktree, whose keys can run code'],
  ['commondir', 'a pointer of a git worktree'],
  ['gitdir', 'a pointer of a git worktree'],
  ['remotes', 'a remote of git outside its configuration'],
  ['branches', 'a remote of git outside its configuration'],
  ['rebase-merge', 'a stopped rebase, which git continues outside the sandbox; use `git rebase`'],
  ['sequencer', 'a stopped cherry-pick, which git continues outside the sandbox; use `git cherry-pick`'],
]

const REMOTES: ReadonlySet<string> = new Set(['remotes', 'branches'])
const REFERENCES: ReadonlySet<string> = new Set(['refs', 'logs'])

/** Why an entry of a git directory, whatever that is called, is protected; null for the others. */
export function gitInternalReason(name: string): string | null {
  const folded = foldName(name)
  return GIT_INTERNALS.find(([internal]) => internal === folded)?.[1] ?? null
}

/** Paths that one call creates, with the folders above them. */
export function comingTogether(paths: readonly string[]): ReadonlySet<string> {
  const coming = new Set<string>()
  for (const path of paths)
    for (let at = path; !coming.has(at) && at !== posix.dirname(at); at = posix.dirname(at)) coming.add(at)
  return coming
}

const MANIFEST_NAMES: readonly string[] = ['cordon.toml', 'cordon.toml.sig']

/** Why this canonical path is protected, or null. Upper and lower case are one, as they are to git on some systems. */
export function protectedPath(path: string, facts: ProtectedFacts): ProtectedPath | null {
  const segments = splitPath(path).map(foldName)
  const config = foldedSegments(facts.configDir)
  const isConfig = startsWith(segments, config)
  if (isConfig && segments[config.length] === 'skills')
    return { kind: 'cordon', reason: 'a skill of the person’s own', unreadable: false }
  if (isConfig || startsWith(segments, foldedSegments(facts.stateDir)))
    return { kind: 'cordon', reason: "Cordon's own configuration, state, keys or audit", unreadable: true }
  if (facts.program && startsWith(segments, foldedSegments(facts.program))) {
    return { kind: 'cordon', reason: "Cordon's own program", unreadable: false }
  }
  if (isManifest(segments, facts)) {
    return { kind: 'manifest', reason: 'the manifest, which only a person changes and signs', unreadable: false }
  }
  for (const place of facts.places ?? []) {
    if (isProtectedPlace(segments, place)) {
      const { kind, reason, asks } = place
      return { kind, reason, unreadable: false, ...(asks && { asks }) }
    }
  }
  const git = gitInternal(segments)
  if (git !== null) return { kind: 'git', reason: git, unreadable: false }
  const root = foldedSegments(facts.root)
  const below = startsWith(segments, root) ? segments.slice(root.length) : []
  const name = protectedName(segments, foldedSegments(facts.home), isOfPackage(below))
  return name === null ? null : { kind: name.kind, reason: name.reason, unreadable: false }
}

/** Whether the name alone is protected (`.envrc`), for walks that see one name at a time. */
export function isProtectedStart(name: string): boolean {
  return rulesFrom(foldName(name)).length > 0
}

function isProtectedPlace(segments: readonly string[], place: ProtectedPlace): boolean {
  const folder = foldedSegments(place.path)
  if (!startsWith(segments, folder)) return false
  const name = segments[folder.length]
  return place.names === undefined || name === undefined || place.names.has(name)
}

function isManifest(segments: readonly string[], facts: ProtectedFacts): boolean {
  const root = foldedSegments(facts.root)
  const name = segments.at(-1) ?? ''
  if (segments.length === root.length + 1 && MANIFEST_NAMES.includes(name) && startsWith(segments, root)) return true
  const manifest = foldedSegments(facts.manifestPath)
  const own = manifest.at(-1) ?? ''
  if (segments.length !== manifest.length || (name !== own && name !== `${own}.sig`)) return false
  return startsWith(segments, manifest.slice(0, -1))
}

function gitInternal(segments: readonly string[]): string | null {
  for (let index = 0; index < segments.length - 1; index++) {
    if (!segments[index]!.endsWith('.git')) continue
    const below = segments.slice(index + 1)
    const nested = below[0] === 'modules' || below[0] === 'worktrees'
    for (const [name, reason] of GIT_INTERNALS) {
      const at = nested ? below.indexOf(name, 2) : below[0] === name ? 0 : -1
      // `refs/remotes` of a module, or a branch of such a name; by content these are judged as well.
      const isReference = REMOTES.has(name) && below.slice(2, Math.max(at, 2)).some((folder) => REFERENCES.has(folder))
      if (at >= 0 && !isReference) return reason
    }
  }
  return null
}

function protectedName(segments: readonly string[], home: readonly string[], ofPackage: boolean): ProtectedName | null {
  const inHome = startsWith(segments, home)
  for (const { name, segments: fixed } of fixedRules()) {
    if (name.path.startsWith('~') ? inHome && startsWith(segments, fixed, home.length) : startsWith(segments, fixed))
      return name
  }
  for (let index = 0; index < segments.length; index++) {
    for (const { name, segments: parts } of rulesFrom(segments[index]!)) {
      // Work inside a repository goes on: only the `.git` entry itself and its internals are protected.
      if (name.path === '.git' && index < segments.length - 1) continue
      if (ofPackage && name.kind !== 'git') continue
      if (parts.length === 1 && isOnWayToWorktree(segments, index)) continue
      if (parts.every((part, offset) => matchSegment(part, segments[index + offset] ?? '/'))) return name
    }
  }
  return null
}

function startsWith(segments: readonly string[], prefix: readonly string[], from = 0): boolean {
  if (prefix.length > segments.length - from) return false
  for (let index = 0; index < prefix.length; index++) if (prefix[index] !== segments[from + index]) return false
  return true
}

/** The places of a machine and project, with which every path is compared. */
const folds = new Map<string, readonly string[]>()
const MAX_FOLDS = 256

function foldedSegments(place: string): readonly string[] {
  const known = folds.get(place)
  if (known) return known
  if (folds.size >= MAX_FOLDS) folds.clear()
  const folded = splitPath(place).map(foldName)
  folds.set(place, folded)
  return folded
}

/** A name with its folded segments. */
interface ProtectedRule {
  readonly name: ProtectedName
  readonly segments: readonly string[]
}

interface NameIndex {
  readonly firsts: ReadonlyMap<string, readonly ProtectedRule[]>
  /** Rules whose first segment is a glob. */
  readonly globs: readonly ProtectedRule[]
  readonly fixed: readonly ProtectedRule[]
}

let index: NameIndex | null = null

/** Built on first use, because not every start needs it. */
function nameIndex(): NameIndex {
  if (index !== null) return index
  const firsts = new Map<string, ProtectedRule[]>()
  const globs: ProtectedRule[] = []
  const fixed: ProtectedRule[] = []
  for (const name of protectedNames) {
    const segments = foldPath(name.path).split('/')
    const first = segments[0]!
    const known = firsts.get(first)
    if (first === '~' || first === '') fixed.push({ name, segments: segments.slice(1) })
    else if (first.includes('*')) globs.push({ name, segments })
    else if (known) known.push({ name, segments })
    else firsts.set(first, [{ name, segments }])
  }
  index = { firsts, globs, fixed }
  return index
}

const NONE: readonly ProtectedRule[] = []

/** The rules for any depth that may match a path from this folded segment on. */
export function rulesFrom(segment: string): readonly ProtectedRule[] {
  const { firsts, globs } = nameIndex()
  const plain = firsts.get(segment) ?? NONE
  const matched = globs.filter(({ segments }) => mayMatch(segments[0]!, segment) && matchSegment(segments[0]!, segment))
  return matched.length === 0 ? plain : [...plain, ...matched]
}

/** The rules for one place: under the home directory (`~/`) or absolute. Segments are those below `~` or `/`. */
export function fixedRules(): readonly ProtectedRule[] {
  return nameIndex().fixed
}

/** Few names end as one of the globs does: the others need no comparison. */
function mayMatch(glob: string, name: string): boolean {
  const last = glob.charCodeAt(glob.length - 1)
  return last === STAR || last === name.charCodeAt(name.length - 1)
}

const STAR = 42
