/** O: the sandbox. */

import { readlinkSync } from 'node:fs'
import { expect } from 'vitest'
import { bash, no, own, type PromiseRow, type SurfaceName } from '../promise.ts'
import { COMMANDS_RUN } from './reasons.ts'

const RUNS = { permission: { tools: { bash: 'allow' } } }
const SEES = `#!/bin/bash
echo "home=$(cat "$HOME/note.txt" 2>/dev/null)"
echo "secret=$(cat .env 2>/dev/null)"
echo "key=$API_KEY"
echo "privileges=$(sed -n 's/^NoNewPrivs:\\s*//p' /proc/self/status)"
echo "capabilities=$(sed -n 's/^CapEff:\\s*//p' /proc/self/status)"
unshare -U true 2>/dev/null && echo namespace
true
`
const FILES = { 'sees.sh': SEES, '.env': 'TOKEN=abc\n', '$H/note.txt': 'note\n' }
const ENV = { API_KEY: 'sk-live-1' }

const WITHOUT_COMMANDS: Partial<Record<SurfaceName, ReturnType<typeof no>>> = COMMANDS_RUN as never

export const SANDBOX_ROWS: readonly PromiseRow[] = [
  {
    id: 'O1',
    promise: 'Every command runs in the sandbox. Without one nothing runs, and Cordon says what is missing.',
    shown: ['test/e2e/run.test.ts', 'src/sandbox/bwrap/probe.test.ts'],
    files: FILES,
    manifest: RUNS,
    tries: [bash('./sees.sh', { says: /privileges=1/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O2',
    promise: 'Namespaces, no capabilities, a system call filter, a separate terminal; one plan for every platform.',
    shown: [
      'test/attacks/sandbox/attacks.test.ts',
      'test/contract/backend/backend.test.ts',
      'src/sandbox/bwrap/seccomp.test.ts',
    ],
    files: FILES,
    manifest: RUNS,
    tries: [bash('./sees.sh', { says: /capabilities=0+\n/, hides: /namespace/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O3',
    promise: 'What is not granted does not exist inside.',
    shown: ['src/sandbox/plan.test.ts', 'test/attacks/sandbox/attacks.test.ts'],
    files: FILES,
    manifest: RUNS,
    tries: [bash('./sees.sh', { says: /home=\n/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O4',
    promise: 'Secrets are hidden under every baseline, in the whole tree, links at their target.',
    shown: ['src/sandbox/secrets/masks.test.ts', 'test/attacks/sandbox/links.test.ts', 'test/e2e/secrets.test.ts'],
    files: FILES,
    manifest: { ...RUNS, sandbox: { os: { command_fs: 'all' } } },
    tries: [bash('./sees.sh', { says: /secret=\n/, hides: /TOKEN=abc/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O3',
    promise: 'The baseline `permissive` shows the home, without its secrets and read-only.',
    shown: ['src/sandbox/plan.test.ts'],
    files: {
      '$H/note.txt': 'note\n',
      '$H/.ssh/id_rsa': 'KEY\n',
      'p.sh': '#!/bin/sh\ncat "$HOME/note.txt" "$HOME/.ssh/id_rsa"; echo x > "$HOME/note.txt"\n',
    },
    manifest: { ...RUNS, sandbox: { os: { command_fs: 'permissive' } } },
    tries: [bash('./p.sh', { says: /note/, hides: /KEY/, leaves: { '$H/note.txt': 'note\n' } })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O4',
    promise: 'Names of secrets at any depth, in folders of packages too, and folders that hold credentials.',
    shown: ['src/sandbox/secrets/masks.test.ts'],
    files: {
      'a/b/c/d/e/f/g/.env.local': 'SEC1\n',
      'node_modules/x/server.key': 'SEC2\n',
      x_rsa: 'SEC3\n',
      'main.tfstate': 'SEC4\n',
      '.kube/config': 'SEC5\n',
      'show.sh':
        '#!/bin/sh\nls -R; cat a/b/c/d/e/f/g/.env.local node_modules/x/server.key x_rsa main.tfstate .kube/config\n',
    },
    manifest: RUNS,
    tries: [bash('./show.sh', { says: /x_rsa/, hides: /SEC\d/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O4',
    promise: 'A grant that names a secret opens it; every extension that is denied for reading is hidden too.',
    shown: ['src/sandbox/secrets/masks.test.ts'],
    files: { '.env': 'TOKEN=abc\n', 'db/x.sqlite': 'rows\n', 'show.sh': '#!/bin/sh\ncat .env db/x.sqlite\n' },
    manifest: {
      ...RUNS,
      capabilities: {
        allow: { read: { paths: ['**'], default_files: ['.env', '*'] } },
        deny: { read: { default_files: ['*.sqlite'], paths: ['**'] } },
      },
    },
    tries: [bash('./show.sh', { says: /TOKEN=abc/, hides: /rows/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O5',
    promise: 'Bundles state what a program needs; registries come from the user’s own configuration.',
    shown: ['src/sandbox/bundles/bundles.test.ts', 'test/e2e/registries.test.ts', 'test/contract/keys/keys.test.ts'],
    files: {
      '$H/go/pkg/mod/one.go': 'package one\n',
      'builds.sh': '#!/bin/sh\ncat "$HOME/go/pkg/mod/one.go"\n',
      'other.sh': '#!/bin/sh\ncat "$HOME/go/pkg/mod/one.go"\n',
    },
    manifest: {
      capabilities: { allow: { commands: { patterns: ['./builds.sh', './other.sh'] } } },
      sandbox: { os: { command_tools: [{ tool: 'go', wrappers: ['./builds.sh'] }] } },
    },
    tries: [bash('./builds.sh', { says: /package one/ }), bash('./other.sh', { hides: /package one/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O6',
    promise: 'The environment is an allowlist.',
    shown: ['src/sandbox/environment.test.ts'],
    files: FILES,
    env: ENV,
    manifest: RUNS,
    tries: [bash('./sees.sh', { says: /key=\n/, hides: /sk-live-1/ })],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O7',
    promise:
      'Limits are enforced or reported as missing, and a limit that is reached is named. Killing Cordon leaves nothing behind.',
    shown: ['test/attacks/sandbox/life.test.ts', 'src/sandbox/limits.test.ts', 'test/contract/backend/limits.test.ts'],
    manifest: { ...RUNS, limits: { command_timeout: 1 } },
    tries: [bash('sleep 20', { says: /time limit|timed out|command_timeout/i })],
    on: {
      ...WITHOUT_COMMANDS,
      run: own(async (place) => {
        const { err, code } = await place.cordon(['run', '--timeout', '1', '--', 'sleep', '20'])
        expect(code, err).not.toBe(0)
        expect(err).toMatch(/time/)
      }),
    },
  },
  {
    id: 'O7',
    promise: 'A result that is too long for a model is cut, and says where all of it is.',
    shown: ['test/contract/session/session.test.ts'],
    manifest: RUNS,
    tries: [
      bash('head -c 300000 /dev/zero | tr "\\0" a', {
        after: (_, { text }) => {
          expect(text.length).toBeLessThan(70_000)
          expect(text).toMatch(/characters are left out here; all of it is in \S+/)
        },
      }),
    ],
    on: {
      ...WITHOUT_COMMANDS,
      session: no('A program takes what it asked for; `textOf` gives the text for a model.'),
      run: no('A person sees what the command prints.'),
      hook: no('The host cuts what its own shell prints.'),
    },
  },
  {
    id: 'O8',
    promise: 'Blocked actions are observed where possible, and marked as observed or inferred.',
    shown: ['src/sandbox/violation.test.ts', 'test/contract/backend/backend.test.ts'],
    files: FILES,
    manifest: RUNS,
    tries: [
      bash('./sees.sh', {
        says: /\.env/,
        after: (place) => expect(JSON.stringify(place.record())).toMatch(/\.env/),
      }),
    ],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O9',
    promise: 'Backends by choice behind one contract; what one cannot promise is declared and counted.',
    shown: [
      'test/contract/backend/backend.test.ts',
      'test/attacks/sandbox/landlock.test.ts',
      'test/attacks/sandbox/no-namespaces.test.ts',
    ],
    files: {
      ...FILES,
      '$H/.config/cordon/cordon.toml': 'schema_version = 1\n[sandbox.os]\nbackend = "landlock"\n',
      'where.sh': '#!/bin/sh\nreadlink /proc/self/ns/mnt\n',
    },
    manifest: RUNS,
    tries: [
      bash('./sees.sh', { says: /privileges=1/, hides: /TOKEN=abc|home=note/ }),
      // The mounts are the machine's own: bubblewrap does not run.
      bash('./where.sh', { after: (_, { text }) => expect(text).toContain(readlinkSync('/proc/self/ns/mnt')) }),
    ],
    on: WITHOUT_COMMANDS,
  },
  {
    id: 'O10',
    promise: 'Sockets between processes of one sandbox work; nothing outside is reachable by them.',
    shown: ['test/contract/egress/local-sockets.test.ts'],
    files: {
      'sockets.py':
        'import socket, threading, os\nserver = socket.socket()\nserver.bind(("127.0.0.1", 0))\nserver.listen()\nthreading.Thread(target=lambda: server.accept()[0].sendall(b"inside")).start()\nprint(socket.create_connection(server.getsockname()).recv(9).decode())\n',
    },
    manifest: RUNS,
    tries: [bash('python3 sockets.py', { says: /inside/ })],
    on: WITHOUT_COMMANDS,
  },
]
