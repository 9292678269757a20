/** Keys that change what a command finds in its sandbox, and how far it comes. */

import type { KeyRow } from './key-row.ts'
import type { ManifestObject, Surface } from './key-world.ts'

const COMMANDS: readonly Surface[] = ['session', 'mcp', 'hook', 'run']
const AGENTS: readonly Surface[] = ['session', 'mcp', 'hook']

const runs = { permission: { tools: { bash: 'allow' } } }
const os = (values: ManifestObject): ManifestObject => ({ ...runs, sandbox: { os: values } })
const commands = (values: ManifestObject, deny: ManifestObject = {}): ManifestObject => ({
  ...runs,
  capabilities: { allow: { commands: values }, deny: { commands: deny } },
})
const limits = (values: ManifestObject): ManifestObject => ({ ...runs, limits: values })
const allows = (values: ManifestObject): ManifestObject => ({ ...runs, capabilities: { allow: values } })

/** The agent of hooks and of sessions alike, in a ring. */
const ringed = (ring: 1 | 2 | 3, values: ManifestObject): ManifestObject => ({
  permission: { agent: 'claude-code', tools: { bash: 'allow' } },
  agents: { 'claude-code': { trust_score: [0.9, 0.7, 0.1][ring - 1] } },
  rings: { [ring]: values },
})

/** A key of hosts, with the fields that narrow a host. */
function hostRows(
  key: string,
  command: string,
  base: ManifestObject,
  put: (entry: unknown) => ManifestObject,
): KeyRow[] {
  const row = (field: string, entry: object, given: string): KeyRow => ({
    key: `${key}[].${field}`,
    note: 'a field of a host',
    base,
    set: put(entry),
    hosts: command,
    gives: ['', given],
    on: COMMANDS,
  })
  const host = 'api.example.org'
  return [
    { key, note: 'a host', base, set: put(host), hosts: command, gives: ['', host], on: COMMANDS },
    row('host', { host }, host),
    row('methods', { host, methods: ['GET'] }, `${host} GET`),
    row('paths', { host, paths: ['/v1/**'] }, `${host} /v1/**`),
    row('tls', { host, tls: 'pass' }, `${host} pass`),
  ]
}

const BUILDS = { patterns: ['cmake:*', 'just:*'] }
const bundle = (entry: unknown, more: ManifestObject = {}): ManifestObject => ({
  ...commands(BUILDS),
  sandbox: { os: { command_tools: [entry], ...more } },
})
const CARGO = { tool: 'cargo', fetch: false, wrappers: ['./install.sh'] }
const CMAKE_HOSTS = 'github.com, codeload.github.com, objects.githubusercontent.com'

