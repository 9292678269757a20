/** A signed project for hooks, the inputs of every host, and their answers read as the hosts read them. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { programPath } from '../../../src/runtime/hook/wrapped-runs.ts'
import { loadPolicy } from '../../../src/runtime/policy/load.ts'
import { signProject } from '../../../src/runtime/policy/sign/trust.ts'
import { answerHook, type HookAnswer } from '../../../src/surfaces/hook/answer-hook.ts'
import { findHost, type HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'

/** What an answer does to the call in that host, by what was observed of the real programs. */
export type Effect = 'pass' | 'sandboxed' | 'narrowed' | 'ask' | 'deny' | 'block'

export const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[permission.tools]
mcp__known__list = "allow"
mcp__known__drop = "deny"
[capabilities.deny.read]
paths = ["private/**"]
[capabilities.deny.commands]
patterns = ["git push:*"]
`

export interface AskOptions {
  /** The project that the hook was installed for; null for a hook of the user. */
  readonly root?: string | null
  /** The host runs in `cordon run`. */
  readonly inside?: boolean
}

export interface HookWorld {
  readonly base: string
  readonly project: string
  readonly machine: Machine
  /** Asks the hook; `$P` stands for the project, `$R` for the program that runs a command in the sandbox. */
  ask(host: HostName, input: unknown, options?: AskOptions): Promise<HookAnswer>
  /** Signs the manifest as it is now. */
  sign(): Promise<void>
  /** Forgets what sessions remember of their calls. */
  forget(): void
  close(): void
}

/** Makes the project, with secrets and a link to one in it. */
export async function openHookWorld(manifest: string = MANIFEST): Promise<HookWorld> {
  const base = mkdtempSync(join(tmpdir(), 'cordon-hook-'))
  const project = join(base, 'project')
  const home = join(base, 'home')
  for (const directory of [home, join(project, 'src'), join(project, 'private'), join(project, 'secrets')])
    mkdirSync(directory, { recursive: true })
  writeFileSync(join(project, 'cordon.toml'), manifest)
  writeFileSync(join(project, '.env'), 'TOKEN=1\n')
  writeFileSync(join(project, 'src/a.ts'), 'export {}\n')
  writeFileSync(join(project, 'secrets/.env'), 'TOKEN=1\n')
  symlinkSync(join(project, '.env'), join(project, 'src/link.txt'))
  const machine: Machine = {
    ...thisMachine(),
    cwd: project,
    home,
    env: {},
    isRoot: false,
    configDir: join(home, '.config/cordon'),
    stateDir: join(home, '.local/state/cordon'),
    cacheDir: join(home, '.cache/cordon'),
    systemDir: join(home, 'etc'),
  }
  const world: HookWorld = {
    base,
    project,
    machine,
    ask(name, input, { root = project, inside = false } = {}) {
      const text = typeof input === 'string' ? input : JSON.stringify(input)
      const cordon = ['/opt/node', '/opt/cordon.cjs']
      const setting = { machine, files: machineFiles, root, cordon, inside }
      return answerHook(findHost(name)!, text.replaceAll('$P', project).replaceAll('$R', programPath(machine)), setting)
    },
    async sign() {
      const outcome = await loadPolicy({ machine, files: machineFiles, root: project, choice: { kind: 'project' } })
      if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
      signProject(outcome.loaded, machine, new Date(0))
    },
    forget: () => rmSync(join(machine.stateDir, 'hook-sessions'), { recursive: true, force: true }),
    close: () => rmSync(base, { recursive: true, force: true }),
  }
  await world.sign()
  return world
}

/** Reads an answer as its host does; throws for a form that the host takes for an allow. */
export function effectOf(host: HostName, { stdout, stderr, exitCode }: HookAnswer): Effect {
  if (exitCode === 2) {
    expect(stdout).toBe('')
    expect(stderr.trim()).not.toBe('')
    return 'block'
  }
  expect(exitCode).toBe(0)
  expect(stderr).toBe('')
  if (stdout === '') return 'pass'
  const answer = JSON.parse(stdout)
  return READERS[host](answer)
}

const READERS: Readonly<Record<HostName, (answer: Record<string, unknown>) => Effect>> = {
  'claude-code': readClaude,
  codex: (answer) => {
    const effect = readClaude(answer)
    const output = answer.hookSpecificOutput as Record<string, unknown>
    expect(effect).not.toBe('ask')
    if (effect === 'sandboxed') expect(output.permissionDecision).toBe('allow')
    return effect
  },
  gemini: (answer) => {
    if ('hookSpecificOutput' in answer) {
      const { tool_input } = answer.hookSpecificOutput as { tool_input: { include_pattern?: string } }
      return tool_input.include_pattern?.startsWith('!') ? 'narrowed' : 'sandboxed'
    }
    expect(Object.keys(answer).sort()).toEqual(['decision', 'reason'])
    expect(answer.decision).toBe('deny')
    expect(answer.reason).toMatch(/\S/)
    return 'deny'
  },
  cursor: (answer) => {
    if (Object.keys(answer).length === 0) return 'pass'
    if (answer.permission === 'allow') return 'sandboxed'
    expect(answer.user_message).toMatch(/\S/)
    return answer.permission === 'ask' ? 'ask' : 'deny'
  },
  opencode: readPlugin,
  pi: readPlugin,
  copilot: (answer) => {
    if (answer.permissionDecision === 'allow') {
      expect(answer.modifiedArgs).toBeTypeOf('object')
      return 'sandboxed'
    }
    expect(Object.keys(answer).sort()).toEqual(['permissionDecision', 'permissionDecisionReason'])
    expect(answer).toMatchObject({ permissionDecision: 'deny', permissionDecisionReason: expect.stringMatching(/\S/) })
    return 'deny'
  },
  qwen: (answer) => {
    expect(readClaude(answer)).toBe('deny')
    // It takes no other command, so the agent is told the one to use.
    return JSON.stringify(answer).includes('has to say so itself: ') ? 'sandboxed' : 'deny'
  },
  cline: (answer) => {
    if (answer.cancel === true) {
      expect(answer.errorMessage).toMatch(/\S/)
      return 'deny'
    }
    const { commands = [] } = (answer.overrideInput ?? {}) as { commands?: string[] }
    if (commands.length === 0) return 'pass'
    expect(commands).toHaveLength(1)
    return commands[0]!.startsWith("printf '%s\\n' 'Cordon: ") && commands[0]!.endsWith(' >&2; exit 126')
      ? 'deny'
      : 'sandboxed'
  },
}

function readPlugin(answer: Record<string, unknown>): Effect {
  expect(answer.cordon).toBe(1)
  if (answer.decision === 'deny') {
    expect(answer.reason).toMatch(/\S/)
    return 'deny'
  }
  if ('filter' in answer) return 'narrowed'
  return 'command' in answer ? 'sandboxed' : 'pass'
}

const CLAUDE_FIELDS = new Set([
  'hookEventName',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
])

function readClaude({ systemMessage, ...answer }: Record<string, unknown>): Effect {
  // What is dangerous about the set-up is told once a session, beside the answer or alone.
  if (systemMessage !== undefined) expect(systemMessage).toMatch(/^cordon: \S/)
  if (systemMessage !== undefined && Object.keys(answer).length === 0) return 'pass'
  expect(Object.keys(answer)).toEqual(['hookSpecificOutput'])
  const output = answer.hookSpecificOutput as Record<string, unknown>
  for (const field of Object.keys(output)) expect(CLAUDE_FIELDS).toContain(field)
  expect(output.hookEventName).toBe('PreToolUse')
  if (output.permissionDecision === 'deny' || output.permissionDecision === 'ask') {
    expect(output.permissionDecisionReason).toMatch(/\S/)
    return output.permissionDecision
  }
  expect(output.updatedInput).toBeTypeOf('object')
  if ('additionalContext' in output) {
    // It is the host's to ask about a search, as without us.
    expect(output.permissionDecision).toBeUndefined()
    return 'narrowed'
  }
  return 'sandboxed'
}

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
