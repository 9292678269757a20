/** Tools that are decided and not built yet: a manifest may speak of them, and nothing runs them. */

import { declareTool, LOOKS_OUT, READS, RUNS, touchesNothing } from './define-tool.ts'
import { path, takes, text } from './input-schema.ts'
import type { ToolSpec } from './tool.ts'

export const plannedTools: readonly ToolSpec[] = [
  declareTool({
    name: 'websearch',
    description: 'Searches the web.',
    input: takes({ query: text('What to look for.') }),
    labels: ['network'],
    hints: LOOKS_OUT,
    actions: touchesNothing,
  }),
  declareTool({
    name: 'task',
    description: 'Hands work to another agent.',
    input: takes({ prompt: text('The task.') }, { agent: text('Which agent.') }),
    hints: RUNS,
    actions: touchesNothing,
  }),
  declareTool({
    name: 'skill',
    description: 'Loads a skill.',
    input: takes({ name: text('Its name.') }),
    labels: ['filesystem'],
    hints: READS,
    actions: touchesNothing,
  }),
  declareTool({
    name: 'lsp',
    description: 'Asks a language server.',
    input: takes({ path }, { query: text('What to ask.') }),
    labels: ['execute', 'filesystem'],
    hints: READS,
    actions: (input) => ({ reads: [input.path] }),
  }),
]
