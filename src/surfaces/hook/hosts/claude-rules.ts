/** Claude Code's own rules: its settings, all of which count, and its command line. */

import { join, resolve } from 'node:path'
import { flagValues, type OwnRules, type RulePlace } from '../host/host.ts'

/** Denials that the host enforces for what no hook sees: `@file` in prompts, skills and memory files. */
export const CLAUDE_DENIALS: readonly string[] = [
  ...['.env', '.env.local', '.env.*.local', '.env.production', '.env.development', '.env.staging', '*.key'],
  ...['id_rsa', 'id_ed25519', 'id_ecdsa', '.npmrc', '.pypirc', '.netrc', '.pgpass', '.git-credentials', '.htpasswd'],
]
  .map((name) => `Read(**/${name})`)
  .concat(
    ['.ssh/**', '.gnupg/**', '.aws/**', '.kube/**', '.config/gcloud/**', '.azure/**', '.docker/config.json'].map(
      (place) => `Read(~/${place})`,
    ),
    ['.netrc', '.npmrc', '.pypirc', '.git-credentials', '.pgpass', '.claude/.credentials.json', '.codex/auth.json'].map(
      (place) => `Read(~/${place})`,
    ),
  )

export const claudeRules: OwnRules = {
  ours: new Set(CLAUDE_DENIALS),
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
      // Several rules are separated by commas or blanks outside brackets.
      text: JSON.stringify({ permissions: { deny: given.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [] } }),
    })),
  ],
  reader: async () => (await import('../../../agents/import/bracket-rules.ts')).claudeCommands,
}

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
