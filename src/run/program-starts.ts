/** The program starts of one command: judged while it runs, and reported with its result. */

import { posix } from 'node:path'
import type { ProgramRules } from '../confine/confinement.ts'
import { startDenial, startText } from '../policy/programs/start.ts'
import type { ProgramStart } from '../sandbox/programs.ts'
import { programViolation, type Violation } from '../sandbox/violation.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'

/** Refusals that are reported; a loop can make any number. */
const MOST_REPORTED = 50

/** Words of a program in the list of those that started another. */
const SHOWN_WORDS = 3

/** Judges the starts of one run. */
export class ProgramStarts {
  readonly #rules: ProgramRules
  readonly #refused = new Map<string, Violation>()

  constructor(rules: ProgramRules) {
    this.#rules = rules
  }

  judge(start: ProgramStart): boolean {
    const { policy, by } = this.#rules
    const denial = startDenial(policy, start, by)
    if (denial === null) return true
    this.#refuse(start, denial.reason.message)
    return false
  }

  /** What was refused, each once. */
  refused(): readonly Violation[] {
    return [...this.#refused.values()]
  }

  #refuse(start: ProgramStart, why: string): void {
    if (this.#refused.size >= MOST_REPORTED) return
    const violation = programViolation(
      posix.basename(start.path || start.file),
      startText(start),
      startedBy(start),
      why,
    )
    this.#refused.set(violation.message, violation)
  }
}

/** The programs above a start, the first one first, without the shell that runs the command itself. */
function startedBy({ chain }: ProgramStart): readonly string[] {
  const above = chain.toReversed().filter((text, index) => index > 0 || !text.startsWith('/bin/bash -c -- '))
  // A process that has forked still has the words of its parent.
  const shown = above.map(shorten)
  return shown.filter((text, index) => text !== shown[index - 1])
}

/** `bash scripts/release.sh x` is its script, inline code is left out. */
function shorten(text: string): string {
  const [program = '', ...words] = text.split(' ')
  const name = posix.basename(program)
  const [first = ''] = words
  if (!isInterpreterName(name)) return [name, ...words.slice(0, SHOWN_WORDS - 1)].join(' ')
  if (first.startsWith('-')) return `${name} ${first} …`
  return first === '' ? name : first
}
