import { describe, expect, it } from 'vitest'
import { tldtsSuffixes } from '../../hosts/suffix.ts'
import { loadManifest } from '../load.ts'
import { canonicalManifest } from './canonical.ts'
import { reachDiff } from './reach-diff.ts'
import { reachSummary, widestFirst } from './reach-summary.ts'

function canonical(toml: string): string {
  const result = loadManifest(`schema_version = 1\n${toml}`, 'cordon.toml', { suffixes: tldtsSuffixes })
  if (!('manifest' in result)) throw new Error(JSON.stringify(result.problems))
  return canonicalManifest(result.manifest)
}

const summary = (toml: string) => reachSummary(canonical(toml), [])
const items = (toml: string, label: string) => summary(toml).lines.find((line) => line.label === label)?.items ?? []
const many = (make: (index: number) => string) => Array.from({ length: 60 }, (_, index) => JSON.stringify(make(index)))

describe('the headline', () => {
  it('has hosts from everywhere, wildcards before names', () => {
    const toml = `
[capabilities.allow.commands]
default_domains = [${many((index) => `a${index}.example.com`).join(', ')}]
patterns = [{ command = "zz", domains = ["*.evil.example"] }]
[mcp_servers.x]
command = "y"
domains = ["mcp.example"]
[[secrets]]
name = "TOKEN"
source = "env:T"
hosts = ["api.example"]
`
    const found = items(toml, 'reaches')
    expect(found[0]).toBe('*.evil.example')
    expect(found).toHaveLength(62)
    // A secret goes with requests to its hosts, and opens none.
    expect(found).not.toContain('api.example')
    expect(items(toml, 'opens secrets')).toEqual(['TOKEN to api.example'])
    expect(items(toml, 'starts servers')).toEqual(['x'])
  })

  it('has the widest folder first, wherever it was written', () => {
    const toml = `[capabilities.allow.write]
paths = [${many((index) => `src/deep/folder/${index}/**`).join(', ')}]
[capabilities.allow.commands]
patterns = [{ command = "true", paths = ["~/work/**"] }]
[capabilities.allow]
additional_directories = ["/srv/shared/data"]
`
    expect(items(toml, 'writes').slice(0, 2)).toEqual(['~/work/**', '/srv/shared/data'])
  })

  it('has open and short commands first', () => {
    const toml = `[capabilities.allow.commands]\npatterns = [${many((index) => `npm run step${index}`).join(', ')}, "gh:*", { command = "asked:*", prompt = true }]`
    expect(items(toml, 'runs unasked')[0]).toBe('gh:*')
    expect(items(toml, 'runs unasked')).not.toContain('asked:*')
  })

  it('has files that are secrets, and variables', () => {
    const toml = `[capabilities.allow.read]\npaths = ["**", ".env"]\n[capabilities.allow.commands]\ndefault_env_vars = ["AWS_SECRET_ACCESS_KEY"]`
    expect(items(toml, 'opens secrets')).toEqual(['.env', '$AWS_SECRET_ACCESS_KEY'])
  })
})

const alarming: readonly (readonly [note: string, toml: string, says: RegExp])[] = [
  ['auto mode', '[permission]\nmode = "auto"', /EVERYTHING/],
  ['auto_accept', '[permission]\nauto_accept = true', /EVERY ask/],
  ['every command allowed', '[permission.tools]\nbash = "allow"', /EVERY command/],
  ['an agent in auto mode', '[agents.x]\nmode = "auto"', /agent "x": EVERYTHING/],
  ['the home directory shown', '[sandbox.os]\ncommand_fs = "permissive"', /HOME DIRECTORY/],
  ['everything shown', '[sandbox.os]\ncommand_fs = "all"', /ALL FILES/],
  ['no masks', '[sandbox.os]\ncommand_mask_secrets = false', /NOT HIDDEN/],
  ['foreign authorities', '[sandbox.os]\nca_files = ["~/ca.pem"]', /trusted for every host/],
  [
    'docker’s socket',
    '[capabilities.allow.commands]\npatterns = [{ command = "docker ps", domains = ["unix:/run/docker.sock"] }]',
    /"\/run\/docker\.sock": .*NO SANDBOX APPLIES/,
  ],
  [
    'an agent of keys',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the manifest's own syntax.
    '[capabilities.allow.commands]\ndefault_domains = ["unix:${SSH_AUTH_SOCK}"]',
    /EVERY KEY/,
  ],
  ['the home directory written', '[capabilities.allow.write]\npaths = ["~/**"]', /more than any project/],
  [
    'somebody’s home directory',
    '[capabilities.allow]\nadditional_directories = ["/home/you"]',
    /more than any project/,
  ],
  ['the system', '[capabilities.allow.commands]\npatterns = [{ command = "x", paths = ["/etc/**"] }]', /more than any/],
  ['every tool of a server', '[mcp.hub]\ntools = ["*"]', /EVERY tool of the MCP server "hub"/],
  ['what may destroy', '[mcp.hub]\ntrust_hints = true\ndestructive = "allow"', /EVERY tool of the MCP server/],
  ['this machine', '[http]\nallow_private_hosts = true', /private addresses/],
]

describe('what makes a sandbox a formality is said by itself', () => {
  it.each(alarming)('%s', (_, toml, says) => {
    expect(summary(toml).alarms).toEqual([expect.stringMatching(says)])
  })

  it('and nothing of an ordinary manifest is', () => {
    expect(summary('[permission]\nmode = "contained"\n[capabilities.allow.write]\npaths = ["src/**"]').alarms).toEqual(
      [],
    )
  })
})

it('lists the tools of MCP servers that need no question, and hides none of two entries behind the other', () => {
  const toml = `[mcp.hub]
trust_hints = true
read_only = "allow"
tools = ["get_*", { tool = "create", args = ["repo=acme/*"] }, { tool = "create", args = ["repo=other/*"] }, { tool = "drop", level = "deny" }]`
  expect(
    summary(toml)
      .lines.find(({ label }) => label === 'calls unasked')
      ?.items.toSorted(),
  ).toEqual([
    'hub: create repo=acme/*',
    'hub: create repo=other/*',
    'hub: get_*',
    "hub: what only reads, by the server's own word",
  ])
  const opened = reachDiff(null, canonical(toml)).opens.map(({ subject }) => subject)
  expect(opened.filter((subject) => subject.startsWith('create'))).toEqual([
    'create (repo=acme/*)',
    'create (repo=other/*)',
  ])
})

it('changes are read with the widest first', () => {
  const toml = `
[permission]
mode = "auto"
[capabilities.allow.commands]
patterns = ["npm test", "gh:*"]
default_domains = ["b.example", "*.a.example"]
[capabilities.allow.write]
paths = ["src/**", "~/x/**"]
`
  expect(widestFirst(reachDiff(null, canonical(toml)).opens).map(({ subject }) => subject)).toEqual([
    'permission.mode',
    '~/x/**',
    'src/**',
    '*.a.example',
    'b.example',
    'gh:*',
    'npm test',
  ])
})
