/** `question`: asks the person, and says so when there is nobody to answer. */

import { InputError, type ToolContext, type ToolInput, type ToolOutput } from './tool.ts'

const MAX_QUESTION = 4000
const MAX_OPTIONS = 20

export async function question(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const text = input.question as string
  const options = (input.options as readonly string[] | undefined) ?? []
  if (text.trim() === '' || text.length > MAX_QUESTION) {
    throw new InputError(`"question" must have between 1 and ${MAX_QUESTION} characters`)
  }
  if (options.length > MAX_OPTIONS) throw new InputError(`"options" holds at most ${MAX_OPTIONS} answers`)
  const answer = await context.ask.ask(text, options, context.signal)
  context.signal.throwIfAborted()
  if (answer === null) {
    return {
      text: 'Nobody answered: there is no one at the prompt, or they gave no answer. Go on by your best judgement and say what you assumed.',
      data: { answer: null },
      isError: true,
    }
  }
  return { text: answer, data: { answer } }
}
