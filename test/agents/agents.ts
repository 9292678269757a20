/** The agents under test: how each is configured for the scripted model, how it is run, and what its tools are called. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ScriptedCall } from '../../src/surfaces/hook/host/scripted-model.ts'
import type { HostName } from '../../src/surfaces/hook/hosts/hosts.ts'
import { cache, newestOf } from './program.ts'

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
  /** The first line that contains `before`; that is a whole line. */
  | { readonly kind: 'edit'; readonly path: string; readonly before: string; readonly after: string }

export interface Agent {
  readonly name: Exclude<HostName, 'cursor'>
  /** On npm, in the version that was tried. */
  readonly package: string
  readonly program: string
  /** What else of npm it needs. */
  readonly also?: readonly string[]
  readonly args: readonly string[]
  readonly prepare: (world: AgentWorld) => void
  readonly env: (world: AgentWorld) => Record<string, string>
  /** The variable in which it looks for its key, and the header in which it sends it. */
  readonly key: { readonly name: string; readonly header: string }
  /** Another key, without which it does not start. */
  readonly account?: string
  /** The files of the user and of the project that hold its hooks or settings, which run code. */
  readonly settings: {
    readonly user: string
    readonly project: string
    /** What of a project switches hooks off or runs code: the first is written by a file tool, the second by a command. */
    readonly runs: readonly [string, string]
  }
  /** What its model calls after each of its results, one call for one: an agent that accepts no other command learns the form. */
  readonly follows?: (results: readonly string[]) => readonly Attempt[]
  /** A denied file call ends the whole task: each attempt of one has its own session. */
  readonly endsTask?: true
  /** What the agent stops by itself, without Cordon. */
  readonly stops?: readonly string[]
  /** What it keeps from its model, also with Cordon. */
  readonly keeps?: readonly string[]
  /** The call for an attempt, from the tools that the agent offers. */
  readonly call: (attempt: Attempt, tools: readonly string[], world: AgentWorld) => ScriptedCall | null
}

/** An agent with hooks, or Cordon's own, which has none. */
export type Driven = Agent | OwnAgent

export type OwnAgent = Pick<
  Agent,
  'prepare' | 'env' | 'args' | 'key' | 'call' | 'follows' | 'stops' | 'keeps' | 'endsTask'
> & {
  readonly name: 'cordon'
}

let harmless = 0

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const patchFile = ({ path, before, after }: Attempt & { kind: 'edit' }): string =>
  `*** Begin Patch\n*** Update File: ${path}\n@@\n-${before}\n+${after}\n*** End Patch\n`

const addFile = (path: string, content: string): string =>
  `*** Begin Patch\n*** Add File: ${path}\n+${content}\n*** End Patch\n`

