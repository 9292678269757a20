// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the manifest's own syntax.

import { describe, expect, test } from 'vitest'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import { type CompiledPolicy, type CompileOptions, compileManifest } from './compile.ts'
import { mergeLayers } from './layers.ts'
import { loadManifest } from './load.ts'
import type { Problem } from './toml/problem.ts'

const HERE: CompileOptions = {
  root: '/p',
  home: '/h',
  env: { HOST: 'x.org', WIDE: '*.com', SOCKET: 'unix:/run/docker.sock', EMPTY: '' },
  suffixes: tldtsSuffixes,
}

function compileText(text: string, options: CompileOptions = HERE) {
  const result = loadManifest(`schema_version = 1\n${text}`, 'cordon.toml', { suffixes: tldtsSuffixes })
  if ('problems' in result) throw new Error(result.problems.map((problem) => problem.message).join('\n'))
  return compileManifest(result.manifest, options)
}

function compiled(text: string, options: CompileOptions = HERE): CompiledPolicy {
  const result = compileText(text, options)
  if ('problems' in result) throw new Error(result.problems.map((problem) => problem.message).join('\n'))
  return result
}

function codes(problems: readonly Problem[]): string[] {
  return problems.map((problem) => `${problem.file}:${problem.line}:${problem.column} ${problem.code}`)
}

test('nothing written: the built-in defaults', () => {
  const result = compileManifest({ file: 'none', settings: new Map(), declared: new Set() }, HERE)
  if (!('policy' in result)) throw new Error('does not compile')
  const { policy, sandbox, session } = result
  expect(policy).toMatchObject({
    mode: { value: 'custom', source: 'built-in' },
    agent: { value: 'build' },
    interactive: { value: true },
    autoAccept: { value: false },
    outsideRoots: { value: 'deny' },
    promptReads: { value: true },
    runtimeGrants: { value: true },
    reads: { allow: [], deny: [], declared: false },
    commands: { allow: [], deny: [], declared: false },
    envelope: null,
    readSizeLimit: 20_000,
    http: { allowed: null, denied: [], allowPrivate: false },
    maskSecrets: true,
    flags: {
      background: { value: true },
      case_terminator: { value: true },
      compound: { value: true },
      parameter_expansion: { value: true },
      pipes: { value: true },
      command_substitution: { value: false },
      redirects: { value: 'streams' },
      implicit_coordinators: { value: true },
      privilege_wrappers: { value: false },
      system_python: { value: false },
    },
  })
  expect(sandbox).toMatchObject({
    commandFs: { value: 'system' },
    envAllowlist: null,
    limits: { memory: { value: null } },
  })
  expect(session.breaker).toEqual({ failures: 5, cooldown: 30 })
})

test('rules carry their place and what goes with them', () => {
  const { policy } = compiled(
    '[capabilities.allow.commands]\ndefault_env_vars = ["CI"]\ndefault_domains = ["a.com"]\npatterns = ["ls", { command = "gh pr:*", prompt = true, env_vars = ["GH_TOKEN"], domains = ["api.github.com"], inherit_default_domains = false, paths = ["~/.config/gh/**"] }]\n',
  )
  expect(policy.commands.allow).toMatchObject([
    {
      pattern: { words: ['ls'], open: false },
      prompt: false,
      envVars: ['CI'],
      inheritDefaultDomains: true,
      source: 'cordon.toml:5:13',
    },
    {
      pattern: { words: ['gh', 'pr'], open: true },
      prompt: true,
      envVars: ['GH_TOKEN', 'CI'],
      inheritDefaultDomains: false,
      paths: [{ absolute: '/h/.config/gh/**' }],
      domains: [{ pattern: { host: 'api.github.com' } }],
      rule: 'capabilities.allow.commands.patterns[1]',
    },
  ])
  expect(policy.commands.declared).toBe(true)
})

test('paths stand under the root, the home directory, or where they say', () => {
  const { policy } = compiled(
    '[capabilities.allow.read]\npaths = ["src/**", "~/x", "/etc/hosts", { path = "docs", files = ["*.md"], prompt = true }]\n[capabilities.deny.write]\npaths = ["../other/**"]\n',
  )
  expect(policy.reads.allow.map(({ pattern, prompt }) => [pattern.absolute, pattern.files, prompt])).toEqual([
    ['/p/src/**', null, false],
    ['/h/x', null, false],
    ['/etc/hosts', null, false],
    ['/p/docs', ['*.md'], true],
  ])
  expect(policy.writes.deny.map(({ pattern }) => pattern.absolute)).toEqual(['/other/**'])
  expect([policy.reads.declared, policy.writes.declared]).toEqual([true, false])
})

test('a written but empty section is declared', () => {
  expect(compiled('[capabilities.allow.write]\n').policy.writes.declared).toBe(true)
})

