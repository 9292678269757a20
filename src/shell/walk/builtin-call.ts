/** What a builtin can read and change in its shell. */

import type { AssignmentFact, Hazard, Span, Word } from '../facts.ts'
import { isPlainArithmetic } from '../words/arithmetic.ts'
import { type Scope, UNKNOWN, type Value } from '../words/scope.ts'
import { arithmeticDoubt } from '../words/word.ts'

/** What a builtin can do to the walk. */
export interface BuiltinCall {
  readonly name: string
  readonly argv: readonly Word[]
  readonly scope: Scope
  readonly home: string
  readonly span: Span
  /** The input of the builtin, if the text contains it. */
  readonly input: string | null
  readonly hazards: Hazard[]
  readonly assignments: AssignmentFact[]
  /** Names that are functions anywhere in the text so far. */
  isFunction(name: string): boolean
  /** Analyses text that this shell runs now: words, or its input, which is then consumed. */
  runText(text: string, span: Span, from: 'words' | 'input'): void
  /** Analyses text that runs at some later time. */
  hookText(text: string, span: Span): void
  /** Evaluates text as arithmetic. */
  arithmetic(text: string, span: Span): void
  /** A variable of this shell is assigned: hazards for dangerous names. */
  assigned(name: string, span: Span, fact?: AssignmentFact): void
  /** Records whether every command that the builtin runs is listed. */
  ran(unwrapped: 'all' | 'some'): void
  defines(name: string): void
  /** A function of this name (`*`: any) may have been taken away. */
  removed(name: string): void
}

/** Notes a hazard of the builtin that also casts doubt on everything after it. */
export function doubt(
  call: BuiltinCall,
  code: string,
  message: string,
  span: Span,
  verdict: 'ask' | 'deny' = 'ask',
): void {
  const hazard: Hazard = { code, message, verdict, span }
  call.hazards.push(hazard)
  call.scope.doubt(hazard)
}

/** Assigns a variable whose name is a word; an unknown name could be any, a subscript is arithmetic. */
export function assignNamed(call: BuiltinCall, word: Word | undefined, value: Value = UNKNOWN): void {
  if (word === undefined) return
  for (const text of word.values ?? ['']) {
    const match = /^([A-Za-z_]\w*)(\[([\s\S]*)\])?$/.exec(text)
    if (word.values === null || match === null) {
      call.hazards.push(arithmeticDoubt(word.text, word.span))
      doubt(call, 'dynamic-assignment', `\`${call.name}\` assigns a variable that is not known beforehand`, word.span)
      return
    }
    if (match[2] !== undefined && !isPlainArithmetic(match[3] ?? '', call.scope)) {
      call.arithmetic(match[3] ?? '', word.span)
      call.hazards.push(arithmeticDoubt(text, word.span))
    }
    assign(call, match[1] as string, match[2] === undefined ? value : UNKNOWN, null, 'shell', word.span)
  }
}

/** Assigns a variable of this shell and notes it as a fact. */
export function assign(
  call: BuiltinCall,
  name: string,
  value: Value,
  word: Word | null,
  scope: AssignmentFact['scope'],
  span: Span,
  append = false,
): void {
  // Outside a function `local` fails and leaves the variable alone.
  if (call.name === 'local' && !call.scope.inFunction) call.scope.maybeSet(name, value)
  else call.scope.set(name, value)
  const fact: AssignmentFact = { name, value: word, append, scope, span }
  call.assignments.push(fact)
  call.assigned(name, span, fact)
}
