/** Rules of agent hosts about files, which they hold against commands too, as denials of a policy. */

import { parsePathPattern } from '../../files/path-pattern.ts'
import type { PathDenial } from '../../policy/policy.ts'
import { type CommandWord, unreadable } from './command-words.ts'
import { claudePath, withoutClasses } from './plain-globs.ts'

/** Where the rules of one file hold. */
export interface PathBases {
  readonly home: string
  /** What a relative one may be meant from: all of them count. */
  readonly folders: readonly string[]
}

export interface PathDenials {
  readonly reads: readonly PathDenial[]
  readonly writes: readonly PathDenial[]
  /** What stands for rules that cannot be understood. */
  readonly unread: readonly CommandWord[]
}

/** The denials of one file that are about files; what may not be read may not be written either. */
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
