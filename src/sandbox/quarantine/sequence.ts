/** What git goes on with at the next `--continue`: a rebase or a row of picks that was stopped. Its files can name programs to run. */

import { posix } from 'node:path'
import { parseGitConfig } from '../protect/git-config.ts'

/** The folders in which git keeps them, in a git directory. */
export const SEQUENCE_FOLDERS: readonly string[] = ['rebase-merge', 'sequencer']

/** The files in these folders that can name a program. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'rebase-merge': ['git-rebase-todo', 'strategy'],
  sequencer: ['opts'],
}

/** Git's own; any other makes git run `git-merge-NAME`, which may be a path into the project. */
const STRATEGIES: ReadonlySet<string> = new Set(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree', ''])

/** The files to be judged in a git directory, whether or not they exist. */
export function sequenceFiles(directory: string): readonly string[] {
  return SEQUENCE_FOLDERS.flatMap((folder) => FILES[folder]!.map((name) => posix.join(directory, folder, name)))
}

/**
 * Judges what a run made of such a file: null when it may stay, the text that may, or `aside` when nothing of it may. What it
 * held before may stay. The texts are one character a byte.
 */
export function judgeSequence(file: string, before: string | null, now: string): string | 'aside' | null {
  if (now === before) return null
  if (posix.basename(file) === 'git-rebase-todo') return withoutPrograms(before ?? '', now)
  const strategies = posix.basename(file) === 'opts' ? strategiesIn(now) : [now.trim()]
  return strategies?.every((name) => STRATEGIES.has(name)) ? null : 'aside'
}

function withoutPrograms(before: string, now: string): string | null {
  const known = new Set(before.split('\n').filter(runsProgram))
  const lines = now.split('\n')
  const left = lines.filter((line) => !runsProgram(line) || known.has(line))
  return left.length === lines.length ? null : left.join('\n')
}

/** As git tells its commands: `exec` or `x`, and then a space or nothing. */
function runsProgram(line: string): boolean {
  return /^[ \t]*(?:exec|x)(?=[ \t\r]|$)/.test(line)
}

function strategiesIn(text: string): readonly string[] | null {
  return parseGitConfig(text)?.flatMap(({ key, value }) => (key === 'options.strategy' ? [value.trim()] : [])) ?? null
}
