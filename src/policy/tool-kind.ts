/** The kinds of tools, and the level of each if none is set (P1). */

import type { Verdict } from './order.ts'

export type ToolKind = 'read' | 'list' | 'write' | 'command' | 'network' | 'talk'

interface BuiltInTool {
  readonly kind: ToolKind
  readonly level: Verdict
  /** True if it has no project and network, and each tool call inside is judged separately. */
  readonly boxed?: boolean
}

const TOOLS: Readonly<Record<string, BuiltInTool>> = {
  bash: { kind: 'command', level: 'ask' },
  python_exec: { kind: 'command', level: 'ask', boxed: true },
  code_exec: { kind: 'command', level: 'ask', boxed: true },
  sandbox_run: { kind: 'command', level: 'ask', boxed: true },
  write: { kind: 'write', level: 'allow' },
  extract: { kind: 'write', level: 'allow' },
  edit: { kind: 'write', level: 'allow' },
  apply_patch: { kind: 'write', level: 'allow' },
  delete: { kind: 'write', level: 'allow' },
  copy: { kind: 'write', level: 'allow' },
  move: { kind: 'write', level: 'allow' },
  mkdir: { kind: 'write', level: 'allow' },
  chmod: { kind: 'write', level: 'allow' },
  read: { kind: 'read', level: 'allow' },
  summary: { kind: 'read', level: 'allow' },
  grep: { kind: 'read', level: 'allow' },
  glob: { kind: 'list', level: 'allow' },
  list: { kind: 'list', level: 'allow' },
  stat: { kind: 'list', level: 'allow' },
  lsp: { kind: 'read', level: 'allow' },
  webfetch: { kind: 'network', level: 'allow' },
  websearch: { kind: 'network', level: 'allow' },
  http: { kind: 'network', level: 'allow' },
  todowrite: { kind: 'talk', level: 'allow' },
  todoread: { kind: 'talk', level: 'allow' },
  question: { kind: 'talk', level: 'allow' },
  cordon_request: { kind: 'talk', level: 'allow' },
  task: { kind: 'talk', level: 'allow' },
  skill: { kind: 'talk', level: 'allow' },
}

/** The names of every built-in tool, in the order of the table. */
export const builtInTools: readonly string[] = Object.keys(TOOLS)

/** Kind and built-in level of a tool. A custom tool runs a program, so it counts as a command and asks. */
export function toolKind(tool: string): BuiltInTool {
  return Object.hasOwn(TOOLS, tool) ? TOOLS[tool]! : { kind: 'command', level: 'ask' }
}

/** True for the tools of the table. */
export function isBuiltInTool(tool: string): boolean {
  return Object.hasOwn(TOOLS, tool)
}
