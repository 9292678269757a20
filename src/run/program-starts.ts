/** The program starts of one command: judged while it runs, and reported with its result. */

import { posix } from 'node:path'
import type { ProgramRules } from '../confine/confinement.ts'
import { typedText } from '../confine/entitlement.ts'
import { decideStart, type StartScene, startDenial, startText } from '../policy/programs/start.ts'
import type { Ruling } from '../policy/stance.ts'
import type { LaunchResult } from '../sandbox/backend.ts'
import type { ProgramStart } from '../sandbox/programs.ts'
import { programViolation, type Violation } from '../sandbox/violation.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import { type RecordedTree, ranPrograms } from './ran-programs.ts'

/** Refusals that are reported; a loop can make any number. */
const MOST_REPORTED = 50

/** Words of a program in the list of those that started another. */
const SHOWN_WORDS = 3

/** A program start that a person is asked about. */
export interface ProgramQuestion {
  /** Its words as one text that a shell would read as the same words. */
  readonly command: string
  readonly cwd: string
  /** By which programs it was started, the first one first. */
  readonly startedBy: readonly string[]
  readonly ruling: Ruling
  readonly signal: AbortSignal
}

/** A text says why not. */
export type AskProgram = (question: ProgramQuestion) => Promise<true | string>

/** Judges the starts of one run. */
export class ProgramStarts {
  readonly #rules: ProgramRules & Pick<StartScene, 'home' | 'path'>
  readonly #ask: AskProgram | null
  readonly #refused = new Map<string, Violation>()
  readonly #answers = new Map<string, Promise<boolean>>()

  constructor(rules: ProgramRules & Pick<StartScene, 'home' | 'path'>, ask: AskProgram | null) {
    this.#rules = rules
    this.#ask = ask
  }

  /** Whether a person may be asked while a command runs. */
  get asks(): boolean {
    const { policy, changing, every, scripts } = this.#rules
    return (
      this.#ask !== null &&
      (every === true ||
        scripts != null ||
        changing.length > 0 ||
        policy.commands.deny.some((rule) => rule.asks === true))
    )
  }

  judge(start: ProgramStart, signal: AbortSignal = new AbortController().signal): boolean | Promise<boolean> {
    const ruling = this.#decide(start)
    if (ruling === null) return true
    if (ruling.decision === 'deny' || this.#ask === null) {
      const nobody = ruling.decision === 'deny' ? '' : ' No one could be asked: run it as a separate command.'
      this.#refuse(start, `${ruling.reason.message}${nobody}`)
      return false
    }
    // The same words in the same place are one question for the whole command.
    const key = JSON.stringify([start.file, start.cwd, start.argv, start.cut])
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = this.#put(start, ruling, this.#ask, signal)
    this.#answers.set(key, answer)
    return answer
  }

  #decide(start: ProgramStart): Ruling | null {
    const { session } = this.#rules
    if (session !== null) return decideStart({ ...this.#rules, session }, start)
    const denial = startDenial(this.#rules.policy, start, this.#rules.by)
    return denial?.decision === 'deny' || this.#rules.by === 'agent' ? denial : null
  }

  async #put(start: ProgramStart, ruling: Ruling, ask: AskProgram, signal: AbortSignal): Promise<boolean> {
    const command = typedText([posix.basename(start.path || start.file), ...start.argv.slice(1)])
    const answer = await ask({ command, cwd: start.cwd, startedBy: startedBy(start), ruling, signal })
    if (answer !== true) this.#refuse(start, answer)
    return answer === true
  }

  /** What ran, for the record. */
  ran(result: Pick<LaunchResult, 'programs'>): RecordedTree | null {
    return ranPrograms(result)
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
