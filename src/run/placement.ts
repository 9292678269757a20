/**
 * Places a command: the directories and files that its sandbox shows, and those it may change (O3).
 */

import { dirname, join } from 'node:path'
import type { Places } from '../confine/confinement.ts'
import { isInside } from '../files/baseline.ts'
import { isGlob } from '../files/glob.ts'
import { foldName } from '../files/path-bytes.ts'
import { coversPath, literalPrefix, type PathPattern, reachesPath, splitPath } from '../files/path-pattern.ts'
import type { PathRule } from '../policy/policy.ts'
import { checkoutsOf } from '../project/load/repository-settings.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'

export interface Placement {
  /** Canonical paths shown read-only. */
  readonly reads: readonly string[]
  /** Canonical paths shown read-write. */
  readonly writes: readonly string[]
  /**
   * Links outside the roots that grants name: their targets are placed too, and commands use the
   * links.
   */
  readonly links: readonly string[]
  /** Paths that stay read-only inside writable ones. */
  readonly frozen: readonly string[]
  /** Folders that are writable for single names in them. */
  readonly partly: readonly PartlyWritable[]
}

/**
 * A folder with the paths below it that may be written: everything else in it stays read-only, or
 * hidden.
 */
export interface PartlyWritable {
  readonly folder: string
  readonly paths: readonly string[]
}

/** Existing paths that deny rules remove from the placement. */
export interface Restriction {
  /** Existing paths that a deny rule hides from reading. */
  readonly hidden: readonly string[]
  /** Existing paths that a deny rule, or the change envelope, makes read-only. */
  readonly frozen: readonly string[]
}

/** Matches of a file glob at most; larger sets must be granted as a directory. */
const MAX_EXPANDED = 20_000
/** Visited entries at most, which take some seconds. */
const MAX_VISITED = 2_000_000
/** Siblings of a writable name at most: each is a mount. */
const MAX_BESIDE = 2_000

/** The command-independent places of a confinement. */
export type ProjectPlaces = Pick<
  Places,
  'roots' | 'read' | 'write' | 'writesRoots' | 'envelope' | 'readOnly' | 'opened'
>

/** Resolves readable and writable paths on disk. */
export function placeCommand(places: ProjectPlaces, files: Files): Placement {
  const { roots, envelope } = places
  const granted = (rules: readonly PathRule[]) => grantedPlaces(rules, roots, files)
  const readable = granted(places.read)
  const inRoots = (path: string) => roots.some((root) => isInside(path, root))
  const writable = [...(places.writesRoots ? readable.filter(inRoots) : []), ...granted(places.write)]
  const enveloped = envelope === null ? writable : granted(envelope).filter((path) => isCovered(path, writable))
  const writes = unique(enveloped.filter((path) => !isReadOnly(places, path)))
  return {
    reads: unique([...readable, ...writable, ...places.opened.reads.filter((path) => files.exists(path))]),
    writes,
    partly: partlyWritable(places, writes, files),
    links: ownLinks([...places.read, ...places.write], roots, files),
    frozen:
      places.readOnly === 'all' ? [] : places.readOnly.filter((path) => writes.some((one) => isInside(path, one))),
  }
}

/** Whether a path stays read-only, whatever grants it. */
export function isReadOnly({ readOnly }: Pick<Places, 'readOnly'>, path: string): boolean {
  return readOnly === 'all' || readOnly.some((place) => isInside(path, place))
}

/**
 * Finds the parent folders of single writable paths: creating and removing names needs a writable
 * folder.
 */
function partlyWritable(places: ProjectPlaces, writes: readonly string[], files: Files): readonly PartlyWritable[] {
  const { roots, envelope, opened } = places
  const folders = new Map<string, string[]>()
  for (const path of opened.writes) {
    if (isReadOnly(places, path) || writes.some((one) => isInside(path, one))) continue
    if (envelope !== null && !envelope.some(({ pattern }) => coversPath(pattern, path))) continue
    let folder = dirname(path)
    while (folder !== '/' && !files.exists(folder)) folder = dirname(folder)
    // A link that appeared since points elsewhere.
    if (files.canonical(path) !== path || !roots.some((root) => isInside(folder, root))) continue
    folders.set(folder, [...(folders.get(folder) ?? []), path])
  }
  return [...folders].map(([folder, paths]) => ({ folder, paths })).sort((a, b) => (a.folder < b.folder ? -1 : 1))
}

/** Links that the person created and named. */
function ownLinks(rules: readonly PathRule[], roots: readonly string[], files: Files): string[] {
  const named = rules.flatMap(({ pattern }) => {
    const place = literalPrefix(pattern)
    return roots.some((root) => isInside(place, root)) || !files.isLink(place) ? [] : expand(pattern, files)
  })
  return unique(named.filter((path) => files.isLink(path)))
}

/** Resolves the paths that a command's grant carries along. */
export function placeCarried({ roots, carried }: Pick<Places, 'roots' | 'carried'>, files: Files): string[] {
  return carried.length === 0 ? [] : grantedPlaces(carried, roots, files)
}

/** Paths that write grants name exactly: they stay writable although protected (F8). */
export function namedForWriting(rules: readonly PathRule[], files: Files): string[] {
  return rules.flatMap(({ pattern }) => {
    if (pattern.files === null || !files.isDirectory(pattern.absolute)) return [pattern.absolute]
    return pattern.files.filter((file) => !isGlob(file)).map((file) => join(pattern.absolute, file))
  })
}

