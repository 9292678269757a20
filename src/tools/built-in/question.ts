/** `question`: asks the person, and says so when there is no one to answer. */

import { defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { takes, text, texts } from '../input-schema.ts'
import { InputError, type Tool } from '../tool.ts'

const MAX_QUESTION = 4000
const MAX_OPTIONS = 20

export const question: Tool = defineTool({
  name: 'question',
  description: 'Asks the user.',
  input: takes({ question: text('The question.') }, { options: texts('Answers to choose from.') }),
  labels: [],
  hints: { title: 'Ask the user', ...toolHints.looksOut },
  actions: touchesNothing,
  run: async (input, context) => {
    const { question: asked, options = [] } = input
    if (asked.trim() === '' || asked.length > MAX_QUESTION) {
      throw new InputError(`"question" must have between 1 and ${MAX_QUESTION} characters`)
    }
    if (options.length > MAX_OPTIONS) throw new InputError(`"options" holds at most ${MAX_OPTIONS} answers`)
    const answer = await context.ask.ask(asked, options, context.signal)
    context.signal.throwIfAborted()
    if (answer === null) {
      return {
        text: 'No answer: no one is at the prompt, or they did not reply. Use your best judgement and say what you assumed.',
        data: { answer: null },
        isError: true,
      }
    }
    return { text: answer, data: { answer } }
  },
})
