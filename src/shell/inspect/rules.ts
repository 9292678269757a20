/** Finds the rules of a row that look at a command. */

import type { Rules } from '../tables/spec.ts'
import type { Rule } from '../tables/use.ts'

const read = new WeakMap<Rules, ReadonlyMap<string, readonly Rule[]>>()

/** The rules by single keys; a table is read once. */
function byWords(rules: Rules): ReadonlyMap<string, readonly Rule[]> {
  const known = read.get(rules)
  if (known !== undefined) return known
  const found = new Map<string, readonly Rule[]>()
  for (const [keys, rule] of Object.entries(rules))
    for (const key of keys.split(',').map((one) => one.trim())) found.set(key, [...(found.get(key) ?? []), rule])
  read.set(rules, found)
  return found
}

/** Rules of the program and of every subcommand that was followed: `git`, `git remote`, `git remote add`. */
export function findRules(tables: readonly Rules[], words: readonly string[]): readonly Rule[] {
  const found: Rule[] = []
  let key = ''
  for (const word of words) {
    key = key === '' ? word : `${key} ${word}`
    for (const rules of tables) found.push(...(byWords(rules).get(key) ?? []))
  }
  return found
}
