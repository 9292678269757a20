/** Tools that are decided and not built yet: a manifest may speak of them, and nothing runs them. */

import { declareTool, RUNS, touchesNothing } from './define-tool.ts'
import { takes, text } from './input-schema.ts'
import type { ToolSpec } from './tool.ts'

export const plannedTools: readonly ToolSpec[] = [
  declareTool({
    name: 'python_exec',
    description: 'Runs Python in the sandbox, without network.',
    input: takes({ code: text('The code.') }),
    labels: ['execute', 'filesystem'],
    hints: RUNS,
    actions: touchesNothing,
  }),
  declareTool({
    name: 'code_exec',
    description: 'Runs JavaScript in a WASM engine.',
    input: takes({ code: text('The code.') }),
    labels: ['execute'],
    hints: RUNS,
    actions: touchesNothing,
  }),
  declareTool({
    name: 'sandbox_run',
    description: 'Runs code in a fresh container.',
    input: takes({ language: text('The language.'), code: text('The code.') }),
    labels: ['execute'],
    hints: RUNS,
    actions: touchesNothing,
  }),
]
