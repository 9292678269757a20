/** Rules for tools of MCP servers: which calls they cover, and the ways around them. */

import { describe, expect, it } from 'vitest'
import { soleDecision } from '../policy/decision.ts'
import { judgeMcpCall, mcpCallOf } from '../policy/mcp-rules.ts'
import type { Verdict } from '../policy/order.ts'
import { compileManifest } from './compile.ts'
import { loadManifest } from './load.ts'

const CONTEXT = { root: '/project', home: '/home/you', env: {} }

function decided(
  toml: string,
  tool: string,
  input: Record<string, unknown> | null = {},
  hints: Record<string, unknown> | null = {},
  base: Verdict = 'ask',
  code: 'level-ask' | 'needs-confirmation' = 'level-ask',
): Verdict {
  const loaded = loadManifest(`schema_version = 1\n${toml}`, 'cordon.toml')
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const compiled = compileManifest(loaded.manifest, CONTEXT)
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems))
  const { policy, session } = compiled
  const decision = soleDecision(base, { kind: 'tool', text: tool }, { code, message: '' })
  const links: Readonly<Record<string, string>> = { '/project/docs/link': '/etc/passwd' }
  const called = `mcp__hub__${tool}`
  const canonical = (path: string) => links[path] ?? path
  return judgeMcpCall(decision, called, mcpCallOf(called, session.mcpRules, { input, hints, canonical }), policy)
    .decision
}

const TOOLS = `[mcp.hub]
tools = [
  "get_*",
  { tool = "delete_*", level = "deny" },
  { tool = "get_secret*", level = "ask" },
  { tool = "create", args = ["repo=acme/*"] },
  { tool = "write", args = ["path=./docs/**"] },
  { tool = "show", args = ["uri=./**"] },
  { tool = "fetch", args = ["url=https://api.example.com/v1/**"] },
  { tool = "note", level = "deny", args = ["url=https://evil.example/**"] },
  { tool = "send", level = "deny", args = ["to=*@evil.example"] },
]
[capabilities.deny.read]
paths = ["docs/private/**"]
`

