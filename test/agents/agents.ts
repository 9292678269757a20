/** The agents under test: how each is told about the scripted model, how it is run, and what its tools are called. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ScriptedCall } from './model-server.ts'

export interface AgentWorld {
  readonly home: string
  readonly project: string
  readonly port: number
}

/** What an attempt is, before it is put into an agent's words. */
export type Attempt =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }

export interface Agent {
  readonly name: 'claude-code' | 'codex' | 'gemini' | 'opencode'
  readonly package: string
  readonly program: string
  readonly args: readonly string[]
  readonly prepare: (world: AgentWorld) => void
  readonly env: (world: AgentWorld) => Record<string, string>
  /** What the agent stops by itself, without Cordon. */
  readonly stops?: readonly string[]
  /** The call for an attempt, from the tools that the agent offers. */
  readonly call: (attempt: Attempt, tools: readonly string[], world: AgentWorld) => ScriptedCall | null
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const addFile = (path: string, content: string): string =>
  `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`

export const agents: readonly Agent[] = [
  {
    name: 'claude-code',
    package: '@anthropic-ai/claude-code',
    program: 'claude',
    // The mode in which the agent itself asks nobody: what is stopped was stopped by the hook.
    args: ['-p', 'go', '--permission-mode', 'bypassPermissions', '--model', 'claude-sonnet-4-5'],
    prepare: ({ home }) => put(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true })),
    env: ({ port }) => ({
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'Bash', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'Read', input: { file_path: attempt.path } }
          : { tool: 'Write', input: { file_path: attempt.path, content: attempt.content } },
  },
  {
    name: 'codex',
    package: '@openai/codex',
    program: 'codex',
    args: ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'go'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.codex/config.toml'),
        `model = "gpt-5.1"
model_provider = "scripted"
approval_policy = "never"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
      ),
    env: () => ({ OPENAI_API_KEY: 'scripted' }),
    call: (attempt, tools) => {
      if (attempt.kind === 'write') {
        const patch = addFile(attempt.path, attempt.content)
        return tools.includes('apply_patch')
          ? { tool: 'apply_patch', input: { CUSTOM: patch } }
          : codexShell(`printf %s ${attempt.content} > ${attempt.path}`, tools)
      }
      return codexShell(attempt.kind === 'shell' ? attempt.command : `cat ${attempt.path}`, tools)
    },
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    program: 'gemini',
    args: ['-p', 'go', '--yolo', '-m', 'gemini-2.5-pro'],
    stops: ['a file was written outside'],
    prepare: ({ home }) =>
      put(
        join(home, '.gemini/settings.json'),
        JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, telemetry: { enabled: false } }),
      ),
    env: ({ port }) => ({ GEMINI_API_KEY: 'scripted', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'run_shell_command', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'read_file', input: { file_path: attempt.path } }
          : { tool: 'write_file', input: { file_path: attempt.path, content: attempt.content } },
  },
  {
    name: 'opencode',
    package: 'opencode-ai',
    program: 'opencode',
    args: ['run', '-m', 'scripted/scripted', 'go'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.config/opencode/opencode.json'),
        JSON.stringify({
          provider: {
            scripted: {
              npm: '@ai-sdk/openai-compatible',
              options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'scripted' },
              models: { scripted: { name: 'scripted', tool_call: true } },
            },
          },
          permission: { '*': 'allow' },
          autoupdate: false,
        }),
      ),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'bash', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'read', input: { filePath: attempt.path } }
          : { tool: 'write', input: { filePath: attempt.path, content: attempt.content } },
  },
]

function codexShell(command: string, tools: readonly string[]): ScriptedCall {
  if (tools.includes('exec_command')) return { tool: 'exec_command', input: { cmd: command } }
  if (tools.includes('shell_command')) return { tool: 'shell_command', input: { command } }
  return { tool: 'shell', input: { command: ['bash', '-lc', command] } }
}
