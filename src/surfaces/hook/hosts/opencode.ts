/**
 * opencode and its fork Kilo: plugins instead of hooks; ours asks `cordon hook` and throws to block, in our
 * own format.
 */

import { join, resolve } from 'node:path'
import type { Host, RulePlace } from '../host/host.ts'
import type { HostInstall } from '../host/host-install.ts'
import { hookRoot } from '../host/install-place.ts'
import { pluginHost } from '../host/plugin-host.ts'
import * as rows from '../host/tool-table.ts'

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

interface OpencodeForm<Name extends string> {
  readonly name: Name
  /** Its folders in a project, the names of its configurations, and the beginning of its variables. */
  readonly folders: readonly string[]
  readonly configurations: readonly string[]
  readonly variables: string
  /** Flags of a session in which nobody is asked. */
  readonly alone?: readonly string[]
}

export const opencode: Host<'opencode'> = opencodeForm({
  name: 'opencode',
  folders: ['.opencode'],
  configurations: ['opencode.jsonc', 'opencode.json'],
  variables: 'OPENCODE',
})

export const kilo: Host<'kilo'> = opencodeForm({
  name: 'kilo',
  folders: ['.kilo', '.kilocode', '.opencode'],
  configurations: ['kilo.jsonc', 'kilo.json', 'opencode.jsonc', 'opencode.json'],
  variables: 'KILO',
  alone: ['--auto'],
})

function opencodeForm<Name extends string>(form: OpencodeForm<Name>): Host<Name> {
  const { name, folders, variables } = form
  const configurations = (folder: string): readonly string[] => form.configurations.map((one) => join(folder, one))
  const foldersAt = ({ folders: projects, home, env }: RulePlace): readonly string[] => {
    const own = env[`${variables}_CONFIG_DIR`]
    return [
      ...projects.flatMap((project) => [...folders.map((folder) => join(project, folder)), project]),
      ...(own ? [own] : []),
      join(env.XDG_CONFIG_HOME ?? join(home, '.config'), name),
      ...folders.map((folder) => join(home, folder)),
      `/etc/${name}`,
    ]
  }
  return pluginHost(
    name,
    TOOLS,
    'include',
    {
      memory: ['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md'],
      imports: false,
      texts: [
        ...folders.flatMap((folder) =>
          ['agent', 'agents', 'mode', 'modes', 'command', 'commands', 'skill', 'skills'].map(
            (kind) => `${folder}/${kind}/`,
          ),
        ),
        '.claude/skills/',
        '.agents/skills/',
      ],
      runsInline: true,
      naming: {
        files: ['', ...folders].flatMap((folder) => configurations(folder)),
        paths: ['instructions'],
        // Keys for providers and servers.
        substitutes: { variables: ['provider', 'mcp'] },
      },
    },
    () => install(form, configurations),
    {
      settings: (at) => foldersAt(at).flatMap(configurations),
      sources: (at) => {
        const [config, content, permission] = ['CONFIG', 'CONFIG_CONTENT', 'PERMISSION'].map(
          (variable) => at.env[`${variables}_${variable}`],
        )
        return [
          ...foldersAt(at).flatMap((folder) => [
            ...configurations(folder).map((file) => ({ file })),
            // Inside a project they are only in its own folder.
            ...(at.folders.includes(folder) ? [] : ['agent', 'agents', 'mode', 'modes']).map((kind) => ({
              folder: join(folder, kind),
              ending: '.md',
            })),
          ]),
          ...(config ? [{ file: resolve(at.folders.at(-1) ?? '/', config) }] : []),
          ...(content ? [{ from: `${variables}_CONFIG_CONTENT`, text: content }] : []),
          ...(permission ? [{ from: `${variables}_PERMISSION`, text: `{"permission":${permission}}` }] : []),
        ]
      },
      lastWins: true,
      reader: async () => (await import('../../../agents/import/opencode.ts')).opencodeCommands,
    },
  )
}

async function install(
  { name, folders, variables, alone = [] }: OpencodeForm<string>,
  configurations: (folder: string) => readonly string[],
): Promise<HostInstall> {
  const [{ ownFile }, { isOpencodePlugin, opencodePlugin }] = await Promise.all([
    import('../host/forms.ts'),
    import('./opencode-plugin.ts'),
  ])
  return {
    program: name,
    withoutHooks: { flags: ['--pure'], variables: variables === 'KILO' ? ['KILO_PURE'] : [] },
    brings: {
      ...Object.fromEntries(
        ['', ...folders].flatMap((folder) =>
          configurations(folder).map((file) => [file, ['mcp', 'plugin', 'provider']] as const),
        ),
      ),
      ...Object.fromEntries(
        folders.flatMap((folder) =>
          ['plugin', 'plugins', 'tool', 'tools'].map((kind) => [`${folder}/${kind}/`, []] as const),
        ),
      ),
    },
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, folders[0]!, 'plugins/cordon.js')
        : join(env.XDG_CONFIG_HOME ?? join(home, '.config'), name, 'plugins/cordon.js'),
    edit: ownFile(isOpencodePlugin, (_, place) => opencodePlugin(name, hookRoot(place), place.cordon)),
    missed: `${name} finds a project’s plugins neither in a worktree nor with ${variables}_DISABLE_PROJECT_CONFIG`,
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
      args: () => ['run', '-m', 'cordon-rehearsal/scripted', ...alone, 'go'],
      env: (port, folder) => ({
        [`${variables}_CONFIG_CONTENT`]: JSON.stringify({
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
        [`${variables}_DISABLE_AUTOUPDATE`]: '1',
        [`${variables}_DISABLE_MODELS_FETCH`]: '1',
        // Moves its sessions, not its plugins.
        XDG_DATA_HOME: folder,
      }),
      call: (command) => ({ tool: 'bash', input: { command, description: 'x' } }),
    },
  }
}
