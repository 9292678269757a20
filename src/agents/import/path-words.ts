/** Converts hosts' file rules, which also apply to commands, to denials of a policy. */

import { parsePathPattern } from '../../files/path-pattern.ts'
import type { PathDenial } from '../../policy/policy.ts'
import { type CommandWord, unreadable } from './command-words.ts'
import { claudePath, withoutClasses } from './plain-globs.ts'

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
