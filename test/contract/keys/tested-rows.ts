/** Keys whose effect takes more than one call to see: each has its own test, which names it as a manifest does. */

import type { KeyRow } from './key-row.ts'
import type { Surface } from './key-world.ts'

export type TestedRow = KeyRow & { readonly test: string }

const COMMANDS: readonly Surface[] = ['session', 'mcp', 'hook', 'run']
const TALK: readonly Surface[] = ['session', 'mcp']

function tested(key: string, test: string, on: readonly Surface[]): TestedRow {
  return { key, note: 'its own test', test, on }
}

const SECRETS = 'test/e2e/secrets.test.ts'
const SERVERS = 'test/contract/mcp/gateway-grants.test.ts'
const PROGRAMS = 'test/contract/code/programs.test.ts'
const CUSTOM = 'test/contract/session/session-policy.test.ts'
const CARRIED = 'test/contract/keys/carried-keys.test.ts'
const OWN = 'test/contract/keys/own-keys.test.ts'
const HOST_FIELDS = ['host', 'methods', 'paths', 'tls'] as const
const MISPLACED = 'src/manifest/compile.test.ts'
const GIT_SSH = 'test/e2e/git-ssh-outside.test.ts'
export const TESTED_ROWS: readonly TestedRow[] = [
  ...['webhook', 'format', 'desktop', 'answer_url'].map((name) => tested(`approvals.${name}`, CARRIED, TALK)),
  // One list of hosts, whichever of these a host came from.
  ...['allow.commands.default_domains', 'allow.commands.patterns[].domains'].map((list) =>
    tested(`capabilities.${list}[].ssh`, GIT_SSH, COMMANDS),
  ),
  tested('sandbox.os.command_tools[].domains[].ssh', GIT_SSH, COMMANDS),
  tested('mcp_servers.*.domains[].ssh', CARRIED, ['mcp']),
  // Custom tools and the web tools have nothing to log in, the web tools nothing to pass on: such a manifest does not load.
  ...['http.allowed_hosts[].ssh', 'http.allowed_hosts[].tls', 'tools.*.domains[].ssh'].map((key) =>
    tested(key, MISPLACED, TALK),
  ),
  ...['part', 'after', 'as'].map((field) =>
    tested(`secrets[].${field}`, 'test/contract/egress/brokered-parts.test.ts', COMMANDS),
  ),
  tested('sandbox.os.require', 'test/attacks/sandbox/no-namespaces.test.ts', COMMANDS),
  ...['with', 'up_to', 'per_hour', 'timeout', 'instructions'].map((field) =>
    tested(`review.${field}`, 'test/attacks/questions/reviewer.test.ts', [...TALK, 'hook']),
  ),
  ...['default_domains[]', 'patterns[].domains[]'].map((list) =>
    tested(`capabilities.allow.commands.${list}.signs`, 'test/e2e/terminal/small-things.test.ts', COMMANDS),
  ),
  tested('mcp_servers.*.domains[].signs', CARRIED, ['mcp']),
  ...['http.allowed_hosts', 'sandbox.os.command_tools[].domains', 'tools.*.domains'].map((list) =>
    tested(`${list}[].signs`, MISPLACED, surfacesOf(list)),
  ),
  // A limit counts at the proxy, whichever of these lists a host came from; the web tools count by the same budget.
  ...[
    'capabilities.allow.commands.default_domains',
    'capabilities.allow.commands.patterns[].domains',
    'http.allowed_hosts',
    'sandbox.os.command_tools[].domains',
    'tools.*.domains',
    'mcp_servers.*.domains',
  ].flatMap((list) =>
    ['max_requests', 'max_upload'].map((field) => tested(`${list}[].${field}`, CARRIED, surfacesOf(list))),
  ),
  ...['minimum_age', 'new_dependencies', 'install_scripts', 'look_alikes', 'trusted'].map((field) =>
    tested(`packages.${field}`, CARRIED, COMMANDS),
  ),
  tested('mcp_servers.*.url', 'test/contract/mcp/remote.test.ts', ['mcp']),
  tested('mcp_servers.*.headers', 'test/e2e/mcp-catalogue.test.ts', ['mcp']),
  ...['tools', 'tools[].tool', 'tools[].level', 'tools[].args', 'trust_hints', 'read_only', 'destructive'].map(
    (field) => tested(`mcp.*.${field}`, 'src/manifest/compile-mcp.test.ts', ['mcp', 'check']),
  ),
  tested('flows.*', 'src/policy/evaluate/evaluate.test.ts', ['session', 'mcp', 'hook', 'check']),
  tested('sandbox.os.backend', 'test/contract/backend/backend-key.test.ts', COMMANDS),
  ...['parent_proxy', 'parent_proxy_login', 'no_proxy', 'special_ranges'].map((name) =>
    tested(`network.${name}`, CARRIED, COMMANDS),
  ),
  tested('secrets', SECRETS, COMMANDS),
  ...['name', 'source', 'hosts', 'header', 'query'].map((field) => tested(`secrets[].${field}`, SECRETS, COMMANDS)),
  tested('secrets[].sign', 'test/contract/egress/aws-signature.test.ts', COMMANDS),
  tested('secrets[].login', 'test/contract/egress/servers.test.ts', COMMANDS),
  ...['pass_headers', 'pass_parameters'].map((field) => tested(`secrets[].${field}`, CARRIED, COMMANDS)),
  tested('security.every_program', 'test/attacks/programs/every.test.ts', [...TALK, 'hook']),
  tested('security.hide_model', OWN, ['session']),
  tested('security.filter_listings', OWN, TALK),
  tested('security.filter_listings', 'test/promises/rows/files.ts', ['hook']),
  tested('security.taint_asks', 'test/contract/hooks/results.test.ts', ['hook']),
  tested('security.taint_asks', CUSTOM, TALK),
  tested('rings.breaker.failures', 'test/contract/hooks/memory.test.ts', ['hook']),
  tested('rings.breaker.failures', CARRIED, TALK),
  tested('rings.breaker.cooldown', 'test/contract/hooks/memory.test.ts', ['hook']),
  tested('rings.breaker.cooldown', CARRIED, TALK),
  tested('rings.3.seconds', CARRIED, TALK),
  tested('capabilities.python.allowed_modules', PROGRAMS, TALK),
  tested('capabilities.python.blocked_modules', PROGRAMS, TALK),
  tested('files.read_size_limit', OWN, TALK),
  tested('files.session_directory', CUSTOM, TALK),
  tested('sandbox.os.mask_tracked', 'test/attacks/secrets/tracked.test.ts', COMMANDS),
  tested('sandbox.os.ca_files', CARRIED, COMMANDS),
  tested('sandbox.os.dev_server_ports', 'test/e2e/dev-server.test.ts', COMMANDS),
  tested('sandbox.run.engines', PROGRAMS, TALK),
  ...['image', 'memory', 'timeout'].map((field) => tested(`sandbox.run.${field}`, CARRIED, TALK)),
  ...['sha256', 'tools', 'model', 'storage', 'memory'].map((field) =>
    tested(`components.*.${field}`, CARRIED, ['session']),
  ),
  tested('audit.max_bytes', OWN, COMMANDS),
  tested('audit.arguments', CARRIED, COMMANDS),
  ...['enabled', 'timeout', 'max_output_bytes', 'env_vars'].map((field) => tested(`tools.*.${field}`, OWN, TALK)),
  tested('tools.*.require_confirmation', OWN, TALK),
  tested('tools.*.domains', OWN, TALK),
  ...HOST_FIELDS.map((field) => tested(`tools.*.domains[].${field}`, CARRIED, TALK)),
  ...['command', 'read', 'write', 'domains', 'env_vars', 'secrets'].map((field) =>
    tested(`mcp_servers.*.${field}`, SERVERS, ['mcp']),
  ),
  tested('mcp_servers.*.requests', CARRIED, ['mcp']),
  ...HOST_FIELDS.map((field) => tested(`mcp_servers.*.domains[].${field}`, CARRIED, ['mcp'])),
  tested('debug.dump_provider_payloads', OWN, ['session']),
]

/** Where hosts of a list are reached: by commands, by the web tools and custom tools, by servers behind the gateway. */
function surfacesOf(list: string): readonly Surface[] {
  if (list.startsWith('mcp_servers')) return ['mcp']
  return list.startsWith('capabilities') || list.startsWith('sandbox') ? COMMANDS : TALK
}
