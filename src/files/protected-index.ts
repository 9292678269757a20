/** The protected names prepared for comparing with paths: by the name that each starts with, because hardly a path holds one. */

import { foldPath } from './fold-name.ts'
import { matchSegment } from './glob.ts'
import { type ProtectedName, protectedNames } from './protected-names.ts'

/** A name with its folded segments. */
export interface ProtectedRule {
  readonly name: ProtectedName
  readonly segments: readonly string[]
}

interface NameIndex {
  readonly firsts: ReadonlyMap<string, readonly ProtectedRule[]>
  /** Those whose first segment is a glob. */
  readonly globs: readonly ProtectedRule[]
  readonly fixed: readonly ProtectedRule[]
}

let index: NameIndex | null = null

/** Made on first use, because not every start asks. */
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

/** The rules for any depth that may hold for a path with this folded segment in it, from there on. */
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

/** Hardly a name ends as one of the globs does: the rest need not be compared. */
function mayMatch(glob: string, name: string): boolean {
  const last = glob.charCodeAt(glob.length - 1)
  return last === STAR || last === name.charCodeAt(name.length - 1)
}

const STAR = 42
