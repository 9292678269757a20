/** The programs that a command ran, for the audit log: names, and hashes of their words. */

import { posix } from 'node:path'
import type { LaunchResult } from '../sandbox/backend.ts'
import type { RanProgram } from '../sandbox/programs.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import { sha256 } from '../system/sha256.ts'
import { programSummary } from './program-summary.ts'

const HASH_LENGTH = 16

export interface RecordedProgram {
  readonly name: string
  /** A hash of its words. */
  readonly words: string
  /** The position of the program that started it. */
  readonly by?: number
}

/** The first programs of one run, and how many more there were. */
export interface RecordedTree {
  readonly list: readonly RecordedProgram[]
  readonly leftOut: number
}

export function ranPrograms({ programs }: Pick<LaunchResult, 'programs'>): RecordedTree | null {
  return programs === undefined ? null : { list: treeOf(programs.list), leftOut: programs.leftOut }
}

function treeOf(list: readonly RanProgram[]): RecordedProgram[] {
  return list.map((program, at) => {
    const before = list.slice(0, at)
    // A process that execs another program started that one.
    const replaced = before.findLastIndex(({ pid }) => pid === program.pid)
    const by = replaced >= 0 ? replaced : before.findLastIndex(({ pid }) => pid === program.parent)
    const words = sha256(JSON.stringify(program.words)).slice(0, HASH_LENGTH)
    return { name: nameOf(program), words, ...(by >= 0 && { by }) }
  })
}

/** A script replaces its interpreter. */
function nameOf({ name, words }: RanProgram): string {
  const [, script = ''] = words
  const isScript = isInterpreterName(name) && script !== '' && !script.startsWith('-')
  return isScript
    ? programSummary([posix.basename(script), ...words.slice(2)])
    : programSummary([name, ...words.slice(1)])
}
