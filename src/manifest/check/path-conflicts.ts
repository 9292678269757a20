/** Path rules of one file that cannot all be meant. */

import { isGlob } from '../../files/glob.ts'
import { containsPattern, literalPrefix, type PathPattern, splitPath } from '../../files/path-pattern.ts'
import type { FormatContext } from '../schema/format.ts'
import { type Item, itemsOf, type Manifest, type PathEntry } from '../schema/manifest.ts'
import type { Report } from '../toml/problem.ts'
import { type Parsed, reportDenied, reportDuplicate, warnShadowed } from './overlap.ts'

/** Checks the path rules of a file, for reading or for writing. */
export function checkPaths(manifest: Manifest, formats: FormatContext, report: Report, verb: 'read' | 'write'): void {
  const allow = withPaths(itemsOf<PathEntry>(manifest, `capabilities.allow.${verb}.paths`), formats)
  const deny = withPaths(itemsOf<PathEntry>(manifest, `capabilities.deny.${verb}.paths`), formats)
  const allowed = new PathIndex(allow, report)
  const denied = new PathIndex(deny, report)
  for (const { item, pattern } of allow) {
    const stop = denied.covering(pattern, null, true)
    if (stop !== null) {
      reportDenied(report, item, item.value.path, stop.item, pathKey(stop.pattern) === pathKey(pattern))
      continue
    }
    // A narrower grant that names files may open a secret or a protected path, which a broad one never does.
    if (pattern.files !== null || pattern.segments.at(-1) !== '**') continue
    const broader = allowed.covering(pattern, item, false)
    if (broader !== null && (broader.item.value.prompt ?? false) === (item.value.prompt ?? false)) {
      warnShadowed(report, item, item.value.path, broader.item)
    }
  }
}

function withPaths(items: readonly Item<PathEntry>[], formats: FormatContext): Parsed<PathEntry, PathPattern>[] {
  return items.flatMap((item) => {
    const pattern = formats.paths.get(item.value.path)
    return pattern === undefined ? [] : [{ item, pattern: { ...pattern, files: item.value.files } }]
  })
}

function pathKey(pattern: PathPattern): string {
  return `${pattern.absolute}\0${pattern.files === null ? '' : [...pattern.files].sort().join('\0')}`
}

/** More rules than this below one directory are compared only in part: an overlap is then missed, never a rule. */
const MAX_BUCKET = 200

/** Path rules by the directory they start at, so that a file of thousands of rules stays linear. */
class PathIndex {
  readonly #buckets = new Map<string, Parsed<PathEntry, PathPattern>[]>()

  constructor(rules: readonly Parsed<PathEntry, PathPattern>[], report: Report) {
    const seen = new Map<string, Item>()
    for (const rule of rules) {
      const key = pathKey(rule.pattern)
      const first = seen.get(key)
      if (first !== undefined) {
        reportDuplicate(report, rule.item, rule.item.value.path, first)
        continue
      }
      seen.set(key, rule.item)
      const prefix = literalPrefix(rule.pattern)
      const bucket = this.#buckets.get(prefix)
      if (bucket === undefined) this.#buckets.set(prefix, [rule])
      else if (bucket.length < MAX_BUCKET) bucket.push(rule)
    }
  }

  covering(pattern: PathPattern, self: Item | null, denial: boolean): Parsed<PathEntry, PathPattern> | null {
    let prefix = ''
    for (const segment of ['', ...splitPath(literalPrefix(pattern))]) {
      prefix = segment === '' ? '/' : `${prefix === '/' ? '' : prefix}/${segment}`
      const bucket = this.#buckets.get(prefix)
      if (bucket === undefined) continue
      const found = bucket.find(
        (rule) =>
          rule.item !== self &&
          (self === null || pathKey(rule.pattern) !== pathKey(pattern)) &&
          (containsPattern(rule.pattern, pattern) || (denial && deniesBelow(rule.pattern, pattern))),
      )
      if (found !== undefined) return found
    }
    return null
  }
}

/** A denied directory denies what is below it. */
function deniesBelow(outer: PathPattern, inner: PathPattern): boolean {
  return outer.files === null && !outer.segments.some(isGlob) && inner.absolute.startsWith(`${outer.absolute}/`)
}
