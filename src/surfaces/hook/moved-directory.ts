/** Where a command leaves its shell: a host that goes on from there must learn it, although the command ran in the sandbox. */

import { posix } from 'node:path'
import type { ShellFacts } from '../../shell/facts.ts'
import type { Files } from '../../system/files.ts'

const MOVERS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd'])

/**
 * The directory that a command which begins with `cd WORD` goes on in, canonical; null for every other command, and for places
 * that are not there or outside the project. A `cd` that stands elsewhere may not be reached, or belong to a subshell.
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
