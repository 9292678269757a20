/** What a person would say about a project first, in a few lines of the prompt: tree, git, rules. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Policy } from '../policy/policy.ts'
import { attempt } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'

const MOST_NAMES = 40
const MOST_RULES = 12
/** Other names could be written to be read as instructions. */
const PLAIN = /^[\w@+.-]{1,48}$/
const BRANCH = /^ref: refs\/heads\/([\w./+-]{1,80})$/

/** Read from files alone: a program such as git could run what the project says. */
export function projectFacts(root: string, policy: Policy): readonly string[] {
  const { mode, commands } = policy
  const runs = commands.allow.map(({ pattern }) => pattern.text)
  const hosts = commands.defaultDomains.map(({ pattern }) => pattern.text)
  return [
    `Top level: ${listOf(namesIn(root), MOST_NAMES)}. ${gitState(root)}`,
    `Rules: mode ${mode.value}; runs without a question: ${listOf(runs, MOST_RULES)}; hosts of every command: ${listOf(hosts, MOST_RULES)}.`,
  ]
}

function listOf(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : ''
  return names.length === 0 ? 'none' : `${names.slice(0, most).join(', ')}${more}`
}

function namesIn(root: string): string[] {
  return attempt(
    () =>
      readdirSync(root, { withFileTypes: true })
        .filter(({ name }) => PLAIN.test(name) && name !== '.git')
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .sort(),
    [],
  )
}

function gitState(root: string): string {
  const git = join(root, '.git')
  const head = textOf(join(git, 'HEAD'))
  if (head === null) return 'No git repository begins here.'
  const branch = BRANCH.exec(head.trim())?.[1]
  const under = ['MERGE_HEAD', 'REBASE_HEAD', 'CHERRY_PICK_HEAD'].find((name) => machineFiles.exists(join(git, name)))
  const state = under === undefined ? '' : `, in the middle of a ${under.split('_')[0]!.toLowerCase()}`
  return `Git: ${branch === undefined ? 'no branch' : `branch ${branch}`}${state}.`
}

function textOf(path: string): string | null {
  return attempt(() => machineFiles.readText(path, 4096), null)
}
