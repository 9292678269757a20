/** F: files. */

import { expect } from 'vitest'
import { bash, by, no, type PromiseRow, read, type Try, write } from '../promise.ts'
import { GATEWAY, NO_TOOLS, ONE_CALL, OWN_TOOLS, RUNS_NOTHING, TYPED } from './reasons.ts'

const RUNS = { permission: { tools: { bash: 'allow' } } }
const of = (tool: string, input: Try['input'], expected: Partial<Try> = {}): Try => ({ tool, input, ...expected })
const NO_SERVERS = no('It brings no servers of others along.')
const CHAT_SERVERS = by(
  'test/e2e/chat/chat.test.ts',
  'tools of MCP servers have levels like every other, and denials apply to what they name: /perm, /perms',
)
const glob = (pattern: string, expected: Partial<Try>): Try => ({ tool: 'glob', input: { pattern }, ...expected })

export const FILE_ROWS: readonly PromiseRow[] = [
  {
    id: 'F1',
    promise: 'Paths are judged at their target, and stay enforced if one is swapped meanwhile.',
    shown: ['src/system/guarded/guarded-files.test.ts', 'test/attacks/tools/tools-race.test.ts'],
    files: { '$B/outside/x.txt': 'beyond\n', 'src/a': 'a\n' },
    manifest: { ...RUNS, security: { outside_roots: 'deny' } },
    tries: [
      read('$B/outside/x.txt', { is: 'deny', hides: /beyond/ }),
      read('src/../../outside/x.txt', { is: 'deny', hides: /beyond/ }),
      bash('cat $B/outside/x.txt', { is: 'deny', hides: /beyond/ }),
      bash('cd .. && cat outside/x.txt', { is: 'deny', hides: /beyond/ }),
    ],
    on: {
      run: no('A person names on the command line what else to open; the sandbox hides the rest (O3).'),
      gateway: GATEWAY,
    },
  },
  {
    id: 'F2',
    promise: 'Read and write grants for paths and file names; denials first.',
    shown: ['src/policy/evaluate/evaluate.test.ts', 'src/files/path-pattern.test.ts'],
    files: { 'private/x': 'closed\n', 'src/a': 'a\n' },
    manifest: {
      ...RUNS,
      capabilities: { allow: { write: { paths: ['src/**'] } }, deny: { read: { paths: ['private/**'] } } },
    },
    tries: [
      read('private/x', { is: 'deny', hides: /closed/ }),
      bash('cat private/x', { is: 'deny', hides: /closed/ }),
      write('src/n', { is: 'allow', leaves: { 'src/n': 'new\n' } }),
      write('other', { is: 'ask', leaves: { other: null } }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F2',
    promise: 'A copy reads its source and writes its destination; a move writes both.',
    shown: ['src/tools/tools.test.ts'],
    files: { 'private/x': 'closed\n', 'src/a': 'a\n', 'kept/b': 'b\n' },
    manifest: { capabilities: { deny: { read: { paths: ['private/**'] }, write: { paths: ['kept/**'] } } } },
    tries: [
      of('copy', { source: 'private/x', destination: 'y' }, { is: 'deny', leaves: { y: null } }),
      of('copy', { source: 'src/a', destination: 'kept/a' }, { is: 'deny', leaves: { 'kept/a': null } }),
      of('move', { source: 'kept/b', destination: 'b' }, { is: 'deny', leaves: { b: null } }),
    ],
    on: { run: NO_TOOLS, hook: OWN_TOOLS, gateway: GATEWAY },
  },
  {
    id: 'F2',
    promise: 'Written denials apply to what a tool of an MCP server names, whatever its level.',
    shown: ['test/attacks/agent/unknown-tools.test.ts'],
    files: { 'private/x': 'closed\n', 'src/a': 'a\n' },
    manifest: {
      permission: { tools: { mcp__s__open: 'allow' } },
      capabilities: { deny: { read: { paths: ['private/**'] } } },
    },
    tries: [
      of('mcp__s__open', { path: 'private/x' }, { is: 'deny' }),
      of('mcp__s__open', { files: ['src/a'], what: ['src/../private/x'] }, { is: 'deny' }),
      of('mcp__s__open', { at: { uri: 'file://$P/private/x' } }, { is: 'deny' }),
      of('mcp__s__open', { path: '.git/hooks/pre-commit' }, { is: 'deny' }),
      of('mcp__s__open', { path: 'src/a', text: 'see private/x' }, { is: 'allow' }),
    ],
    on: { session: NO_SERVERS, run: NO_TOOLS, mcp: NO_SERVERS, chat: CHAT_SERVERS, acp: CHAT_SERVERS },
  },
  {
    id: 'F3',
    promise: 'A discovery brief names what may be written.',
    shown: ['test/contract/session/session-policy.test.ts'],
    files: { 'brief.json': '{"in_scope_files":["src/a"]}', 'src/a': 'a\n', 'src/b': 'b\n' },
    manifest: { ...RUNS, files: { discovery_brief: 'brief.json' } },
    tries: [
      write('src/a', { is: 'allow', leaves: { 'src/a': 'new\n' } }),
      write('src/b', { is: 'deny', leaves: { 'src/b': 'b\n' } }),
      bash('rm src/b', { is: 'deny', leaves: { 'src/b': 'b\n' } }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F3',
    promise: 'A change envelope limits writes further, and only grows.',
    shown: ['test/contract/session/session-policy.test.ts', 'test/contract/session/promises.test.ts'],
    files: { 'src/a': 'a\n', 'docs/a': 'a\n' },
    manifest: { ...RUNS, files: { change_envelope: ['src/**'] } },
    tries: [
      write('src/n', { is: 'allow', leaves: { 'src/n': 'new\n' } }),
      write('docs/n', { is: 'deny', leaves: { 'docs/n': null } }),
      bash('touch docs/m', { is: 'deny', leaves: { 'docs/m': null } }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F3',
    promise: 'A missing discovery brief leaves nothing in scope, and reading goes on.',
    shown: ['test/contract/session/session-policy.test.ts'],
    files: { 'src/a': 'a\n' },
    manifest: { ...RUNS, files: { discovery_brief: 'brief.json' } },
    tries: [
      read('src/a', { is: 'allow' }),
      write('src/n', { is: 'deny', leaves: { 'src/n': null } }),
      bash('true', { is: 'allow' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F4',
    promise: '`*` is one level, `**` any depth, `?` one character.',
    shown: ['src/files/glob.test.ts'],
    files: { 'a.txt': 'a\n', 'sub/a.txt': 'a\n', 'sub/b.log': 'b\n', 'ab.md': 'ab\n', 'c.md': 'c\n' },
    manifest: { ...RUNS, capabilities: { deny: { read: { paths: ['*.txt', '**/*.log', '?.md'] } } } },
    tries: [
      read('a.txt', { is: 'deny' }),
      read('sub/a.txt', { is: 'allow' }),
      read('sub/b.log', { is: 'deny' }),
      read('c.md', { is: 'deny' }),
      read('ab.md', { is: 'allow' }),
      bash('cat a.txt', { is: 'deny' }),
      bash('cat sub/a.txt', { is: 'allow' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F5',
    promise: 'A read has a size limit, and says how to continue.',
    shown: ['src/tools/tools.test.ts'],
    files: { 'long.txt': `${'x'.repeat(500)}THE-END\n` },
    manifest: { files: { read_size_limit: 100 } },
    tries: [read('long.txt', { says: /offset|read on|characters/, hides: /THE-END/ })],
    on: { run: NO_TOOLS, check: RUNS_NOTHING, page: RUNS_NOTHING, hook: OWN_TOOLS, gateway: GATEWAY },
  },
  {
    id: 'F6',
    promise: 'Reads that declared grants do not cover ask; listings can be filtered.',
    shown: ['test/cases/p0.test.ts', 'src/tools/tools.test.ts'],
    files: { 'src/a': 'a\n', 'oth/b': 'content\n' },
    manifest: { capabilities: { allow: { read: { paths: ['src/**'] } } } },
    tries: [read('src/a', { is: 'allow' }), read('oth/b', { is: 'ask' })],
    on: { run: TYPED, gateway: GATEWAY },
  },
  {
    id: 'F6',
    promise: 'With `prompt_reads = false` reads inside the project are allowed, and the command finds them.',
    shown: ['test/cases/p0.test.ts'],
    files: { 'src/a': 'a\n', 'oth/b': 'content\n' },
    manifest: { ...RUNS, security: { prompt_reads: false }, capabilities: { allow: { read: { paths: ['src/**'] } } } },
    tries: [read('oth/b', { is: 'allow', says: /content/ }), bash('cat oth/b', { is: 'allow', says: /content/ })],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F6',
    promise: '`filter_listings` shows only what may be read.',
    shown: ['src/tools/tools.test.ts'],
    files: { 'src/a.ts': 'a\n', 'private/closed.ts': 'x\n' },
    manifest: { security: { filter_listings: true }, capabilities: { deny: { read: { paths: ['private/**'] } } } },
    tries: [glob('**/*.ts', { says: /a\.ts/, hides: /closed\.ts/ })],
    on: {
      run: NO_TOOLS,
      check: RUNS_NOTHING,
      page: RUNS_NOTHING,
      gateway: GATEWAY,
      // What a host lists itself cannot be filtered, so it is denied where it would name such a file.
      hook: {
        tries: [
          glob('**/*.ts', { is: 'deny', says: /private\/closed\.ts/ }),
          glob('src/**/*.ts', { is: 'allow' }),
          { tool: 'grep', input: { pattern: 'x', path: 'src' }, is: 'allow' },
        ],
      },
    },
  },
  {
    id: 'F7',
    promise:
      'A session can have a separate directory, and only reads the project until its first write. Opened again, it has it back.',
    shown: ['test/contract/session/session-policy.test.ts', 'test/attacks/session/led.test.ts'],
    files: { 'a.txt': 'here\n' },
    manifest: { ...RUNS, files: { session_directory: 'own' } },
    tries: [
      read('a.txt', { is: 'allow', says: /here/ }),
      write('b.txt', { is: 'allow', leaves: { 'b.txt': null } }),
      read('b.txt', { is: 'allow', says: /new/ }),
      bash('cat b.txt && touch c.txt', { is: 'allow', says: /new/, leaves: { 'c.txt': null } }),
    ],
    on: {
      run: no('A run has no session.'),
      check: ONE_CALL,
      page: ONE_CALL,
      gateway: GATEWAY,
      hook: no('The host chooses the directory of its sessions.'),
    },
  },
  {
    id: 'F8',
    promise: 'An agent cannot change files that run code later, or that decide where code and credentials go.',
    shown: ['src/files/protected-paths.test.ts', 'test/attacks/sandbox/sequences.test.ts'],
    files: {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/hooks/old': '',
      'work.sh': '#!/bin/sh\necho x > .git/hooks/pre-commit\n',
    },
    manifest: { ...RUNS, security: { redirects: 'all' } },
    tries: [
      write('.git/hooks/pre-commit', { is: 'deny', leaves: { '.git/hooks/pre-commit': null } }),
      write('cordon.toml', { is: 'deny' }),
      bash('echo x > .git/hooks/pre-commit', { is: 'deny', typed: 'allow', leaves: { '.git/hooks/pre-commit': null } }),
      bash('./work.sh', { leaves: { '.git/hooks/pre-commit': null } }),
      write('.vscode/tasks.json', { is: 'deny', leaves: { '.vscode/tasks.json': null } }),
      write('$H/.bashrc', { is: 'deny', leaves: { '$H/.bashrc': null } }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F9',
    promise: 'What a command or file tool removes or overwrites can be restored, so contained mode does not ask.',
    shown: [
      'test/contract/changes/undo.test.ts',
      'test/contract/changes/session-undo.test.ts',
      'test/contract/hooks/undo.test.ts',
    ],
    files: { 'build/a': 'a\n' },
    manifest: { permission: { mode: 'contained' } },
    tries: [
      bash('rm -rf build', {
        is: 'allow',
        leaves: { 'build/a': null },
        after: async (place) => {
          const { out, err } = await place.cordon(['undo', '--last'])
          expect(place.text('build/a'), out + err).toBe('a\n')
        },
      }),
      write('build/a', {
        is: 'allow',
        leaves: { 'build/a': 'new\n' },
        after: async (place) => {
          const { out, err } = await place.cordon(['undo', '--last'])
          expect(place.text('build/a'), out + err).toBe('a\n')
        },
      }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F9',
    promise: 'Calls can be undone one after the other, and done again.',
    shown: ['test/contract/changes/undo.test.ts', 'test/contract/hooks/undo.test.ts'],
    files: { 'f.txt': '0\n' },
    manifest: { permission: { mode: 'contained' }, security: { redirects: 'all' } },
    tries: [
      bash('echo A > f.txt', { is: 'allow', leaves: { 'f.txt': 'A\n' } }),
      bash('cat f.txt', { is: 'allow' }),
      bash('echo B > f.txt', {
        is: 'allow',
        leaves: { 'f.txt': 'B\n' },
        after: async (place) => {
          for (const [words, left] of [
            [['--last'], 'A\n'],
            [['--last'], '0\n'],
            [['--redo'], 'A\n'],
            [['--redo'], 'B\n'],
          ] as const) {
            const { out, err } = await place.cordon(['undo', ...words])
            expect(place.text('f.txt'), `${words} ${out}${err}`).toBe(left)
          }
          const { out } = await place.cordon(['undo', '--list'])
          expect(out).toMatch(/\d\d:\d\d/)
          expect(out).not.toContain('cat f.txt')
        },
      }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'F9',
    promise: 'So can calls of the file tools.',
    shown: ['test/contract/changes/session-undo.test.ts'],
    files: { 'a.txt': 'one\n' },
    manifest: { permission: { mode: 'contained' } },
    tries: [
      of('edit', { path: 'a.txt', old_string: 'one', new_string: 'two' }, { is: 'allow' }),
      of('move', { source: 'a.txt', destination: 'b.txt' }, { is: 'allow' }),
      of(
        'delete',
        { path: 'b.txt' },
        {
          is: 'allow',
          after: async (place) => {
            for (const left of [
              ['b.txt', 'two\n'],
              ['a.txt', 'two\n'],
              ['a.txt', 'one\n'],
            ] as const) {
              const { out, err } = await place.cordon(['undo', '--last'])
              expect(place.text(left[0]), out + err).toBe(left[1])
            }
          },
        },
      ),
    ],
    on: { run: NO_TOOLS, hook: OWN_TOOLS, gateway: GATEWAY },
  },
  {
    id: 'F10',
    promise: 'The root is a project. A home, a system folder, or a folder above them is refused.',
    shown: ['src/files/root-place.test.ts'],
    atHome: true,
    refuses: /not accepted as a project/,
  },
]
