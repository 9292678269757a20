/** Finds where a command leaves its shell, for hosts that continue from there. */

import { posix } from 'node:path'
import type { ShellFacts } from '../../shell/facts.ts'
import type { Files } from '../../system/files.ts'

const MOVERS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd'])

/**
 * The canonical directory of a command that begins with `cd WORD`; null for other commands, and for places that do not
 * exist or are outside the project. A `cd` elsewhere may not run, or only affect a subshell.
 */
export function directoryAfter(
  facts: ShellFacts | null,
  { cwd, root, files }: { readonly cwd: string; readonly root: string; readonly files: Files },
): string | null {
  const movers = facts?.commands.filter(({ argv }) => MOVERS.has(argv[0]?.text ?? '')) ?? []
  const [first] = movers
  if (!facts || movers.length !== 1 || first !== facts.commands[0]) return null
  const [name, word, ...more] = first!.argv
  const value = word?.values?.length === 1 ? word.values[0]! : null
  const plain = first!.via.length + first!.assignments.length + first!.redirects.length + more.length === 0
  if (name?.text !== 'cd' || !plain || !value || value.startsWith('-') || first!.background) return null
  const { start, end } = first!.span
  const isFirst = facts.source.slice(0, start).trim() === ''
  if (!isFirst || !/^[^\S\n]*(?:&&|;(?!;)|\n|$)/.test(facts.source.slice(end))) return null
  const target = files.canonical(posix.resolve(cwd, value))
  const below = target === root || target.startsWith(`${root}/`)
  return below && target !== files.canonical(cwd) && files.isDirectory(target) ? target : null
}
