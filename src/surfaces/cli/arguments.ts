/** Reads a command's arguments by its row of the command table. */

import { parseArgs } from 'node:util'
import { nearest } from '../../runtime/manifest-report.ts'
import { type CommandRow, UsageError } from './usage.ts'

export interface Arguments {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly words: readonly string[]
}

/** Parses flags and words; what the row does not know is a usage error with a suggestion. */
export function parseArguments(row: CommandRow, argv: readonly string[]): Arguments {
  const options = Object.fromEntries(
    row.flags.map((flag) => [flag.name.slice(2), { type: flag.value ? ('string' as const) : ('boolean' as const) }]),
  )
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true })
    return { flags: values, words: positionals }
  } catch (error) {
    const unknown = /'(--?[\w-]+)/.exec(error instanceof Error ? error.message : '')?.[1]
    const known = row.flags.map((flag) => flag.name)
    if (unknown && !known.includes(unknown)) {
      const suggestion = nearest(unknown, known)
      throw new UsageError(`unknown option ${unknown}${suggestion ? `; did you mean ${suggestion}?` : ''}`)
    }
    throw new UsageError(error instanceof Error ? error.message.split('. ')[0]! : String(error))
  }
}

/** The text of a flag that takes one. */
export function textFlag(args: Arguments, name: string): string | undefined {
  const value = args.flags[name]
  return typeof value === 'string' ? value : undefined
}

/** Joins words into one command text; several words are an argv and are quoted as such. */
export function commandText(words: readonly string[]): string {
  if (words.length === 1) return words[0]!
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
}
