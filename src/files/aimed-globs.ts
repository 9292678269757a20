/**
 * Globs of a command that aim at a secret, a protected path or a denied one: `cat .en*`, `tee
 * cordon.tom?`.
 */

import { posix } from 'node:path'
import { isGlob, matchSegment, matchSegments, segmentsMeet } from './glob.ts'
import { type PathPattern, reachesPath, splitPath } from './path-pattern.ts'
import { protectedNames } from './protected-names.ts'
import { foldName, type ProtectedFacts, protectedPath } from './protected-paths.ts'
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
  const shape = basenameShapes.find((candidate) => dotFits(basename, candidate) && aimsAtSecret(basename, candidate))
  if (shape !== undefined) return posix.join(posix.dirname(path), exampleOf(shape))
  const segments = splitPath(pattern)
  return examplePlaces(home).find((example) => matchSegments(segments, example.segments))?.path ?? null
}

interface ExamplePlace {
  readonly path: string
  readonly segments: readonly string[]
}

let examples: { readonly home: string; readonly places: readonly ExamplePlace[] } | null = null

/** One path for each secret place; computed once for the home of this process. */
function examplePlaces(home: string): readonly ExamplePlace[] {
  if (examples?.home !== home) {
    const places = secretPlaces.map(({ path }) => exampleOf(path.startsWith('~/') ? home + path.slice(1) : path))
    examples = { home, places: places.map((path) => ({ path, segments: path.split('/').slice(1) })) }
  }
  return examples.places
}

/** `server.k*` and `.env.pro*` are meant for a secret; `foo*` and `src/*.*` only happen to match one. */
function aimsAtSecret(pattern: string, shape: string): boolean {
  const folded = pattern.toLowerCase()
  // `*.json` is every file of a kind, and `credentials.json` only one of them; the masks hide that one.
  if (/^\*\.\w+$/.test(folded) && !/^\*[._]\w+$|^\./.test(shape)) return false
  if (/[^*]\*[^*]|^\*[^._]/.test(shape)) return segmentsMeet(folded, shape) && writesPart(folded, shape)
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

/**
 * A path of one of these rules at which this glob of a command aims, as an example; null if there
 * is not one. For a glob that only happens to match (`*`, `*.txt`), the sandbox enforces the rule.
 */
export function deniedOfGlob(path: string, rules: readonly PathPattern[]): string | null {
  if (rules.length === 0) return null
  const glob = splitPath(path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1'))
  for (const rule of rules) {
    const end = rule.segments.findIndex(isGlob)
    const closed = end < 0 ? rule.segments : rule.segments.slice(0, end)
    const aimed = closed.length <= glob.length && closed.every((name, at) => aimsAtDenied(glob[at] ?? '', name))
    const example = `/${[...closed, ...glob.slice(closed.length)].join('/')}`
    if (aimed && closed.some((name, at) => glob[at] !== name) && reachesPath(rule, example)) return example
    const last = rule.segments.at(-1) ?? ''
    const basename = glob.at(-1) ?? ''
    // `cat *.secre?` for a rule `**/*.secret`.
    if (end >= 0 && last !== '**' && isGlob(last) && isGlob(basename) && sharesTail(basename, last)) {
      const named = `/${[...glob.slice(0, -1), last.replace(/[*?]/g, 'x')].join('/')}`
      if (reachesPath(rule, named)) return named
    }
  }
  return null
}

/** The name itself, or a glob that begins like it, or spells at least half of it. */
function aimsAtDenied(segment: string, name: string): boolean {
  if (segment === name) return true
  if (!isGlob(segment) || !segmentsMeet(segment, name) || (name.startsWith('.') && !segment.startsWith('.')))
    return false
  return !/^[*?]/.test(segment) || segment.replace(/[*?]/g, '').replace(/\.\w*$/, '').length * 2 >= name.length
}

function sharesTail(glob: string, rule: string): boolean {
  const tail = /[^*?]+$/.exec(rule)?.[0] ?? ''
  const own = /\.[^.]*$/.exec(glob)?.[0] ?? ''
  return tail.startsWith('.') && own.replace(/[*?.]/g, '') !== '' && segmentsMeet(own, tail)
}

/** Paths of a repository or a project that a glob writes only on purpose. */
const inProject: readonly string[] = ['.git', '.git/hooks', '.git/config', 'cordon.toml', 'cordon.toml.sig']

/**
 * A protected path that this glob of a command would write, as an example; null when it is aimed at none. A glob that only
 * happens to match (`*`, `*.toml`) is left to the pins.
 */
export function protectedOfGlob(path: string, facts: ProtectedFacts): string | null {
  const pattern = splitPath(path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1'))
  const first = pattern.findIndex((segment) => /[*?]/.test(segment))
  if (first < 0) return null
  for (const name of [...inProject, ...protectedNames.map((entry) => entry.path)]) {
    const parts = splitPath(name.startsWith('~/') ? facts.home + name.slice(1) : name)
    const anywhere = !name.startsWith('~/') && !name.startsWith('/')
    // Only a name with the first wildcard is in question: earlier names are judged as written.
    for (let start = anywhere ? Math.max(0, first - parts.length + 1) : 0; start <= (anywhere ? first : 0); start++) {
      const aimed = parts.every((part, at) => aimsAtProtected(pattern[start + at], part, at > 0 && parts[0] === '.git'))
      if (!aimed || start + parts.length <= first) continue
      const example = `/${[...pattern.slice(0, start), ...parts, ...pattern.slice(start + parts.length)].join('/')}`
      if (protectedPath(example, facts) !== null) return example
    }
  }
  return null
}

/** At least half of the name is written out, or it begins with the dot that wildcards do not match, or it is inside a repository. */
function aimsAtProtected(segment: string | undefined, name: string, inside: boolean): boolean {
  if (segment === undefined) return false
  const pattern = foldName(segment)
  if (!segmentsMeet(pattern, foldName(name))) return false
  if (inside) return true
  if (name.startsWith('.')) return pattern.startsWith('.')
  // `*.json` is not aimed at `mcp.json`, but `x.code-work*` is at `*.code-workspace`.
  const [wanted, written] = name.startsWith('*') ? [extension(name), extension(pattern)] : [stem(name), stem(pattern)]
  return written.replace(/[*?]/g, '').length * 2 >= wanted.length
}

function stem(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}

function extension(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1)
}
