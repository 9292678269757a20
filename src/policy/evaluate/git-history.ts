/**
 * What git can reveal or lose: committed content that masks hide in files, and overwritten files.
 */

import { posix } from 'node:path'
import { isInside, isPrivateTmp } from '../../files/baseline.ts'
import { literalPrefix, type PathPattern, reachesPath } from '../../files/path-pattern.ts'
import type { CommandFact, ShellFacts, Word } from '../../shell/facts.ts'
import type { SessionFacts } from '../call.ts'
import { isInsideRoots } from '../path-part.ts'
import { type PathDenial, ref } from '../policy.ts'
import type { Ruling } from '../stance.ts'
import { directoryOf as gitDirectory, isGit } from './git-place.ts'
import { subcommands } from './network-use.ts'
import type { Scene } from './scene.ts'

/** Subcommands that print committed contents, or put them into other files. */
const PRINTS: ReadonlySet<string> = new Set(
  [
    'annotate archive blame bundle cat-file checkout-index diff diff-files diff-index diff-tree difftool fast-export',
    'format-patch grep log merge-file merge-tree range-diff reflog show stash unpack-file whatchanged',
  ].flatMap((line) => line.split(' ')),
)

/** Those that print a patch only when an option asks for it. */
const PATCH_BY_OPTION: ReadonlySet<string> = new Set(['log', 'reflog', 'stash'])
const PATCH = /^-(?:[pucmL]|U\d*$|-(?:patch|unified|cc|combined|dd|word-diff|color-words|full-diff|binary))/

/** Those that print no contents when an option asks for an outline. */
const OUTLINED_BY_OPTION = /^(?:diff|diff-files|diff-index|diff-tree|log|reflog|show|stash|whatchanged)$/
const OUTLINE = /^(?:-s|--(?:stat|shortstat|numstat|name-only|name-status|no-patch|quiet|summary|raw)(?:=.*)?)$/

/** What takes a folder out of a pathspec: `:(exclude)private`, `:!private`, `:^private`. */
const EXCLUDED = /^:(?:\((?:[^)]*,)?exclude(?:,[^)]*)?\)|[!^])/
const MAGIC = /^:(?:\([^)]*\)|\/)/

