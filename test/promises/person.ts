/** Somebody who is asked. */

import { askText, askView, type CordonOptions } from '../../src/session/cordon.ts'
import type { Outcome, Try, Verdict } from './promise.ts'

/** Answers as a row says, and keeps the question. */
export class Person {
  answer: Try['answer'] = undefined
  question: string | null = null
  readonly prompter: NonNullable<CordonOptions['prompter']> = {
    name: 'person',
    ask: async (request) => {
      this.question = askText(askView(request), { whole: true })
      const [grant] = request.suggestions
      if (this.answer === 'session' && grant) return { kind: 'session', grant }
      return { kind: this.answer === undefined ? 'deny' : 'once' }
    },
  }

  expect(answer: Try['answer']): void {
    this.answer = answer
    this.question = null
  }

  outcome(status: string, text: string): Outcome {
    const verdict: Verdict = status === 'denied' ? 'deny' : status === 'refused' ? 'refused' : 'allow'
    return { verdict: this.question === null ? verdict : 'ask', text, question: this.question ?? '' }
  }
}