const hosts: readonly { name: string; list: string; allowed: string[] | null; warned: number; note: string }[] = [
  { name: 'never written', list: '', allowed: null, warned: 0, note: 'public hosts are open' },
  { name: 'written empty', list: 'allowed_hosts = []', allowed: null, warned: 0, note: 'open too' },
  {
    name: 'expanded',
    list: 'allowed_hosts = ["api.${HOST}:8443", "a.com"]',
    allowed: ['api.x.org', 'a.com'],
    warned: 0,
    note: '',
  },
  { name: 'unset', list: 'allowed_hosts = ["${NOPE}", "a.com"]', allowed: ['a.com'], warned: 1, note: '' },
  {
    name: 'all unset',
    list: 'allowed_hosts = ["${NOPE}", "x.${EMPTY}"]',
    allowed: [],
    warned: 2,
    note: 'stays closed',
  },
  { name: 'inherited names', list: 'allowed_hosts = ["${toString}"]', allowed: [], warned: 1, note: 'not a variable' },
]

describe('allowed hosts', () => {
  test.each(hosts)('$name', ({ list, allowed, warned }) => {
    const { policy, warnings } = compiled(`[http]\n${list}\n`)
    expect(policy.http.allowed?.map((rule) => rule.pattern.host) ?? null).toEqual(allowed)
    expect(warnings.map((warning) => warning.code)).toEqual(Array(warned).fill('unset-variable'))
  })
})

test('a variable that contains a bad host is an error', () => {
  const result = compileText('[security]\ndeny_domains = ["${WIDE}"]\n')
  expect('problems' in result && codes(result.problems)).toEqual(['cordon.toml:3:17 bad-host'])
})

const misplaced: readonly (readonly [note: string, toml: string])[] = [
  ['ssh for the web tools', '[http]\nallowed_hosts = [{ host = "github.com:22", ssh = "fetch" }]'],
  ['ssh for a custom tool', '[tools.x]\ndomains = [{ host = "github.com:22", ssh = "fetch" }]'],
  ['tls for the web tools', '[http]\nallowed_hosts = [{ host = "github.com", tls = "pass" }]'],
  ['a socket for the web tools', '[http]\nallowed_hosts = ["unix:/run/docker.sock"]'],
  ['a socket for a bundle', '[sandbox.os]\ncommand_tools = [{ tool = "npm", domains = ["unix:/run/docker.sock"] }]'],
  ...(
    [
      ['the web tools', '[http]\nallowed_hosts'],
      ['a custom tool', '[tools.x]\ndomains'],
    ] as const
  ).map(
    ([where, list]) =>
      [
        `an agent that signs for ${where}`,
        `${list} = [{ host = "unix:/run/agent.sock", signs = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }]`,
      ] as const,
  ),
  [
    'an agent that signs for a bundle',
    '[sandbox.os]\ncommand_tools = [{ tool = "git", domains = [{ host = "unix:/run/agent.sock", signs = "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }] }]',
  ],
  ['a socket from a variable', '[security]\n[http]\nallowed_hosts = ["${SOCKET}"]'],
  [
    'methods of a socket',
    '[capabilities.allow.commands]\ndefault_domains = [{ host = "unix:/run/x", methods = ["GET"] }]',
  ],
  ['a way up', '[capabilities.allow.commands]\ndefault_domains = ["unix:/run/../etc/x"]'],
  ['a pattern of sockets', '[capabilities.allow.commands]\ndefault_domains = ["unix:/run/*.sock"]'],
]

test.each(misplaced)('an entry that means nothing in its place is an error: %s', (_, toml) => {
  const loaded = loadManifest(`schema_version = 1\n${toml}\n`, 'cordon.toml', { suffixes: tldtsSuffixes })
  const result = 'problems' in loaded ? loaded : compileManifest(loaded.manifest, HERE)
  expect('problems' in result && result.problems.map(({ code }) => code)).toEqual(['bad-host'])
})

test('directories are canonical, and missing ones are left out', () => {
  const realpath = (path: string) => (path === '/h/notes' ? '/data/notes' : null)
  const { policy, warnings } = compiled('[capabilities.allow]\nadditional_directories = ["~/notes", "gone"]\n', {
    ...HERE,
    realpath,
  })
  expect(policy.additionalDirectories.map((entry) => entry.value)).toEqual(['/data/notes'])
  expect(codes(warnings)).toEqual(['cordon.toml:3:38 unused'])
})

test('a directory that is a link where commands may write is left out', () => {
  const realpath = (path: string) => (path.endsWith('/link') ? '/h' : path)
  const text = '[capabilities.allow]\nadditional_directories = ["link", "~/work", "~/work/link", "~/link"]\n'
  const { policy, warnings } = compiled(text, { ...HERE, realpath })
  expect(policy.additionalDirectories.map((entry) => entry.value)).toEqual(['/h/work', '/h'])
  expect(warnings.map(({ code, suggestion }) => [code, suggestion])).toEqual([
    ['unused', 'write the path it points to: "/h"'],
    ['unused', 'write the path it points to: "/h"'],
  ])
})

