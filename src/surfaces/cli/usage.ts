/** What commands and their rows are. */

import type { Terminal } from '../terminal/terminal.ts'
import type { Arguments } from './arguments.ts'

export interface CommandContext {
  readonly terminal: Terminal
  readonly argv: readonly string[]
  /** `argv` as the command's row defines it. Throws a UsageError for unknown flags and words. */
  readonly args: Arguments
  readonly endBy?: (signal: NodeJS.Signals) => void
  /** Reports that nothing was started, whatever the exit code: this process may serve others. */
  readonly untouched?: () => void
  /** The terminal without masking, for tokens meant for the person. */
  readonly bare: Terminal
  readonly row: CommandRow
  /** All rows; empty for commands that must start fast. */
  readonly commands: readonly CommandRow[]
}

export { EXIT } from '../terminal/terminal.ts'

export interface CommandRow {
  readonly name: string
  /** Imported when it is called, because start-up counts. */
  readonly load: () => Promise<{ run: (context: CommandContext) => Promise<number> | number }>
  /** Its output is not masked: programs read it exactly, or it was masked before. */
  readonly verbatim?: true
  readonly summary: string
  /** `{agents}` becomes the names of agents with hooks. */
  readonly usage: string
  /** How many words it takes besides flags; absent: the command checks them. */
  readonly words?: number
  readonly flags: readonly FlagRow[]
  readonly details: string
}

export interface FlagRow {
  readonly name: string
  readonly short?: string
  readonly repeats?: true
  readonly value?: string
  readonly about: string
  /** `main.ts` turns the command's printed text into JSON. */
  readonly wraps?: true
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Cordon's own words: those before `--`, and for `run` and `learn` those before the command. */
export function ownWords(row: CommandRow, argv: readonly string[]): readonly string[] {
  const valued = new Set(row.flags.filter((flag) => flag.value).map((flag) => flag.name))
  const isWrapper = row.name === 'run' || row.name === 'learn'
  let end = 0
  while (end < argv.length && argv[end] !== '--' && (!isWrapper || argv[end]!.startsWith('-'))) {
    end += valued.has(argv[end]!) ? 2 : 1
  }
  return argv.slice(0, end)
}
