/** P: permissions. */

import { expect } from 'vitest'
import { createCordon } from '../../../src/session/cordon.ts'
import { openAcp } from '../agents.ts'
import { bash, by, type Cell, fetchOf, no, own, type PromiseRow, read, remote, write } from '../promise.ts'
import { GATEWAY, NO_MODEL, NO_OWN_TOOLS, NO_TOOLS, ONE_CALL, OWN_TOOLS, RUNS_NOTHING, TYPED } from './reasons.ts'

const HIDDEN_MODEL = by(
  'test/contract/keys/own-keys.test.ts',
  'security.hide_model and debug.dump_provider_payloads: what the model receives, and what is kept of it',
)
const GRANTED_SOME = { capabilities: { allow: { write: { paths: ['src/**'] }, read: { paths: ['src/**'] } } } }

const GRANTS_FILE = '$H/.local/state/cordon/grants.json'
const grant = (id: string, value: string, expires: number | null) => ({
  ...{ id, project: '$P', kind: 'command', value, verdict: 'allow', scope: 'time', session: 'before' },
  ...{ created: 1, expires, uses: 0 },
})
const GRANTS = JSON.stringify({
  version: 1,
  grants: [
    grant('gmakex', 'make x:*', 4e12),
    grant('gmakeold', 'make old:*', 2),
    { ...grant('gecho', 'mcp__s__echo', 4e12), kind: 'tool' },
    { ...grant('gold', 'mcp__s__old', 2), kind: 'tool' },
    { ...grant('gdrop', 'mcp__s__drop', 4e12), kind: 'tool' },
    { id: 'unreadable', project: 5 },
  ],
})
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } }

