/** `task`: hands work to a sub-agent, which may do the same as its caller or less. */

import { declareTool, defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { takes, text } from '../input-schema.ts'
import { InputError, type Tool, type ToolOutput, type ToolSpec } from '../tool.ts'

/** Runs a sub-agent until it has answered. */
export type TaskPort = (
  task: { readonly prompt: string; readonly agent: string | null },
  signal: AbortSignal,
) => Promise<ToolOutput>

const MAX_PROMPT = 50_000

const declaration = {
  name: 'task',
  description:
    'Gives a task to a sub-agent with its own conversation, and returns its answer. It sees nothing of this conversation: include all it needs. Agent "plan" only reads.',
  input: takes(
    { prompt: text('The task, with everything the sub-agent must know.') },
    {
      agent: text('Which agent: the same as yours unless named; "plan" reads only.'),
      description: text('The task in a few words.'),
    },
  ),
  hints: { title: 'Hand work to a sub-agent', ...toolHints.runs },
  actions: touchesNothing,
} as const

export const taskSpec: ToolSpec = declareTool(declaration)

export function taskTool(run: TaskPort): Tool {
  return defineTool({
    ...declaration,
    run: async ({ prompt, agent }, context) => {
      if (prompt.trim() === '' || prompt.length > MAX_PROMPT) {
        throw new InputError(`"prompt" of task must have between 1 and ${MAX_PROMPT} characters`)
      }
      return run({ prompt, agent: agent ?? null }, context.signal)
    },
  })
}
