/** opencode: has plugins instead of hooks; ours asks `cordon hook opencode` and throws to block, in our own format. */

import { join, resolve } from 'node:path'
import type { Host, RulePlace } from '../host/host.ts'
import type { HostInstall } from '../host/host-install.ts'
import { hookRoot } from '../host/install-place.ts'
import * as rows from '../host/tool-table.ts'
import { pluginHost } from './plugin-host.ts'

const TOOLS: rows.ToolTable = {
  bash: rows.shell('workdir'),
  read: rows.reads('filePath', 'path'),
  write: rows.writes('filePath', 'path'),
  edit: rows.edits('filePath', 'path'),
  multiedit: rows.edits('filePath', 'path'),
  patch: rows.patches('patchText', 'patch'),
  apply_patch: rows.patches('patchText', 'patch'),
  glob: rows.globs('path'),
  grep: rows.searches('path'),
  list: rows.lists('path'),
  lsp: rows.asksServer('filePath', 'path'),
  webfetch: rows.fetches,
  websearch: rows.searchesWeb,
  task: rows.expanding(rows.delegates, 'prompt', 'command'),
  skill: rows.loadsSkill,
  // `invalid` is a wrong call of the model. `batch` has no row: its calls may not all arrive here.
  ...rows.inert('todowrite todoread question plan_enter plan_exit invalid'),
}

export const opencode: Host<'opencode'> = pluginHost(
  'opencode',
  TOOLS,
  'include',
  {
    memory: ['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md'],
    imports: false,
    texts: [
      ...['agent', 'agents', 'mode', 'modes', 'command', 'commands', 'skill', 'skills'].map(
        (name) => `.opencode/${name}/`,
      ),
      '.claude/skills/',
      '.agents/skills/',
    ],
    runsInline: true,
    naming: {
      files: ['opencode.json', 'opencode.jsonc', '.opencode/opencode.json', '.opencode/opencode.jsonc'],
      paths: ['instructions'],
      // Keys for providers and servers.
      substitutes: { variables: ['provider', 'mcp'] },
    },
  },
  install,
  {
    settings: (at) => opencodeFolders(at).flatMap(configurations),
    sources: (at) => {
      const { OPENCODE_CONFIG: config, OPENCODE_CONFIG_CONTENT: content, OPENCODE_PERMISSION: permission } = at.env
      return [
        ...opencodeFolders(at).flatMap((folder) => [
          ...configurations(folder).map((file) => ({ file })),
          // Inside a project they are only in its own folder.
          ...(at.folders.includes(folder) ? [] : ['agent', 'agents', 'mode', 'modes']).map((name) => ({
            folder: join(folder, name),
            ending: '.md',
          })),
        ]),
        ...(config ? [{ file: resolve(at.folders.at(-1) ?? '/', config) }] : []),
        ...(content ? [{ from: 'OPENCODE_CONFIG_CONTENT', text: content }] : []),
        ...(permission ? [{ from: 'OPENCODE_PERMISSION', text: `{"permission":${permission}}` }] : []),
      ]
    },
    lastWins: true,
    reader: async () => (await import('../../../agents/import/opencode.ts')).opencodeCommands,
  },
)

function opencodeFolders({ folders, home, env }: RulePlace): readonly string[] {
  return [
    ...folders.flatMap((folder) => [join(folder, '.opencode'), folder]),
    ...(env.OPENCODE_CONFIG_DIR ? [env.OPENCODE_CONFIG_DIR] : []),
    join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode'),
    join(home, '.opencode'),
    '/etc/opencode',
  ]
}

function configurations(folder: string): readonly string[] {
  return ['opencode.jsonc', 'opencode.json'].map((name) => join(folder, name))
}

async function install(): Promise<HostInstall> {
  const [{ ownFile }, { isOpencodePlugin, opencodePlugin }] = await Promise.all([
    import('../host/forms.ts'),
    import('./opencode-plugin.ts'),
  ])
  return {
    program: 'opencode',
    withoutHooks: { flags: ['--pure'], variables: [] },
    brings: {
      ...Object.fromEntries(
        ['', '.opencode/'].flatMap((folder) =>
          ['opencode.json', 'opencode.jsonc'].map((name) => [`${folder}${name}`, ['mcp', 'plugin', 'provider']]),
        ),
      ),
      '.opencode/plugin/': [],
      '.opencode/plugins/': [],
      '.opencode/tool/': [],
      '.opencode/tools/': [],
    },
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.opencode/plugins/cordon.js')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode/plugins/cordon.js'),
    edit: ownFile(isOpencodePlugin, (_, place) => opencodePlugin(hookRoot(place), place.cordon)),
    missed: 'opencode finds a project’s plugins neither in a worktree nor with OPENCODE_DISABLE_PROJECT_CONFIG',
    test: {
      script: (plugin, root, command, text) => `import { Cordon } from ${JSON.stringify(plugin)}
const hooks = await Cordon({ directory: ${JSON.stringify(root)} })
try {
  await hooks['tool.execute.before']({ tool: 'bash', sessionID: 'cordon-self-test' }, { args: { command: ${JSON.stringify(command)} } })
  console.log('allowed')
} catch (error) {
  const result = { output: ${JSON.stringify(text)} }
  await hooks['tool.execute.after']({ tool: 'bash', sessionID: 'cordon-self-test', args: {} }, result)
  console.log(result.output.includes('Cordon:') ? 'blocked: ' + error.message : 'an injected result was not flagged')
}`,
    },
    rehearsal: {
      args: () => ['run', '-m', 'cordon-rehearsal/scripted', 'go'],
      env: (port, folder) => ({
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          // It takes a project snapshot before each step.
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
        // Moves its sessions, not its plugins.
        XDG_DATA_HOME: folder,
      }),
      call: (command) => ({ tool: 'bash', input: { command, description: 'x' } }),
    },
  }
}
