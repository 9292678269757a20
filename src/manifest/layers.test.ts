import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import { effectiveValues, renderEffective } from '../project/problems.ts'
import { compileManifest } from './compile.ts'
import { type LayerName, type Layers, mergeLayers } from './layers.ts'
import { loadManifest, manifestFromObject } from './load.ts'
import type { Manifest } from './schema/manifest.ts'
import { plainValue } from './toml/tree.ts'

function layer(text: string, file: string): Manifest {
  const result = loadManifest(`schema_version = 1\n${text}`, file, { suffixes: tldtsSuffixes })
  if ('problems' in result) throw new Error(result.problems.map((problem) => problem.message).join('\n'))
  return result.manifest
}

function merge(texts: Readonly<Partial<Record<LayerName, string>>>) {
  const layers = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, layer(text, `${name}.toml`)]))
  return mergeLayers(layers as Layers, tldtsSuffixes)
}

const scalars: readonly {
  name: string
  path: string
  user?: string
  project?: string
  command?: string
  value: unknown
  source: string
  ignored?: boolean
  note: string
}[] = [
  { name: 'nobody', path: 'security.pipes', value: undefined, source: '', note: 'the default needs no layer' },
  {
    name: 'personal, by a project alone',
    path: 'network.parent_proxy',
    project: '[network]\nparent_proxy = "http://evil.example.com:80"',
    value: undefined,
    source: '',
    ignored: true,
    note: 'a project must not put itself between a machine and the network',
  },
  {
    name: 'personal, by both',
    path: 'network.parent_proxy',
    user: '[network]\nparent_proxy = "none"',
    project: '[network]\nparent_proxy = "http://evil.example.com:80"',
    value: 'none',
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'a reviewer, by a project',
    path: 'review.with',
    project: '[review]\nwith = ["evil"]',
    value: undefined,
    source: '',
    ignored: true,
    note: 'a project must not answer for its users',
  },
  {
    name: 'a bound above the default, by a project alone',
    path: 'review.up_to',
    project: '[review]\nup_to = "adds"',
    value: 'granted-host',
    source: 'built-in',
    ignored: true,
    note: 'nor raise what its answers may cost',
  },
  {
    name: 'a bound below the default, by a project alone',
    path: 'review.up_to',
    project: '[review]\nup_to = "none"',
    value: 'none',
    source: 'project.toml:3:1',
    note: '',
  },
  {
    name: 'a bound, by both',
    path: 'review.up_to',
    user: '[review]\nup_to = "adds"',
    project: '[review]\nup_to = "host"',
    value: 'host',
    source: 'project.toml:3:1',
    note: '',
  },
  {
    name: 'observe mode, by a project',
    path: 'permission.observe',
    project: '[permission]\nmode = "observe"',
    value: undefined,
    source: '',
    ignored: true,
    note: 'a project must not switch off the questions of its users',
  },
  {
    name: 'observe mode, by the person',
    path: 'permission.observe',
    user: '[permission]\nmode = "observe"',
    project: '[permission]\nmode = "contained"',
    value: 'observe',
    source: 'user.toml:3:1',
    note: '',
  },
  {
    name: 'the mode below observe mode',
    path: 'permission.mode',
    user: '[permission]\nmode = "observe"',
    project: '[permission]\nmode = "contained"',
    value: 'contained',
    source: 'project.toml:3:1',
    note: 'what would be asked is what the project asks',
  },
  {
    name: 'later wins',
    path: 'permission.mode',
    user: '[permission]\nmode = "plan"',
    project: '[permission]\nmode = "auto"',
    value: 'auto',
    source: 'project.toml:3:1',
    note: 'not one of the three sections',
  },
  {
    name: 'project stricter',
    path: 'security.pipes',
    user: '[security]\npipes = true',
    project: '[security]\npipes = false',
    value: false,
    source: 'project.toml:3:1',
    note: '',
  },
  {
    name: 'project looser',
    path: 'security.pipes',
    user: '[security]\npipes = false',
    project: '[security]\npipes = true',
    value: false,
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'project over an unset user',
    path: 'security.command_substitution',
    user: '[security]\npipes = false',
    project: '[security]\ncommand_substitution = true',
    value: true,
    source: 'project.toml:3:1',
    note: 'only what the user has set binds',
  },
  {
    name: 'true is stricter',
    path: 'security.prompt_reads',
    user: '[security]\nprompt_reads = true',
    project: '[security]\nprompt_reads = false',
    value: true,
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'order of choices',
    path: 'security.redirects',
    user: '[security]\nredirects = "streams"',
    project: '[security]\nredirects = "all"',
    value: 'streams',
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'order of choices, stricter',
    path: 'security.redirects',
    user: '[security]\nredirects = "streams"',
    project: '[security]\nredirects = "none"',
    value: 'none',
    source: 'project.toml:3:1',
    note: '',
  },
  {
    name: 'lower limit',
    path: 'limits.memory',
    user: '[limits]\nmemory = "1 GiB"',
    project: '[limits]\nmemory = "2 GiB"',
    value: 1024 ** 3,
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'private hosts',
    path: 'http.allow_private_hosts',
    user: '[http]\nallow_private_hosts = false',
    project: '[http]\nallow_private_hosts = true',
    value: false,
    source: 'user.toml:3:1',
    ignored: true,
    note: '',
  },
  {
    name: 'command line may loosen',
    path: 'security.pipes',
    user: '[security]\npipes = false',
    command: '[security]\npipes = true',
    value: true,
    source: 'command-line.toml:3:1',
    note: 'the person typed it',
  },
  {
    name: 'denied tool stays denied',
    path: 'permission.tools.bash',
    user: '[permission.tools]\nbash = "deny"',
    project: '[permission.tools]\nbash = "allow"',
    command: '[permission.tools]\nbash = "allow"',
    value: 'deny',
    source: 'user.toml:3:1',
    note: 'deny from any layer',
  },
  {
    name: 'asked tool may be allowed',
    path: 'permission.tools.bash',
    user: '[permission.tools]\nbash = "ask"',
    project: '[permission.tools]\nbash = "allow"',
    value: 'allow',
    source: 'project.toml:3:1',
    note: '',
  },
  {
    name: 'denied tool of an agent',
    path: 'agents.a.tools.bash',
    user: '[agents.a.tools]\nbash = "deny"',
    project: '[agents.a.tools]\nbash = "ask"',
    value: 'deny',
    source: 'user.toml:3:1',
    note: '',
  },
]

