/** Converts hosts' file rules, which also apply to commands, to denials of a policy. */

import { parsePathPattern } from '../../files/path-pattern.ts'
import type { PathDenial } from '../../policy/policy.ts'
import { type CommandWord, unreadable } from './command-words.ts'

/** Where the rules of one file apply. */
export interface PathBases {
  readonly home: string
  /** Folders that a relative path may start from; all count. */
  readonly folders: readonly string[]
}

export interface PathDenials {
  readonly reads: readonly PathDenial[]
  readonly writes: readonly PathDenial[]
  readonly unread: readonly CommandWord[]
}

/** One source's denials about files; unreadable files may not be written either. */
export function pathDenialsOf(
  words: readonly CommandWord[],
  source: string,
  { home, folders }: PathBases,
): PathDenials {
  const reads: PathDenial[] = []
  const writes: PathDenial[] = []
  const unread: CommandWord[] = []
  for (const { form, text, said, verdict } of words) {
    if (verdict === 'allow' || (form !== 'read' && form !== 'write')) continue
    const globs = withoutClasses(claudePath(text.trim()))
    const found = (globs ?? []).flatMap((glob) =>
      folders.flatMap((root) => {
        const parsed = parsePathPattern(glob, { root, home, files: null })
        return 'pattern' in parsed ? [{ ...parsed.pattern, text: said }] : []
      }),
    )
    if (globs === null || found.length < globs.length * folders.length) unread.push(unreadable(said))
    const rules = [...new Map(found.map((pattern) => [pattern.absolute, pattern])).values()].map(
      (pattern): PathDenial => ({
        pattern,
        prompt: false,
        rule: said,
        source,
        ...(verdict === 'ask' && { asks: true }),
      }),
    )
    if (form === 'read') reads.push(...rules)
    if (form === 'write' || verdict === 'deny') writes.push(...rules)
  }
  return { reads, writes, unread }
}

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
