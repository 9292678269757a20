/** Kimi Code: hooks in its `config.toml`. It ignores rewrites, so its agent must write the wrapped command. */

import { join } from 'node:path'
import { claudeForm, textsOfParts } from '../host/claude-form.ts'
import type { Host } from '../host/host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  Bash: rows.shell('cwd'),
  Read: rows.reads('path'),
  Write: rows.writes('path'),
  Edit: rows.edits('path'),
  Glob: rows.globs('path'),
  Grep: rows.searches('path'),
  FetchURL: rows.fetches,
  Agent: rows.expanding(rows.delegates, 'prompt'),
  AgentSwarm: rows.expanding(rows.delegates, 'prompt_template'),
  Skill: rows.expanding(rows.loadsSkill, 'args'),
  // CronCreate has no row: a schedule outlives the session.
  ...rows.inert(
    'AskUserQuestion TodoList TaskList TaskOutput TaskStop WaitFor CronDelete CronList',
    'EnterPlanMode ExitPlanMode CreateGoal GetGoal UpdateGoal SetGoalBudget',
  ),
}

export const kimi: Host<'kimi'> = claudeForm({
  name: 'kimi',
  tools: TOOLS,
  program: 'kimi',
  shell: 'Bash',
  expands: {
    memory: ['AGENTS.md', '.kimi-code/AGENTS.md'],
    imports: false,
    texts: ['.kimi-code/skills/', '.kimi-code/agents/', '.agents/skills/'],
    runsInline: true,
  },
  folder: '.kimi-code',
  folderVariable: 'KIMI_CODE_HOME',
  hooksFile: 'config.toml',
  resultOf: ({ tool_output: output }) => output,
  promptOf: ({ prompt }) => ({ said: textsOfParts(prompt) }),
  refusesBy: 'permissionDecision',
  // It sees the wrapped form, which its agent writes.
  ownRules: {
    sources: ({ home, env }) => [{ file: join(env.KIMI_CODE_HOME ?? join(home, '.kimi-code'), 'config.toml') }],
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).kimiCommands,
  },
  install: async () => ({
    brings: { '.kimi-code/mcp.json': ['mcpServers'] },
    missed: 'Kimi Code reads hooks from your own settings alone',
    rehearsal: {
      args: () => ['-p', 'go'],
      env: (port) => ({
        KIMI_MODEL_NAME: 'cordon-rehearsal',
        KIMI_MODEL_PROVIDER_TYPE: 'openai',
        KIMI_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
        KIMI_MODEL_API_KEY: 'scripted',
        KIMI_MODEL_MAX_CONTEXT_SIZE: '100000',
        KIMI_CODE_NO_AUTO_UPDATE: '1',
        KIMI_DISABLE_TELEMETRY: '1',
      }),
      call: (command) => ({ tool: 'Bash', input: { command } }),
    },
  }),
})
