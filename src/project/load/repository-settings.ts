/** The repositories that git finds from a project. A hostile one names programs to run. */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { isInside, rootProblem } from '../../files/baseline.ts'
import { coversPath, type PathPattern, reachesPath } from '../../files/path-pattern.ts'
import type { RepositoryFacts, SessionFacts } from '../../policy/call.ts'
import type { Policy } from '../../policy/policy.ts'
import { builtInBundles } from '../../sandbox/bundles/built-in.ts'
import { attempt } from '../../system/fault.ts'
import { type Files, machineFiles } from '../../system/files.ts'
import { destinationOf } from '../place/repository-remotes.ts'
import type { LoadedPolicy } from './load.ts'

/** Facts about the repository of the current root. */
export function repositoryFacts(root: () => string): RepositoryFacts {
  return {
    originalOf: (path) => originalOf(path, root(), machineFiles),
    tracks: (pattern) => tracks(pattern, root()),
    destination: (sending) => destinationOf(sending, root(), machineFiles),
  }
}

function originalOf(path: string, root: string, files: Files): string | null {
  for (let at = path; at !== '/' && at !== root; at = posix.dirname(at)) {
    if (isCopy(at, root, files)) return root + path.slice(at.length)
  }
  return null
}

/**
 * A checkout below the project, or one that names its repository. A submodule is another project.
 */
function isCopy(folder: string, root: string, files: Files): boolean {
  const git = posix.join(folder, '.git')
  if (!files.exists(git) || !files.exists(posix.join(root, '.git'))) return false
  if (files.isDirectory(git)) return isInside(folder, root)
  const named = textOf(git, files)
  return named.startsWith(`gitdir: ${root}/.git/worktrees/`) || (isInside(folder, root) && !/\/modules\//.test(named))
}

/** Limits of the search for clones; git itself lists its worktrees. */
const DEPTH = 4
const MOST_FOLDERS = 5_000
const NEVER_COPIES: ReadonlySet<string> = new Set(['.git', 'node_modules', '.venv', 'target'])

/** Checkouts that the repository lists or that lie in the first folders of the project. */
export function checkoutsOf(root: string, roots: readonly string[], files: Files): readonly string[] {
  const listed = posix.join(root, '.git', 'worktrees')
  if (!files.exists(posix.join(root, '.git'))) return []
  const found = files
    .list(listed)
    .map((name) => posix.dirname(textOf(posix.join(listed, name, 'gitdir'), files)))
    .filter((place) => roots.some((one) => isInside(place, one)))
  let folders = [root]
  let searched = 0
  for (let depth = 0; depth < DEPTH && searched < MOST_FOLDERS; depth++) {
    folders = folders.flatMap((folder) => {
      searched++
      if (searched > MOST_FOLDERS) return []
      return files
        .list(folder)
        .filter((name) => !NEVER_COPIES.has(name))
        .map((name) => posix.join(folder, name))
        .filter((path) => !files.isLink(path) && files.isDirectory(path))
    })
    found.push(...folders.filter((folder) => isCopy(folder, root, files)))
  }
  return [...new Set(found)].filter((place) => place !== root && files.isDirectory(place))
}

const MOST_INDEX = 256 * 1_048_576

/** Whether git's index contains a matching file; true if the index cannot be read. */
function tracks(pattern: PathPattern, root: string): boolean {
  const file = posix.join(root, '.git', 'index')
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return false
  if (stat.size > MOST_INDEX) return true
  return attempt(
    () => indexNames(readFileSync(file)).some((name) => reachesPath(pattern, posix.join(root, name))),
    true,
  )
}

/** Names in an index of version 2 or 3 with SHA-1; throws for others. */
function indexNames(bytes: Buffer): readonly string[] {
  const version = bytes.readUInt32BE(4)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 3) throw new Error('another kind of index')
  const names: string[] = []
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at + (version === 3 && (bytes.readUInt16BE(at + 60) & 0x4000) !== 0 ? 64 : 62)
    const end = bytes.indexOf(0, start)
    if (end < start) throw new Error('an index that ends too soon')
    names.push(bytes.toString('utf8', start, end))
    at += Math.ceil((end + 1 - at) / 8) * 8
  }
  return names
}

function textOf(path: string, files: Files): string {
  return attempt(() => files.readText(path, 4096).trim(), '')
}

/** Checks repositories against the current roots. `absent`: the directory does not exist. */
export function repositoryProblems(now: () => Policy): NonNullable<SessionFacts['repositoryProblem']> {
  return (directory) => {
    const { root, additionalDirectories } = now()
    return repositoryProblem(directory, [root, ...additionalDirectories.map(({ value }) => value)])
  }
}

/** A root's repository is the person's own. Bare ones can come with any commit. */
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
  return attempt(() => files.readText(path, 4096).trim(), '')
}
