/** Files that git shows out of its history, by words of its own: `HEAD:.env`, `-L1,9:.env`, patterns that git matches itself. */

import { secretOfGlob } from '../../../files/secret-glob.ts'
import type { Arg } from '../options.ts'
import { isLeftOut, resolvePath } from '../paths.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

/** `HEAD:path`, `:0:path`, `stash@{0}:path`: what stands behind the colon. An address is none. */
const COMMITTED = /^[^:]*:(?!\/\/)(?:\d:)?(.+)$/s

/** `main@{10:00}:path`, `HEAD^{/a: b}:path`: the colons in here are of the revision. */
const BRACES = /\{[^}]*\}/g

/** `:(top,icase)path`, `:/path`: what a pathspec says about its path. */
const MAGIC = /^:(?:\([^)]*\)|[/!^]+)/

/** The words that can name files; the first one of grep is what it looks for. */
function named(use: Use): readonly Arg[] {
  const looks = use.words[1] === 'grep' && !has(use, '-e', '-f')
  return use.operands.slice(looks ? 1 : 0).filter((arg) => !isLeftOut(arg.text ?? ''))
}

/** What a word says, with what only shows at run time left in: `"$rev:.env"` names the file all the same. */
function written(arg: Arg): string {
  return arg.text ?? arg.word.text.replace(/["']/g, '')
}

/** The path of a word that names a file by what was committed. */
function committedIn(text: string): string | undefined {
  return COMMITTED.exec(text.replace(MAGIC, 'HEAD:').replace(BRACES, ''))?.[1]
}

function reportCommitted(use: Use, arg: Arg): void {
  const path = committedIn(written(arg))
  if (path !== undefined) use.found.file(path, 'read', arg.word.span)
}

/** git matches the patterns that bash left alone; one that is aimed at a secret reads it. */
function reportPattern(use: Use, arg: Arg): void {
  const pattern = arg.text?.replace(MAGIC, '') ?? ''
  if (!/[*?[]/.test(pattern)) return
  const { path } = resolvePath(pattern, use.place.cwd ?? '/', use.place.home)
  if (path !== null && secretOfGlob(path, use.place.home) !== null)
    use.found.file(pattern, 'read', arg.word.span, { glob: true })
}

const shows: Rule = (use) => {
  for (const arg of named(use)) {
    reportCommitted(use, arg)
    reportPattern(use, arg)
  }
  for (const { value } of usesOf(use, '-L', '--blob')) {
    // `-L1,9:path`, `-L:name:path`: the path is behind the last colon.
    const path = value === null ? undefined : /:([^:]+)$/s.exec(written(value))?.[1]
    if (value !== null && path !== undefined) use.found.file(path, 'read', value.word.span)
  }
}

/** `git cat-file --batch <<< HEAD:.env`. */
const listed: Rule = (use) => {
  for (const line of use.place.input?.split('\n') ?? []) {
    const path = committedIn(line.trim())
    if (path !== undefined) use.found.file(path, 'read', use.span)
  }
}

const SHOWING = [
  'annotate archive blame cat-file config diff diff-files diff-index diff-tree difftool fast-export format-patch grep log merge-file',
  'merge-tree mergetool notes range-diff read-tree rev-list shortlog show stash unpack-file whatchanged',
].flatMap((line) => line.split(' '))

export const gitHistoryRules: Readonly<Record<string, Rule>> = {
  [SHOWING.map((subcommand) => `git ${subcommand}`).join(', ')]: shows,
  'git cat-file': listed,
}