test('an agent that nobody defined is an error', () => {
  const result = compileText('[permission]\nagent = "biuld"\n')
  expect('problems' in result && result.problems[0]).toMatchObject({ line: 3, suggestion: 'did you mean "build"?' })
  expect(compiled('[permission]\nagent = "rev"\n[agents.rev]\n').policy.agents.get('rev')?.trustScore.value).toBe(0.7)
})

test('bundles bring their hosts to their programs and wrappers', () => {
  const { policy, sandbox } = compiled(
    '[sandbox.os]\nwrappers = ["make"]\ncommand_tools = ["git", { tool = "npm", fetch = false, domains = ["a.com"], wrappers = ["just"] }]\n',
    {
      ...HERE,
      bundleHosts: (bundle) => new Map(bundle.tool === 'git' ? [['git', ['github.com']]] : [['npx', ['b.com']]]),
    },
  )
  const domains = [...policy.commands.toolDomains].map(([tool, rules]) => [
    tool,
    rules.map((rule) => rule.pattern.host),
  ])
  expect(Object.fromEntries(domains)).toEqual({
    git: ['github.com'],
    make: ['github.com', 'a.com'],
    just: ['a.com'],
    npm: ['a.com'],
    npx: ['a.com', 'b.com'],
  })
  expect(sandbox.bundles[1]!.value).toMatchObject({
    tool: 'npm',
    fetch: false,
    install: null,
    wrappers: ['just', 'make'],
  })
})

test('settings of the sandbox and the session', () => {
  const { sandbox, session } = compiled(`[sandbox.os]
command_fs = "none"
env_allowlist = ["PATH", "LC_*"]
dev_server_ports = [3000]
[limits]
command_timeout = "1m 30s"
memory = "1.5 GiB"
[capabilities.deny.read]
paths = [{ path = "**", files = ["*.sqlite", "*"] }, "**/*.dump", { path = "x", files = ["*.no"] }]
[capabilities.deny.commands]
env_vars = ["AWS_*"]
[rings.3]
calls_per_minute = 10
[tools.deploy]
require_confirmation = true
[files]
discovery_brief = "brief.json"
[[secrets]]
name = "T"
source = "file:~/t"
hosts = ["a.com"]
header = "X-Key"
[[secrets]]
name = "Q"
source = "env:Q"
hosts = ["a.com"]
query = "api_key"
[[secrets]]
name = "B"
source = "env:B"
hosts = ["a.com"]
query = "key"
header = "X-Goog-Api-Key"
[[secrets]]
name = "D"
source = "env:D"
hosts = ["a.com"]
`)
  expect(sandbox.limits.commandTimeout.value).toBe(90)
  expect(sandbox.limits.memory.value).toBe(1.5 * 1024 ** 3)
  expect(sandbox.maskedNames.map((name) => name.value)).toEqual(['*.sqlite', '*.dump'])
  expect(sandbox.envAllowlist?.map((name) => name.value)).toEqual(['PATH', 'LC_*'])
  expect(sandbox.envDenied.map((name) => name.value)).toEqual(['AWS_*'])
  expect(sandbox.secrets[0]!.value).toMatchObject({ source: { kind: 'file', name: '/h/t' }, header: 'x-key' })
  expect(sandbox.secrets[0]!.value).not.toHaveProperty('query')
  expect(sandbox.secrets[1]!.value).toMatchObject({ header: null, query: 'api_key' })
  expect(sandbox.secrets[2]!.value).toMatchObject({ header: 'x-goog-api-key', query: 'key' })
  expect(sandbox.secrets[3]!.value).toMatchObject({ header: 'authorization' })
  expect(session.rings[3].callsPerMinute).toBe(10)
  expect(session.tools.get('deploy')?.requireConfirmation.value).toBe(true)
  expect(session.discoveryBrief).toBe('/p/brief.json')
})

test('filters that two layers cannot agree on stay closed', () => {
  const layer = (host: string, part: string, glob: string) => {
    const text = `schema_version = 1
[http]
allowed_hosts = ["${host}"]
[shell_policy]
allow = ["${part}"]
[files]
change_envelope = ["${glob}"]
`
    const result = loadManifest(text, 'cordon.toml', { suffixes: tldtsSuffixes })
    if ('problems' in result) throw new Error(result.problems[0]?.message)
    return result.manifest
  }
  const user = layer('a.example.org', 'npm', 'src/**')
  const project = layer('b.example.org', 'make', 'docs/**')
  const result = compileManifest(mergeLayers({ user, project }, tldtsSuffixes).manifest, HERE)
  if ('problems' in result) throw new Error(result.problems[0]?.message)
  const { http, shellPolicy, envelope } = result.policy
  expect(http.allowed).toEqual([])
  expect(envelope).toEqual([])
  expect(shellPolicy.allow.some(({ value }) => 'npm run make'.includes(value))).toBe(false)
  expect(shellPolicy.allow).toHaveLength(1)
})
