/** Programs and builtins whose arguments are a command, from their rows. */

import { findProgram, listPrograms } from '../tables/programs/registry.ts'
import { remembered } from '../tables/remembered.ts'
import { compileSpec, type OptionRow } from '../tables/spec.ts'
import type { Wrap } from '../tables/wrap.ts'

/** A way for a program to run another, with parsed options. */
export interface WrapperRow extends Wrap {
  readonly name: string
  readonly words: readonly string[]
  readonly rows: ReadonlyMap<string, OptionRow>
  readonly rowsBefore: ReadonlyMap<string, OptionRow>
}

function read(name: string, wrap: Wrap): WrapperRow {
  return {
    ...wrap,
    name,
    words: wrap.sub?.split(' ') ?? [],
    rows: rowsOf(wrap.options),
    rowsBefore: rowsOf(wrap.before),
  }
}

const rowsOf = (options = ''): ReadonlyMap<string, OptionRow> => compileSpec({ options }).rows

/** Every wrapper there is, for tests. */
export function listWrappers(): readonly WrapperRow[] {
  return listPrograms().flatMap(([name]) => wrapperRows(name))
}

const STANDARD_DIRECTORIES = [
  '/bin/',
  '/usr/bin/',
  '/usr/local/bin/',
  '/sbin/',
  '/usr/sbin/',
  '/usr/local/sbin/',
  '/opt/homebrew/bin/',
]

/** The bare name of a program in a standard directory; `./env` and `/tmp/env` keep their path. */
export function standardName(name: string): string {
  const slash = name.lastIndexOf('/')
  if (slash === -1) return name
  if (/^\/lib(?:64|32)?\/|^\/usr\/lib/.test(name) && /^ld[-.]/.test(name.slice(slash + 1))) return name.slice(slash + 1)
  const directory = name.slice(0, slash + 1).replace(/\/\.?(?=\/)/g, '')
  return STANDARD_DIRECTORIES.includes(directory) ? name.slice(slash + 1) : name
}

const rowsNamed = remembered((name) => (findProgram(name)?.wraps ?? []).map((wrap) => read(name, wrap)))

/** The rows of a program, several when they differ by subcommand. */
export function wrapperRows(name: string): readonly WrapperRow[] {
  return rowsNamed(standardName(name))
}