/** The denial of a use of git that prints a denied file; null where it prints none. */
export function historyDenial({ policy, session }: Scene, fact: CommandFact, text: string): Ruling | null {
  const rules = policy.reads.deny.filter(({ pattern }) => isInside(literalPrefix(pattern), policy.root))
  if (rules.length === 0 || !isGit(fact)) return null
  const words = fact.argv.map((word) => word.values?.[0] ?? '')
  const [subcommand = ''] = subcommands(words.slice(1))
  if (!PRINTS.has(subcommand)) return null
  const after = words.slice(words.indexOf(subcommand) + 1)
  const dashes = after.indexOf('--')
  const options = dashes < 0 ? after : after.slice(0, dashes)
  const isPatch = options.some((word) => PATCH.test(word))
  if (PATCH_BY_OPTION.has(subcommand) && !isPatch) return null
  if (OUTLINED_BY_OPTION.test(subcommand) && !isPatch && options.some((word) => OUTLINE.test(word))) return null
  const directory = gitDirectory(fact) ?? policy.root
  const place = session.repository?.originalOf(directory) ?? directory
  const specs = dashes < 0 ? after.filter((word) => !word.startsWith('-')) : after.slice(dashes + 1)
  const left = specs
    .filter((spec) => EXCLUDED.test(spec))
    .map((spec) => posix.resolve(place, spec.replace(EXCLUDED, '').replace(/\/(?:\*\*)?$/, '')))
  const wanted = specs
    .filter((spec) => spec !== '' && !EXCLUDED.test(spec))
    .map((spec) =>
      posix.resolve(spec.startsWith(':') ? policy.root : place, spec.replace(MAGIC, '').replace(/^[^:]*:/, '')),
    )
  for (const rule of rules) {
    const top = literalPrefix(rule.pattern)
    if (left.some((path) => isInside(top, path) || reachesAll(rule.pattern, path))) continue
    // A file that is named is printed whether or not the index has it: history may.
    const isNamed = wanted.some((path) => reachesPath(rule.pattern, path))
    const isWide = dashes < 0 || wanted.length === 0 || wanted.some((path) => isInside(top, path) || /[*?[]/.test(path))
    if (isNamed || (isWide && session.repository?.tracks(rule.pattern) === true))
      return denialOf(rule, text, policy.root)
  }
  return null
}

/** An exclusion that is written like the rule: `:(exclude)*.secret` for `**\/*.secret`. */
function reachesAll({ segments }: PathPattern, path: string): boolean {
  return path.endsWith(`/${segments.at(-1)}`)
}

function denialOf(rule: PathDenial, text: string, root: string): Ruling {
  const name = literalPrefix(rule.pattern).slice(root.length + 1)
  const exclude = name === '' ? rule.pattern.text : name
  const reason = {
    code: rule.asks ? 'rule-asks' : 'denied-by-rule',
    message: `\`${text}\` can print committed files that the rule ${JSON.stringify(rule.pattern.text)} denies.`,
    remedy: `Leave them out: end the command with -- . ':(exclude)${exclude}'. The rule is at ${rule.source}.`,
  } as const
  return { decision: rule.asks ? 'ask' : 'deny', ...(rule.asks && { firm: true }), reason, rules: [ref(rule)] }
}

/** The session's view of repositories, with the working trees and clones that this text creates. */
export function withMadeCheckouts(
  session: SessionFacts,
  root: string,
  { commands }: Pick<ShellFacts, 'commands'>,
): SessionFacts {
  const created = commands.flatMap((fact) => {
    const words = fact.argv.map((word) => word.values?.[0] ?? '')
    const [first, second] = isGit(fact) ? subcommands(words.slice(1)) : []
    const base = gitDirectory(fact)
    if (base === null || !(first === 'clone' || (first === 'worktree' && second === 'add'))) return []
    const places = words.slice(2).filter((word) => word !== '' && !word.startsWith('-'))
    return places.map((word) => posix.resolve(base, word)).filter((path) => isInside(path, root) && path !== root)
  })
  if (created.length === 0 || session.repository === undefined) return session
  const originalOf = (path: string): string | null => {
    const top = created.find((place) => isInside(path, place))
    return session.repository!.originalOf(path) ?? (top === undefined ? null : root + path.slice(top.length))
  }
  return { ...session, repository: { ...session.repository, originalOf } }
}

/** The place in /tmp that a command would move files of the project to for good; null when it moves none there. */
export function lostIn({ policy, session, shell }: Scene, fact: CommandFact): string | null {
  const place = destinationOf(fact)
  if (place === null || !isPrivateTmp(place) || isInsideRoots(policy, session, place)) return null
  const takes = fact.paths.some((use) => use.path !== null && isInsideRoots(policy, session, use.path))
  if (!takes || !('facts' in shell.analysis)) return null
  // `mv a /tmp/a; npm test; mv /tmp/a a` brings it back.
  const returned = shell.analysis.facts.commands.some(
    (other) => other !== fact && sourcesOf(other).some((source) => isInside(source, place) || isInside(place, source)),
  )
  return returned ? null : place
}

function moves(fact: CommandFact): boolean {
  const name = fact.argv[0]?.values?.[0] ?? ''
  const base = name.slice(name.lastIndexOf('/') + 1)
  return base === 'mv' || (base === 'rsync' && fact.argv.some((word) => word.values?.[0] === '--remove-source-files'))
}

function destinationOf(fact: CommandFact): string | null {
  if (!moves(fact)) return null
  const at = fact.argv.findIndex((word) => /^(?:-t|--target-directory)$/.test(word.values?.[0] ?? ''))
  const glued = fact.argv.map((word) => /^(?:-t|--target-directory=)(.+)$/s.exec(word.values?.[0] ?? '')?.[1])
  const text = glued.find((one) => one !== undefined) ?? onlyValue(fact.argv[at > 0 ? at + 1 : fact.argv.length - 1])
  return text === undefined ? null : posix.resolve(fact.cwd ?? '/', text)
}

function sourcesOf(fact: CommandFact): readonly string[] {
  if (!moves(fact)) return []
  return fact.argv
    .slice(1, -1)
    .map((word) => posix.resolve(fact.cwd ?? '/', onlyValue(word) ?? word.prefix))
    .filter(isPrivateTmp)
}

function onlyValue(word: Word | undefined): string | undefined {
  return word?.values?.length === 1 ? word.values[0] : undefined
}