describe('scalars', () => {
  test.each(scalars)('$name', ({ path, user, project, command, value, source, ignored }) => {
    const texts = { ...(user && { user }), ...(project && { project }), ...(command && { 'command-line': command }) }
    const { manifest, warnings } = merge(texts)
    expect(manifest.settings.get(path)?.value).toEqual(value)
    if (value !== undefined) expect(manifest.settings.get(path)?.source).toBe(source)
    expect(warnings.map((warning) => warning.code)).toEqual(ignored ? ['layer-ignored'] : [])
  })
})

const lists: readonly {
  name: string
  path: string
  user: string
  project: string
  value: unknown
  closed?: boolean
  note: string
}[] = [
  {
    name: 'grants add up',
    path: 'capabilities.allow.commands.patterns',
    user: '[capabilities.allow.commands]\npatterns = ["a", "b"]',
    project: '[capabilities.allow.commands]\npatterns = ["b", "c"]',
    value: [{ command: 'a' }, { command: 'b' }, { command: 'c' }],
    note: 'repeats are left out',
  },
  {
    name: 'denials add up',
    path: 'security.deny_domains',
    user: '[security]\ndeny_domains = ["a.com"]',
    project: '[security]\ndeny_domains = ["b.com"]',
    value: ['a.com', 'b.com'],
    note: '',
  },
  {
    name: 'denied paths keep their files',
    path: 'capabilities.deny.read.paths',
    user: '[capabilities.deny.read]\ndefault_files = ["*.key"]\npaths = ["**"]',
    project: '[capabilities.deny.read]\ndefault_files = ["*.x"]\npaths = ["**"]',
    value: [
      { path: '**', files: ['*.key'] },
      { path: '**', files: ['*.x'] },
    ],
    note: "a project's default_files do not touch the user's",
  },
  {
    name: 'hosts meet',
    path: 'http.allowed_hosts',
    user: '[http]\nallowed_hosts = ["*.nodejs.org", "a.com"]',
    project: '[http]\nallowed_hosts = ["x.nodejs.org", "b.com"]',
    value: [{ host: 'x.nodejs.org' }],
    note: '',
  },
  {
    name: 'hosts meet the other way',
    path: 'http.allowed_hosts',
    user: '[http]\nallowed_hosts = ["x.nodejs.org"]',
    project: '[http]\nallowed_hosts = ["*.nodejs.org"]',
    value: [{ host: 'x.nodejs.org' }],
    note: '',
  },
  {
    name: 'hosts do not meet',
    path: 'http.allowed_hosts',
    user: '[http]\nallowed_hosts = ["a.com"]',
    project: '[http]\nallowed_hosts = ["b.com"]',
    value: [],
    closed: true,
    note: 'closed, not open',
  },
  {
    name: 'an empty list does not open',
    path: 'http.allowed_hosts',
    user: '[http]\nallowed_hosts = ["a.com"]',
    project: '[http]\nallowed_hosts = []',
    value: [{ host: 'a.com' }],
    note: '',
  },
  {
    name: 'a narrowed host does not widen',
    path: 'http.allowed_hosts',
    user: '[http]\nallowed_hosts = [{ host = "a.com", methods = ["GET"] }]',
    project: '[http]\nallowed_hosts = ["a.com"]',
    value: [{ host: 'a.com', methods: ['GET'] }],
    note: '',
  },
  {
    name: 'filters narrow',
    path: 'shell_policy.allow',
    user: '[shell_policy]\nallow = ["go "]',
    project: '[shell_policy]\nallow = ["go test", "rm"]',
    value: ['go test'],
    note: '',
  },
  {
    name: 'envelopes narrow',
    path: 'files.change_envelope',
    user: '[files]\nchange_envelope = ["src/**"]',
    project: '[files]\nchange_envelope = ["src/a/**", "docs/**"]',
    value: ['src/a/**'],
    note: '',
  },
  {
    name: 'modules narrow',
    path: 'capabilities.python.allowed_modules',
    user: '[capabilities.python]\nallowed_modules = ["os"]',
    project: '[capabilities.python]\nallowed_modules = ["os.path", "osx"]',
    value: ['os.path'],
    note: '',
  },
  {
    name: 'the first secret stays',
    path: 'secrets',
    user: '[[secrets]]\nname = "T"\nsource = "env:T"\nhosts = ["a.com"]',
    project: '[[secrets]]\nname = "T"\nsource = "env:T"\nhosts = ["evil.com"]',
    value: [{ name: 'T', source: 'env:T', hosts: ['a.com'] }],
    note: 'a project cannot redirect a secret',
  },
  {
    name: 'the later bundle counts',
    path: 'sandbox.os.command_tools',
    user: '[sandbox.os]\ncommand_tools = ["git", "npm"]',
    project: '[sandbox.os]\ncommand_tools = [{ tool = "git", fetch = false }]',
    value: [{ tool: 'npm' }, { tool: 'git', fetch: false }],
    note: '',
  },
]

