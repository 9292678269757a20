/** Parses a command's arguments by its row of the command table. */

import { nearest } from '../../project/near-word.ts'
import { type CommandRow, type FlagRow, UsageError } from './usage.ts'

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly words: readonly string[]
  readonly lists: Readonly<Record<string, readonly string[]>>
}

/** Parses `--flag`, `--flag value`, `--flag=value` and words. Unknown flags are usage errors with a suggestion. */
export function parseArguments(row: CommandRow, argv: readonly string[]): Arguments {
  const flags: Record<string, string | boolean> = {}
  const words: string[] = []
  const lists: Record<string, string[]> = {}
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--') {
      words.push(...argv.slice(at + 1))
      break
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word)
      continue
    }
    const equals = word.indexOf('=')
    const name = equals < 0 ? word : word.slice(0, equals)
    const flag = flagRow(row, name)
    const key = flag.name.slice(2)
    if (flag.value === undefined) {
      if (equals >= 0) throw new UsageError(`option ${name} takes no value`)
      flags[key] = true
      continue
    }
    // A value that looks like an option must be written with "=", or its value was probably forgotten.
    const next = equals >= 0 ? word.slice(equals + 1) : argv[++at]
    if (next === undefined || (equals < 0 && next.startsWith('-') && next !== '-')) {
      throw new UsageError(`option ${name} needs a value: ${name} ${flag.value}`)
    }
    flags[key] = next
    if (flag.repeats) lists[key] = [...(lists[key] ?? []), next]
  }
  const extra = words[row.words ?? words.length]
  if (extra !== undefined) throw new UsageError(`cordon ${row.name} does not take “${extra}”`)
  return { flags, words, lists }
}

function flagRow(row: CommandRow, name: string): FlagRow {
  const found = row.flags.find((flag) => flag.name === name || flag.short === name)
  if (found) return found
  const suggestion = nearest(
    name,
    row.flags.map((flag) => flag.name),
  )
  throw new UsageError(`unknown option ${name}${suggestion ? `; did you mean ${suggestion}?` : ''}`)
}

/** Checks a word against the names that a command accepts, such as a verb or an agent. */
export function oneOf<Name extends string>(names: readonly Name[], given: string | undefined, wanted: string): Name {
  const found = names.find((name) => name === given)
  if (found !== undefined) return found
  const all = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
  if (given === undefined) throw new UsageError(`${wanted}: ${all}`)
  const suggestion = nearest(given, names)
  throw new UsageError(`${wanted}: ${all}, not “${given}”${suggestion ? `; did you mean ${suggestion}?` : ''}`)
}

export function textFlag(args: Arguments, name: string): string | undefined {
  const value = args.flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Values of a repeatable flag; `split` also separates each at commas. */
export function listFlag(args: Arguments, name: string, split = false): readonly string[] {
  const values = args.lists[name] ?? []
  return split ? values.flatMap((value) => value.split(',').map((part) => part.trim())) : values
}

/** Joins words into one command text; several words are an argv and are quoted. */
export function commandText(words: readonly string[]): string {
  if (words.length === 1) return words[0]!
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
