/** S: commands. */

import { bash, type PromiseRow } from '../promise.ts'
import { GATEWAY, RUNS_NOTHING } from './reasons.ts'

const RUNS = { permission: { tools: { bash: 'allow' } } }

export const SHELL_ROWS: readonly PromiseRow[] = [
  {
    id: 'S1',
    promise: 'Every command is parsed by a real grammar. What cannot be parsed with certainty is denied.',
    shown: ['test/soundness/soundness.test.ts', 'src/shell/walk/analyze.test.ts', 'src/shell/read/parse.test.ts'],
    manifest: RUNS,
    tries: [
      bash('echo "unclosed', { is: 'deny', typed: 'allow' }),
      bash('echo closed', { is: 'allow', says: /closed/ }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S2',
    promise: 'Each feature of the shell language can be disabled.',
    shown: ['test/cases/shell.test.ts'],
    manifest: { ...RUNS, security: { pipes: false, background: false, compound: false } },
    tries: [
      bash('echo a | cat', { is: 'deny' }),
      bash('true && true', { is: 'deny' }),
      bash('true &', { is: 'deny' }),
      { tool: 'bash', input: { command: 'true', background: true }, is: 'deny', typed: 'allow' },
      bash('true', { is: 'allow' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S2',
    promise: 'By default only substitutions and redirects to files are disabled, and harmless builtins need no grant.',
    shown: ['test/cases/shell.test.ts'],
    manifest: { capabilities: { allow: { commands: { patterns: ['make build'] } } } },
    tries: [
      bash('echo $(id)', { is: 'deny', typed: 'allow' }),
      bash('echo x > out.txt', { is: 'deny', typed: 'allow' }),
      bash(`cd . && pwd; true | printf "%s" "\${HOME:-x}" 2>&1`, { is: 'allow' }),
      bash('case x in x) true;; esac', { is: 'allow' }),
      bash('echo begins; make other', { is: 'ask' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S2',
    promise: 'Variables, `;;`, every redirect and the harmless builtins can be disabled too.',
    shown: ['test/cases/shell.test.ts'],
    manifest: {
      ...RUNS,
      security: { parameter_expansion: false, case_terminator: false, redirects: 'none', implicit_coordinators: false },
    },
    tries: [
      bash(`echo \${HOME}`, { is: 'deny' }),
      bash('case x in x) true;; esac', { is: 'deny' }),
      bash('echo a >/dev/null 2>&1', { is: 'deny' }),
    ],
    on: { gateway: GATEWAY },
  },
  ...['sudo:*', 'doas:*', 'python3:*', 'uv run:*'].map(
    (pattern): PromiseRow => ({
      id: 'S2',
      promise: 'A grant of sudo, doas or a system Python does not load.',
      shown: ['src/manifest/load.test.ts'],
      files: {
        'cordon.toml': `schema_version = 1\n[capabilities.allow.commands]\npatterns = ["${pattern}"]\n`,
      },
      refuses: /does not load|privilege_wrappers|system_python/,
    }),
  ),
  {
    id: 'S3',
    promise:
      'Grants match word by word; denials match through every disguise. Hosts go only to the part they were granted to.',
    shown: ['src/policy/evaluate/command-match.test.ts', 'test/attacks/network/text-hosts.test.ts'],
    manifest: {
      security: { command_substitution: true },
      capabilities: {
        allow: { commands: { patterns: ['make build:*'] } },
        deny: { commands: { patterns: ['git push:*'] } },
      },
    },
    tries: [
      bash('make build now', { is: 'allow' }),
      bash('make buildx', { is: 'ask' }),
      bash('command git push', { is: 'deny' }),
      bash('/usr/bin/git push', { is: 'deny' }),
      bash("env X=1 g'i't push", { is: 'deny' }),
      bash('make build $(git push)', { is: 'deny' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S3',
    promise: 'The most literal grant wins, and brings its variables and paths along.',
    shown: ['src/policy/evaluate/command-match.test.ts', 'test/contract/keys/keys.test.ts'],
    env: { MY_VARIABLE: 'seen' },
    files: {
      'p.sh': '#!/bin/sh\necho "var=[$MY_VARIABLE]"; cat "$HOME/data/x"; echo w > "$HOME/data/y"\n',
      '$H/data/x': 'the data\n',
    },
    manifest: {
      capabilities: {
        allow: {
          commands: {
            patterns: ['./p.sh:*', { command: './p.sh show', env_vars: ['MY_VARIABLE'], paths: ['~/data/**'] }],
          },
        },
      },
    },
    tries: [
      bash('./p.sh other', { is: 'allow', says: /var=\[\]/, hides: /the data/, leaves: { '$H/data/y': null } }),
      bash('./p.sh show', { is: 'allow', says: /var=\[seen\]\nthe data/, leaves: { '$H/data/y': 'w\n' } }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S4',
    promise: 'The command inside a wrapper is judged. sudo and doas are denied, with an alternative.',
    shown: ['src/shell/wrap/wrappers.test.ts', 'src/policy/evaluate/evaluate.test.ts'],
    manifest: { ...RUNS, capabilities: { deny: { commands: { patterns: ['git push:*'] } } } },
    tries: [
      bash('timeout 5 nice git push', { is: 'deny' }),
      bash("sh -c 'git push'", { is: 'deny' }),
      bash('timeout 5 sudo -n true', { is: 'deny', typed: 'allow' }),
      bash('echo origin | xargs git push', { is: 'deny' }),
      bash('find . -exec git push \\;', { is: 'deny' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S5',
    promise: 'Options and variables that turn a granted program into another turn an allow into an ask.',
    shown: ['src/shell/inspect/inspect.test.ts', 'src/shell/tables/environment.test.ts'],
    manifest: { capabilities: { allow: { commands: { patterns: ['git log:*', 'sort:*'] } } } },
    files: { 'a.txt': 'a\n' },
    tries: [
      bash('sort a.txt', { is: 'allow' }),
      bash('sort --compress-prog=./x a.txt', { is: 'ask' }),
      bash('LD_PRELOAD=./x.so sort a.txt', { is: 'ask' }),
      bash('git -c core.pager=./x log', { is: 'ask' }),
      bash('export PATH=.; sort a.txt', { is: 'ask' }),
      bash('printf -v PATH .; sort a.txt', { is: 'ask' }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S6',
    promise: 'Words that are paths are judged by the file rules.',
    shown: ['src/policy/evaluate/named-paths.test.ts'],
    manifest: { ...RUNS, capabilities: { deny: { read: { paths: ['private/**'] } } } },
    files: { 'private/x': 'closed\n', 'a.txt': 'open\n' },
    tries: [
      bash('cat private/x', { is: 'deny', hides: /closed/ }),
      bash('cd private && cat x', { is: 'deny', hides: /closed/ }),
      bash('cat a.txt', { is: 'allow', says: /open/ }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S7',
    promise: 'Substrings of commands can be allowed and denied.',
    shown: ['src/policy/evaluate/evaluate.test.ts'],
    manifest: { ...RUNS, shell_policy: { deny: ['forbidden'] } },
    tries: [bash('echo FORBIDDEN', { is: 'deny', says: /forbidden/ }), bash('echo fine', { is: 'allow' })],
    on: { gateway: GATEWAY },
  },
  {
    id: 'S8',
    promise:
      'If the kernel supports it, denials apply to every program that a command starts, on its real arguments. The result and the record name what was refused and what started it. `every_program` does the same for grants.',
    shown: [
      'test/attacks/programs/denied.test.ts',
      'test/attacks/programs/every.test.ts',
      'src/policy/programs/start.test.ts',
    ],
    manifest: { ...RUNS, capabilities: { deny: { commands: { patterns: ['touch:*'] } } } },
    files: { 'work.sh': '#!/bin/sh\ntouch out.txt\necho went on\n' },
    tries: [bash('./work.sh', { says: /went on/, leaves: { 'out.txt': null } })],
    on: { gateway: GATEWAY, check: RUNS_NOTHING, page: RUNS_NOTHING },
  },
]
