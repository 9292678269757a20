/** Converts other agents' globs to a manifest's form. */

/**
 * Globs without braces and classes that match at least as much; null for one that excludes something, or is too wide.
 */
export function withoutClasses(path: string): readonly string[] | null {
  if (path.startsWith('!')) return null
  let open = [path.replace(/\[[^\]/]*\]/g, '?')]
  for (let round = 0; round < 8; round++) {
    const next = open.flatMap((each) => {
      const found = /\{([^{}]*)\}/.exec(each)
      return found === null
        ? [each]
        : found[1]!
            .split(',')
            .map((part) => each.slice(0, found.index) + part + each.slice(found.index + found[0].length))
    })
    if (next.length > 64) return null
    if (next.length === open.length && next.every((each, at) => each === open[at])) break
    open = next
  }
  return open.some((each) => /[[\]{}!]/.test(each)) ? null : open
}

/** Claude Code's paths: `//x` from the file system's root, `/x` and `./x` from the project, a bare name anywhere. */
export function claudePath(path: string): string {
  if (path.startsWith('//')) return path.slice(1)
  if (path.startsWith('/')) return path.slice(1)
  if (path.startsWith('./')) return path.slice(2)
  return path.startsWith('~') || path.includes('/') ? path : `**/${path}`
}
