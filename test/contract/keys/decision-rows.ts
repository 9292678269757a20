/** Keys that change the answer to a call. */

import type { KeyRow, Outcomes } from './key-row.ts'
import type { ManifestObject, ProbeCall, Surface } from './key-world.ts'

export const AGENTS: readonly Surface[] = ['check', 'session', 'mcp', 'hook']
const ALL: readonly Surface[] = [...AGENTS, 'run']
/** `check` and `session` say `ask`, where a hook has no one to ask. */
const REFUSED: Partial<Record<Surface, Outcomes>> = {
  session: ['ask', 'refused'],
  mcp: ['ask', 'refused'],
  hook: ['ask', 'deny'],
}

const bash = (command: string): ProbeCall => ({ tool: 'bash', input: { command } })
const read = (path: string): ProbeCall => ({ tool: 'read', input: { path } })
const write = (path: string): ProbeCall => ({ tool: 'write', input: { path, content: '' } })
const fetch = (url: string): ProbeCall => ({ tool: 'webfetch', input: { url } })

const runs = { permission: { tools: { bash: 'allow' } } }
const security = (values: ManifestObject): ManifestObject => ({ security: values })
const allows = (values: ManifestObject): ManifestObject => ({ capabilities: { allow: values } })
const denies = (values: ManifestObject): ManifestObject => ({ capabilities: { deny: values } })
const grants = (...patterns: readonly unknown[]): ManifestObject => allows({ commands: { patterns } })

/** A feature of the shell language that a flag switches off. */
function feature(name: string, value: unknown, command: string, gives: Outcomes = ['allow', 'deny']): KeyRow {
  const note = `${name} decides about ${command}`
  const set = { ...runs, ...security({ [name]: value }) }
  return { key: `security.${name}`, note, base: runs, set, call: bash(command), gives, on: AGENTS }
}

