/** `[[ … ]]`: its operands run substitutions, and some of its operators evaluate data as arithmetic. */

import type { TestExpression } from 'unbash'
import { arithmeticDoubt, checkArithmeticWord, expandSingle, type WordHost } from '../words/word.ts'

/** Walks the operands of a test in order. */
export function walkTest(node: TestExpression, host: WordHost): void {
  switch (node.type) {
    case 'TestLogical':
      for (const operand of node.operands) walkTest(operand, host)
      return
    case 'TestNot':
      walkTest(node.operand, host)
      return
    case 'TestGroup':
      walkTest(node.expression, host)
      return
    case 'TestUnary': {
      const word = expandSingle(node.operand, host)
      const named = node.operator === '-v' || node.operator === '-R'
      if (named && !(word.values?.every((value) => /^\w*$/.test(value)) ?? false)) {
        for (const text of word.values ?? []) host.data(text, host.span(node.operand))
        host.hazard(arithmeticDoubt(node.operand.text, host.span(node.operand)))
      }
      return
    }
    case 'TestBinary':
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        checkArithmeticWord(node.left, host)
        checkArithmeticWord(node.right, host)
      } else {
        expandSingle(node.left, host)
        expandSingle(node.right, host)
      }
  }
}