describe('lists', () => {
  test.each(lists)('$name', ({ path, user, project, value, closed }) => {
    const setting = merge({ user, project }).manifest.settings.get(path)!
    expect(plainValue(setting.value)).toEqual(value)
    expect(setting.closed ?? false).toBe(closed ?? false)
  })
})

test('no order of layers loses a deny', () => {
  const rule = fc.constantFrom('rm:*', 'git push:*', 'curl:*', 'dd')
  const path = fc.constantFrom('a/**', 'b', 'c/*.x')
  const manifest = fc.record({
    allow: fc.uniqueArray(fc.constantFrom('ls:*', 'cat:*')),
    deny: fc.uniqueArray(rule),
    reads: fc.uniqueArray(path),
    hosts: fc.uniqueArray(fc.constantFrom('a.com', 'b.com')),
    texts: fc.uniqueArray(fc.constantFrom('rm -rf', 'mkfs')),
    level: fc.constantFrom('allow', 'ask', 'deny'),
  })
  fc.assert(
    fc.property(manifest, manifest, manifest, (...written) => {
      const load = (index: number) => {
        const { allow, deny, reads, hosts, texts, level } = written[index]!
        const result = manifestFromObject({
          schema_version: 1,
          permission: { tools: { bash: level } },
          security: { deny_domains: hosts },
          shell_policy: { deny: texts },
          capabilities: {
            allow: { commands: { patterns: allow } },
            deny: { commands: { patterns: deny, domains: hosts }, read: { paths: reads }, write: { paths: reads } },
          },
        })
        return 'manifest' in result ? result.manifest : null
      }
      const merged = mergeLayers({ user: load(0), project: load(1), 'command-line': load(2) })
      const compiled = compileManifest(merged.manifest, { root: '/p', home: '/h', env: {} })
      if (!('policy' in compiled)) throw new Error('does not compile')
      const { policy } = compiled
      for (const { deny, reads, hosts, texts, level } of written) {
        for (const text of deny) expect(policy.commands.deny.map((entry) => entry.pattern.text)).toContain(text)
        for (const text of reads) expect(policy.reads.deny.map((entry) => entry.pattern.text)).toContain(text)
        for (const text of reads) expect(policy.writes.deny.map((entry) => entry.pattern.text)).toContain(text)
        for (const text of hosts) expect(policy.http.denied.map((entry) => entry.pattern.text)).toContain(text)
        for (const text of hosts)
          expect(policy.commands.deniedDomains.map((entry) => entry.pattern.text)).toContain(text)
        for (const text of texts) expect(policy.shellPolicy.deny.map((entry) => entry.value)).toContain(text)
        if (level === 'deny') expect(policy.tools.get('bash')?.value).toBe('deny')
      }
    }),
    { numRuns: 200 },
  )
})

test('the effective manifest shows every value with its origin, and loads again', () => {
  const { manifest } = merge({
    user: '[security]\npipes = false\n[agents.rev.tools]\nbash = "deny"\n',
    project: '[capabilities.allow.commands]\npatterns = ["ls", { command = "cat:*", prompt = true }]\n',
  })
  const values = effectiveValues(manifest)
  const by = new Map(values.map((value) => [value.path, value]))
  expect(by.get('security.pipes')).toMatchObject({ value: false, source: 'user.toml:3:1' })
  expect(by.get('security.compound')).toMatchObject({ value: true, source: 'built-in' })
  expect(by.get('agents.rev.tools.bash')).toMatchObject({ value: 'deny', source: 'user.toml:5:1' })
  const text = renderEffective(values)
  expect(text).toContain('  { command = "cat:*", prompt = true },  # project.toml:3:19')
  const again = loadManifest(text, 'shown.toml', { suffixes: tldtsSuffixes })
  expect('manifest' in again && effectiveValues(again.manifest).map(({ path, value }) => [path, value])).toEqual(
    values.map(({ path, value }) => [path, value]),
  )
  expect('manifest' in again && again.manifest.declared.has('capabilities.allow.read')).toBe(false)
})
