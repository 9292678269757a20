/** Rules for what rows cannot say, by the words of the command. */

import type { Rule } from '../use.ts'
import { archiveRules } from './archives.ts'
import { buildRules } from './build.ts'
import { containerRules } from './containers.ts'
import { databaseRules } from './databases.ts'
import { fileRules } from './files.ts'
import { gitRules } from './git.ts'
import { interpreterRules } from './interpreters.ts'
import { networkRules } from './network.ts'
import { runnerRules } from './runners.ts'
import { systemRules } from './system.ts'
import { textRules } from './text.ts'

const rules: ReadonlyMap<string, readonly Rule[]> = collect([
  textRules,
  fileRules,
  archiveRules,
  gitRules,
  networkRules,
  buildRules,
  runnerRules,
  interpreterRules,
  containerRules,
  databaseRules,
  systemRules,
])

function collect(tables: readonly Readonly<Record<string, Rule>>[]): ReadonlyMap<string, readonly Rule[]> {
  const all = new Map<string, Rule[]>()
  for (const table of tables)
    for (const [keys, rule] of Object.entries(table))
      for (const key of keys.split(',')) {
        const words = key.trim()
        const known = all.get(words)
        if (known) known.push(rule)
        else all.set(words, [rule])
      }
  return all
}

/** Rules of the program and of every subcommand that was followed: `git`, `git remote`, `git remote add`. */
export function findRules(words: readonly string[]): readonly Rule[] {
  return words.flatMap((_, index) => rules.get(words.slice(0, index + 1).join(' ')) ?? [])
}