const PINNED: readonly Agent[] = [
  {
    name: 'claude-code',
    package: '@anthropic-ai/claude-code@2.1.328',
    program: 'claude',
    // The mode in which the agent itself asks no one: what is stopped was stopped by the hook.
    args: ['-p', 'go', '--permission-mode', 'bypassPermissions', '--model', 'claude-sonnet-4-5'],
    prepare: ({ home }) => put(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true })),
    key: { name: 'ANTHROPIC_API_KEY', header: 'x-api-key' },
    settings: {
      user: '.claude/settings.json',
      project: '.claude/settings.json',
      runs: ['.claude/settings.local.json', '.claude/commands/x.md'],
    },
    env: ({ port }) => ({
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'Bash', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'Read', input: { file_path: attempt.path } }
          : attempt.kind === 'write'
            ? { tool: 'Write', input: { file_path: attempt.path, content: attempt.content } }
            : {
                tool: 'Edit',
                input: { file_path: attempt.path, old_string: attempt.before, new_string: attempt.after },
              },
  },
  {
    name: 'codex',
    package: '@openai/codex@0.169.0',
    program: 'codex',
    args: ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'go'],
    // It reads by commands, and there the kernel takes `..` away.
    stops: ['a file behind a link was read'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.codex/config.toml'),
        `model = "gpt-6.1-sol"
model_provider = "scripted"
approval_policy = "never"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`,
      ),
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.codex/config.toml',
      project: '.codex/hooks.json',
      runs: ['.codex/hooks.json', '.codex/config.toml'],
    },
    env: () => ({}),
    call: (attempt, tools) => {
      if (attempt.kind === 'write' || attempt.kind === 'edit') {
        const patch = attempt.kind === 'edit' ? patchFile(attempt) : addFile(attempt.path, attempt.content)
        if (tools.includes('exec')) return codexScript('apply_patch', patch)
        return tools.includes('apply_patch')
          ? { tool: 'apply_patch', input: { CUSTOM: patch } }
          : codexShell(`apply_patch <<'EOF'\n${patch}EOF`, tools)
      }
      return codexShell(attempt.kind === 'shell' ? attempt.command : `cat ${attempt.path}`, tools)
    },
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli@0.61.0',
    program: 'gemini',
    args: ['-p', 'go', '--yolo', '-m', 'gemini-2.5-pro'],
    stops: ['a file was written outside', 'a tool wrote outside', 'a file behind a link was written outside'],
    prepare: ({ home }) =>
      put(
        join(home, '.gemini/settings.json'),
        JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, telemetry: { enabled: false } }),
      ),
    key: { name: 'GEMINI_API_KEY', header: 'x-goog-api-key' },
    settings: {
      user: '.gemini/settings.json',
      project: '.gemini/settings.json',
      runs: ['.gemini/settings.json', '.gemini/commands/x.toml'],
    },
    env: ({ port }) => ({ GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'run_shell_command', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'read_file', input: { file_path: attempt.path } }
          : attempt.kind === 'write'
            ? { tool: 'write_file', input: { file_path: attempt.path, content: attempt.content } }
            : {
                tool: 'replace',
                input: {
                  file_path: attempt.path,
                  instruction: 'x',
                  old_string: attempt.before,
                  new_string: attempt.after,
                },
              },
  },
  {
    name: 'opencode',
    package: 'opencode-ai@1.18.33',
    program: 'opencode',
    args: ['run', '-m', 'scripted/scripted', 'go'],
    // With its plugins' package there already, and locked: at a start without it installs that, which takes half a minute.
    also: ['@opencode-ai/plugin@1.18.33'],
    prepare: ({ home, port }) => {
      const folder = join(home, '.config/opencode')
      const plugins = { dependencies: { '@opencode-ai/plugin': '1.18.33' } }
      put(join(folder, 'package.json'), JSON.stringify(plugins))
      put(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: { '': plugins } }))
      symlinkSync(join(cache, 'node_modules'), join(folder, 'node_modules'))
      put(join(folder, 'opencode.json'), settingsOfOpencode(port))
    },
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.config/opencode/opencode.json',
      project: '.opencode/opencode.json',
      runs: ['opencode.json', '.opencode/plugins/x.js'],
    },
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'bash', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'read', input: { filePath: attempt.path } }
          : attempt.kind === 'write'
            ? { tool: 'write', input: { filePath: attempt.path, content: attempt.content } }
            : { tool: 'edit', input: { filePath: attempt.path, oldString: attempt.before, newString: attempt.after } },
  },
  {
    name: 'copilot',
    package: '@github/copilot@1.0.102',
    program: 'copilot',
    args: ['-p', 'go', '--allow-all-tools', '--allow-all-paths', '--no-auto-update'],
    prepare: ({ home }) => put(join(home, '.copilot/settings.json'), JSON.stringify({ banner: 'never' })),
    key: { name: 'COPILOT_PROVIDER_API_KEY', header: 'authorization' },
    settings: {
      user: '.copilot/settings.json',
      project: '.github/hooks/x.json',
      runs: ['.github/copilot/settings.json', '.github/agents/x.agent.md'],
    },
    env: ({ port }) => ({
      COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
      COPILOT_MODEL: 'gpt-5.4',
      COPILOT_PROVIDER_WIRE_API: 'responses',
      COPILOT_OFFLINE: 'true',
    }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'bash', input: { command: attempt.command, description: 'x' } }
        : attempt.kind === 'read'
          ? { tool: 'view', input: { path: attempt.path } }
          : {
              tool: 'apply_patch',
              input: { CUSTOM: attempt.kind === 'edit' ? patchFile(attempt) : addFile(attempt.path, attempt.content) },
            },
  },
  {
    name: 'pi',
    package: '@earendil-works/pi-coding-agent@0.87.1',
    program: 'pi',
    args: ['-p', '--provider', 'scripted', '--model', 'scripted', 'go'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.pi/agent/models.json'),
        JSON.stringify({
          providers: {
            scripted: {
              baseUrl: `http://127.0.0.1:${port}/v1`,
              api: 'openai-completions',
              apiKey: '$OPENAI_API_KEY',
              models: [{ id: 'scripted' }],
            },
          },
        }),
      ),
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.pi/agent/models.json',
      project: '.pi/settings.json',
      runs: ['.pi/extensions/x.ts', '.pi/settings.json'],
    },
    env: () => ({ PI_OFFLINE: '1' }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'bash', input: { command: attempt.command } }
        : attempt.kind === 'read'
          ? { tool: 'read', input: { path: attempt.path } }
          : attempt.kind === 'write'
            ? { tool: 'write', input: { path: attempt.path, content: attempt.content } }
            : {
                tool: 'edit',
                input: { path: attempt.path, edits: [{ oldText: attempt.before, newText: attempt.after }] },
              },
  },
  {
    name: 'qwen',
    package: '@qwen-code/qwen-code@0.24.4',
    program: 'qwen',
    args: ['-p', 'go', '--yolo'],
    follows: (results) =>
      results.map((result) => {
        const reported = /has to say so itself: (\S*cordon-run [0-9a-f]{12}\S* '[^']*')/.exec(result)?.[1]
        // On a busy machine it loses what a command printed, without Cordon too: then the command is tried again.
        const lost = /"Command: ((?:[^"\\]|\\[^n])*)\\nDirectory: [^"]*\\nOutput: \(empty\)/.exec(result)?.[1]
        // It stops by itself at calls that are alike.
        const command = reported ?? (lost === undefined ? `echo ${++harmless}` : (JSON.parse(`"${lost}"`) as string))
        return { kind: 'shell', command }
      }),
    stops: ['a file behind a link was read', 'a file behind a link was written outside'],
    prepare: ({ home }) =>
      put(
        join(home, '.qwen/settings.json'),
        JSON.stringify({ security: { auth: { selectedType: 'openai' } }, privacy: { usageStatisticsEnabled: false } }),
      ),
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.qwen/settings.json',
      project: '.qwen/settings.json',
      runs: ['.qwen/settings.json', '.qwen/commands/x.md'],
    },
    env: ({ port }) => ({ OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MODEL: 'scripted' }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'run_shell_command', input: { command: attempt.command, description: 'x', is_background: false } }
        : attempt.kind === 'read'
          ? { tool: 'read_file', input: { file_path: attempt.path } }
          : attempt.kind === 'write'
            ? { tool: 'write_file', input: { file_path: attempt.path, content: attempt.content } }
            : {
                tool: 'edit',
                input: { file_path: attempt.path, old_string: attempt.before, new_string: attempt.after },
              },
  },
  {
    name: 'cline',
    package: 'cline@3.0.65',
    program: 'cline',
    stops: ['a file behind a link was written outside'],
    endsTask: true,
    args: ['-P', 'openai-compatible', '-m', 'scripted', 'go on'],
    prepare: ({ home, port }) => {
      const settings = {
        provider: 'openai-compatible',
        model: 'scripted',
        baseUrl: `http://127.0.0.1:${port}/v1`,
      }
      put(
        join(home, '.cline/providers.json'),
        JSON.stringify({
          version: 1,
          lastUsedProvider: 'openai-compatible',
          modes: {},
          providers: {
            'openai-compatible': { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
          },
        }),
      )
    },
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.cline/providers.json',
      project: '.clinerules/hooks/PreToolUse',
      runs: ['.cline/cron/x.cron.md', '.clinerules/hooks/PreToolUse'],
    },
    env: ({ home }) => ({
      // In its own process: the one that it leaves running for all of them has its own row.
      CLINE_SESSION_BACKEND_MODE: 'local',
      // Without its key, which is in the variable: the file with the keys is hidden in `cordon run`.
      CLINE_PROVIDER_SETTINGS_PATH: join(home, '.cline/providers.json'),
    }),
    call: (attempt) =>
      attempt.kind === 'shell'
        ? { tool: 'run_commands', input: { commands: [attempt.command] } }
        : attempt.kind === 'read'
          ? { tool: 'read_files', input: { files: [{ path: attempt.path }] } }
          : attempt.kind === 'write'
            ? { tool: 'editor', input: { path: attempt.path, new_text: attempt.content } }
            : { tool: 'editor', input: { path: attempt.path, old_text: attempt.before, new_text: attempt.after } },
  },
  {
    name: 'kimi',
    package: '@moonshot-ai/kimi-code@2.1.0',
    program: 'kimi',
    stops: ['a file behind a link was written outside'],
    // It reads no answer of a result hook.
    keeps: ['the agent was warned that a result contains instructions'],
    args: ['-p', 'go'],
    follows: writesWrapped,
    prepare: () => {},
    key: { name: 'KIMI_MODEL_API_KEY', header: 'authorization' },
    settings: {
      user: '.kimi-code/config.toml',
      project: '.kimi-code/mcp.json',
      runs: ['.kimi-code/mcp.json', '.kimi-code/config.toml'],
    },
    env: ({ port }) => ({
      KIMI_MODEL_NAME: 'scripted',
      KIMI_MODEL_PROVIDER_TYPE: 'openai',
      KIMI_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
      KIMI_CODE_NO_AUTO_UPDATE: '1',
      KIMI_DISABLE_TELEMETRY: '1',
    }),
    call: byNames({ shell: 'Bash', read: 'Read', write: 'Write', edit: 'Edit', path: 'path' }),
  },
  {
    name: 'command-code',
    package: 'command-code@1.64.0',
    program: 'command-code',
    stops: ['a file behind a link was read', 'a file behind a link was written outside'],
    // The newest of it has no default export, without which it does not start.
    also: ['@opentelemetry/semantic-conventions@1.34.0'],
    args: ['-p', 'go', '--yolo', '--model', 'scripted/scripted'],
    follows: writesWrapped,
    prepare: ({ home, port }) =>
      put(
        join(home, '.commandcode/providers.json'),
        JSON.stringify({
          provider: {
            scripted: {
              baseURL: `http://127.0.0.1:${port}/v1`,
              apiKey: '$OPENAI_API_KEY',
              models: { scripted: { contextWindow: 100_000 } },
            },
          },
        }),
      ),
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    account: 'COMMAND_CODE_API_KEY',
    settings: {
      user: '.commandcode/providers.json',
      project: '.commandcode/settings.json',
      runs: ['.commandcode/settings.json', '.commandcode/commands/x.md'],
    },
    env: () => ({ CMD_LOCAL_ONLY: '1', COMMAND_CODE_API_KEY: 'user_scripted', DO_NOT_TRACK: '1' }),
    call: byNames({ shell: 'shell_command', read: 'read_file', write: 'write_file', edit: 'edit_file' }),
  },
  {
    name: 'grok',
    package: '@xai-official/grok@1.0.41',
    program: 'grok',
    stops: ['a file behind a link was read', 'a file behind a link was written outside'],
    args: ['-p', 'go', '-m', 'scripted', '--always-approve'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.grok/config.toml'),
        `[model.scripted]
model = "scripted"
base_url = "http://127.0.0.1:${port}/v1"
env_key = "XAI_API_KEY"
context_window = 100000
[cli]
auto_update = false
`,
      ),
    key: { name: 'XAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.grok/config.toml',
      project: '.grok/config.toml',
      runs: ['.grok/config.toml', '.grok/hooks/x.json'],
    },
    env: () => ({ GROK_DISABLE_AUTOUPDATER: '1' }),
    call: byNames({
      ...{ shell: 'run_terminal_command', read: 'read_file', readPath: 'target_file' },
      ...{ write: 'write', edit: 'search_replace' },
    }),
  },
  {
    name: 'droid',
    package: 'droid@0.215.0',
    program: 'droid',
    stops: ['a file behind a link was read'],
    args: ['exec', '--skip-permissions-unsafe', '-m', 'custom:scripted', 'go'],
    prepare: ({ home, port }) =>
      put(
        join(home, '.factory/settings.json'),
        JSON.stringify({
          customModels: [
            {
              ...{ model: 'scripted', displayName: 'scripted', provider: 'generic-chat-completion-api' },
              // biome-ignore lint/suspicious/noTemplateCurlyInString: its own form of a variable.
              ...{ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: '${OPENAI_API_KEY}', maxOutputTokens: 1000 },
            },
          ],
        }),
      ),
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.factory/settings.json',
      project: '.factory/settings.json',
      runs: ['.factory/settings.json', '.factory/mcp.json'],
    },
    env: ({ port }) => ({ FACTORY_API_KEY: 'fk-scripted', FACTORY_API_BASE_URL: `http://127.0.0.1:${port}` }),
    call: byNames(
      {
        ...{ shell: 'Execute', read: 'Read', write: 'Create', edit: 'Edit' },
        ...{ before: 'old_str', after: 'new_str' },
      },
      { summary: 'x', riskLevel: 'low', riskLevelReason: 'x', timeout: 60 },
    ),
  },
  {
    name: 'kilo',
    package: '@kilocode/cli@7.7.7',
    program: 'kilo',
    args: ['run', '-m', 'scripted/scripted', '--auto', 'go'],
    prepare: ({ home, port }) => {
      // As after its first start, at which it changes its configuration.
      put(join(home, '.config/kilo/.bash-permission-migrated'), '')
      put(join(home, '.config/kilo/kilo.json'), settingsOfOpencode(port))
    },
    key: { name: 'OPENAI_API_KEY', header: 'authorization' },
    settings: {
      user: '.config/kilo/kilo.json',
      project: '.kilo/kilo.json',
      runs: ['kilo.json', '.kilo/plugins/x.js'],
    },
    env: () => ({ KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' }),
    call: byNames({
      ...{ shell: 'bash', read: 'read', write: 'write', edit: 'edit', path: 'filePath' },
      ...{ before: 'oldString', after: 'newString' },
    }),
  },
]

interface CallNames {
  readonly shell: string
  readonly read: string
  readonly write: string
  readonly edit: string
  /** The fields of a path, of the text to replace, and of the new one. */
  readonly path?: string
  readonly readPath?: string
  readonly before?: string
  readonly after?: string
}

/** For opencode and its descendants: the scripted model, and nothing that would ask or wait. */
function settingsOfOpencode(port: number): string {
  return JSON.stringify({
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: '{env:OPENAI_API_KEY}' },
        models: { scripted: { name: 'scripted', tool_call: true } },
      },
    },
    permission: { '*': 'allow' },
    autoupdate: false,
    // It undoes by git, a dozen programs a step, which takes most of a session's time.
    snapshot: false,
  })
}

