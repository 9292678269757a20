/** Every built-in tool, in one list. */

import { lspSpec } from '../agent/lsp.ts'
import { skillSpec } from '../agent/skill.ts'
import { taskSpec } from '../agent/task.ts'
import { websearchSpec } from '../agent/websearch.ts'
import { codeExec, pythonExec } from '../code/programs.ts'
import { sandboxRun } from '../code/sandbox-run.ts'
import type { Tool, ToolSpec } from '../tool.ts'
import { bash } from './bash.ts'
import { fileTools } from './file-tools.ts'
import { question } from './question.ts'
import { todoRead, todoWrite } from './todo.ts'
import { webTools } from './web-tools.ts'

/** The built-in tools that can be run. */
export const builtInTools: readonly Tool[] = [
  bash,
  ...fileTools,
  ...webTools,
  todoWrite,
  todoRead,
  question,
  pythonExec,
  codeExec,
  sandboxRun,
]

/** Tools that an agent of Cordon's own is given with its session: each needs something of it. */
const agentSpecs: readonly ToolSpec[] = [websearchSpec, taskSpec, skillSpec, lspSpec]

/** All that a decision can be about. */
export const builtInSpecs: readonly ToolSpec[] = [...builtInTools, ...agentSpecs]

const tools: ReadonlyMap<string, Tool> = new Map(builtInTools.map((tool) => [tool.name, tool]))
const specs: ReadonlyMap<string, ToolSpec> = new Map(builtInSpecs.map((spec) => [spec.name, spec]))

/** The built-in tool of that name, or null. */
export function builtInTool(name: string): Tool | null {
  return tools.get(name) ?? null
}

/** What is known of the built-in tool of that name, or null. */
export function builtInSpec(name: string): ToolSpec | null {
  return specs.get(name) ?? null
}
