/** Factory's Droid: Claude Code's hooks in its settings. */

import { join } from 'node:path'
import { claudeForm } from '../host/claude-form.ts'
import type { Host } from '../host/host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  Execute: rows.shell(),
  Read: rows.reads('file_path'),
  Create: rows.writes('file_path'),
  Edit: rows.edits('file_path'),
  MultiEdit: rows.edits('file_path'),
  LS: rows.lists('directory_path'),
  Grep: rows.searches('path'),
  FetchUrl: rows.fetches,
  WebSearch: rows.searchesWeb,
  Task: rows.expanding(rows.delegates, 'prompt'),
  Skill: rows.loadsSkill,
  // Glob takes several patterns, and ApplyPatch more forms than one: without a row each asks with what it names.
  ...rows.inert('TodoWrite TaskOutput TaskStop ToolSearch ExitSpecMode AskUser'),
}

export const droid: Host<'droid'> = claudeForm({
  name: 'droid',
  tools: TOOLS,
  program: 'droid',
  shell: 'Execute',
  rewrites: true,
  // It asks nobody about a call that a hook allows, also in its read-only mode (`spec`).
  writingModes: ['normal', 'auto-low', 'auto-medium', 'auto-high'],
  expands: {
    memory: ['AGENTS.md', 'CLAUDE.md', '.factory/AGENTS.md', '.factory/rules/'],
    imports: true,
    texts: ['skills', 'commands', 'droids'].map((name) => `.factory/${name}/`),
    runsInline: true,
  },
  folder: '.factory',
  folderVariable: null,
  hooksFile: 'settings.json',
  ownRules: {
    sources: ({ folders, home }) =>
      [...folders, home].flatMap((folder) =>
        ['settings.json', 'settings.local.json'].map((name) => ({ file: join(folder, '.factory', name) })),
      ),
    reader: async () => (await import('../../../agents/import/bracket-rules.ts')).droidCommands,
  },
  install: async () => ({
    brings: { '.factory/settings.json': ['hooks'], '.factory/mcp.json': ['mcpServers'] },
    missed: 'Droid reads a project’s settings from its own folder alone',
    switchedOff: ({ root, home }, settings) => {
      const files = [root, home].flatMap((folder) =>
        ['settings.json', 'settings.local.json'].map((name) => join(folder, '.factory', name)),
      )
      const file = files.find((one) => settings(one).hooksDisabled === true)
      return file ? { detail: `${file} says "hooksDisabled": true`, remedy: 'Remove that line.' } : null
    },
    rehearsal: {
      args: (_, folder) => [
        ...['exec', '--skip-permissions-unsafe', '--settings', join(folder, 'settings.json')],
        ...['-m', 'custom:scripted', 'go'],
      ],
      env: (port) => ({ FACTORY_API_KEY: 'fk-scripted', FACTORY_API_BASE_URL: `http://127.0.0.1:${port}` }),
      files: (port) => ({
        'settings.json': JSON.stringify({
          customModels: [
            {
              model: 'scripted',
              displayName: 'scripted',
              baseUrl: `http://127.0.0.1:${port}/v1`,
              apiKey: 'scripted',
              provider: 'generic-chat-completion-api',
              maxOutputTokens: 1000,
            },
          ],
        }),
      }),
      call: (command) => ({
        tool: 'Execute',
        input: { command, summary: 'x', riskLevel: 'low', riskLevelReason: 'x', timeout: 60 },
      }),
    },
  }),
})
