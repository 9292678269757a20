/**
 * Where git takes its settings from: a repository's configuration names programs that git runs. So
 * git has the hosts of its bundle only if that configuration is protected or was judged.
 */

import { posix } from 'node:path'
import { isInside, isPrivateTmp } from '../../files/baseline.ts'
import type { CommandFact, Hazard, PathUse, RedirectFact, ShellFacts } from '../../shell/facts.ts'
import type { SessionFacts } from '../call.ts'
import { isInsideRoots } from '../path-part.ts'
import type { Policy } from '../policy.ts'
import { subcommands } from './network-use.ts'

/** Programs that work in a git repository, and run git where they are not git themselves. */
const GIT_PROGRAMS: ReadonlySet<string> = new Set(['git', 'git-lfs', 'gh', 'glab', 'jj'])

/** Programs that write nothing except through redirects. */
const WRITES_NOTHING: ReadonlySet<string> = new Set(
  'basename cat cut date diff dirname du echo file find grep head id jq ls mkdir nl pwd readlink realpath rg rm sleep sort stat tail test timeout tree uname wc which'.split(
    ' ',
  ),
)

/** Subcommands of git that leave the configuration, and every file beside it, as the repository's own history has it. */
const KEEPS_SETTINGS: ReadonlySet<string> = new Set(
  'blame branch cat-file checkout clone describe diff fetch for-each-ref grep log ls-files ls-remote ls-tree merge-base pull rev-list rev-parse shortlog show show-ref status switch tag'.split(
    ' ',
  ),
)

export type TextFacts = Pick<ShellFacts, 'commands' | 'hazards' | 'redirects'>

/** Why git, in this text, may take settings from somebody else; null where it does not, and for every other program. */
export function repositoryDoubt(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  text: TextFacts,
): string | null {
  if (!isGitProgram(fact)) return null
  const directory = directoryOf(fact)
  if (directory === null) return 'git takes settings from a directory that is only known when it runs'
  if (!isPrivateTmp(directory) || isInsideRoots(policy, session, directory)) {
    const problem = session.repositoryProblem?.(directory) ?? null
    if (problem !== 'absent') return problem
  }
  return isMadePlainly(directory, text) ? null : `git takes settings from ${directory}, which this text may write`
}

/** The same of a repository that is there already: a grant of the command does not cover what its settings run. */
export function repositoryHazard(session: SessionFacts, fact: CommandFact): Hazard | null {
  const directory = isGitProgram(fact) ? directoryOf(fact) : null
  const problem = directory === null ? null : (session.repositoryProblem?.(directory) ?? null)
  if (problem === null || problem === 'absent') return null
  return { code: 'option-reads-config', message: problem, verdict: 'ask', span: fact.span }
}

/** Where git starts to look for its repository; null when that cannot be known. */
export function directoryOf(fact: CommandFact): string | null {
  let directory = fact.cwd
  for (let at = 1; at < fact.argv.length && directory !== null; at++) {
    const values = fact.argv[at]!.values
    const word = values?.length === 1 ? values[0]! : null
    if (word === null || !word.startsWith('-')) break
    if (word !== '-C') continue
    const next = fact.argv[++at]?.values
    directory = next?.length === 1 ? posix.resolve(directory, next[0]!) : null
  }
  return directory
}

function isGitProgram({ argv, resolves }: CommandFact): boolean {
  return resolves === 'program' && GIT_PROGRAMS.has(posix.basename(argv[0]?.values?.[0] ?? ''))
}

/** Whether a new directory can only contain what `git clone` or `mkdir` put there. */
function isMadePlainly(directory: string, { commands, redirects }: TextFacts): boolean {
  if ([...redirects, ...commands.flatMap((fact) => fact.redirects)].some(writesFile)) return false
  if (!commands.every(keepsSettings)) return false
  return isTmpItself(directory) || commands.some((fact) => makesDirectory(fact, directory))
}

/** It is empty when a command starts. */
function isTmpItself(directory: string): boolean {
  return isPrivateTmp(directory) && !isPrivateTmp(posix.dirname(directory))
}

function writesFile({ kind, access }: RedirectFact): boolean {
  return kind === 'file' && access !== 'read'
}

function keepsSettings(fact: CommandFact): boolean {
  if (fact.resolves === 'builtin' || fact.resolves === 'none' || fact.unwrapped === 'all') return true
  const [program = '', ...words] = fact.argv.map((word) => word.values?.[0] ?? '')
  if (program === 'git') return KEEPS_SETTINGS.has(subcommands(words)[0] ?? '')
  return WRITES_NOTHING.has(program) && fact.hazards.length === 0
}

function makesDirectory(fact: CommandFact, directory: string): boolean {
  const [program, ...words] = fact.argv.map((word) => word.values?.[0] ?? '')
  const base = directoryOf(fact)
  if (base === null) return false
  const plain = words.filter((word) => !word.startsWith('-'))
  if (program === 'mkdir') return plain.some((word) => isInside(posix.resolve(base, word), directory))
  if (program !== 'git' || subcommands(words)[0] !== 'clone') return false
  return words.some(
    (word) =>
      posix.resolve(base, posix.basename(word, '.git')) === directory || posix.resolve(base, word) === directory,
  )
}

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

/** Subcommands that show only the name and state of a file, whatever their words are. */
const NAMES_ONLY: ReadonlySet<string> = new Set(['check-attr', 'check-ignore', 'ls-files', 'ls-tree', 'rev-parse'])

/** `git status -v` shows the patch of what is staged. */
const TELLS_MORE = /^(?:|-[^-]*v.*|--v.*)$/

/** Options that show which files differ, but no content. */
const OUTLINE = /^--(?:stat|shortstat|numstat|name-only|name-status|quiet)$/

/**
 * Options of `diff` and `log` that show no content of a file. A patch would: history and the index
 * may contain hidden text.
 */
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

/** Whether it is the directory of `git -C`, in which its subcommand works. */
export function isGitTree(fact: CommandFact, { span }: PathUse): boolean {
  if (!isGit(fact)) return false
  const at = fact.argv.findIndex((word) => word.span.start === span.start && word.span.end === span.end)
  return at > 0 && fact.argv[at - 1]!.values?.[0] === '-C'
}

/**
 * Whether git shows only names and authors of project files. `contained`: `diff` of a file reads
 * what the sandbox shows, so it reveals nothing new.
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
