/** Cordon's own agent among those under test: it needs no hook, because nothing of it goes another way. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnAgent } from './agents.ts'

export const ownAgent: OwnAgent = {
  name: 'cordon',
  // Between two attempts something that may be done: the breaker, which would hold all the rest, stays closed.
  follows: (results) => results.map(() => ({ kind: 'read', path: 'notes.txt' })),
  args: ['chat', '-p', 'go'],
  prepare: ({ home, port }) => {
    const folder = join(home, '.config/cordon')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const profile = {
      wire: 'anthropic',
      base_url: `http://127.0.0.1:${port}/v1`,
      model: 'scripted',
      key_env: 'SCRIPTED_KEY',
    }
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profile: 'own', profiles: { own: profile } }), {
      mode: 0o600,
    })
  },
  key: { name: 'SCRIPTED_KEY', header: 'x-api-key' },
  env: () => ({ CORDON_KEYCHAIN: 'off' }),
  call: (attempt) =>
    attempt.kind === 'shell'
      ? { tool: 'bash', input: { command: attempt.command } }
      : attempt.kind === 'read'
        ? { tool: 'read', input: { path: attempt.path } }
        : attempt.kind === 'write'
          ? { tool: 'write', input: { path: attempt.path, content: attempt.content } }
          : { tool: 'edit', input: { path: attempt.path, old_string: attempt.before, new_string: attempt.after } },
}
