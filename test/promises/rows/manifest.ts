/** M: the manifest. */

import { expect } from 'vitest'
import { bash, fetchOf, no, own, type PromiseRow, remote } from '../promise.ts'
import { NO_OWN_TOOLS, NO_WEB_TOOL } from './reasons.ts'

const WRITTEN_BEFORE = no('The manifest is written before a surface starts.')
/** It judges a manifest that is not signed as it is written, and says so: nothing runs on it. */
const AS_WRITTEN = own(async (place) => {
  const { err } = await place.cordon(['check', '--', 'true'])
  expect(err).toMatch(/not signed as it is now, so it has no effect yet/)
})

export const MANIFEST_ROWS: readonly PromiseRow[] = [
  {
    id: 'M1',
    promise:
      'One `cordon.toml`. All errors are reported together, each with its place, key and a suggestion. Nothing runs until it loads. A shadowed or contradicted rule is an error, a redundant one a warning. Every key has an effect on every surface.',
    shown: ['src/manifest/load.test.ts', 'src/manifest/check/lint.test.ts', 'test/contract/keys/keys.test.ts'],
    files: { 'cordon.toml': 'schema_version = 1\n[securty]\npipes = false\n' },
    refuses: /securty|does not load/,
  },
  {
    id: 'M1',
    promise: 'A rule that a denial contradicts is an error.',
    shown: ['src/manifest/check/lint.test.ts'],
    files: {
      'cordon.toml':
        'schema_version = 1\n[capabilities.allow.commands]\npatterns = ["git push:*"]\n[capabilities.deny.commands]\npatterns = ["git push:*"]\n',
    },
    refuses: /git push|does not load/,
  },
  {
    id: 'M1',
    promise: 'So is a granted host that the same file denies.',
    shown: ['src/manifest/load.test.ts'],
    files: {
      'cordon.toml':
        'schema_version = 1\n[http]\nallowed_hosts = ["a.example.com"]\n[security]\ndeny_domains = ["*.example.com"]\n',
    },
    refuses: /a\.example\.com|does not load/,
  },
  {
    id: 'M1',
    promise: 'A layer of the user that does not load stops everything too.',
    shown: ['src/manifest/load.test.ts'],
    files: { '$H/.config/cordon/cordon.toml': 'schema_version = 1\n[permission.tools]\nbash = "alow"\n' },
    refuses: /alow|does not load/,
  },
  {
    id: 'M2',
    promise:
      'Layers from built-in to command line. A deny of any layer applies, and a project only tightens what the user set.',
    shown: ['src/manifest/layers.test.ts', 'src/manifest/compile.test.ts'],
    files: {
      '$H/.config/cordon/cordon.toml':
        'schema_version = 1\n[permission.tools]\n"mcp__s__drop" = "deny"\n[capabilities.deny.commands]\npatterns = ["whoami:*"]\n',
    },
    manifest: { permission: { tools: { bash: 'allow' } } },
    tries: [bash('whoami', { is: 'deny' }), bash('true', { is: 'allow' })],
    on: { gateway: { tries: [remote('drop', { is: 'deny' })] } },
  },
  {
    id: 'M2',
    promise: 'What the user set in [security] and [http] a project cannot loosen.',
    shown: ['src/manifest/layers.test.ts'],
    files: {
      '$H/.config/cordon/cordon.toml':
        'schema_version = 1\n[security]\npipes = false\nredirects = "none"\ndeny_domains = ["a.example.com"]\n[http]\nallowed_hosts = ["example.org"]\n',
    },
    manifest: {
      permission: { tools: { bash: 'allow', mcp__s__get: 'allow' } },
      security: { pipes: true, redirects: 'all' },
      http: { allowed_hosts: ['example.org', 'example.com'] },
    },
    tries: [
      bash('echo a | cat', { is: 'deny' }),
      bash('echo a 2>&1', { is: 'deny' }),
      fetchOf('https://example.com/', { is: 'deny' }),
    ],
    on: {
      gateway: { tries: [remote('get', { is: 'allow' }), remote('get', { is: 'deny' }, 'http://a.example.com/')] },
    },
  },
  {
    id: 'M3',
    promise:
      'A manifest takes effect after a person has signed what it grants. An unsigned or changed one is not used at all. Without a manifest a hook runs commands in the sandbox in contained mode, and asks stay with the agent.',
    shown: [
      'test/contract/hooks/protocol.test.ts',
      'src/manifest/sign/sign.test.ts',
      'test/e2e/trust.test.ts',
      'test/attacks/trust/repository.test.ts',
    ],
    files: { 'cordon.toml': 'schema_version = 1\n[permission.tools]\nbash = "allow"\n' },
    refuses: /sign/,
    on: { check: AS_WRITTEN, page: no('It shows what a manifest would decide, signed or not: nothing runs on it.') },
  },
  {
    id: 'M4',
    promise: '`cordon init` writes a commented manifest from what it finds in the project.',
    shown: ['src/manifest/init/init.test.ts'],
    files: { 'package.json': '{"name":"x","scripts":{"test":"true"}}' },
    on: {
      ...Object.fromEntries(
        ['session', 'run', 'hook', 'mcp', 'gateway', 'chat', 'acp', 'page'].map((name) => [name, WRITTEN_BEFORE]),
      ),
      check: own(async (place) => {
        expect((await place.cordon(['init'])).code).toBe(0)
        expect(place.text('cordon.toml')).toMatch(/^mode = "contained"/m)
        expect((await place.cordon(['check', '--', 'npm test'])).code).toBe(0)
      }),
    },
  },
  {
    id: 'M5',
    promise: 'Rules carry examples that are checked at load. A recorded history can be replayed against a proposal.',
    shown: ['src/manifest/load.test.ts', 'test/e2e/check.test.ts'],
    files: {
      'cordon.toml':
        'schema_version = 1\n[capabilities.deny.commands]\npatterns = [{ command = "make:*", match = ["cmake"] }]\n',
    },
    refuses: /cmake|does not load/,
  },
  {
    id: 'M6',
    promise: 'Variables in host entries expand at start. A list written non-empty stays restrictive.',
    shown: ['src/manifest/compile.test.ts'],
    manifest: { http: { allowed_hosts: ['$' + '{CORDON_NOBODY_SET_THIS}'] } },
    tries: [fetchOf('https://example.com/', { is: 'deny' })],
    on: { run: NO_WEB_TOOL, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'M6',
    promise: 'So do those of denied hosts.',
    shown: ['src/manifest/compile.test.ts'],
    env: { CORDON_SOME_HOST: 'bad.example.com' },
    manifest: {
      permission: { tools: { bash: 'allow', mcp__s__get: 'allow' } },
      security: { deny_domains: ['$' + '{CORDON_SOME_HOST}', '$' + '{CORDON_NOBODY_SET_THIS}'] },
    },
    tries: [bash('curl http://bad.example.com/', { is: 'deny' }), fetchOf('http://bad.example.com/', { is: 'deny' })],
    on: { gateway: { tries: [remote('get', { is: 'deny' }, 'http://bad.example.com/')] } },
  },
]