/** Calls that differ between agents in their names alone; `more` is for commands. */
function byNames(
  { path: place = 'file_path', before = 'old_string', after = 'new_string', ...names }: CallNames,
  more: Readonly<Record<string, unknown>> = { description: 'x' },
): Agent['call'] {
  return (attempt) => {
    const tool = names[attempt.kind]
    if (attempt.kind === 'shell') return { tool, input: { command: attempt.command, ...more } }
    const path = { [(attempt.kind === 'read' && names.readPath) || place]: attempt.path }
    if (attempt.kind === 'read') return { tool, input: path }
    if (attempt.kind === 'write') return { tool, input: { ...path, content: attempt.content } }
    return { tool, input: { ...path, [before]: attempt.before, [after]: attempt.after } }
  }
}

/** What the model of an agent without rewrites does: it calls the form that the reason names, or something harmless. */
function writesWrapped(results: readonly string[]): readonly Attempt[] {
  return results.map((result) => {
    const named = /has to say so itself: (\S*cordon-run [0-9a-f]{12}\S* '[^']*')/.exec(result)?.[1]
    return { kind: 'shell', command: named ?? `echo ${++harmless}` }
  })
}

/** In the versions that were tried, or in those of today. */
export const agents: readonly Agent[] = process.argv.includes('--latest')
  ? PINNED.map((agent) => ({ ...agent, package: newestOf(agent.package), also: agent.also?.map(newestOf) }))
  : PINNED

/** Models of today have one tool, which runs JavaScript that calls the others. */
export function codexScript(tool: string, input: unknown): ScriptedCall {
  return { tool: 'exec', input: { CUSTOM: `text(await tools.${tool}(${JSON.stringify(input)}))` } }
}

function codexShell(command: string, tools: readonly string[]): ScriptedCall {
  if (tools.includes('exec')) return codexScript('exec_command', { cmd: command })
  if (tools.includes('exec_command')) return { tool: 'exec_command', input: { cmd: command } }
  if (tools.includes('shell_command')) return { tool: 'shell_command', input: { command } }
  return { tool: 'shell', input: { command: ['bash', '-lc', command] } }
}
