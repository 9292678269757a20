/** Path patterns of the manifest: places, and basenames in them. */

import { posix } from 'node:path'
import { isGlob, matchSegment, matchSegments } from './glob.ts'
import { foldName } from './path-bytes.ts'

/** A parsed path rule. */
export interface PathPattern {
  /** As written in the manifest. */
  readonly text: string
  /** Absolute pattern, `.` and `..` removed. */
  readonly absolute: string
  /** Basename globs; null when the path pattern itself names the files. */
  readonly files: readonly string[] | null
  /** `absolute` split at `/`. */
  readonly segments: readonly string[]
  /** The same for a denial on a file system that takes other spellings of a name for the same: in the form that all of them have. */
  readonly folded?: { readonly segments: readonly string[]; readonly files: readonly string[] | null }
}

/** The folders against which a pattern is resolved. */
interface PathPatternContext {
  readonly root: string
  readonly home: string
  /** Basename globs that narrow the pattern; null when none were written. */
  readonly files: readonly string[] | null
  /** For denials where upper and lower case, and composed and decomposed letters, name one file. */
  readonly folds?: boolean
}

const MAX_LENGTH = 1024

/** Parses a path entry of the manifest: relative ones are under the root, `~/` is the home directory. */
export function parsePathPattern(
  text: string,
  context: PathPatternContext,
): { readonly pattern: PathPattern } | { readonly problem: string } {
  const problem = globProblem(text) ?? context.files?.map(basenameProblem).find((found) => found !== null)
  if (problem) return { problem }
  const based =
    text === '~' || text.startsWith('~/') ? context.home + text.slice(1) : posix.resolve(context.root, text || '.')
  const absolute = posix.normalize(based).replace(/(.)\/$/, '$1')
  const pattern: PathPattern = { text, absolute, files: context.files, segments: splitPath(absolute) }
  if (context.folds !== true) return { pattern }
  const folded = { segments: pattern.segments.map(foldName), files: context.files?.map(foldName) ?? null }
  return { pattern: { ...pattern, folded } }
}

/** True when the rule covers this file: the strict reading, for grants. */
export function coversPath(pattern: PathPattern, path: string): boolean {
  if (pattern.absolute === path) return true
  const segments = splitPath(path)
  const last = pattern.segments.at(-1) ?? ''
  if (isGlob(last)) return matchSegments(pattern.segments, segments) && basenameMatches(pattern, segments)
  // A literal last segment names a file, or a directory with its direct files (one level).
  if (pattern.files === null && matchSegments(pattern.segments, segments)) return true
  return matchSegments(pattern.segments, segments.slice(0, -1)) && basenameMatches(pattern, segments)
}

/** True when the rule reaches this path or anything above it: the broad reading, for denials. */
export function reachesPath(pattern: PathPattern, path: string): boolean {
  if (pattern.folded) {
    const { text, folded } = pattern
    const absolute = joinPath(folded.segments)
    return reachesPath({ text, absolute, ...folded }, joinPath(splitPath(path).map(foldName)))
  }
  if (coversPath(pattern, path)) return true
  const segments = splitPath(path)
  for (let length = segments.length; length > 0; length--) {
    const ancestor = segments.slice(0, length)
    if (pattern.files === null ? matchSegments(pattern.segments, ancestor) : coversEntry(pattern, ancestor)) return true
  }
  return false
}

/** A directory with a basename filter does not match itself. */
function coversEntry(pattern: PathPattern, segments: readonly string[]): boolean {
  const path = joinPath(segments)
  return path !== pattern.absolute && coversPath(pattern, path)
}

/** True when the pattern names this very path, or its basename, by something narrower than a catch-all. */
export function namesPath(pattern: PathPattern, path: string): boolean {
  if (!coversPath(pattern, path)) return false
  const basename = posix.basename(path)
  if (pattern.files?.some((file) => !isCatchAll(file) && matchSegment(file, basename))) return true
  return !isCatchAll(pattern.segments.at(-1) ?? '**') && matchSegments(pattern.segments, splitPath(path))
}

/** The literal directory above the first wildcard, which a sandbox can bind. */
export function literalPrefix(pattern: PathPattern): string {
  const end = pattern.segments.findIndex(isGlob)
  return joinPath(end < 0 ? pattern.segments : pattern.segments.slice(0, end))
}

/** True when every path that `inner` covers is covered by `outer`, as far as that is plain to see. */
export function containsPattern(outer: PathPattern, inner: PathPattern): boolean {
  const files = outer.files === null || outer.files.some(isCatchAll) || sameFiles(outer, inner)
  if (!files) return false
  if (outer.absolute === inner.absolute) return true
  if (outer.segments.at(-1) !== '**') return false
  return matchSegments(outer.segments, inner.segments)
}

/** An absolute path as a pattern that matches only itself. */
export function exactPath(path: string): PathPattern {
  return { text: path, absolute: path, files: null, segments: splitPath(path) }
}

/** A place as a pattern that matches itself and everything below. */
export function wholeTree(path: string): PathPattern {
  return exactPath(`${path}/**`)
}

/** A few paths are compared with many patterns in a row. */
const splits = new Map<string, readonly string[]>()
const MAX_SPLITS = 32

/** Splits an absolute path into its segments; the root has none. */
export function splitPath(path: string): readonly string[] {
  const known = splits.get(path)
  if (known) return known
  if (splits.size >= MAX_SPLITS) splits.clear()
  const segments = path.split('/').filter((segment) => segment !== '')
  splits.set(path, segments)
  return segments
}

function joinPath(segments: readonly string[]): string {
  return `/${segments.join('/')}`
}

function basenameMatches(pattern: PathPattern, segments: readonly string[]): boolean {
  if (pattern.files === null) return true
  const basename = segments.at(-1) ?? ''
  return pattern.files.some((file) => file === '**' || matchSegment(file, basename))
}

function isCatchAll(segment: string): boolean {
  return /^[*?]+$/.test(segment) || segment === '*.*'
}

function sameFiles(outer: PathPattern, inner: PathPattern): boolean {
  return inner.files?.every((file) => outer.files?.includes(file)) ?? false
}

function globProblem(text: string): string | null {
  if (text === '') return 'a path cannot be empty; write "." for the project root'
  if (text.length > MAX_LENGTH) return `a path pattern is at most ${MAX_LENGTH} characters`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'a path cannot hold control characters'
  if (text.startsWith('!'))
    return 'negation with "!" is not supported; write the path under [capabilities.deny] instead'
  if (/[[\]{}]/.test(text)) return 'only *, ** and ? are wildcards; write one entry for each alternative'
  if (/^~[^/]/.test(text)) return 'only your own home directory "~/" can be named'
  for (const segment of text.split('/')) {
    if (segment.includes('**') && segment !== '**') return '"**" must be alone between slashes'
  }
  if (text.split('/').filter((segment) => segment === '**').length > 4) return 'at most four "**" in one pattern'
  return null
}

function basenameProblem(file: string): string | null {
  if (file.includes('/')) return `"${file}" names a directory; entries of files are basenames such as "*.ts"`
  if (file === '' || file === '.' || file === '..') return 'a file pattern cannot be empty, "." or ".."'
  return file === '**' ? null : globProblem(file)
}
