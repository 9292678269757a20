/** A call of every host's agent in that host's form; `$P` is the project. */

export const claude = (tool_name: string, tool_input: unknown, more: object = {}): object => ({
  session_id: 's1',
  transcript_path: '/nowhere',
  cwd: '$P',
  prompt_id: 'p',
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name,
  tool_input,
  tool_use_id: 't',
  ...more,
})
export const codex = (tool_name: string, tool_input: unknown, more: object = {}): object => ({
  session_id: 's1',
  turn_id: '1',
  transcript_path: null,
  model: 'm',
  permission_mode: 'default',
  cwd: '$P',
  hook_event_name: 'PreToolUse',
  tool_name,
  tool_input,
  tool_use_id: 't',
  ...more,
})
export const gemini = (tool_name: string, tool_input: unknown, more: object = {}): object => ({
  session_id: 's1',
  transcript_path: '',
  cwd: '$P',
  hook_event_name: 'BeforeTool',
  timestamp: '2026-01-01T00:00:00Z',
  tool_name,
  tool_input,
  ...more,
})
export const cursor = (hook_event_name: string, fields: object): object => ({
  conversation_id: 'c',
  generation_id: 'g',
  workspace_roots: ['$P'],
  hook_event_name,
  ...fields,
})
export const opencode = (tool: string, args: unknown): object => ({
  hook_event_name: 'tool.execute.before',
  tool,
  session: 's',
  directory: '$P',
  args,
})
export const copilot = (toolName: string, toolArgs: unknown, more: object = {}): object => ({
  sessionId: 's1',
  timestamp: 1,
  cwd: '$P',
  toolName,
  toolArgs,
  ...more,
})
export const qwen = (tool_name: string, tool_input: unknown, more: object = {}): object => ({
  session_id: 's1',
  transcript_path: '/nowhere',
  cwd: '$P',
  hook_event_name: 'PreToolUse',
  permission_mode: 'yolo',
  tool_name,
  tool_input,
  ...more,
})
export const cline = (name: string, input: unknown): object => ({
  taskId: 's1',
  workspaceRoots: ['$P'],
  hookName: 'tool_call',
  tool_call: { id: 'c', name, input },
})
export const patch = (path: string): string => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`
