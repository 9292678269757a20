/** Globs that would name a secret: `cat .en*`, `cat /etc/shado?`. */

import { posix } from 'node:path'
import { matchSegment, matchSegments, segmentsMeet } from './glob.ts'
import { splitPath } from './path-pattern.ts'
import { secretPlaces } from './secret-places.ts'
import { basenameShapes } from './secret-shapes.ts'

/**
 * A secret that this glob of a command would match, as an example path; null when it names none. A bare `*` names
 * nothing in particular and is left to the masks; bash does not let wildcards match a leading dot.
 */
export function secretOfGlob(path: string, home: string): string | null {
  const pattern = path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1')
  const basename = posix.basename(pattern)
  if (/^[*?]*(\.[*?]+)*$/.test(basename) && !basename.startsWith('.')) return null
  const shape = basenameShapes.find((candidate) => dotFits(basename, candidate) && aimsAt(basename, candidate))
  if (shape !== undefined) return posix.join(posix.dirname(path), exampleOf(shape))
  const segments = splitPath(pattern)
  return examplePlaces(home).find((example) => matchSegments(segments, example.segments))?.path ?? null
}

interface ExamplePlace {
  readonly path: string
  readonly segments: readonly string[]
}

let examples: { readonly home: string; readonly places: readonly ExamplePlace[] } | null = null

/** One path for each secret place; made once for the home that all decisions of a process have. */
function examplePlaces(home: string): readonly ExamplePlace[] {
  if (examples?.home !== home) {
    const places = secretPlaces.map(({ path }) => exampleOf(path.startsWith('~/') ? home + path.slice(1) : path))
    examples = { home, places: places.map((path) => ({ path, segments: path.split('/').slice(1) })) }
  }
  return examples.places
}

/** `server.k*` and `.env.pro*` are meant for a secret; `foo*` and `src/*.*` only happen to match one. */
function aimsAt(pattern: string, shape: string): boolean {
  const folded = pattern.toLowerCase()
  // `*.json` is every file of a kind, and `credentials.json` only one of them; the masks hide that one.
  if (/^\*\.\w+$/.test(folded) && !/^\*[._]\w+$|^\./.test(shape)) return false
  if (/[^*]\*[^*]/.test(shape)) return segmentsMeet(folded, shape) && writesPart(folded, shape)
  if (matchSegment(folded, exampleOf(shape))) return true
  const tail = /^\*([._])(.+)$/.exec(shape)
  if (tail === null) return segmentsMeet(folded, shape)
  const own = folded.slice(folded.lastIndexOf(tail[1] ?? '') + 1)
  return folded.includes(tail[1] ?? '') && /[^*?]/.test(own) && matchSegment(own, tail[2] ?? '')
}

/** Of a name with wildcards inside, a part that is its own must be written out: `service-acc*`, not `*.json`. */
function writesPart(pattern: string, shape: string): boolean {
  const own = shape.replace(/\.json$/, '')
  return pattern.split(/[*?]+/).some((part) => part.length > 3 && own.includes(part.replace(/\.json$/, '') || '*.'))
}

function exampleOf(shape: string): string {
  return shape.replaceAll('*', 'x')
}

function dotFits(pattern: string, name: string): boolean {
  return !name.startsWith('.') || pattern.startsWith('.')
}
