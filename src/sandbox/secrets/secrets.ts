/** Secrets at fixed places (keys, credentials, histories) that exist on this machine, as paths to mask. */

import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isGlob, matchSegment } from '../../files/glob.ts'
import type { PathPattern } from '../../files/path-pattern.ts'
import { openedByGrant, secretPlaces } from '../../files/secret-shapes.ts'
import { attempt, errorCode } from '../../system/fault.ts'
import { childPath, isBelow } from '../protect/tree.ts'

/** Paths to hide: files become empty, directories become empty. */
interface PlaceMasks {
  readonly files: readonly string[]
  readonly directories: readonly string[]
  /** Those that a place points to by a link, and the place; by path. */
  readonly linked: ReadonlyMap<string, string>
}

interface PlaceQuestion {
  readonly home: string
  /** The paths that the sandbox shows: only places in there need a mask. */
  readonly visible: readonly string[]
  readonly grants: readonly PathPattern[]
}

/** The secret places that exist and can be seen; symlinks count at their target too. `listings` may be kept for the next time. */
export function maskPlaces(question: PlaceQuestion, listings: PlaceListings = new PlaceListings()): PlaceMasks {
  listings.lookAgain()
  const files = new Set<string>()
  const directories = new Set<string>()
  const linked = new Map<string, string>()
  const mask = (path: string, home: string): void => {
    // Most places do not exist; a failed realpath costs many times as much.
    if (!listings.has(path)) return
    const target = canonical(path)
    if (target === null || !isVisible(target, question.visible)) return
    maskAround(path, target, { ...question, home }, files, directories)
    if (target !== path && (files.has(target) || directories.has(target))) linked.set(target, path)
  }
  const homes = homesOf(question, listings)
  for (const place of secretPlaces) {
    if (!place.path.startsWith('~/')) for (const path of listings.expand(place.path)) mask(path, question.home)
    else for (const home of homes) for (const path of listings.expand(home + place.path.slice(1))) mask(path, home)
  }
  return { files: withoutCovered(files, directories), directories: withoutCovered(directories, directories), linked }
}

/**
 * The homes that can be seen: the person's, and where else users live. HOME may be another folder than one's own (sudo,
 * containers), and the `all` baseline shows everybody's.
 */
function homesOf({ home, visible }: PlaceQuestion, listings: PlaceListings): ReadonlySet<string> {
  const homes = new Set([home, canonical(home) ?? home])
  for (const place of visible) {
    const everybody = place === '/' || place === '/home'
    const found = everybody ? listings.expand('/home/*') : (/^\/home\/[^/]+/.exec(place) ?? [])
    for (const path of found) homes.add(path)
    if (place === '/' || place === '/root' || isBelow(place, '/root')) homes.add('/root')
  }
  return homes
}

/** Leaves out what lies inside a directory that is hidden as a whole. */
export function withoutCovered(paths: Iterable<string>, directories: ReadonlySet<string>): string[] {
  return [...paths].filter((path) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (directories.has(path.slice(0, at))) return false
    }
    return true
  })
}

// A grant that names one file of a secret directory opens that file and nothing beside it.
function maskAround(
  path: string,
  target: string,
  question: PlaceQuestion,
  files: Set<string>,
  directories: Set<string>,
): void {
  const named = openedByGrant(path, question.grants, question)
  const stat = lstatSync(target, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isDirectory()) {
    if (!named) files.add(target)
    return
  }
  const openings = question.grants.filter((grant) => grant.absolute === path || isBelow(grant.absolute, path))
  if (openings.length === 0) {
    directories.add(target)
    return
  }
  let children: string[]
  try {
    children = readdirSync(target)
  } catch {
    directories.add(target)
    return
  }
  for (const name of children) {
    const child = canonical(childPath(target, name))
    if (child !== null) maskAround(childPath(path, name), child, question, files, directories)
  }
}

/** A change this recent can share its time with a later one. */
const SETTLED_MS = 100

interface Listing {
  /** Empty if there is no such folder; null if this user may not list it. */
  readonly names: ReadonlySet<string> | null
  readonly stamp: string
  /** Whether a later change would show in the stamp. */
  readonly settled: boolean
}

/** Listings of folders at one moment, reused while a folder is unchanged. */
export class PlaceListings {
  readonly #listings = new Map<string, Listing>()
  readonly #looked = new Set<string>()

  /** From here on it is another moment. */
  lookAgain(): void {
    this.#looked.clear()
  }

  /** Whether there is something at a path. */
  has(path: string): boolean {
    const at = path.lastIndexOf('/')
    const folder = path.slice(0, at) || '/'
    const names = this.#of(folder)
    // A folder that may be passed but not listed can still be asked.
    return names?.has(path.slice(at + 1)) ?? canBeSeen(path)
  }

  /** The paths that match a pattern with `*`; others unchanged. */
  expand(pattern: string): string[] {
    if (!isGlob(pattern)) return [pattern]
    let found = ['/']
    for (const segment of pattern.split('/').filter((part) => part !== '')) {
      found = found.flatMap((folder) =>
        isGlob(segment)
          ? [...(this.#of(folder) ?? [])]
              .filter((name) => matchSegment(segment, name))
              .map((name) => childPath(folder, name))
          : [childPath(folder, segment)],
      )
    }
    return found
  }

  #of(folder: string): ReadonlySet<string> | null {
    const known = this.#listings.get(folder)
    if (known && this.#looked.has(folder)) return known.names
    this.#looked.add(folder)
    const there = folder === '/' || this.has(folder)
    const state = there ? stateOf(folder) : null
    if (known?.settled && state !== null && known.stamp === state.stamp) return known.names
    const settled = state !== null && Date.now() - state.changed > SETTLED_MS
    const names = there ? list(folder) : new Set<string>()
    this.#listings.set(folder, { names, stamp: state?.stamp ?? '', settled })
    return names
  }
}

/**
 * Whether a command could see the path. What another user closes (root's home) is closed to
 * commands too; a command could open a folder of this user, so its content must be known first.
 */
function canBeSeen(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (errorCode(error) === 'EACCES' && isOthers(dirname(path))) return false
    throw error
  }
}

/** Whether the folder that blocks the way belongs to another user. */
function isOthers(folder: string): boolean {
  try {
    return lstatSync(folder).uid !== process.getuid?.()
  } catch {
    return isOthers(dirname(folder))
  }
}

/** The last change of a folder, which nothing can reset, and its identity. */
function stateOf(folder: string): { readonly stamp: string; readonly changed: number } | null {
  try {
    const { ctimeMs, ino, dev } = statSync(folder)
    return { stamp: `${ctimeMs} ${ino} ${dev}`, changed: ctimeMs }
  } catch {
    return null
  }
}

/** The names in a folder, none where it is not one; null where they are not for this user to see. */
function list(folder: string): ReadonlySet<string> | null {
  try {
    return new Set(readdirSync(folder))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? new Set() : null
  }
}

function canonical(path: string): string | null {
  return attempt(() => realpathSync.native(path), null)
}

function isVisible(path: string, visible: readonly string[]): boolean {
  return visible.some((place) => path === place || isBelow(path, place) || isBelow(place, path))
}
