/** pi: has extensions instead of hooks; ours asks `cordon hook pi`, and a thrown error blocks. */

import { join } from 'node:path'
import type { Host } from '../host/host.ts'
import type { HostInstall } from '../host/host-install.ts'
import { hookRoot } from '../host/install-place.ts'
import { pluginHost } from '../host/plugin-host.ts'
import * as rows from '../host/tool-table.ts'

const TOOLS: rows.ToolTable = {
  bash: rows.shell(),
  read: rows.reads('path', 'file_path'),
  write: rows.writes('path', 'file_path'),
  edit: rows.edits('path', 'file_path'),
  grep: rows.searches('path'),
  find: rows.globs('path'),
  ls: rows.lists('path'),
}

export const pi: Host<'pi'> = pluginHost(
  'pi',
  TOOLS,
  'glob',
  {
    memory: [
      'AGENTS.md',
      'AGENTS.MD',
      'AGENTS.override.md',
      'CLAUDE.md',
      'CLAUDE.MD',
      '.pi/SYSTEM.md',
      '.pi/APPEND_SYSTEM.md',
    ],
    imports: false,
    texts: ['.pi/skills/', '.pi/prompts/', '.agents/skills/'],
    runsInline: false,
  },
  install,
)

async function install(): Promise<HostInstall> {
  const [{ ownFile }, { isPiExtension, piExtension }] = await Promise.all([
    import('../host/forms.ts'),
    import('./pi-extension.ts'),
  ])
  return {
    program: 'pi',
    brings: { '.pi/extensions/': [], '.pi/settings.json': ['extensions', 'packages'] },
    file: ({ scope, root, home, env }) =>
      scope === 'project'
        ? join(root, '.pi/extensions/cordon.ts')
        : join(env.PI_CODING_AGENT_DIR ?? join(home, '.pi/agent'), 'extensions/cordon.ts'),
    edit: ownFile(isPiExtension, (_, place) => piExtension(hookRoot(place), place.cordon)),
    missed: 'pi loads a project’s extensions from the project’s own folder alone, and only once you trust it',
    withoutHooks: { flags: ['--no-extensions', '-ne'], variables: [] },
    test: {
      script: (plugin, root, command, text) => `import cordon from ${JSON.stringify(plugin)}
const on = {}
cordon({ on: (event, handler) => { on[event] = handler } })
const context = { cwd: ${JSON.stringify(root)} }
const answer = await on.tool_call({ toolName: 'bash', input: { command: ${JSON.stringify(command)} } }, context)
const result = await on.tool_result({ toolName: 'read', input: {}, content: [{ type: 'text', text: ${JSON.stringify(text)} }] }, context)
if (answer?.block !== true) console.log('allowed')
else console.log(result?.content?.[0]?.text.includes('Cordon:') ? 'blocked: ' + answer.reason : 'an injected result was not flagged')`,
    },
    rehearsal: {
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
      call: (command) => ({ tool: 'bash', input: { command } }),
    },
  }
}
