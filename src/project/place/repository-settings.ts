/** Whether the repository that git finds from a directory has settings that were judged: a hostile one names programs that git runs. */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Policy } from '../../policy/policy.ts'

/** Looks with the roots of a policy, as it is at each look. `absent` stands for a directory that does not exist. */
export function repositoryProblems(now: () => Policy): NonNullable<SessionFacts['repositoryProblem']> {
  return (directory) => {
    const { root, additionalDirectories } = now()
    return repositoryProblem(directory, [root, ...additionalDirectories.map(({ value }) => value)])
  }
}

/** The repository of a root, or around one, is the person's own. Bare ones come with any commit or archive. */
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

/** What `git clone`, `git remote` and `git branch` write, line by line. Anything else may run a program. */
const PLAIN_SETTING =
  /^\s*(?:$|[#;]|\[(?:core|user|(?:remote|branch|submodule) "[\w./@-]+")\]$|(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|fetch|merge|remote|rebase|active|name|email|url)\s*=\s*[\w./:@+*~ -]*$)/i

function settingsProblem(git: string): string | null {
  const problem = `git takes settings from ${git}, and they may run programs`
  try {
    // The file of a working tree or a submodule names a folder inside a protected git directory.
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
