/**
 * The repositories that git finds from a project: their settings and worktrees. A hostile one names
 * programs that git runs.
 */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import { coversPath } from '../../files/path-pattern.ts'
import { rootProblem } from '../../files/root-place.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Policy } from '../../policy/policy.ts'
import { builtInBundles } from '../../sandbox/bundles/built-in.ts'
import type { Files } from '../../system/files.ts'
import type { LoadedPolicy } from './load.ts'

/** Checks repositories against the current roots. `absent`: the directory does not exist. */
export function repositoryProblems(now: () => Policy): NonNullable<SessionFacts['repositoryProblem']> {
  return (directory) => {
    const { root, additionalDirectories } = now()
    return repositoryProblem(directory, [root, ...additionalDirectories.map(({ value }) => value)])
  }
}

/**
 * The repository of a root or around it is the person's own. Bare ones can come with any commit or
 * archive.
 */
function repositoryProblem(directory: string, roots: readonly string[]): string | null {
  let start: string
  try {
    start = realpathSync(directory)
  } catch {
    return 'absent'
  }
  for (let at = start; ; at = posix.dirname(at)) {
    const git = posix.join(at, '.git')
    if (existsSync(git)) return roots.some((root) => isInside(root, at)) ? null : settingsProblem(git)
    if (posix.basename(at) !== '.git' && isBare(at))
      return `git takes settings from ${at}, a repository among the files of the project`
    if (at === posix.dirname(at)) return null
  }
}

function isBare(folder: string): boolean {
  const has = (name: string): boolean => existsSync(posix.join(folder, name))
  return has('HEAD') && (has('objects') || has('commondir'))
}

/** Lines that git itself writes. Anything else may run a program. */
const PLAIN_SETTING =
  /^\s*(?:$|[#;]|\[(?:core|user|(?:remote|branch|submodule) "[\w./@-]+")\]$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|fetch|merge|remote|rebase|active|name|email|url)\s*=\s*[\w./:@+*~ -]*$)/i

function settingsProblem(git: string): string | null {
  const problem = `git takes settings from ${git}, and they may run programs`
  try {
    // The file of a worktree or submodule names a folder inside a protected git directory.
    if (!statSync(git).isDirectory())
      return /^gitdir: \S*(?<=\/|\s)\.git\/(?:worktrees|modules)\/[\w./-]+\s*$/.test(readFileSync(git, 'utf8'))
        ? null
        : problem
    const lines = readFileSync(posix.join(git, 'config'), 'utf8').split(/\r?\n/)
    return lines.every((line) => PLAIN_SETTING.test(line) && !line.includes('::')) ? null : problem
  } catch {
    return problem
  }
}

/**
 * Worktrees of the project's repository. An agent can write the repository's list, so each worktree
 * must name the repository in a file that this user owns and no agent can write: not below a write
 * grant or a bundle's cache, and not the home directory.
 */
export function ownWorktrees({ root, policy }: LoadedPolicy, home: string, files: Files): readonly string[] {
  const administrative = posix.join(root, '.git', 'worktrees')
  return files.list(administrative).flatMap((name) => {
    const entry = posix.join(administrative, name)
    const written = firstLine(posix.join(entry, 'gitdir'), files)
    const place = posix.dirname(written)
    if (posix.basename(written) !== '.git' || files.canonical(written) !== written) return []
    if (firstLine(written, files) !== `gitdir: ${entry}`) return []
    if (!files.isOwn(written) || !files.isOwn(place)) return []
    if (rootProblem(place, home) !== null || isInside(root, place) || isWritable(written)) return []
    return [place]
  })

  function isWritable(path: string): boolean {
    const caches = () => builtInBundles().flatMap(({ cache, install }) => [...cache, ...install])
    const placed = (cache: string) => (cache.startsWith('~/') ? home + cache.slice(1) : cache)
    return (
      policy.writes.allow.some((rule) => coversPath(rule.pattern, path)) ||
      caches().some((cache) => isInside(path, placed(cache)))
    )
  }
}

/** Empty if there is no such file. */
function firstLine(path: string, files: Files): string {
  try {
    return files.readText(path, 4096).trim()
  } catch {
    return ''
  }
}