describe('by name and argument', () => {
  const rows: readonly (readonly [note: string, tool: string, input: Record<string, unknown> | null, is: Verdict])[] = [
    ['a glob of names', 'get_issue', {}, 'allow'],
    ['no entry', 'list', {}, 'ask'],
    ['a denial', 'delete_repo', {}, 'deny'],
    ['the strictest of two', 'get_secrets', {}, 'ask'],
    ['a text that matches', 'create', { repo: 'acme/site' }, 'allow'],
    ['a list of texts', 'create', { repo: ['acme/site', 'acme/app'] }, 'allow'],
    ['attack: another in the list', 'create', { repo: ['acme/site', 'evil/app'] }, 'ask'],
    ['attack: an empty list', 'create', { repo: [] }, 'ask'],
    ['attack: without the argument', 'create', {}, 'ask'],
    ['attack: an object in its place', 'create', { repo: { toString: 'acme/site' } }, 'ask'],
    ['attack: dots', 'create', { repo: 'acme/../evil' }, 'ask'],
    ['attack: an encoded slash', 'create', { repo: 'acme/%2e%2e%2fevil' }, 'ask'],
    ['attack: one segment more', 'create', { repo: 'acme/site/../../evil' }, 'ask'],
    ['attack: a sign that reads as another', 'create', { repo: 'acme/ﬁ\u202e' }, 'ask'],
    ['nobody knows the input', 'create', null, 'ask'],
    ['a path below', 'write', { path: 'docs/a.md' }, 'allow'],
    ['the same, absolute', 'write', { path: '/project/docs/a.md' }, 'allow'],
    ['attack: out of it', 'write', { path: 'docs/../.git/hooks/pre-commit' }, 'ask'],
    ['attack: a link', 'write', { path: 'docs/link' }, 'ask'],
    ['attack: a secret in it', 'write', { path: 'docs/.env' }, 'ask'],
    ['attack: denied by the file rules', 'write', { path: 'docs/private/a' }, 'ask'],
    ['attack: an address of a file', 'write', { path: 'file:///etc/docs/../passwd' }, 'ask'],
    ['attack: the same, read from the root', 'show', { uri: 'file:///etc/passwd' }, 'ask'],
    ['a file of the root', 'show', { uri: 'a.md' }, 'allow'],
    ['attack: the home of another', 'write', { path: '~root/../project/docs/a' }, 'ask'],
    ['attack: a variable in a path', 'write', { path: 'docs/${HOME}/a' }, 'ask'],
    ['attack: an encoded way out of a path', 'write', { path: 'docs/%2e%2e/a' }, 'ask'],
    ['a dollar in a name', 'write', { path: 'docs/a.$id.md' }, 'allow'],
    ['an address below', 'fetch', { url: 'https://api.example.com/v1/items' }, 'allow'],
    ['attack: another host', 'fetch', { url: 'https://api.example.com.evil.example/v1/items' }, 'ask'],
    ['attack: a name before the host', 'fetch', { url: 'https://api.example.com@evil.example/v1/items' }, 'ask'],
    ['attack: out of the path', 'fetch', { url: 'https://api.example.com/v1/../admin' }, 'ask'],
    [
      'attack: out of the path, as some servers read it',
      'fetch',
      { url: 'https://api.example.com/v1/..;/admin' },
      'ask',
    ],
    ['attack: without TLS', 'fetch', { url: 'http://api.example.com/v1/items' }, 'ask'],
    ['attack: another port', 'fetch', { url: 'https://api.example.com:80/v1/items' }, 'ask'],
    ['a denied address', 'note', { url: 'https://evil.example/x' }, 'deny'],
    ['attack: a denial is not evaded by another scheme', 'note', { url: 'http://evil.example/x' }, 'deny'],
    ['attack: nor by another port', 'note', { url: 'https://evil.example:444/x' }, 'deny'],
    ['attack: the argument twice, in two cases', 'write', { path: 'docs/a', Path: '/etc/passwd' }, 'ask'],
    ['attack: a denied argument in another case', 'send', { To: 'a@evil.example' }, 'deny'],
    ['attack: several paths in one', 'write', { path: 'docs/{a,../../etc/passwd}' }, 'ask'],
    ['attack: a list of paths in a text', 'write', { path: 'docs/a,/etc/passwd' }, 'ask'],
    ['attack: a command in a path', 'write', { path: 'docs/$(id)' }, 'ask'],
    ['attack: an encoded way out', 'fetch', { url: 'https://api.example.com/v1/%2e%2e/admin' }, 'ask'],
    ['a denial by argument', 'send', { to: 'a@evil.example' }, 'deny'],
    ['the argument is another', 'send', { to: 'a@good.example' }, 'ask'],
    ['attack: a denial is not evaded by a list', 'send', { to: ['a@good.example', 'a@evil.example'] }, 'deny'],
    ['attack: nor in another case', 'send', { to: 'a@EVIL.example' }, 'deny'],
    ['attack: nor by a slash more', 'send', { to: '/a@evil.example' }, 'deny'],
    ['attack: nor by blanks around it', 'send', { to: ' a@evil.example ' }, 'deny'],
    ['attack: nor by a list in a text', 'send', { to: 'a@evil.example,a@good.example' }, 'deny'],
    ['attack: nor by a name around it', 'send', { to: 'Ann <a@evil.example>, b@good.example' }, 'deny'],
    ['a list of others', 'send', { to: 'a@good.example, b@good.example' }, 'ask'],
    ['attack: a list in a text is not what was granted', 'create', { repo: 'acme/site,evil' }, 'ask'],
    ['attack: another case is not what was granted', 'create', { repo: 'ACME/site' }, 'ask'],
    ['attack: nor by what cannot be read', 'send', { to: 'a@evil.example\u200b' }, 'deny'],
  ]
  it.each(rows)('%s', (_, tool, input, is) => {
    expect(decided(TOOLS, tool, input)).toBe(is)
  })

  it.each([
    ['a denial of the level applies', 'get_issue', 'deny', 'level-ask', 'deny'],
    ['what was asked for another reason is still asked', 'get_issue', 'ask', 'needs-confirmation', 'ask'],
    ['a denial beats a level of allow', 'delete_repo', 'allow', 'level-ask', 'deny'],
    ['an ask beats a level of allow', 'get_secrets', 'allow', 'level-ask', 'ask'],
  ] as const)('%s', (_, tool, base, code, is) => {
    expect(decided(TOOLS, tool, {}, {}, base, code)).toBe(is)
  })
})

describe('by hint', () => {
  const hints = (trust: boolean) => `[mcp.hub]\ntrust_hints = ${trust}\nread_only = "allow"\ndestructive = "deny"\n`
  it.each([
    ['only reads', { readOnlyHint: true }, 'allow', 'ask'],
    ['destroys', { destructiveHint: true }, 'deny', 'ask'],
    ['does not say', {}, 'deny', 'ask'],
    ['says that it does not destroy', { destructiveHint: false }, 'ask', 'ask'],
    ['a hint that is not a truth value', { readOnlyHint: 'true' }, 'deny', 'ask'],
    ['was not asked', null, 'ask', 'ask'],
  ] as const)('a tool that %s', (_, said, trusted, untrusted) => {
    expect([decided(hints(true), 'x', {}, said), decided(hints(false), 'x', {}, said)]).toEqual([trusted, untrusted])
  })
})
