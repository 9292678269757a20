/** Keys whose effect takes more than one call to see: each has a test of its own, which names it. */

import type { KeyRow } from './key-row.ts'
import type { Surface } from './key-world.ts'

export type TestedRow = KeyRow & { readonly test: string; readonly spelled?: string }

const COMMANDS: readonly Surface[] = ['session', 'mcp', 'hook', 'run']
const TALK: readonly Surface[] = ['session', 'mcp']

function tested(key: string, test: string, on: readonly Surface[], spelled?: string): TestedRow {
  return { key, note: 'a test of its own', test, on, ...(spelled !== undefined && { spelled }) }
}

const SECRETS = 'test/e2e/secrets.test.ts'
const CREDENTIALS = 'test/attacks/network/credentials.test.ts'
const SERVERS = 'test/contract/mcp/gateway-grants.test.ts'
const COMPONENT = 'test/contract/code/component.test.ts'
const ENGINES = 'test/contract/code/engines.test.ts'
const CUSTOM = 'test/contract/session/session-policy.test.ts'
const OWN = 'test/contract/keys/own-keys.test.ts'
const EGRESS = 'src/egress/rules.test.ts'
const HOST_FIELDS = ['host', 'methods', 'paths', 'tls'] as const

const PARENT = 'test/contract/egress/parent-proxy.test.ts'
const GIT_SSH = 'test/e2e/git-ssh-outside.test.ts'
/** Where hosts stand in the schema, and the surfaces that those are for. */
const HOST_LISTS: readonly (readonly [key: string, on: readonly Surface[]])[] = [
  ['capabilities.allow.commands.default_domains', COMMANDS],
  ['capabilities.allow.commands.patterns[].domains', COMMANDS],
  ['sandbox.os.command_tools[].domains', COMMANDS],
  ['http.allowed_hosts', TALK],
  ['tools.*.domains', TALK],
  ['mcp_servers.*.domains', ['mcp']],
]

const NOTICES = 'src/surfaces/page/notifier.test.ts'

export const TESTED_ROWS: readonly TestedRow[] = [
  ...['webhook', 'format', 'desktop'].map((name) => tested(`approvals.${name}`, NOTICES, TALK)),
  tested('approvals.answer_url', NOTICES, TALK, 'answerUrl'),
  ...HOST_LISTS.map(([key, on]) => tested(`${key}[].ssh`, GIT_SSH, on)),
  ...['part', 'after', 'as'].map((field) =>
    tested(`secrets[].${field}`, 'test/contract/egress/brokered-parts.test.ts', COMMANDS),
  ),
  tested('sandbox.os.backend', 'test/contract/backend/backend-key.test.ts', COMMANDS),
  tested('network.parent_proxy', PARENT, COMMANDS, 'readParentProxy'),
  tested('network.parent_proxy_login', PARENT, COMMANDS, 'credentials'),
  tested('network.no_proxy', PARENT, COMMANDS, 'bypass'),
  tested('network.special_ranges', 'src/hosts/judge.test.ts', COMMANDS, 'specialRanges'),
  tested('secrets', SECRETS, COMMANDS),
  ...['name', 'source', 'hosts', 'header', 'query'].map((field) => tested(`secrets[].${field}`, SECRETS, COMMANDS)),
  tested('secrets[].sign', 'test/contract/egress/aws-signature.test.ts', COMMANDS, 'signs'),
  tested('secrets[].login', 'test/contract/egress/servers.test.ts', COMMANDS, 'login'),
  tested('secrets[].pass_headers', CREDENTIALS, COMMANDS, 'passHeaders'),
  tested('secrets[].pass_parameters', CREDENTIALS, COMMANDS, 'passParameters'),
  tested('security.hide_model', OWN, ['session']),
  tested('security.filter_listings', OWN, TALK),
  tested('security.taint_asks', 'test/contract/hooks/results.test.ts', ['hook']),
  tested('security.taint_asks', CUSTOM, TALK),
  tested('rings.breaker.failures', 'test/contract/hooks/memory.test.ts', ['hook']),
  tested('rings.breaker.failures', 'src/runtime/session/circuit-breaker.test.ts', TALK),
  tested('rings.breaker.cooldown', 'test/contract/hooks/memory.test.ts', ['hook']),
  tested('rings.breaker.cooldown', 'src/runtime/session/circuit-breaker.test.ts', TALK),
  tested('rings.3.seconds', CUSTOM, TALK),
  tested('capabilities.python.allowed_modules', 'test/contract/code/programs.test.ts', TALK),
  tested('capabilities.python.blocked_modules', 'test/contract/code/programs.test.ts', TALK),
  tested('files.read_size_limit', OWN, TALK),
  tested('http.allowed_hosts[].tls', EGRESS, TALK, 'passthrough'),
  tested('sandbox.os.mask_tracked', 'test/attacks/secrets/tracked.test.ts', COMMANDS),
  tested('sandbox.os.command_tools[].install', 'src/sandbox/bundles/bundle.test.ts', COMMANDS),
  tested('sandbox.os.ca_files', 'test/contract/egress/trust.test.ts', COMMANDS, 'readAuthorities'),
  tested('sandbox.os.dev_server_ports', 'test/e2e/dev-server.test.ts', COMMANDS),
  ...['engines', 'image'].map((field) => tested(`sandbox.run.${field}`, ENGINES, TALK)),
  tested('sandbox.run.memory', ENGINES, TALK, 'memoryBytes'),
  tested('sandbox.run.timeout', ENGINES, TALK, 'seconds'),
  ...['sha256', 'tools', 'model'].map((field) => tested(`components.*.${field}`, COMPONENT, ['session'])),
  tested('components.*.storage', COMPONENT, ['session']),
  tested('components.*.memory', COMPONENT, ['session'], 'memoryBytes'),
  tested('audit.max_bytes', OWN, ['session', 'mcp', 'hook', 'run']),
  tested('audit.arguments', 'test/e2e/run-record.test.ts', ['session', 'mcp', 'hook', 'run']),
  ...['enabled', 'timeout', 'max_output_bytes', 'env_vars'].map((field) => tested(`tools.*.${field}`, OWN, TALK)),
  tested('tools.*.require_confirmation', CUSTOM, TALK),
  tested('tools.*.domains', OWN, TALK),
  ...HOST_FIELDS.map((field) =>
    tested(`tools.*.domains[].${field}`, EGRESS, TALK, field === 'tls' ? 'passthrough' : field),
  ),
  ...['command', 'read', 'write', 'domains', 'env_vars', 'secrets'].map((field) =>
    tested(`mcp_servers.*.${field}`, SERVERS, ['mcp']),
  ),
  tested('mcp_servers.*.requests', 'test/contract/mcp/gateway-servers.test.ts', ['mcp']),
  ...HOST_FIELDS.map((field) =>
    tested(`mcp_servers.*.domains[].${field}`, EGRESS, ['mcp'], field === 'tls' ? 'passthrough' : field),
  ),
  tested('debug.dump_provider_payloads', OWN, ['session']),
]
