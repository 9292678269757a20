/** `[mcp_servers.NAME]`: what loads, what does not, and how a command becomes words. */

import { describe, expect, it } from 'vitest'
import { createRedactor } from '../scan/redact/redact.ts'
import { compileManifest } from './compile.ts'
import { splitWords } from './compile-servers.ts'
import { loadManifest } from './load.ts'
import type { Manifest } from './schema/manifest.ts'
import type { McpServerSetting } from './schema/settings.ts'
import { canonicalManifest } from './sign/canonical.ts'
import { reachDiff } from './sign/reach-diff.ts'
import { reachSummary } from './sign/reach-summary.ts'

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

const HEADERS = `[mcp_servers.a]
url = "https://mcp.example.com/mcp"
headers = ["X-Key: keychain:issues", "authorization: Bearer env:TOKEN", "x-file:file:~/keys/issues key"]`

it('headers name the source of each value, and nothing reads a file of one', () => {
  expect(servers(HEADERS)[0]!.headers).toMatchObject([
    { name: 'x-key', prefix: '', from: { kind: 'keychain', name: 'issues' } },
    { name: 'authorization', prefix: 'Bearer ', from: { kind: 'env', name: 'TOKEN' } },
    { name: 'x-file', prefix: '', from: { kind: 'file', name: '/home/me/keys/issues key' } },
  ])
  const compiled = compileManifest(manifest(HEADERS), { root: '/project', home: '/home/me', env: {} })
  const denied = 'policy' in compiled ? compiled.policy.reads.deny.map(({ pattern }) => pattern.absolute) : []
  expect(denied).toContain('/home/me/keys/issues key')
})

it('a header is shown before it is signed, with its source and without looking like a secret', () => {
  const [none, some] = [HEADERS.replace(/headers.*/, ''), HEADERS].map((body) => canonicalManifest(manifest(body))!)
  const { opens } = reachDiff(none!, some!)
  expect(opens.map(({ kind, text }) => [kind, createRedactor().redact(text)])).toContainEqual([
    'secret',
    'The MCP server is sent env:TOKEN as authorization.',
  ])
  expect(reachSummary(some!, []).lines).toContainEqual({
    label: 'opens secrets',
    items: expect.arrayContaining(['keychain:issues as X-Key to mcp.example.com']),
  })
})

it('a further host or variable of a server opens', () => {
  const of = (more: string) => canonicalManifest(manifest(`[mcp_servers.a]\ncommand = "x"\n${more}`))!
  expect(reachDiff(of('env_vars = ["A"]'), of('env_vars = ["A", "B"]')).opens).toHaveLength(1)
  expect(reachDiff(of('domains = ["a.example", "b.example"]'), of('domains = ["a.example"]')).closes).toHaveLength(1)
})

it('distinguishes unset files from an empty list', () => {
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
  ['a header without a source', '[mcp_servers.a]\nurl = "https://a.example/"\nheaders = ["x-key: abc"]', 'source'],
  ['two lines in a header', '[mcp_servers.a]\nurl = "https://a.example/"\nheaders = ["x-a: b\\nc env:X"]', 'source'],
  ['a header of Cordon', '[mcp_servers.a]\nurl = "https://a.example/"\nheaders = ["Host: env:X"]', 'Cordon sets'],
  ['headers for a program', '[mcp_servers.a]\ncommand = "x"\nheaders = ["x-key: env:X"]', 'no address'],
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
