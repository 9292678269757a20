/** Text that bash evaluates as arithmetic a second time: the words of `let`, subscripts, and the values of variables. */

import type { Span } from '../facts.ts'
import { parseText } from '../read/parse.ts'
import { evaluate, mayFail } from '../words/arithmetic.ts'
import { arithmeticDoubt, arithmeticHost } from '../words/word.ts'
import type { Walk } from './walk.ts'

/** Most values that are followed from one to the next. */
const MAX_VALUES = 8

/** `let` and its kin: text that is arithmetic. */
export function evaluateText(walk: Walk, text: string, span: Span): void {
  const parsed = parseText(`((${text}))`)
  const command = 'code' in parsed ? undefined : parsed.script.commands[0]?.command
  if (command?.type !== 'ArithmeticCommand' || command.expression === undefined || /[$`'"[]/.test(text)) {
    walkData(walk, text, span)
    walk.hazard(arithmeticDoubt(text, span))
    return
  }
  const host = {
    ...arithmeticHost(walk),
    assigned: (name: string) => walk.assigned(name, span),
    doubt: (_node: unknown, what: string) => walk.hazard(arithmeticDoubt(what, span)),
  }
  evaluate(command.expression, host, !mayFail(text))
}

/** Lists what known data runs when bash evaluates it: `a[$(cmd)]`, or a name whose value is such a text. */
export function walkData(walk: Walk, text: string, span: Span, seen: Set<string> = new Set()): void {
  if (seen.has(text) || seen.size >= MAX_VALUES) return
  seen.add(text)
  const source = `((${text}))`
  if (/\$\(|`/.test(text)) {
    // What cannot be read stays in doubt, and is not a reason to refuse the command.
    if (!('code' in parseText(source)))
      walk.text(source, span, { name: 'arithmetic', kind: 'shell' }, walk.frame.parent, walk.scope)
    return
  }
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
    for (const value of walk.scope.get(name).values ?? []) walkData(walk, value, span, seen)
  }
}
