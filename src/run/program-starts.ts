/** Judges the program starts of one command while it runs, and reports them with its result. */

import { posix } from 'node:path'
import type { ProgramRules } from '../confine/confinement.ts'
import { typedText } from '../confine/entitlement.ts'
import { kindForms } from '../policy/evaluate/command-grant.ts'
import { decideStart, type StartScene, startDenial, startText } from '../policy/programs/start.ts'
import type { Ruling } from '../policy/stance.ts'
import type { LaunchResult } from '../sandbox/backend.ts'
import type { ProgramStart } from '../sandbox/programs.ts'
import { programViolation, type Violation } from '../sandbox/violation.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import { type RecordedTree, ranPrograms } from './ran-programs.ts'

/** Reported refusals at most; a loop can cause any number. */
const MOST_REPORTED = 50

/** Words per program in the list of ancestors. */
const SHOWN_WORDS = 3

/** A question about a program start. */
export interface ProgramQuestion {
  /** Its words as shell text. */
  readonly command: string
  readonly cwd: string
  /** The programs that started it, the first one first. */
  readonly startedBy: readonly string[]
  readonly ruling: Ruling
  readonly signal: AbortSignal
}

/** A text is the reason for a no. */
export type AskProgram = (question: ProgramQuestion) => Promise<true | string>

/** Judges the program starts of one run. */
export class ProgramStarts {
  readonly #rules: ProgramRules & Pick<StartScene, 'home' | 'path'>
  readonly #ask: AskProgram | null
  readonly #refused = new Map<string, Violation>()
  readonly #answers = new Map<string, Promise<boolean>>()

  readonly #changes: StartScene['changes']

  constructor(rules: ProgramRules & Pick<StartScene, 'home' | 'path'>, ask: AskProgram | null) {
    this.#rules = rules
    const { commands, session } = rules
    this.#changes = new Map(
      commands.flatMap((fact) =>
        fact.kind == null ? [] : [[fact, kindForms(fact.kind, session?.repository)[0] ?? null] as const],
      ),
    )
    this.#ask = ask
  }

  /** Whether a person can be asked during the run. */
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
    const problem = this.#rules.refused?.why(start) ?? null
    if (problem !== null) {
      this.#refuse(start, problem)
      return false
    }
    const ruling = this.#decide(start)
    if (ruling === null) return true
    if (ruling.decision === 'deny' || this.#ask === null) {
      const nobody = ruling.decision === 'deny' ? '' : ' No one could be asked: run it as a separate command.'
      this.#refuse(start, `${ruling.reason.message}${nobody}`)
      return false
    }
    // The same words in the same place are asked once per command.
    const key = JSON.stringify([start.file, start.cwd, start.argv, start.cut])
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = this.#put(start, ruling, this.#ask, signal)
    this.#answers.set(key, answer)
    return answer
  }

  #decide(start: ProgramStart): Ruling | null {
    const { session } = this.#rules
    if (session !== null) return decideStart({ ...this.#rules, session, changes: this.#changes }, start)
    const denial = startDenial(this.#rules.policy, start, this.#rules.by)
    return denial?.decision === 'deny' || this.#rules.by === 'agent' ? denial : null
  }

  async #put(start: ProgramStart, ruling: Ruling, ask: AskProgram, signal: AbortSignal): Promise<boolean> {
    const command = typedText([posix.basename(start.path || start.file), ...start.argv.slice(1)])
    const answer = await ask({ command, cwd: start.cwd, startedBy: startedBy(start), ruling, signal })
    if (answer !== true) this.#refuse(start, answer)
    return answer === true
  }

  /** The programs that ran, for the audit log. */
  ran(result: Pick<LaunchResult, 'programs'>): RecordedTree | null {
    return ranPrograms(result)
  }

  /** The refused starts, each once. */
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

/** The ancestors of a start, the first one first, without the shell of the command itself. */
function startedBy({ chain }: ProgramStart): readonly string[] {
  const above = chain.toReversed().filter((text, index) => index > 0 || !text.startsWith('/bin/bash -c -- '))
  // A forked process still has its parent's words.
  const shown = above.map(shorten)
  return shown.filter((text, index) => text !== shown[index - 1])
}

/** `bash scripts/release.sh x` becomes its script; inline code is omitted. */
function shorten(text: string): string {
  const [program = '', ...words] = text.split(' ')
  const name = posix.basename(program)
  const [first = ''] = words
  if (!isInterpreterName(name)) return [name, ...words.slice(0, SHOWN_WORDS - 1)].join(' ')
  if (first.startsWith('-')) return `${name} ${first} …`
  return first === '' ? name : first
}
