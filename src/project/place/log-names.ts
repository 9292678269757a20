/** What the names in the log of another machine stand for: nothing of it is here to be checked, and nothing of it runs. */

import { posix } from 'node:path'
import { parsePathPattern } from '../../files/path-pattern.ts'
import type { PathRule } from '../../policy/policy.ts'

/** Folders that people keep the working trees of a project in, beside it. */
const BESIDE: readonly string[] = ['.worktrees', '__worktrees', '-worktrees', '_worktrees']

/** The folders beside a project that carry its name. */
export function namedWorktrees(root: string): readonly string[] {
  return BESIDE.map((suffix) => root + suffix)
}

/** The repository that a path lies in: the folder in which its way leaves the project's. */
export function namedRepository(path: string, root: string): string | null {
  const [parts, own] = [path.split('/'), root.split('/')]
  const shared = parts.findIndex((part, index) => part !== own[index])
  const name = shared < 0 ? undefined : parts[shared]
  const isFile = shared === parts.length - 1 && posix.extname(path) !== ''
  return name === undefined || name.startsWith('.') || isFile ? null : parts.slice(0, shared + 1).join('/')
}

/** What Claude Code put aside of the output of its sessions in a project: a hook is told the folder, and its agent may read it. */
export function namedResults(root: string, home: string): readonly PathRule[] {
  const folder = root.replace(/[^A-Za-z0-9]/g, '-')
  const parsed = parsePathPattern(`~/.claude/projects/${folder}*/*/tool-results/**`, { root, home, files: null })
  return 'problem' in parsed
    ? []
    : [{ pattern: parsed.pattern, prompt: false, rule: 'the host’s own files of the session', source: 'session' }]
}
