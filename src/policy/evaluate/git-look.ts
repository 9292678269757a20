/** Which uses of git only look: they change no repository, or show nothing of a file that is hidden from them. */

import { isInside } from '../../files/baseline.ts'
import type { CommandFact, PathUse } from '../../shell/facts.ts'
import { subcommands } from './network-use.ts'

/** Subcommands that change nothing, whatever their words are. */
const READS: ReadonlySet<string> = new Set(
  [
    'annotate blame cat-file check-attr check-ignore cherry count-objects describe diff diff-files diff-index diff-tree for-each-ref grep',
    'help log ls-files ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var version whatchanged',
  ].flatMap((line) => line.split(' ')),
)

/** Subcommands that list when they are given nothing to change. */
const LISTS: ReadonlySet<string> = new Set(['branch', 'reflog', 'remote', 'tag'])

/** Subcommands of subcommands that change nothing. */
const LISTING: ReadonlySet<string> = new Set([
  'stash list',
  'stash show',
  'worktree list',
  'notes list',
  'notes show',
  'reflog show',
])

/** Subcommands that tell of a file no more than its name and state, whatever their words are. */
const NAMES_ONLY: ReadonlySet<string> = new Set(['check-attr', 'check-ignore', 'ls-files', 'ls-tree', 'rev-parse'])

/** `git status -v` shows the patch of what is staged. */
const TELLS_MORE = /^(?:|-[^-]*v.*|--v.*)$/

/** Options that say which files differ, and nothing of what is in them. */
const OUTLINE = /^--(?:stat|shortstat|numstat|name-only|name-status|quiet)$/

/** Options of `diff` and `log` that show nothing of a file either. A patch would: history and the index may hold what is hidden. */
const OUTLINED =
  /^(?:--|-\d+|-n|-q|--(?:oneline|all|follow|reverse|graph|decorate|no-merges|cached|staged|no-pager|date=\S+|since=.*|until=.*|author=.*|max-count=\d+|(?:format|pretty)=.*))$/

const wordsOf = (fact: CommandFact): string[] => fact.argv.map((word) => word.values?.[0] ?? '')

/** True for git as the program of a command. */
export function isGit(fact: CommandFact): boolean {
  return fact.argv[0]?.values?.length === 1 && fact.argv[0].values[0] === 'git'
}

/** True for a use of git that changes no repository. */
export function gitReads(fact: CommandFact): boolean {
  const [first, second] = subcommands(wordsOf(fact).slice(1))
  if (first === undefined) return true
  return READS.has(first) || (LISTS.has(first) && second === undefined) || LISTING.has(`${first} ${second}`)
}

/** True for the directory of `git -C`, in which its subcommand works. */
export function isGitTree(fact: CommandFact, { span }: PathUse): boolean {
  if (!isGit(fact)) return false
  const at = fact.argv.findIndex((word) => word.span.start === span.start && word.span.end === span.end)
  return at > 0 && fact.argv[at - 1]!.values?.[0] === '-C'
}

/**
 * True where git tells of files of the project no more than their names and who changed them when. `contained`: what it compares
 * is what the sandbox shows of a file, so `diff` of the one file tells nothing that any program inside could not find.
 */
export function gitNamesOnly(fact: CommandFact, root: string, contained: boolean): boolean {
  if (!isGit(fact)) return false
  const words = wordsOf(fact)
  const [subcommand = '', ...operands] = subcommands(words.slice(1))
  if (!fact.paths.every(({ path }) => path !== null && isInside(path, root))) return false
  if (NAMES_ONLY.has(subcommand)) return true
  const options = words.filter((word) => word.startsWith('-') || word === '')
  if (subcommand === 'status') return !options.some((option) => TELLS_MORE.test(option))
  const outlined = options.every((option) => OUTLINE.test(option) || OUTLINED.test(option))
  if (!outlined || subcommand === 'log') return outlined
  const shown = contained && operands.length === 1 && !options.some((option) => /^--(?:cached|staged)$/.test(option))
  return subcommand === 'diff' && (shown || options.some((option) => OUTLINE.test(option)))
}