export const DECISION_ROWS: readonly KeyRow[] = [
  {
    key: 'permission.mode',
    note: 'plan mode denies what writes',
    set: { permission: { mode: 'plan' } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'permission.agent',
    note: 'the plan agent is read-only',
    set: { permission: { agent: 'plan' } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'permission.interactive',
    note: 'nobody is asked',
    set: { permission: { interactive: false } },
    call: bash('make x'),
    says: REFUSED,
    on: ['session', 'mcp', 'hook'],
  },
  {
    key: 'permission.auto_accept',
    note: 'a remaining ask is a yes',
    set: { permission: { auto_accept: true } },
    call: bash('make x'),
    gives: ['ask', 'allow'],
    on: AGENTS,
  },
  {
    key: 'permission.tools.*',
    note: 'a level applies',
    set: { permission: { tools: { read: 'deny' } } },
    call: read('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  feature('background', false, 'true &'),
  feature('case_terminator', false, 'case x in x) true;; esac'),
  feature('compound', false, 'true && true'),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax.
  feature('parameter_expansion', false, 'echo ${HOME%x}'),
  feature('pipes', false, 'true | true'),
  feature('redirects', 'none', 'true > /dev/null'),
  feature('command_substitution', true, 'true $(true)', ['deny', 'allow']),
  {
    key: 'security.implicit_coordinators',
    note: 'echo needs a grant like any other program',
    set: security({ implicit_coordinators: false }),
    call: bash('echo x'),
    gives: ['allow', 'ask'],
    on: AGENTS,
  },
  {
    key: 'security.privilege_wrappers',
    note: 'a grant of sudo loads only with it',
    base: grants('sudo true'),
    set: { ...grants('sudo true'), ...security({ privilege_wrappers: true }) },
    call: read('a.txt'),
    gives: ['unloadable', 'allow'],
    on: ALL.filter((surface) => surface !== 'run'),
  },
  {
    key: 'security.system_python',
    note: 'a grant of an interpreter loads only with it',
    base: grants('python3:*'),
    set: { ...grants('python3:*'), ...security({ system_python: true }) },
    call: read('a.txt'),
    gives: ['unloadable', 'allow'],
    on: ALL.filter((surface) => surface !== 'run'),
  },
  {
    key: 'security.runtime_grants',
    note: 'locked to the signed set',
    set: security({ runtime_grants: false }),
    call: bash('make x'),
    says: REFUSED,
    on: ['session', 'mcp', 'hook'],
  },
  {
    key: 'security.outside_roots',
    note: 'a path outside asks instead',
    set: security({ outside_roots: 'ask' }),
    call: read('$B/aside/x.txt'),
    gives: ['deny', 'ask'],
    on: AGENTS,
  },
  {
    key: 'security.prompt_reads',
    note: 'a read that no grant covers asks, unless prompt_reads is off',
    base: allows({ read: { paths: ['src/**'] } }),
    set: { ...allows({ read: { paths: ['src/**'] } }), ...security({ prompt_reads: false }) },
    call: read('a.txt'),
    gives: ['ask', 'allow'],
    on: AGENTS,
  },
  {
    key: 'security.deny_domains',
    note: 'a denied host is denied to the web tools',
    set: security({ deny_domains: ['evil.example.org'] }),
    call: fetch('https://evil.example.org/'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'security.deny_domains',
    note: 'and to commands',
    base: runs,
    set: { ...runs, ...security({ deny_domains: ['*.example.org'] }) },
    call: bash('curl https://evil.example.org/'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'shell_policy.allow',
    note: 'a command must contain it',
    base: runs,
    set: { ...runs, shell_policy: { allow: ['git'] } },
    call: bash('make x'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'shell_policy.deny',
    note: 'a command must not contain it',
    base: runs,
    set: { ...runs, shell_policy: { deny: ['make x'] } },
    call: bash('make x'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'agents.*.trust_score',
    note: 'ring 3 does not write',
    base: { permission: { agent: 'claude-code' }, agents: { 'claude-code': {} } },
    set: { permission: { agent: 'claude-code' }, agents: { 'claude-code': { trust_score: 0.1 } } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'agents.*.mode',
    note: 'the mode of this agent',
    base: { permission: { agent: 'claude-code' }, agents: { 'claude-code': {} } },
    set: { permission: { agent: 'claude-code' }, agents: { 'claude-code': { mode: 'plan' } } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'agents.*.tools.*',
    note: 'the level for this agent; of the plan agent too',
    base: { permission: { agent: 'plan' } },
    set: { permission: { agent: 'plan' }, agents: { plan: { tools: { read: 'deny' } } } },
    call: read('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.additional_directories',
    note: 'another root',
    set: allows({ additional_directories: ['$B/aside'] }),
    call: read('$B/aside/x.txt'),
    gives: ['deny', 'allow'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.read.nearby',
    note: 'a package that is installed for the user',
    base: allows({ read: { paths: ['**'] } }),
    set: allows({ read: { paths: ['**'], nearby: ['packages'] } }),
    call: read('$H/go/pkg/mod/example.org/one@v1/one.go'),
    gives: ['deny', 'allow'],
    on: AGENTS,
  },
  ...(['read', 'write'] as const).flatMap((verb): KeyRow[] => {
    const call = verb === 'read' ? read : write
    const key = `capabilities.allow.${verb}`
    const other = allows({ [verb]: { paths: ['other/**'] } })
    const granted = (entry: unknown, more: object = {}): ManifestObject =>
      allows({ [verb]: { ...more, paths: ['other/**', entry] } })
    return [
      {
        key: `${key}.paths`,
        note: 'a path',
        base: other,
        set: granted('src/**'),
        call: call('src/b.txt'),
        gives: ['ask', 'allow'],
        on: AGENTS,
      },
      {
        key: `${key}.paths[].path`,
        note: 'as a table',
        base: other,
        set: granted({ path: 'src/**' }),
        call: call('src/b.txt'),
        gives: ['ask', 'allow'],
        on: AGENTS,
      },
      {
        key: `${key}.paths[].files`,
        note: 'only these names',
        base: granted({ path: 'src' }),
        set: granted({ path: 'src', files: ['*.md'] }),
        call: call('src/b.txt'),
        gives: ['allow', 'ask'],
        on: AGENTS,
      },
      {
        key: `${key}.paths[].prompt`,
        note: 'asks all the same',
        base: granted({ path: 'src/**' }),
        set: granted({ path: 'src/**', prompt: true }),
        call: call('src/b.txt'),
        gives: ['allow', 'ask'],
        on: AGENTS,
      },
      {
        key: `${key}.default_files`,
        note: 'names for entries without',
        base: granted('src'),
        set: granted('src', { default_files: ['*.md'] }),
        call: call('src/b.txt'),
        gives: ['allow', 'ask'],
        on: AGENTS,
      },
    ]
  }),
  ...(['read', 'write'] as const).flatMap((verb): KeyRow[] => {
    const call = verb === 'read' ? read : write
    const typed = bash(verb === 'read' ? 'cat src/b.txt' : 'touch src/b.txt')
    const key = `capabilities.deny.${verb}`
    const denied = (...paths: readonly unknown[]): ManifestObject => denies({ [verb]: { paths } })
    const both = (row: Pick<KeyRow, 'key' | 'note' | 'base' | 'set' | 'gives'>): KeyRow[] => [
      { ...row, call: call('src/b.txt'), on: AGENTS },
      { ...row, call: typed, on: ['run'] },
    ]
    return [
      ...both({ key: `${key}.paths`, note: 'a path', set: denied('src/**'), gives: ['allow', 'deny'] }),
      ...both({
        key: `${key}.paths[].path`,
        note: 'as a table',
        set: denied({ path: 'src/**' }),
        gives: ['allow', 'deny'],
      }),
      ...both({
        key: `${key}.paths[].files`,
        note: 'only these names',
        base: denied({ path: 'src' }),
        set: denied({ path: 'src', files: ['*.md'] }),
        gives: ['deny', 'allow'],
      }),
      ...both({
        key: `${key}.default_files`,
        note: 'these names at any depth',
        set: denies({ [verb]: { default_files: ['b.txt'] } }),
        gives: ['allow', 'deny'],
      }),
    ]
  }),
  {
    key: 'capabilities.allow.commands.patterns',
    note: 'a command',
    set: grants('make x'),
    call: bash('make x'),
    gives: ['ask', 'allow'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.commands.patterns[].command',
    note: 'as a table',
    set: grants({ command: 'make x' }),
    call: bash('make x'),
    gives: ['ask', 'allow'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.commands.patterns[].prompt',
    note: 'asks all the same',
    base: grants('make x'),
    set: grants({ command: 'make x', prompt: true }),
    call: bash('make x'),
    gives: ['allow', 'ask'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.commands.patterns[].match',
    note: 'an example that does not match keeps it from loading',
    base: grants('make x'),
    set: grants({ command: 'make x', match: ['make'] }),
    call: read('a.txt'),
    gives: ['allow', 'unloadable'],
    on: AGENTS,
  },
  {
    key: 'capabilities.allow.commands.patterns[].not_match',
    note: 'as does one that does',
    base: grants('make x'),
    set: grants({ command: 'make x', not_match: ['make x'] }),
    call: read('a.txt'),
    gives: ['allow', 'unloadable'],
    on: AGENTS,
  },
  {
    key: 'capabilities.deny.commands.patterns',
    note: 'a command',
    base: runs,
    set: { ...runs, ...denies({ commands: { patterns: ['make:*'] } }) },
    call: bash('make x'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'capabilities.deny.commands.patterns[].command',
    note: 'as a table',
    base: runs,
    set: { ...runs, ...denies({ commands: { patterns: [{ command: 'make:*' }] } }) },
    call: bash('make x'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'capabilities.deny.commands.patterns[].match',
    note: 'examples are checked',
    set: denies({ commands: { patterns: [{ command: 'make:*', match: ['cmake'] }] } }),
    call: read('a.txt'),
    gives: ['allow', 'unloadable'],
    on: AGENTS,
  },
  {
    key: 'capabilities.deny.commands.patterns[].not_match',
    note: 'examples are checked',
    set: denies({ commands: { patterns: [{ command: 'make:*', not_match: ['make x'] }] } }),
    call: read('a.txt'),
    gives: ['allow', 'unloadable'],
    on: AGENTS,
  },
  {
    key: 'capabilities.deny.commands.domains',
    note: 'no command reaches it',
    base: runs,
    set: { ...runs, ...denies({ commands: { domains: ['evil.example.org'] } }) },
    call: bash('curl https://evil.example.org/'),
    gives: ['allow', 'deny'],
    on: ALL,
  },
  {
    key: 'files.change_envelope',
    note: 'a write must match',
    set: { files: { change_envelope: ['src/**'] } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'files.change_envelope',
    note: 'typed as well',
    set: { files: { change_envelope: ['src/**'] } },
    call: bash('touch a.txt'),
    gives: ['allow', 'deny'],
    on: ['run'],
  },
  {
    key: 'files.discovery_brief',
    note: 'the files of the brief are the envelope',
    set: { files: { discovery_brief: 'brief.json' } },
    call: write('a.txt'),
    gives: ['allow', 'deny'],
    on: ['session', 'mcp', 'hook'],
  },
  {
    key: 'files.discovery_brief',
    note: 'typed as well',
    set: { files: { discovery_brief: 'brief.json' } },
    call: bash('touch a.txt'),
    gives: ['allow', 'deny'],
    on: ['run'],
  },
  {
    key: 'http.allowed_hosts',
    note: 'only these',
    set: { http: { allowed_hosts: ['docs.example.org'] } },
    call: fetch('https://other.example.org/'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'http.allowed_hosts[].host',
    note: 'as a table',
    set: { http: { allowed_hosts: [{ host: 'docs.example.org' }] } },
    call: fetch('https://other.example.org/'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'http.allowed_hosts[].methods',
    note: 'only these',
    base: { http: { allowed_hosts: ['docs.example.org'] } },
    set: { http: { allowed_hosts: [{ host: 'docs.example.org', methods: ['POST'] }] } },
    call: fetch('https://docs.example.org/'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'http.allowed_hosts[].paths',
    note: 'only these',
    base: { http: { allowed_hosts: ['docs.example.org'] } },
    set: { http: { allowed_hosts: [{ host: 'docs.example.org', paths: ['/api/**'] }] } },
    call: fetch('https://docs.example.org/x'),
    gives: ['allow', 'deny'],
    on: AGENTS,
  },
  {
    key: 'http.allow_private_hosts',
    note: 'services of this machine',
    set: { http: { allow_private_hosts: true } },
    call: fetch('http://127.0.0.1:9/'),
    gives: ['deny', 'allow'],
    on: AGENTS,
  },
]
