/** Secrets at fixed places (keys, credentials, histories) that exist on this machine, as paths to mask. */

import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { isGlob, matchSegment } from '../files/glob.ts'
import type { PathPattern } from '../files/path-pattern.ts'
import { openedByGrant, secretPlaces } from '../files/secret-shapes.ts'
import { childPath, isBelow } from './secrets-tree.ts'

/** Paths to hide: files become empty, directories become empty. */
export interface PlaceMasks {
  readonly files: readonly string[]
  readonly directories: readonly string[]
}

export interface PlaceQuestion {
  readonly home: string
  /** What the sandbox shows: only places in there need a mask. */
  readonly visible: readonly string[]
  readonly grants: readonly PathPattern[]
}

/** The secret places that exist and can be seen; symlinks count at their target too. */
export function maskPlaces(question: PlaceQuestion): PlaceMasks {
  const files = new Set<string>()
  const directories = new Set<string>()
  const homes = new Set([question.home, canonical(question.home) ?? question.home])
  for (const place of secretPlaces) {
    const patterns = place.path.startsWith('~/') ? [...homes].map((home) => home + place.path.slice(1)) : [place.path]
    for (const path of patterns.flatMap(expand)) {
      // Most places do not exist; a failed realpath costs several times as much.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue
      const target = canonical(path)
      if (target === null) continue
      if (!isVisible(target, question.visible)) continue
      maskAround(path, target, question, files, directories)
    }
  }
  return { files: withoutCovered(files, directories), directories: withoutCovered(directories, directories) }
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

function expand(pattern: string): string[] {
  if (!isGlob(pattern)) return [pattern]
  let found = ['/']
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    found = found.flatMap((folder) => {
      if (!isGlob(segment)) return [childPath(folder, segment)]
      try {
        return readdirSync(folder)
          .filter((name) => matchSegment(segment, name))
          .map((name) => childPath(folder, name))
      } catch {
        return []
      }
    })
  }
  return found
}

function canonical(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

function isVisible(path: string, visible: readonly string[]): boolean {
  return visible.some((place) => path === place || isBelow(path, place) || isBelow(place, path))
}