/** What a program of Cordon's says of the set-up once it has read these messages; its model is nowhere. */
const saidBy = (words: readonly string[], ...messages: readonly (readonly [string, object])[]): Cell =>
  own(async (place) => {
    const profile = { wire: 'openai-chat', base_url: 'http://127.0.0.1:9', model: 'none', key_env: 'SCRIPTED_KEY' }
    place.write('$H/.config/cordon/config.json', JSON.stringify({ profile: 'test', profiles: { test: profile } }))
    const lines = messages.map(([method, params], id) => JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    const { out, err } = await place.cordon(words, place.fill(`${lines.join('\n')}\n`))
    expect(out + err).toMatch(/mode "auto"/)
  })

export const PERMISSION_ROWS: readonly PromiseRow[] = [
  {
    id: 'P0',
    promise:
      'Denials, then grants, then explicit levels, then declared kinds, then built-in levels. The strictest part decides.',
    shown: ['test/cases/p0.test.ts', 'test/cases/properties.test.ts'],
    manifest: {
      permission: { tools: { mcp__s__drop: 'deny', mcp__s__list: 'allow' } },
      capabilities: {
        allow: { commands: { patterns: ['git status:*', 'make build'] } },
        deny: { commands: { patterns: ['git push:*'] } },
      },
    },
    tries: [
      bash('git status', { is: 'allow' }),
      bash('git status && git push', { is: 'deny' }),
      bash('git status && make other', { is: 'ask' }),
    ],
    on: {
      gateway: {
        tries: [remote('drop', { is: 'deny' }), remote('list', { is: 'allow' }), remote('other', { is: 'ask' })],
      },
    },
  },
  {
    id: 'P0',
    promise: 'A grant with `prompt` asks, and an answer opens what it was about, outside the roots too.',
    shown: ['test/cases/p0.test.ts'],
    files: { 'src/a': 'a\n', '$H/x.txt': 'beyond\n' },
    manifest: {
      permission: { mode: 'contained' },
      security: { outside_roots: 'ask' },
      capabilities: {
        allow: {
          commands: { patterns: [{ command: 'touch a:*', prompt: true }] },
          write: { paths: [{ path: 'src/**', prompt: true }] },
        },
      },
    },
    tries: [
      bash('touch a', { is: 'ask', leaves: { a: null } }),
      write('src/b', { is: 'ask', leaves: { 'src/b': null } }),
      write('src/b', { is: 'ask', answer: 'once', leaves: { 'src/b': 'new\n' } }),
      bash('cat $H/x.txt', { is: 'ask', hides: /beyond/ }),
      bash('cat $H/x.txt', { is: 'ask', answer: 'once', says: /beyond/ }),
      write('$H/n.txt', { is: 'ask', answer: 'once', leaves: { '$H/n.txt': 'new\n' } }),
    ],
    on: { run: TYPED, gateway: { tries: [remote('echo', { is: 'ask', answer: 'once', says: /answered/ })] } },
  },
  {
    id: 'P0',
    promise: 'With `interactive = false` every ask is a refusal.',
    shown: ['test/cases/p0.test.ts'],
    manifest: { permission: { interactive: false } },
    tries: [bash('touch x', { is: 'refused', leaves: { x: null } })],
    on: {
      run: TYPED,
      check: { tries: [bash('touch x', { is: 'ask' })] },
      page: { tries: [bash('touch x', { is: 'ask' })] },
      hook: { tries: [bash('touch x', { is: 'deny' })] },
      gateway: { tries: [remote('echo', { is: 'refused' })] },
    },
  },
  {
    id: 'P1',
    promise: 'A level of deny closes any tool, and one of ask asks.',
    shown: ['src/policy/evaluate/evaluate.test.ts'],
    files: { 'a.txt': 'here\n' },
    manifest: {
      permission: {
        tools: { read: 'deny', write: 'deny', glob: 'deny', bash: 'deny', webfetch: 'ask', mcp__s__echo: 'deny' },
      },
    },
    tries: [
      read('a.txt', { is: 'deny', hides: /here/ }),
      write('b.txt', { is: 'deny', leaves: { 'b.txt': null } }),
      fetchOf('https://example.com/', { is: 'ask' }),
      { tool: 'glob', input: { pattern: '*' }, is: 'deny', hides: /a\.txt/ },
      bash('true', { is: 'deny' }),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'deny' })] } },
  },
  {
    id: 'P1',
    promise: 'Every tool has a level; bash asks.',
    shown: ['src/policy/evaluate/evaluate.test.ts', 'test/contract/session/session-policy.test.ts'],
    files: { 'a.txt': 'here\n' },
    tries: [
      bash('touch b.txt', { is: 'ask', leaves: { 'b.txt': null } }),
      read('a.txt', { is: 'allow', says: /here/ }),
    ],
    on: {
      run: TYPED,
      // Without a manifest the agent's own settings decide whether to ask (M3).
      hook: { tries: [bash('touch b.txt', { is: 'allow' }), read('a.txt', { is: 'allow' })] },
      gateway: { tries: [remote('echo', { is: 'ask' })] },
    },
  },
  {
    id: 'P2',
    promise: 'Modes change who is asked. They never lift a denial or the sandbox.',
    shown: ['test/cases/p0.test.ts', 'test/contract/session/session-policy.test.ts'],
    files: { 'a.txt': 'here\n' },
    manifest: { permission: { mode: 'plan' } },
    tries: [
      bash('touch b.txt', { is: 'deny', leaves: { 'b.txt': null } }),
      write('b.txt', { is: 'deny', leaves: { 'b.txt': null } }),
      read('a.txt', { is: 'allow' }),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'deny' })] } },
  },
  {
    id: 'P2',
    promise: 'The default mode asks before edits and commands, auto_accept before commands only.',
    shown: ['test/cases/p0.test.ts'],
    manifest: { permission: { mode: 'default' } },
    tries: [
      bash('make x', { is: 'ask', typed: 'allow' }),
      write('b.txt', { is: 'ask', leaves: { 'b.txt': null } }),
      write('b.txt', { is: 'ask', answer: 'once', leaves: { 'b.txt': 'new\n' } }),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'ask' })] } },
  },
  {
    id: 'P2',
    promise: 'auto_accept edits by itself.',
    shown: ['test/cases/p0.test.ts'],
    manifest: { permission: { mode: 'auto_accept' } },
    tries: [
      bash('make x', { is: 'ask', typed: 'allow' }),
      write('b.txt', { is: 'allow', leaves: { 'b.txt': 'new\n' } }),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'ask' })] } },
  },
  {
    id: 'P2',
    promise: 'Auto mode runs what no denial stops.',
    shown: ['test/cases/p0.test.ts'],
    manifest: { permission: { mode: 'auto' }, capabilities: { deny: { commands: { patterns: ['git push:*'] } } } },
    tries: [bash('make other', { is: 'allow' }), bash('git push', { is: 'deny' })],
    on: { gateway: { tries: [remote('echo', { is: 'allow' })] } },
  },
  {
    id: 'P2',
    promise: 'Observe mode of the user asks nothing, and denials apply.',
    shown: ['src/manifest/layers.test.ts'],
    files: { '$H/.config/cordon/cordon.toml': 'schema_version = 1\n[permission]\nmode = "observe"\n' },
    manifest: {
      permission: { tools: { mcp__s__drop: 'deny' } },
      capabilities: { deny: { commands: { patterns: ['whoami'] } } },
    },
    tries: [bash('git push origin x', { is: 'allow' }), bash('whoami', { is: 'deny' })],
    on: { gateway: { tries: [remote('echo', { is: 'allow' }), remote('drop', { is: 'deny' })] } },
  },
  {
    id: 'P3',
    promise: 'The plan agent reads and inspects background commands, and does nothing else.',
    shown: ['test/contract/session/session-policy.test.ts', 'test/contract/session/promises.test.ts'],
    files: { 'a.txt': 'here\n' },
    manifest: { permission: { agent: 'plan', tools: { bash: 'allow' } } },
    tries: [
      bash('touch b.txt', { is: 'deny', leaves: { 'b.txt': null } }),
      write('b.txt', { is: 'deny' }),
      read('a.txt'),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'deny' })] } },
  },
  {
    id: 'P4',
    promise: 'A level can be shown and changed in a running session.',
    shown: ['test/contract/session/session-policy.test.ts', 'test/e2e/chat/chat.test.ts', 'test/e2e/chat/acp.test.ts'],
    manifest: {},
    on: {
      session: own(async ({ root, machine }) => {
        const cordon = await createCordon({ project: root, machine })
        const session = cordon.openSession()
        const level = (name: string) => session.permissions().find(({ tool }) => tool === name)?.level
        session.setLevel('bash', 'deny')
        expect(level('bash')).toBe('deny')
        expect(() => session.setLevel('bash', 'ALLOW' as 'allow')).toThrow(/"ALLOW"/)
        expect(() => session.setLevel('Bash', 'deny')).toThrow(/"Bash"/)
        expect(() => session.setMode('Plan' as 'plan')).toThrow(/"Plan"/)
        expect(() => session.widenEnvelope(['['])).toThrow(/envelope/)
        expect(() => cordon.openSession({ sandbox: 'Own' as 'own' })).toThrow(/"Own"/)
        expect(() => cordon.openSession({ leader: {} as never })).toThrow(/leader/)
        await expect(createCordon({ root } as never)).rejects.toThrow(/"root"/)
        expect((await session.call('bash', { command: 'true' })).status).toBe('denied')
        await cordon.close()
      }),
      run: ONE_CALL,
      check: ONE_CALL,
      page: ONE_CALL,
      hook: no('The mode of the host’s own session applies; levels come from the manifest.'),
      mcp: no('A client cannot change its own levels: they come from the manifest.'),
      gateway: no('A client cannot change its own levels: they come from the manifest.'),
      chat: by(
        'test/e2e/chat/chat.test.ts',
        'tools of MCP servers have levels like every other, and denials apply to what they name: /perm, /perms',
      ),
      acp: by(
        'test/e2e/chat/acp.test.ts',
        'works, asks in the editor’s dialog, plans, is cancelled, and is loaded again',
      ),
    },
  },
  {
    id: 'P5',
    promise: 'A dangerous setup is reported at the start, by hooks once a session.',
    shown: [
      'test/contract/session/session-policy.test.ts',
      'test/contract/hooks/notes.test.ts',
      'test/e2e/start-notes.test.ts',
    ],
    manifest: { permission: { mode: 'auto' } },
    on: {
      session: own(async ({ root, machine }) => {
        const cordon = await createCordon({ project: root, machine })
        expect(cordon.notes.join('\n')).toMatch(/mode "auto"/)
        await cordon.close()
      }),
      run: by('test/e2e/start-notes.test.ts', 'at a terminal everything is said'),
      check: RUNS_NOTHING,
      page: RUNS_NOTHING,
      hook: by('test/contract/hooks/notes.test.ts', '%s shows them beside its answer'),
      gateway: by('test/e2e/start-notes.test.ts', 'the gateway says it before it starts a server'),
      mcp: saidBy(['mcp'], ['initialize', CLIENT], ['tools/list', {}]),
      chat: saidBy(['chat', '-p', 'go']),
      acp: own(async (place) => {
        const said: string[] = []
        await (await openAcp(place, (text) => said.push(text))).close()
        expect(said.join('\n')).toMatch(/mode "auto"/)
      }),
    },
  },
  {
    id: 'P5',
    promise: 'A tool that requires confirmation does not run without one.',
    shown: ['test/contract/session/session-policy.test.ts'],
    files: {
      '$H/.config/cordon/tools/hello.json': JSON.stringify({
        name: 'hello',
        description: 'Greets.',
        script: 'hello.sh',
        require_confirmation: true,
      }),
      '$H/.config/cordon/tools/hello.sh': '#!/bin/sh\necho hello from the tool\n',
    },
    trusted: ['hello'],
    manifest: { permission: { tools: { hello: 'allow' } } },
    tries: [
      { tool: 'hello', input: {}, is: 'ask', hides: /hello from/ },
      { tool: 'hello', input: {}, is: 'ask', answer: 'once', says: /hello from/ },
    ],
    on: { run: NO_TOOLS, hook: OWN_TOOLS, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'P6',
    promise:
      'A question shows exactly what would run and why it is asked. What would be saved is narrow and can be changed.',
    shown: [
      'src/approval/terminal-prompter.test.ts',
      'src/approval/suggestion.test.ts',
      'test/contract/session/once.test.ts',
      'test/attacks/questions/requests.test.ts',
    ],
    files: { 'oth/b': 'content\n', 'oth/c': 'more\n', 'src/a': 'a\n' },
    manifest: GRANTED_SOME,
    tries: [
      bash('touch oth/n', { is: 'ask', asks: /touch oth\/n/, leaves: { 'oth/n': null }, typed: 'allow' }),
      bash('touch oth/n', { is: 'ask', answer: 'once', leaves: { 'oth/n': '' } }),
      bash('cat oth/b', { is: 'ask', answer: 'once', says: /content/ }),
      bash('cat oth/c', { is: 'ask', answer: 'session', says: /more/ }),
      write('oth/w', { is: 'ask', answer: 'once', leaves: { 'oth/w': 'new\n' } }),
    ],
    on: {
      // What a person wants to open is named on the command line.
      run: own(async (place) => {
        const { out } = await place.cordon(['run', '--read', 'oth/b', '--', 'cat', 'oth/b'])
        expect(out).toContain('content')
      }),
      gateway: {
        tries: [
          remote('echo', { is: 'ask', asks: /mcp__s__echo/ }),
          remote('echo', { is: 'ask', answer: 'once', says: /answered/ }),
        ],
      },
    },
  },
  {
    id: 'P7',
    promise: 'Saved grants are listed, expire, can be revoked, and never beat a denial.',
    shown: ['src/approval/saved-grants.test.ts'],
    files: { [GRANTS_FILE]: GRANTS },
    manifest: {
      permission: { tools: { mcp__s__drop: 'deny' } },
      capabilities: { deny: { commands: { patterns: ['make x evil'] } } },
    },
    tries: [
      bash('make x', { is: 'allow' }),
      bash('make x evil', { is: 'deny' }),
      bash('make old', { is: 'ask', typed: 'allow' }),
      bash('make y', {
        is: 'ask',
        typed: 'allow',
        after: async (place) => {
          expect((await place.cordon(['grants', 'revoke', 'gmakex'])).code).toBe(0)
          expect((await place.cordon(['check', '--', 'make x'])).code).not.toBe(0)
        },
      }),
    ],
    on: {
      gateway: {
        tries: [remote('echo', { is: 'allow' }), remote('old', { is: 'ask' }), remote('drop', { is: 'deny' })],
      },
    },
  },
  {
    id: 'P7',
    promise: 'A locked project ignores saved grants, and asks nobody.',
    shown: ['src/approval/saved-grants.test.ts'],
    files: { [GRANTS_FILE]: GRANTS },
    manifest: { security: { runtime_grants: false } },
    tries: [bash('make x', { is: 'refused' })],
    on: {
      run: TYPED,
      check: { tries: [bash('make x', { is: 'ask' })] },
      page: { tries: [bash('make x', { is: 'ask' })] },
      hook: { tries: [bash('make x', { is: 'deny' })] },
      gateway: { tries: [remote('echo', { is: 'refused' })] },
    },
  },
  {
    id: 'P8',
    promise: 'Rings limit agents with little trust. A run of denials and faults opens a circuit breaker.',
    shown: ['test/contract/session/promises.test.ts', 'test/contract/hooks/memory.test.ts'],
    files: { 'a.txt': 'here\n' },
    manifest: {
      permission: { tools: { bash: 'allow' } },
      agents: { build: { trust_score: 0.5 }, mcp: { trust_score: 0.5 } },
    },
    tries: [bash('true', { is: 'deny' }), write('b.txt', { is: 'deny' }), read('a.txt', { is: 'allow' })],
    on: { gateway: { tries: [remote('echo', { is: 'deny' })] } },
  },
  {
    id: 'P8',
    promise: 'Commands that ran and failed are not failures of the agent.',
    shown: ['test/contract/session/promises.test.ts'],
    manifest: { permission: { tools: { bash: 'allow' } } },
    tries: [...Array.from({ length: 6 }, () => bash('false', { is: 'allow' })), bash('true', { is: 'allow' })],
    on: { check: ONE_CALL, page: ONE_CALL, gateway: GATEWAY },
  },
  {
    id: 'P8',
    promise: 'The breaker turns every call away, and so does a limit of calls a minute.',
    shown: ['test/contract/session/promises.test.ts', 'test/contract/hooks/memory.test.ts'],
    manifest: {
      permission: { tools: { bash: 'allow', mcp__s__drop: 'deny', mcp__s__echo: 'allow' } },
      rings: { breaker: { failures: 2, cooldown: 600 }, 2: { calls_per_minute: 4 } },
      capabilities: { deny: { commands: { patterns: ['whoami'] } } },
    },
    tries: [
      ...Array.from({ length: 4 }, () => bash('true', { is: 'allow' })),
      bash('true', { is: 'deny', says: /minute/ }),
      bash('whoami', { is: 'deny' }),
    ],
    on: {
      run: no('Both are about an agent; each typed command starts a new session.'),
      check: ONE_CALL,
      page: ONE_CALL,
      gateway: {
        tries: [
          remote('drop', { is: 'deny' }),
          remote('drop', { is: 'deny' }),
          remote('echo', { is: 'deny', says: /in a row/ }),
        ],
      },
      session: {
        tries: [
          bash('whoami', { is: 'deny' }),
          bash('whoami', { is: 'deny' }),
          bash('true', { is: 'deny', says: /in a row/ }),
        ],
      },
    },
  },
  {
    id: 'P9',
    promise: 'The names of model and provider can be hidden from the model.',
    shown: ['test/contract/keys/own-keys.test.ts'],
    on: {
      session: NO_MODEL,
      run: NO_MODEL,
      check: NO_MODEL,
      hook: NO_MODEL,
      mcp: NO_MODEL,
      gateway: NO_MODEL,
      page: NO_MODEL,
      chat: HIDDEN_MODEL,
      acp: HIDDEN_MODEL,
    },
  },
  {
    id: 'P10',
    promise: 'Contained mode asks only if an action leaves the sandbox or cannot be undone.',
    shown: ['src/shell/tables/effects/effects.test.ts', 'test/cases/contained.test.ts'],
    files: { 'build/a': 'a\n', 'a.txt': 'here\n' },
    manifest: { permission: { mode: 'contained' }, security: { redirects: 'all', command_substitution: true } },
    tries: [
      bash('echo hi > out.txt', { is: 'allow', leaves: { 'out.txt': 'hi\n' } }),
      bash('rm -rf build', { is: 'allow', leaves: { 'build/a': null } }),
      bash('git push origin main', { is: 'ask', typed: 'allow' }),
      write('w.txt', { is: 'allow', leaves: { 'w.txt': 'new\n' } }),
    ],
    on: { gateway: { tries: [remote('echo', { is: 'ask' })] } },
  },
  {
    id: 'P11',
    promise:
      'Each ask states what a wrong yes could cost; a reviewer may answer within bounds; observe mode asks nothing.',
    shown: [
      'src/policy/worst-case.test.ts',
      'src/policy/review.test.ts',
      'test/attacks/questions/reviewer.test.ts',
      'test/contract/session/review.test.ts',
      'src/policy/evaluate/evaluate.test.ts',
      'src/manifest/layers.test.ts',
    ],
    manifest: { permission: { mode: 'contained' } },
    tries: [
      bash('git push origin topic', {
        is: 'ask',
        asks: /Worst case: pushes to origin\/topic\. Cordon cannot undo it\./,
      }),
    ],
    on: {
      run: TYPED,
      check: { tries: [bash('git push origin topic', { is: 'ask', says: /Worst case: pushes to origin\/topic\./ })] },
      page: { tries: [bash('git push origin topic', { is: 'ask', says: /Worst case: pushes to origin\/topic\./ })] },
      gateway: { tries: [remote('echo', { is: 'ask', asks: /Worst case: mcp__s__echo does whatever it can/ })] },
    },
  },
  {
    id: 'P12',
    promise:
      'A question shows the whole call on every surface. Masks cover data only, and a yes applies to exactly that input.',
    shown: ['test/attacks/questions/shown.test.ts', 'test/attacks/questions/bound.test.ts'],
    manifest: { permission: { mode: 'contained' } },
    tries: [bash(`git push origin ${'x'.repeat(300)}-THE-END`, { is: 'ask', asks: /-THE-END/ })],
    on: {
      run: TYPED,
      check: no('It asks nobody.'),
      page: by(
        'test/contract/page/browser.test.ts',
        'answers an ask, shows what came of it live, opens it with its diff, and puts it back',
      ),
      gateway: {
        tries: [{ tool: 'mcp__s__echo', input: { a: 'x'.repeat(300), b: 'THE-END' }, is: 'ask', asks: /THE-END/ }],
      },
    },
  },
]