/** Finds paths that deny rules hide and freeze. Files come and go, so each command scans again. */
export function restrictCommand(
  { roots, ...rules }: Pick<Places, 'roots' | 'hidden' | 'fixed'>,
  { reads, writes, partly }: Pick<Placement, 'reads' | 'writes' | 'partly'>,
  files: Files,
): Restriction {
  const [hidden, fixed] = [withCopies(rules.hidden, roots, files), withCopies(rules.fixed, roots, files)]
  const folders = partly.map(({ folder }) => folder)
  const written = [...writes, ...partly.flatMap(({ paths }) => paths)]
  const unseen = unique(folders.flatMap((folder) => entriesBeside(folder, [...reads, ...written], files)))
  const kept = unique(folders.flatMap((folder) => entriesBeside(folder, written, files)))
  return {
    hidden: [...denied(hidden, files), ...unseen],
    frozen: [...denied(fixed, files), ...kept.filter((path) => !unseen.includes(path))],
  }
}

/** The rules of a project, also in its working trees and clones. */
function withCopies(rules: readonly PathRule[], roots: readonly string[], files: Files): readonly PathRule[] {
  const [root] = roots
  const own = root === undefined ? [] : rules.filter(({ pattern }) => isInside(literalPrefix(pattern), root))
  if (root === undefined || own.length === 0) return rules
  const copies = checkoutsOf(root, roots, files)
  return [
    ...rules,
    ...copies.flatMap((copy) => own.map((rule) => ({ ...rule, pattern: moved(rule.pattern, root, copy) }))),
  ]
}

/** The entries of a folder, as few names as possible, without some places in it. */
function entriesBeside(folder: string, places: readonly string[], files: Files): string[] {
  if (places.some((place) => isInside(folder, place))) return []
  const names = files.list(folder)
  if (names.length > MAX_BESIDE)
    throw new Fault('too-many-files', `${folder} contains more than ${MAX_BESIDE} names, too many to keep one by one`, {
      remedy: 'Grant the directory as a whole (“dir/**”), or work in a smaller one.',
    })
  return names
    .map((name) => join(folder, name))
    .flatMap((path) => (places.some((place) => isInside(place, path)) ? entriesBeside(path, places, files) : [path]))
}

/**
 * The resolved places of grants. A link inside the roots may be a command's work: it adds only
 * places that are granted themselves. A link outside is the person's.
 */
function grantedPlaces(rules: readonly PathRule[], roots: readonly string[], files: Files): string[] {
  const places = rules
    .flatMap((rule) => expand(rule.pattern, files))
    .flatMap((path) => {
      const canonical = files.canonical(path)
      const isOwn = canonical === path || !roots.some((root) => isInside(path, root))
      return isOwn || rules.some((rule) => coversPath(rule.pattern, canonical)) ? [canonical] : []
    })
  return unique(places)
}

/** The existing places of a pattern: a directory as a whole, or its matching files. */
function expand(pattern: PathPattern, files: Files): string[] {
  const prefix = literalPrefix(pattern)
  if (!files.exists(prefix)) return []
  const wholeTree = pattern.segments.at(-1) === '**' && pattern.segments.filter(isGlob).length === 1
  const anyFile = pattern.files === null || pattern.files.some((file) => file === '*' || file === '**')
  if ((wholeTree && anyFile) || (!isGlob(pattern.absolute) && pattern.files === null)) return [prefix]
  // A directory with a file filter does not match itself.
  const isFile = pattern.files === null || !files.isDirectory(prefix)
  return matchesBelow(prefix, files, (path) => coversPath(pattern, path) && (isFile || path !== prefix))
}

/** Matches of deny rules anywhere: system and bundle places are denied too. */
function denied(rules: readonly PathRule[], files: Files): string[] {
  const found = new Set<string>()
  for (const { pattern } of rules) {
    const prefix = literalPrefix(pattern)
    if (!files.exists(prefix)) continue
    const reaches = (path: string): boolean => reachesPath(pattern, path)
    const isNarrow = isGlob(pattern.absolute) || pattern.files !== null
    const paths = isNarrow ? matchesBelow(prefix, files, reaches) : [prefix].filter(reaches)
    for (const path of paths) found.add(files.canonical(path))
  }
  return [...found]
}

/** The matching paths below a directory, itself first; links are not followed. */
function matchesBelow(directory: string, files: Files, matches: (path: string) => boolean): string[] {
  const found = matches(directory) ? [directory] : []
  const folders = files.isLink(directory) ? [] : [directory]
  let visited = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const { name, isFolder } of entriesOf(folder, files)) {
      const path = join(folder, name)
      if (matches(path)) found.push(path)
      if (isFolder) folders.push(path)
      visited++
    }
    if (found.length <= MAX_EXPANDED && visited <= MAX_VISITED) continue
    const message =
      found.length > MAX_EXPANDED
        ? `more than ${MAX_EXPANDED} files in ${directory} match, too many to take one by one`
        : `${directory} contains more than ${MAX_VISITED} files, too many to scan`
    throw new Fault('too-many-files', message, {
      remedy: 'Name the directory as a whole (“dir/**”), or a narrower one.',
    })
  }
  return found
}

function entriesOf(folder: string, files: Files): readonly { readonly name: string; readonly isFolder: boolean }[] {
  if (files.entries) return files.entries(folder)
  return files.list(folder).map((name) => {
    const path = join(folder, name)
    return { name, isFolder: files.isDirectory(path) && !files.isLink(path) }
  })
}

function isCovered(path: string, shown: readonly string[]): boolean {
  return shown.some((place) => isInside(path, place) || isInside(place, path))
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)]
}

function moved(pattern: PathPattern, from: string, to: string): PathPattern {
  const absolute = to + pattern.absolute.slice(from.length)
  const segments = splitPath(absolute)
  const { folded } = pattern
  return { ...pattern, absolute, segments, ...(folded && { folded: { ...folded, segments: segments.map(foldName) } }) }
}
