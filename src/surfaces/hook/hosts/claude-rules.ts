/** Where Claude Code's own rules are: its settings, all of which count, and its command line. */

import { join, resolve } from 'node:path'
import { flagValues, type OwnRules, type RulePlace } from './host.ts'

export const claudeRules: OwnRules = {
  settings: settingsOf,
  sources: (at) => [
    ...settingsOf(at).map((file) => ({ file })),
    ...flagValues(at, '--settings').map((given) =>
      given.trimStart().startsWith('{')
        ? { from: '--settings', text: given }
        : { file: resolve(at.folders.at(-1) ?? '/', given) },
    ),
    ...flagValues(at, '--disallowedTools', '--disallowed-tools').map((given) => ({
      from: '--disallowedTools',
      // Several are between commas or blanks, outside of brackets.
      text: JSON.stringify({ permissions: { deny: given.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [] } }),
    })),
  ],
  reader: async () => (await import('../../../runtime/import/bracket-rules.ts')).claudeCommands,
}

/** Its settings, the nearest first. */
function settingsOf({ folders, home, env }: RulePlace): readonly string[] {
  return [
    ...folders.flatMap((folder) => [
      join(folder, '.claude/settings.local.json'),
      join(folder, '.claude/settings.json'),
    ]),
    join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
    '/etc/claude-code/managed-settings.json',
  ]
}
