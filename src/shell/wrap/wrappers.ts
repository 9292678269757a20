/** The wrapper table: programs and builtins whose arguments are a command, by name. */

import { remembered } from '../tables/remembered.ts'
import type { WrapperRow } from './wrapper-row.ts'
import { elsewhereWrappers } from './wrappers-elsewhere.ts'
import { localWrappers } from './wrappers-local.ts'
import { runnerWrappers } from './wrappers-runners.ts'

export type { WrapperRow } from './wrapper-row.ts'

export const WRAPPERS: readonly WrapperRow[] = [...localWrappers, ...elsewhereWrappers, ...runnerWrappers]

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

const rowsNamed = remembered((name) => WRAPPERS.filter((row) => row.names.includes(name)))

/** The rows of a program, several when they differ by subcommand. */
export function wrapperRows(name: string): readonly WrapperRow[] {
  return rowsNamed(standardName(name))
}