export const SANDBOX_ROWS: readonly KeyRow[] = [
  {
    key: 'sandbox.os.command_fs',
    note: 'the home directory',
    base: runs,
    set: os({ command_fs: 'permissive' }),
    sees: 'home',
    gives: ['', 'note'],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_mask_secrets',
    note: 'a secret is there',
    base: runs,
    set: os({ command_mask_secrets: false }),
    sees: 'secret',
    gives: ['', 'TOKEN=1'],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.env_allowlist',
    note: 'a variable for every command',
    base: runs,
    set: os({ env_allowlist: ['PATH', 'HOME', 'LISTED'] }),
    sees: 'listed',
    gives: ['', 'listed'],
    on: COMMANDS,
  },
  {
    key: 'capabilities.deny.commands.env_vars',
    note: 'no command sees it',
    base: os({ env_allowlist: ['PATH', 'LISTED'] }),
    set: {
      ...os({ env_allowlist: ['PATH', 'LISTED'] }),
      capabilities: { deny: { commands: { env_vars: ['LISTED'] } } },
    },
    sees: 'listed',
    gives: ['listed', ''],
    on: COMMANDS,
  },
  {
    key: 'capabilities.allow.commands.default_env_vars',
    note: 'every granted command sees it',
    base: commands({ patterns: ['./probe.sh'] }),
    set: commands({ patterns: ['./probe.sh'], default_env_vars: ['DEFAULTED'] }),
    sees: 'defaulted',
    gives: ['', 'defaulted'],
    on: COMMANDS,
  },
  {
    key: 'capabilities.allow.commands.patterns[].env_vars',
    note: 'this one sees it',
    base: commands({ patterns: ['./probe.sh'] }),
    set: commands({ patterns: [{ command: './probe.sh', env_vars: ['GRANTED'] }] }),
    sees: 'granted',
    gives: ['', 'granted'],
    on: COMMANDS,
  },
  {
    key: 'capabilities.allow.commands.patterns',
    note: 'what is typed needs no grant, and has what the grant carries',
    base: runs,
    set: commands({ patterns: ['./probe.sh'], default_env_vars: ['DEFAULTED'] }),
    sees: 'defaulted',
    gives: ['', 'defaulted'],
    on: ['run'],
  },
  {
    key: 'capabilities.allow.commands.patterns[].command',
    note: 'as a table',
    base: runs,
    set: commands({ patterns: [{ command: './probe.sh' }], default_env_vars: ['DEFAULTED'] }),
    sees: 'defaulted',
    gives: ['', 'defaulted'],
    on: ['run'],
  },
  {
    key: 'capabilities.allow.commands.patterns[].paths',
    note: 'a place that comes along',
    base: commands({ patterns: ['./probe.sh'] }),
    set: commands({ patterns: [{ command: './probe.sh', paths: ['$B/carried/**'] }] }),
    sees: 'carried',
    gives: ['', 'carried'],
    on: COMMANDS,
  },
  {
    key: 'capabilities.allow.additional_directories',
    note: 'a root for commands',
    base: runs,
    set: allows({ additional_directories: ['$B/aside'] }),
    sees: 'aside',
    gives: ['', 'aside'],
    on: ['run'],
  },
  ...['paths', 'paths[].path'].map(
    (field): KeyRow => ({
      key: `capabilities.allow.read.${field}`,
      note: 'where grants are written, the rest is not there',
      base: allows({ read: { paths: ['a.txt'] } }),
      set: allows({ read: { paths: ['a.txt', field === 'paths' ? 'src/**' : { path: 'src/**' }] } }),
      runs: ['cat', 'src/c.txt'],
      gives: ['fails', 'c'],
      on: ['run'],
    }),
  ),
  {
    key: 'capabilities.allow.read.nearby',
    note: 'what a command names of them is there',
    base: allows({ read: { paths: ['**'] } }),
    set: allows({ read: { paths: ['**'], nearby: ['packages'] } }),
    runs: ['cat', '$H/go/pkg/mod/one.go'],
    gives: ['fails', 'package'],
    on: ['run'],
  },
  ...['paths', 'paths[].path'].map(
    (field): KeyRow => ({
      key: `capabilities.allow.write.${field}`,
      note: 'where grants are written, the rest cannot be written',
      base: allows({ write: { paths: ['other/**'] } }),
      set: allows({ write: { paths: ['other/**', field === 'paths' ? 'src/**' : { path: 'src/**' }] } }),
      runs: ['touch', 'src/b.txt'],
      gives: ['fails', ''],
      on: ['run'],
    }),
  ),
  {
    key: 'limits.cpu',
    note: 'processor time',
    base: runs,
    set: limits({ cpu: 7 }),
    sees: 'cpu',
    gives: ['unlimited', '7'],
    on: COMMANDS,
  },
  {
    key: 'limits.processes',
    note: 'no more than these at once',
    base: runs,
    set: limits({ processes: 6 }),
    runs: ['./crowd.sh'],
    gives: ['all', 'fails'],
    on: COMMANDS,
  },
  {
    key: 'limits.memory',
    note: 'too much is the end',
    base: runs,
    set: limits({ memory: '24 MiB' }),
    runs: ['./eat.sh'],
    gives: ['eaten', 'fails'],
    on: COMMANDS,
  },
  {
    key: 'limits.command_timeout',
    note: 'too long is the end',
    base: runs,
    set: limits({ command_timeout: '0.4s' }),
    runs: ['sleep', '1.2'],
    gives: ['', 'fails'],
    says: { session: ['[no output]', 'fails'], mcp: ['[no output]', 'fails'] },
    on: COMMANDS,
  },
  {
    key: 'limits.max_output_bytes',
    note: 'the rest is left out',
    base: runs,
    set: limits({ max_output_bytes: 100 }),
    hashes: ['./talk.sh'],
    gives: ['500', '100'],
    on: AGENTS,
  },
  ...([1, 2] as const).flatMap((ring): KeyRow[] => [
    {
      key: `rings.${ring}.memory`,
      note: 'memory of a call',
      base: ringed(ring, {}),
      set: ringed(ring, { memory: '24 MiB' }),
      runs: ['./eat.sh'],
      gives: ['eaten', 'fails'],
      on: AGENTS,
    },
    {
      key: `rings.${ring}.seconds`,
      note: 'time of a call',
      base: ringed(ring, {}),
      set: ringed(ring, { seconds: 0.4 }),
      runs: ['sleep', '1.2'],
      gives: ['', 'fails'],
      says: { session: ['[no output]', 'fails'], mcp: ['[no output]', 'fails'] },
      on: AGENTS,
    },
  ]),
  ...([1, 2, 3] as const).map(
    (ring): KeyRow => ({
      key: `rings.${ring}.calls_per_minute`,
      note: 'the second call is too soon',
      base: ringed(ring, {}),
      set: ringed(ring, { calls_per_minute: 1 }),
      call: { tool: 'read', input: { path: 'a.txt' } },
      times: 2,
      gives: ['allow', 'deny'],
      on: AGENTS,
    }),
  ),
  ...hostRows('capabilities.allow.commands.default_domains', 'curl x', commands({ patterns: ['curl:*'] }), (entry) =>
    commands({ patterns: ['curl:*'], default_domains: [entry] }),
  ),
  ...hostRows('capabilities.allow.commands.patterns[].domains', 'curl x', commands({ patterns: ['curl:*'] }), (entry) =>
    commands({ patterns: [{ command: 'curl:*', domains: [entry] }] }),
  ),
  {
    key: 'capabilities.allow.commands.patterns[].inherit_default_domains',
    note: 'only its own',
    base: commands({ patterns: [{ command: 'curl:*' }, 'make:*'], default_domains: ['api.example.org'] }),
    set: commands({
      patterns: [{ command: 'curl:*', inherit_default_domains: false }, 'make:*'],
      default_domains: ['api.example.org'],
    }),
    hosts: 'curl x',
    gives: ['api.example.org', ''],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools',
    note: 'a bundle brings its hosts',
    base: commands(BUILDS),
    set: bundle('cmake'),
    hosts: 'cmake .',
    gives: ['', CMAKE_HOSTS],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools[].tool',
    note: 'as a table',
    base: commands(BUILDS),
    set: bundle({ tool: 'cmake' }),
    hosts: 'cmake .',
    gives: ['', CMAKE_HOSTS],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools[].fetch',
    note: 'without downloads there are no hosts',
    base: bundle('cmake'),
    set: bundle({ tool: 'cmake', fetch: false }),
    hosts: 'cmake .',
    gives: [CMAKE_HOSTS, ''],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools[].install',
    note: 'programs may be put where the tool has its own',
    base: { ...commands({ patterns: ['./install.sh'] }), sandbox: { os: { command_tools: [CARGO] } } },
    set: {
      ...commands({ patterns: ['./install.sh'] }),
      sandbox: { os: { command_tools: [{ ...CARGO, install: true }] } },
    },
    runs: ['./install.sh'],
    gives: ['read-only', 'installed'],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools[].default_domains',
    note: 'without its own',
    base: bundle('cmake'),
    set: bundle({ tool: 'cmake', default_domains: false }),
    hosts: 'cmake .',
    gives: [CMAKE_HOSTS, ''],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.command_tools[].wrappers',
    note: 'a build tool has the hosts too',
    base: bundle('cmake'),
    set: bundle({ tool: 'cmake', wrappers: ['just'] }),
    hosts: 'just x',
    gives: ['', CMAKE_HOSTS],
    on: COMMANDS,
  },
  {
    key: 'sandbox.os.wrappers',
    note: 'for all bundles',
    base: bundle('cmake'),
    set: bundle('cmake', { wrappers: ['just'] }),
    hosts: 'just x',
    gives: ['', CMAKE_HOSTS],
    on: COMMANDS,
  },
  ...hostRows(
    'sandbox.os.command_tools[].domains',
    'cmake .',
    bundle({ tool: 'cmake', default_domains: false }),
    (entry) => bundle({ tool: 'cmake', default_domains: false, domains: [entry] }),
  ),
]
