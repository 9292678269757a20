/** Globs that would name a secret: `cat .en*`, `cat /etc/shado?`. */

import { posix } from 'node:path'
import { matchSegment, matchSegments } from './glob.ts'
import { splitPath } from './path-pattern.ts'
import { secretPlaces } from './secret-places.ts'
import { secretShapes } from './secret-shapes.ts'

/**
 * A secret that this glob of a command would match, as an example path; null when it names none. A bare `*` names
 * nothing in particular and is left to the masks; bash does not let wildcards match a leading dot.
 */
export function secretOfGlob(path: string, home: string): string | null {
  const pattern = path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1')
  const basename = posix.basename(pattern)
  if (/^[*?]*$/.test(basename)) return null
  const shape = secretShapes.map(exampleOf).find((name) => dotFits(basename, name) && matchSegment(basename, name))
  if (shape !== undefined) return posix.join(posix.dirname(path), shape)
  const segments = splitPath(pattern)
  const place = secretPlaces
    .map((candidate) => (candidate.path.startsWith('~/') ? home + candidate.path.slice(1) : candidate.path))
    .find((candidate) => matchSegments(segments, splitPath(exampleOf(candidate))))
  return place === undefined ? null : exampleOf(place)
}

function exampleOf(shape: string): string {
  return shape.replaceAll('*', 'x')
}

function dotFits(pattern: string, name: string): boolean {
  return !name.startsWith('.') || pattern.startsWith('.')
}
