/** Starts the agent's real program with a scripted model in the place of its provider, and sees whether the hook answers. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { messageOf } from '../../../system/fault.ts'
import type { HostName } from '../hosts/host.ts'
import type { InstallPlace } from './install-place.ts'
import { type ScriptedCall, startModelServer } from './scripted-model.ts'

/** How a program is told where its model is, and which call its model makes. */
interface Rehearsed {
  readonly args: (port: number, folder: string) => readonly string[]
  readonly env: (port: number, folder: string) => Readonly<Record<string, string>>
  /** Files that say it, in a folder of their own. */
  readonly files?: (port: number) => Readonly<Record<string, string>>
  readonly call: (tools: readonly string[]) => ScriptedCall
}

/** No manifest allows this. */
const FORBIDDEN = 'sudo true'

/** Cursor's program is in no package registry and talks to Cursor alone: it cannot be given another model. */
const REHEARSED: Readonly<Record<Exclude<HostName, 'cursor'>, Rehearsed>> = {
  'claude-code': {
    args: () => ['-p', 'go', '--model', 'claude-sonnet-4-5', '--no-session-persistence'],
    env: (port) => ({
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_API_KEY: 'scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    call: () => ({ tool: 'Bash', input: { command: FORBIDDEN, description: 'x' } }),
  },
  codex: {
    args: (port) => [
      ...['exec', '--skip-git-repo-check', '-m', 'gpt-5.1', '-c', 'model_provider="cordon-rehearsal"'],
      ...['-c', 'model_providers.cordon-rehearsal.name="scripted"'],
      ...['-c', `model_providers.cordon-rehearsal.base_url="http://127.0.0.1:${port}/v1"`],
      ...['-c', 'model_providers.cordon-rehearsal.wire_api="responses"'],
      ...['-c', 'model_providers.cordon-rehearsal.env_key="CORDON_REHEARSAL_KEY"'],
      ...['-c', 'model_providers.cordon-rehearsal.request_max_retries=0', 'go'],
    ],
    env: () => ({ CORDON_REHEARSAL_KEY: 'scripted' }),
    call: (tools) =>
      tools.includes('exec_command')
        ? { tool: 'exec_command', input: { cmd: FORBIDDEN } }
        : tools.includes('shell_command')
          ? { tool: 'shell_command', input: { command: FORBIDDEN } }
          : { tool: 'shell', input: { command: ['bash', '-lc', FORBIDDEN] } },
  },
  gemini: {
    args: () => ['-p', 'go', '--yolo', '-m', 'gemini-2.5-pro'],
    env: (port) => ({ GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`, GEMINI_API_KEY: 'scripted' }),
    call: () => ({ tool: 'run_shell_command', input: { command: FORBIDDEN, description: 'x' } }),
  },
  copilot: {
    args: () => ['-p', 'go', '--allow-all-tools', '--no-auto-update'],
    env: (port) => ({
      COPILOT_PROVIDER_BASE_URL: `http://127.0.0.1:${port}/v1`,
      COPILOT_PROVIDER_API_KEY: 'scripted',
      COPILOT_MODEL: 'gpt-5',
      COPILOT_OFFLINE: 'true',
    }),
    call: () => ({ tool: 'bash', input: { command: FORBIDDEN, description: 'x' } }),
  },
  qwen: {
    args: () => ['-p', 'go', '--yolo'],
    env: (port) => ({
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: 'scripted',
      OPENAI_MODEL: 'scripted',
    }),
    call: () => ({ tool: 'run_shell_command', input: { command: FORBIDDEN, description: 'x', is_background: false } }),
  },
  opencode: {
    args: () => ['run', '-m', 'cordon-rehearsal/scripted', 'go'],
    env: (port, folder) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        // It takes one of the project before each step.
        snapshot: false,
        provider: {
          'cordon-rehearsal': {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'scripted' },
            models: { scripted: { name: 'scripted', tool_call: true } },
          },
        },
      }),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // Its sessions, not its plugins.
      XDG_DATA_HOME: folder,
    }),
    call: () => ({ tool: 'bash', input: { command: FORBIDDEN, description: 'x' } }),
  },
  pi: {
    args: (_, folder) => [
      ...['-p', '--no-session', '-e', join(folder, 'model.js')],
      ...['--provider', 'cordon-rehearsal', '--model', 'scripted', 'go'],
    ],
    env: () => ({ PI_OFFLINE: '1' }),
    files: (port) => ({
      'model.js': `export default (pi) => pi.registerProvider('cordon-rehearsal', {
  baseUrl: 'http://127.0.0.1:${port}/v1',
  apiKey: 'scripted',
  api: 'openai-completions',
  models: [{ id: 'scripted', name: 'scripted', reasoning: false, input: ['text'], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 4096 }],
})
`,
    }),
    call: () => ({ tool: 'bash', input: { command: FORBIDDEN } }),
  },
  cline: {
    args: () => ['-P', 'openai-compatible', '-m', 'scripted', 'go on'],
    env: (_, folder) => ({
      CLINE_PROVIDER_SETTINGS_PATH: join(folder, 'providers.json'),
      CLINE_SESSION_DATA_DIR: join(folder, 'sessions'),
      // In this process, not in the one that it leaves running for all of them.
      CLINE_SESSION_BACKEND_MODE: 'local',
    }),
    files: (port) => ({
      'providers.json': JSON.stringify({
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: {
          'openai-compatible': {
            settings: {
              provider: 'openai-compatible',
              apiKey: 'scripted',
              model: 'scripted',
              baseUrl: `http://127.0.0.1:${port}/v1`,
            },
            updatedAt: '2026-01-01T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      }),
    }),
    call: () => ({ tool: 'run_commands', input: { commands: [FORBIDDEN] } }),
  },
}

/** The program whose hook it is. */
export const PROGRAMS: Readonly<Record<HostName, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  gemini: 'gemini',
  cursor: 'cursor-agent',
  opencode: 'opencode',
  copilot: 'copilot',
  pi: 'pi',
  qwen: 'qwen',
  cline: 'cline',
}

/** What came of a rehearsal in one folder: the hook answered, it did not, or nobody can say. */
export interface Rehearsal {
  readonly where: string
  readonly outcome: 'answered' | 'missed' | 'unknown'
  readonly detail: string
}

/** A first start can make a database and look for updates. */
const MAX_MS = 120_000

/** Starts the program in the project, in a folder of it, and in a worktree. Empty where it cannot be told where its model is (Cursor). */
export async function rehearse(host: HostName, program: string, place: InstallPlace): Promise<readonly Rehearsal[]> {
  if (host === 'cursor') return []
  const rehearsed = REHEARSED[host]
  const below = folderBelow(place.root)
  const done = [await once(rehearsed, program, place, 'the project', place.root)]
  if (below !== null) done.push(await once(rehearsed, program, place, 'a folder of it', below))
  // A hook of one project is that project's: a worktree is a folder of its own.
  if (place.scope === 'user') done.push(...(await inWorktree(rehearsed, program, place)))
  return done
}

async function once(
  rehearsed: Rehearsed,
  program: string,
  { env }: InstallPlace,
  where: string,
  cwd: string,
): Promise<Rehearsal> {
  const model = await startModelServer([(tools) => rehearsed.call(tools)])
  const folder = mkdtempSync(join(tmpdir(), 'cordon-rehearsal-'))
  try {
    for (const [name, text] of Object.entries(rehearsed.files?.(model.port) ?? {}))
      writeFileSync(join(folder, name), text)
    const own = rehearsed.env(model.port, folder)
    const said = await started(program, rehearsed.args(model.port, folder), cwd, { ...env, ...own })
    // The scripted model hears the reason of a denial as the result of its call.
    if (model.bodies.some((body) => body.includes('Cordon: '))) return { where, outcome: 'answered', detail: '' }
    if (model.bodies.length > 1) return { where, outcome: 'missed', detail: 'it ran the call without asking the hook' }
    return { where, outcome: 'unknown', detail: lastLine(said) }
  } catch (error) {
    return { where, outcome: 'unknown', detail: messageOf(error) }
  } finally {
    await model.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function inWorktree(rehearsed: Rehearsed, program: string, place: InstallPlace): Promise<readonly Rehearsal[]> {
  if (!isRepository(place.root)) return []
  const base = mkdtempSync(join(tmpdir(), 'cordon-rehearsal-'))
  const tree = join(base, 'worktree')
  const git = (...args: string[]) => spawnSync('git', ['-C', place.root, ...args], { stdio: 'ignore' }).status === 0
  try {
    // Without the files: the checkout of a large project takes its time, and hooks of git could run in it.
    if (!git('-c', 'core.hooksPath=/dev/null', 'worktree', 'add', '--detach', '--no-checkout', tree)) return []
    return [await once(rehearsed, program, place, 'a worktree', tree)]
  } finally {
    git('worktree', 'remove', '--force', tree)
    rmSync(base, { recursive: true, force: true })
  }
}

function lastLine(said: string): string {
  const lines = stripVTControlCharacters(said).trim().split('\n')
  return lines.at(-1)?.slice(0, 200) || 'it said nothing'
}

function isRepository(root: string): boolean {
  return spawnSync('git', ['-C', root, 'rev-parse', '--verify', '-q', 'HEAD'], { stdio: 'ignore' }).status === 0
}

function folderBelow(root: string): string | null {
  const entries = readdirSync(root, { withFileTypes: true })
  const first = entries.find(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules',
  )
  return first ? join(root, first.name) : null
}

function started(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), MAX_MS)
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', () => {
      clearTimeout(timer)
      resolve(said)
    })
  })
}
