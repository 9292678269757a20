/** N: the network. */

import { expect } from 'vitest'
import { REAL } from '../place.ts'
import { bash, fetchOf, type PromiseRow, remote } from '../promise.ts'
import { COMMANDS_RUN, NO_OWN_TOOLS, NO_WEB_TOOL } from './reasons.ts'

const RUNS = { permission: { tools: { bash: 'allow' } } }
const GET = '#!/bin/sh\ncurl -sS -m 5 -H "Authorization: Bearer $TOKEN" http://127.0.0.1:$1/ 2>&1\n'
const served = (domain: object | string) => ({
  ...RUNS,
  capabilities: { allow: { commands: { patterns: [{ command: './get.sh:*', domains: [domain] }] } } },
})
const REACH = '#!/bin/sh\ncurl -sS -m 5 http://blocked.example/ 2>&1\necho "ended $?"\n'

const OTHER = `import sys, urllib.request
try:
  print("other", urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1] + "/", timeout=5).read())
except Exception as error:
  print("other failed", error)
`

export const NETWORK_ROWS: readonly PromiseRow[] = [
  {
    id: 'N1',
    promise: 'One proxy, with the rules of the command that uses it.',
    shown: ['test/attacks/network/isolation.test.ts', 'test/contract/egress/protocols.test.ts'],
    files: { 'reach.sh': REACH, 'get.sh': GET, 'other.sh': GET },
    served: 'pages',
    manifest: served('127.0.0.1:$PORT'),
    tries: [
      bash('./reach.sh', { says: /blocked\.example/, hides: /<html/i }),
      bash('./get.sh $PORT', { says: /answered/ }),
      bash('./other.sh $PORT', { hides: /answered/ }),
    ],
    on: COMMANDS_RUN,
  },
  {
    id: 'N1',
    promise: 'Hosts for every granted command, unless its grant names others.',
    shown: ['test/contract/keys/keys.test.ts'],
    files: { 'get.sh': GET, 'other.sh': GET },
    served: 'pages',
    manifest: {
      capabilities: {
        allow: {
          commands: {
            default_domains: ['127.0.0.1:$PORT'],
            patterns: [
              './get.sh:*',
              { command: './other.sh:*', domains: ['example.com'], inherit_default_domains: false },
            ],
          },
        },
      },
    },
    tries: [bash('./get.sh $PORT', { says: /answered/ }), bash('./other.sh $PORT', { hides: /answered/ })],
    on: COMMANDS_RUN,
  },
  {
    id: 'N2',
    promise:
      'Hosts are literal, or a wildcard of a registrable domain or of a name below it. Denied hosts are denied on every surface.',
    shown: ['src/hosts/pattern.test.ts', 'test/cases/hosts.test.ts'],
    files: { 'cordon.toml': 'schema_version = 1\n[http]\nallowed_hosts = ["*.co.uk"]\n' },
    refuses: /co\.uk|does not load/,
  },
  {
    id: 'N2',
    promise: 'A denied host is denied whatever grants it.',
    shown: ['test/cases/hosts.test.ts'],
    manifest: {
      permission: { tools: { bash: 'allow', mcp__s__get: 'allow' } },
      security: { deny_domains: ['bad.example.com'] },
      http: { allowed_hosts: ['*.example.com'] },
    },
    tries: [fetchOf('https://bad.example.com/', { is: 'deny' }), bash('curl https://bad.example.com/', { is: 'deny' })],
    on: {
      gateway: {
        tries: [
          remote('get', { is: 'deny' }, 'https://bad.example.com/x'),
          remote('get', { is: 'allow' }, 'https://example.com/'),
        ],
      },
    },
  },
  {
    id: 'N2',
    promise: 'Hosts that are denied to commands are open to the web tools.',
    shown: ['test/cases/hosts.test.ts'],
    files: { 'get.sh': GET },
    served: 'pages',
    manifest: {
      ...RUNS,
      http: { allow_private_hosts: true, allowed_hosts: ['127.0.0.1:$PORT'] },
      capabilities: { deny: { commands: { domains: ['127.0.0.1'] } } },
    },
    tries: [
      bash('./get.sh $PORT', { hides: /answered/ }),
      fetchOf('http://127.0.0.1:$PORT/', { is: 'allow', says: /answered|^$/ }),
    ],
    on: { gateway: NO_OWN_TOOLS },
  },
  {
    id: 'N3',
    promise: 'Private and special addresses are refused after resolution, and the judged address is dialled.',
    shown: ['src/hosts/address.test.ts', 'test/attacks/network/names.test.ts', 'test/attacks/network/wire.test.ts'],
    manifest: RUNS,
    tries: [
      fetchOf('http://127.0.0.1:9/', { is: 'deny' }),
      fetchOf('http://169.254.169.254/latest/', { is: 'deny' }),
      fetchOf('http://[::ffff:10.0.0.1]/', { is: 'deny' }),
    ],
    on: { run: NO_WEB_TOOL, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'N3',
    promise: 'With allow_private_hosts the list still applies, and metadata stays closed.',
    shown: ['src/hosts/address.test.ts'],
    manifest: { http: { allow_private_hosts: true, allowed_hosts: ['127.0.0.1', '169.254.169.254'] } },
    tries: [
      fetchOf('http://127.0.0.1:80/', { is: 'allow' }),
      fetchOf('http://10.0.0.1/', { is: 'deny' }),
      fetchOf('http://169.254.169.254/', { is: 'deny' }),
    ],
    on: { run: NO_WEB_TOOL, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'N4',
    promise: 'A refusal looks like one to the client, says why, and is recorded.',
    shown: ['test/contract/egress/faults.test.ts'],
    files: { 'reach.sh': REACH },
    manifest: RUNS,
    tries: [
      bash('./reach.sh', {
        says: /blocked\.example/,
        after: (place) => expect(JSON.stringify(place.record())).toContain('blocked.example'),
      }),
    ],
    on: COMMANDS_RUN,
  },
  {
    id: 'N5',
    promise: 'Ordinary clients work unchanged.',
    shown: ['test/contract/egress/clients.test.ts', 'src/egress/clients/clients.test.ts'],
    manifest: {
      ...RUNS,
      capabilities: { allow: { commands: { patterns: [{ command: './env.sh', domains: ['example.com'] }] } } },
    },
    files: { 'env.sh': '#!/bin/sh\necho "proxy=$HTTPS_PROXY"\n' },
    tries: [bash('./env.sh', { says: /proxy=http/ })],
    on: COMMANDS_RUN,
  },
  {
    id: 'N6',
    promise: 'The tools that fetch follow the same rules.',
    shown: ['test/cases/hosts-batch.test.ts', 'test/attacks/network/names.test.ts'],
    manifest: { http: { allowed_hosts: ['example.org'] } },
    tries: [fetchOf('https://example.com/', { is: 'deny' })],
    on: { run: NO_WEB_TOOL, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'N7',
    promise: 'A brokered secret is never inside. The proxy adds it, for its hosts alone.',
    shown: ['test/contract/egress/broker.test.ts', 'test/attacks/network/credentials.test.ts'],
    env: { REAL_TOKEN: REAL },
    files: { 'env.sh': '#!/bin/sh\necho "token=$TOKEN real=$REAL_TOKEN"\n', 'get.sh': GET },
    served: 'pages',
    manifest: {
      ...served('127.0.0.1:$PORT'),
      secrets: [{ name: 'TOKEN', source: 'env:REAL_TOKEN', hosts: ['127.0.0.1:$PORT'] }],
    },
    tries: [
      bash('./env.sh', { says: /token=/, hides: new RegExp(REAL) }),
      bash('./get.sh $PORT', { says: /answered the secret/ }),
    ],
    on: COMMANDS_RUN,
  },
  {
    id: 'N7',
    promise: 'A secret without a value closes its own hosts. Commands that do not use it run.',
    shown: ['test/contract/egress/broker.test.ts'],
    files: { 'use.sh': '#!/bin/sh\necho "ran token=[$TOKEN]"\n' },
    manifest: {
      ...RUNS,
      secrets: [{ name: 'TOKEN', source: 'env:NOT_SET', hosts: ['api.example.com'] }],
      capabilities: { allow: { commands: { patterns: [{ command: './use.sh', domains: ['api.example.com'] }] } } },
    },
    tries: [bash('./use.sh', { says: /ran token=\[\]/ })],
    on: COMMANDS_RUN,
  },
  {
    id: 'N8',
    promise:
      'Parent proxies, additional authorities, hosts passed through unopened, keys in ssh-agent, named sockets, registries as signed.',
    shown: [
      'test/contract/egress/parent-proxy.test.ts',
      'test/contract/egress/trust.test.ts',
      'test/e2e/git-ssh-outside.test.ts',
    ],
    files: {
      '$H/.config/cordon/cordon.toml': 'schema_version = 1\n[network]\nparent_proxy = "http://127.0.0.1:$PORT"\n',
      'get.sh': '#!/bin/sh\ncurl -sS -m 5 http://far.example.org/ 2>&1\n',
    },
    served: 'pages',
    manifest: served('far.example.org'),
    tries: [bash('./get.sh', { says: /answered/ })],
    on: COMMANDS_RUN,
  },
  {
    id: 'N9',
    promise: 'Hosts belong to the process that they were granted to.',
    shown: [
      'test/attacks/network/hosts-by-program.test.ts',
      'test/attacks/network/text-hosts.test.ts',
      'src/policy/programs/callers.test.ts',
      'test/e2e/git-ssh.test.ts',
    ],
    files: { 'other.py': OTHER },
    served: 'pages',
    manifest: {
      permission: { mode: 'contained' },
      capabilities: { allow: { commands: { patterns: [{ command: 'curl:*', domains: ['127.0.0.1:$PORT'] }] } } },
    },
    tries: [
      bash('curl -sS -m 5 http://127.0.0.1:$PORT/; python3 other.py $PORT', {
        says: /answered no one[\s\S]*other failed/,
      }),
    ],
    on: {
      ...COMMANDS_RUN,
      // The grants of a typed command are those that its words name.
      run: {
        tries: [
          bash('curl -sS -m 5 http://127.0.0.1:$PORT/', { says: /answered no one/ }),
          bash('python3 other.py $PORT', { says: /other failed/ }),
        ],
      },
    },
  },
  {
    id: 'N10',
    promise:
      'Packages of signed npm, PyPI and crates registries are judged by age, newness, install scripts and names. Lock files and direct URLs do not bypass it.',
    shown: ['test/contract/egress/packages.test.ts', 'test/e2e/packages.test.ts'],
    files: { '.npmrc': 'registry=http://127.0.0.1:$PORT/\n', 'package.json': '{"name":"probe","version":"1.0.0"}' },
    served: 'packages',
    manifest: {
      packages: { minimum_age: '3d' },
      capabilities: { allow: { commands: { patterns: ['npm install:*'] } } },
      sandbox: { os: { command_tools: ['npm', 'node'] } },
    },
    tries: [
      bash('npm install steady --replace-registry-host=always --no-audit --no-fund', {
        says: /steady 2\.0\.0 was published/,
        after: (place) => expect(place.text('package.json')).toMatch(/"steady": ?"\^1\.1\.0"/),
      }),
    ],
    on: COMMANDS_RUN,
  },
  {
    id: 'N10',
    promise: 'Requests and bytes to a host have limits for a session, with a question at the limit.',
    shown: ['test/contract/egress/limits.test.ts'],
    files: { 'get.sh': `${GET}echo ...\n${GET}` },
    served: 'pages',
    manifest: served({ host: '127.0.0.1:$PORT', max_requests: 1 }),
    tries: [bash('./get.sh $PORT', { says: /^[^.]*answered[^.]*\.\.\.(?!.*answered)/s })],
    on: COMMANDS_RUN,
  },
]
