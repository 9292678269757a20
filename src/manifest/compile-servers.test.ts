/** `[mcp_servers.NAME]`: what loads, what does not, and how a command becomes words. */

import { describe, expect, it } from 'vitest'
import { compileManifest } from './compile.ts'
import { splitWords } from './compile-servers.ts'
import { loadManifest } from './load.ts'
import type { Manifest } from './schema/manifest.ts'
import type { McpServerSetting } from './schema/settings.ts'
import { canonicalManifest } from './sign/canonical.ts'
import { reachDiff } from './sign/reach-diff.ts'

function manifest(body: string): Manifest {
  const loaded = loadManifest(`schema_version = 1\n${body}`, 'cordon.toml')
  if ('problems' in loaded) throw new Error(loaded.problems.map((problem) => problem.message).join('; '))
  return loaded.manifest
}

function servers(body: string): readonly McpServerSetting[] {
  const compiled = compileManifest(manifest(body), { root: '/project', home: '/home/me', env: {} })
  if ('problems' in compiled) throw new Error(compiled.problems.map((problem) => problem.message).join('; '))
  return compiled.session.mcpServers
}

describe('splitWords', () => {
  it.each([
    ['npx -y some-server .', ['npx', '-y', 'some-server', '.']],
    ['  node   "a b.mjs" \'c "d"\'  ', ['node', 'a b.mjs', 'c "d"']],
    ['node --flag="a b"x', ['node', '--flag=a bx']],
    ["run ''", ['run', '']],
  ])('%j', (text, words) => expect(splitWords(text)).toEqual(words))

  it.each(['a | b', 'a; b', 'a && b', 'a > b', '$HOME/x', 'a `b`', '"a $b"', 'a \\ b', '"open', "it's"])(
    '%j is for a shell',
    (text) => expect(splitWords(text)).toBeNull(),
  )
})

it('gives a server its own grants and nothing of the commands', () => {
  const [server] = servers(`
[[secrets]]
name = "TOKEN"
source = "env:X"
hosts = ["api.example.com"]
[capabilities.allow.commands]
default_domains = ["example.org"]
default_env_vars = ["CI"]
[mcp_servers.files]
command = "npx files"
read = ["docs/**"]
env_vars = ["LANG"]
domains = ["api.example.com"]
secrets = ["TOKEN"]
`)
  expect(server).toMatchObject({
    name: 'files',
    argv: ['npx', 'files'],
    files: { read: [{ pattern: { absolute: '/project/docs/**' } }], write: [] },
    domains: [{ pattern: { host: 'api.example.com' } }],
    envVars: ['LANG'],
    secrets: ['TOKEN'],
    requests: ['elicitation'],
  })
})

it('tells unset files from none', () => {
  expect(servers('[mcp_servers.a]\ncommand = "x"')[0]!.files).toBeNull()
  expect(servers('[mcp_servers.a]\ncommand = "x"\nread = []')[0]!.files).toEqual({ read: [], write: [] })
  expect(servers('[mcp_servers.a]\ncommand = "x"\nrequests = []')[0]!.requests).toEqual([])
})

it.each([
  ['no command', '[mcp_servers.a]\nread = []', 'no command'],
  ['a command for a shell', '[mcp_servers.a]\ncommand = "x | y"', 'no command that can be run'],
  ['a name that contains a separator', '[mcp_servers.a__b]\ncommand = "x"', 'cannot be the name'],
  ['a name in capitals', '[mcp_servers.Files]\ncommand = "x"', 'cannot be the name'],
  ['a secret that is not there', '[mcp_servers.a]\ncommand = "x"\nsecrets = ["TOKEN"]', 'no secret'],
  ['an invalid request', '[mcp_servers.a]\ncommand = "x"\nrequests = ["root"]', 'not one of the choices'],
  ['an invalid key', '[mcp_servers.a]\ncommand = "x"\nhosts = []', 'hosts'],
])('does not load with %s', (_, body, said) => expect(() => servers(body)).toThrow(said))

it('another order of words is another manifest to sign', () => {
  const [one, two] = ['a b', 'b a'].map((words) =>
    canonicalManifest(manifest(`[mcp_servers.s]\ncommand = "x ${words}"`)),
  )
  expect(one).not.toBe(two)
  expect(reachDiff(null, one!).opens.map(({ subject }) => subject)).toEqual(['mcp_servers.s.command'])
  expect(reachDiff(one!, two!).changes).toHaveLength(1)
})
