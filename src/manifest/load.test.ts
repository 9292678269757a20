// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the manifest's own syntax.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import { pinsScript } from '../shell/inspect/interpreters.ts'
import { type LoadOptions, type LoadResult, loadManifest, manifestFromObject, openManifest } from './load.ts'
import type { PathEntry } from './schema/manifest.ts'
import { itemsOf } from './schema/manifest.ts'
import { renderProblem } from './toml/problem.ts'

const OPTIONS: LoadOptions = {
  suffixes: tldtsSuffixes,
  pinsScript,
  bundles: ['git', 'npm'],
  matches: (pattern, command) => command.startsWith(pattern.words.join(' ')),
}

/** The text below `schema_version = 1`, so that its first line is line 2. */
function load(text: string, options: LoadOptions = OPTIONS): LoadResult {
  return loadManifest(`schema_version = 1\n${text}`, 'cordon.toml', options)
}

function errorsOf(result: LoadResult): string[] {
  return 'problems' in result
    ? result.problems.map((problem) => `${problem.line}:${problem.column} ${problem.code} ${problem.key}`)
    : []
}

function warningsOf(result: LoadResult): string[] {
  return result.warnings.map((warning) => `${warning.line}:${warning.column} ${warning.code} ${warning.key}`)
}

const allow = (patterns: string): string => `[capabilities.allow.commands]\npatterns = [${patterns}]\n`
const deny = (patterns: string): string => `[capabilities.deny.commands]\npatterns = [${patterns}]\n`
const reads = (paths: string): string => `[capabilities.allow.read]\npaths = [${paths}]\n`
const noReads = (paths: string): string => `[capabilities.deny.read]\npaths = [${paths}]\n`

const errors: readonly { name: string; text: string; errors: string[]; suggestion?: string; note: string }[] = [
  {
    name: 'unknown key',
    text: '[security]\npipe = true\n',
    errors: ['3:1 unknown-key security.pipe'],
    suggestion: 'did you mean security.pipes?',
    note: '',
  },
  {
    name: 'key in the wrong section',
    text: '[limits]\npipes = true\n',
    errors: ['3:1 unknown-key limits.pipes'],
    suggestion: 'did you mean security.pipes?',
    note: 'the right section is named',
  },
  {
    name: 'unknown section',
    text: '[permissions]\nmode = "plan"\n',
    errors: ['2:2 unknown-key permissions'],
    suggestion: 'did you mean permission?',
    note: '',
  },
  {
    name: 'unknown field',
    text: allow('{ command = "ls", prmpt = true }'),
    errors: ['3:31 unknown-key capabilities.allow.commands.patterns[0].prmpt'],
    suggestion: 'did you mean prompt?',
    note: '',
  },
  {
    name: 'a grant field in a deny',
    text: deny('{ command = "ls", domains = ["a.com"] }'),
    errors: ['3:31 unknown-key capabilities.deny.commands.patterns[0].domains'],
    note: 'it would have no effect',
  },
  {
    name: 'unknown choice',
    text: '[security]\nredirects = "alll"\n',
    errors: ['3:13 bad-value security.redirects'],
    suggestion: 'did you mean "all"?',
    note: '',
  },
  {
    name: 'misspelt tool',
    text: '[permission.tools]\nbahs = "deny"\n',
    errors: ['3:1 unknown-key permission.tools.bahs'],
    note: 'a deny that protects nothing',
  },
  {
    name: 'text for a boolean',
    text: '[security]\npipes = "no"\n',
    errors: ['3:9 wrong-type security.pipes'],
    suggestion: 'write false without quotes',
    note: '',
  },
  {
    name: 'text for a list',
    text: '[shell_policy]\ndeny = "rm"\n',
    errors: ['3:8 wrong-type shell_policy.deny'],
    suggestion: 'put it in [ ]',
    note: '',
  },
  { name: 'table for a key', text: '[security.pipes]\n', errors: ['2:1 wrong-type security.pipes'], note: '' },
  { name: 'value for a section', text: 'security = 1\n', errors: ['2:12 wrong-type security'], note: '' },
  {
    name: 'number in a list of texts',
    text: '[shell_policy]\ndeny = ["a", 5]\n',
    errors: ['3:14 wrong-type shell_policy.deny[1]'],
    note: '',
  },
  {
    name: 'out of range',
    text: '[agents.a]\ntrust_score = 1.5\n[sandbox.os]\ndev_server_ports = [0, 70000]\n',
    errors: [
      '3:15 bad-value agents.a.trust_score',
      '5:21 bad-value sandbox.os.dev_server_ports[0]',
      '5:24 bad-value sandbox.os.dev_server_ports[1]',
    ],
    note: '',
  },
  {
    name: 'nonsense measures',
    text: '[limits]\nmemory = "lots"\ncommand_timeout = -1\nmax_output_bytes = nan\n',
    errors: [
      '3:10 bad-value limits.memory',
      '4:19 bad-value limits.command_timeout',
      '5:20 bad-value limits.max_output_bytes',
    ],
    note: '',
  },
  {
    name: 'bad globs',
    text: reads('"src/{a,b}", "a**b", "", "!x", { path = ".", files = ["a/b"] }'),
    errors: [
      '3:10 bad-path capabilities.allow.read.paths[0]',
      '3:23 bad-path capabilities.allow.read.paths[1]',
      '3:31 bad-path capabilities.allow.read.paths[2]',
      '3:35 bad-path capabilities.allow.read.paths[3]',
      '3:64 bad-path capabilities.allow.read.paths[4].files[0]',
    ],
    note: '',
  },
  {
    name: 'bad hosts',
    text: '[http]\nallowed_hosts = ["*", "*.com", "*.github.io", "https://a.com", "${A"]\n',
    errors: [
      '3:18 bad-host http.allowed_hosts[0]',
      '3:23 bad-host http.allowed_hosts[1]',
      '3:32 bad-host http.allowed_hosts[2]',
      '3:47 bad-host http.allowed_hosts[3]',
      '3:64 bad-host http.allowed_hosts[4]',
    ],
    note: 'suffixes of the private section too',
  },
  {
    name: 'bad commands',
    text: allow('"git *", "a | b", ":*", "\'x"'),
    errors: [
      '3:13 bad-command capabilities.allow.commands.patterns[0]',
      '3:22 bad-command capabilities.allow.commands.patterns[1]',
      '3:31 bad-command capabilities.allow.commands.patterns[2]',
      '3:37 bad-command capabilities.allow.commands.patterns[3]',
    ],
    suggestion: 'did you mean "git:*"?',
    note: '',
  },
  {
    name: 'duplicate key',
    text: '[security]\npipes = true\npipes = false\n',
    errors: ['4:1 duplicate-key pipes'],
    note: '',
  },
  {
    name: 'same command allowed and denied',
    text: `${allow('"git push:*"')}${deny('"git push:*"')}`,
    errors: ['3:13 contradiction capabilities.allow.commands.patterns[0]'],
    note: '',
  },
  {
    name: 'exact command allowed and denied',
    text: `${allow('"git push"')}${deny('"git  push"')}`,
    errors: ['3:13 contradiction capabilities.allow.commands.patterns[0]'],
    note: 'spelling does not hide it',
  },
  {
    name: 'grant covered by a deny',
    text: `${allow('"git push origin"')}${deny('"git:*"')}`,
    errors: ['3:13 shadowed capabilities.allow.commands.patterns[0]'],
    note: '',
  },
  {
    name: 'command twice',
    text: allow('"ls:*", { command = "ls :*", prompt = true }'),
    errors: ['3:21 duplicate-rule capabilities.allow.commands.patterns[1]'],
    note: 'with other settings it is ambiguous, so an error as well',
  },
  {
    name: 'same path allowed and denied',
    text: `${reads('"a/**"')}${noReads('"./a/**"')}`,
    errors: ['3:10 contradiction capabilities.allow.read.paths[0]'],
    note: '',
  },
  {
    name: 'path covered by a denied directory',
    text: `${reads('"secrets/x/**"')}${noReads('"secrets"')}`,
    errors: ['3:10 shadowed capabilities.allow.read.paths[0]'],
    note: 'a denied directory denies what is below',
  },
  {
    name: 'path twice',
    text: reads('"a/**", "a/**"'),
    errors: ['3:18 duplicate-rule capabilities.allow.read.paths[1]'],
    note: '',
  },
  {
    name: 'text twice',
    text: '[shell_policy]\ndeny = ["rm", "rm"]\n',
    errors: ['3:15 duplicate-rule shell_policy.deny[1]'],
    note: '',
  },
  {
    name: 'host twice',
    text: '[http]\nallowed_hosts = ["a.com", "A.com."]\n',
    errors: ['3:27 duplicate-rule http.allowed_hosts[1]'],
    note: 'by its canonical name',
  },
  {
    name: 'sudo',
    text: allow('"sudo:*"'),
    errors: ['3:13 refused-grant capabilities.allow.commands.patterns[0]'],
    note: '',
  },
  {
    name: 'interpreter',
    text: allow('"python3:*"'),
    errors: ['3:13 refused-grant capabilities.allow.commands.patterns[0]'],
    note: '',
  },
  {
    name: 'host allowed and denied',
    text: '[security]\ndeny_domains = ["a.com"]\n[http]\nallowed_hosts = ["a.com"]\n',
    errors: ['5:18 contradiction http.allowed_hosts[0]'],
    note: 'of one file; another layer may deny what a project allows',
  },
  {
    name: 'host of a command below a denied domain',
    text: '[security]\ndeny_domains = ["*.example.com"]\n[capabilities.allow.commands]\npatterns = [{ command = "x", domains = ["a.example.com"] }]\n',
    errors: ['5:41 shadowed capabilities.allow.commands.patterns[0].domains[0]'],
    note: '',
  },
  {
    name: 'host under a denied port',
    text: '[security]\ndeny_domains = ["*:25"]\n[http]\nallowed_hosts = ["a.com:25"]\n',
    errors: ['5:18 shadowed http.allowed_hosts[0]'],
    note: 'a denial of every host',
  },
  {
    name: 'variable allowed and denied',
    text: `${allow('{ command = "x", env_vars = ["A"] }')}default_env_vars = ["B"]\n[capabilities.deny.commands]\nenv_vars = ["A", "B"]\n`,
    errors: [
      '3:42 contradiction capabilities.allow.commands.patterns[0].env_vars[0]',
      '4:21 contradiction capabilities.allow.commands.default_env_vars[0]',
    ],
    note: '',
  },
  {
    name: 'command with words that the shell policy denies',
    text: `${allow('"git push:*"')}[shell_policy]\ndeny = ["GIT PUSH"]\n`,
    errors: ['3:13 shadowed capabilities.allow.commands.patterns[0]'],
    note: 'its text always has them',
  },
  {
    name: 'command without a text that the shell policy lets through',
    text: `${allow('"make build", "echo done", "ls:*"')}[shell_policy]\nallow = ["ECHO"]\n`,
    errors: ['3:13 shadowed capabilities.allow.commands.patterns[0]'],
    note: 'further words of an open pattern may have one',
  },
  {
    name: 'denied program behind a wrapper or a path',
    text: `${allow('"env -i X=1 git status", "/usr/bin/git log:*", "timeout 5 git push", "gitk"')}${deny('"git:*"')}`,
    errors: [
      '3:13 shadowed capabilities.allow.commands.patterns[0]',
      '3:38 shadowed capabilities.allow.commands.patterns[1]',
      '3:60 shadowed capabilities.allow.commands.patterns[2]',
    ],
    note: 'a denial applies inside',
  },
  {
    name: 'denied host of a secret and of a server',
    text: '[security]\ndeny_domains = ["*.example.com"]\n[[secrets]]\nname = "T"\nsource = "env:T"\nhosts = ["a.example.com"]\n[mcp_servers.s]\ncommand = "x"\ndomains = ["b.example.com"]\n',
    errors: ['7:10 shadowed secrets[0].hosts[0]', '10:12 shadowed mcp_servers.s.domains[0]'],
    note: '',
  },
  {
    name: 'tool of a server allowed and denied',
    text: '[permission.tools]\nmcp__s__c = "deny"\n[mcp.s]\ntools = ["a", { tool = "a", level = "deny" }, "b", { tool = "b", level = "deny", args = ["x=1"] }, "c"]\n',
    errors: ['5:10 contradiction mcp.s.tools[0]', '5:100 contradiction mcp.s.tools[4]'],
    note: 'a denial with a condition leaves the rest',
  },
  {
    name: 'failed examples',
    text: allow('{ command = "ls:*", match = ["ls -l", "cat x"], not_match = ["ls"] }'),
    errors: [
      '3:51 example-failed capabilities.allow.commands.patterns[0].match[1]',
      '3:74 example-failed capabilities.allow.commands.patterns[0].not_match[0]',
    ],
    note: 'at the example',
  },
  {
    name: 'unknown bundle',
    text: '[sandbox.os]\ncommand_tools = ["gti"]\n',
    errors: ['3:18 bad-value sandbox.os.command_tools[0]'],
    suggestion: 'did you mean "git"?',
    note: '',
  },
  {
    name: 'a shell as wrapper',
    text: '[sandbox.os]\nwrappers = ["bash"]\n',
    errors: ['3:13 refused-grant sandbox.os.wrappers[0]'],
    note: 'sh -c never lifts a bundle',
  },
  {
    name: 'secret without hosts',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = []\n',
    errors: ['5:9 bad-value secrets[0].hosts'],
    note: '',
  },
  {
    name: 'secret in no query parameter',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = ["a.com"]\nquery = "key=1&x"\n',
    errors: ['6:9 bad-value secrets[0].query'],
    note: 'the proxy compares the parameter as it is written',
  },
  {
    name: 'secret without a source',
    text: '[[secrets]]\nname = "A"\nhosts = ["a.com"]\n',
    errors: ['2:1 missing-key secrets[0]'],
    note: '',
  },
  {
    name: 'secret twice',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = ["a.com"]\n[[secrets]]\nname = "A"\nsource = "env:B"\nhosts = ["b.com"]\n',
    errors: ['6:1 duplicate-rule secrets[1]'],
    note: '',
  },
  {
    name: 'login to a host without its port',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = ["db.example.org:5432", "db.example.org"]\nlogin = "postgres"\n',
    errors: ['5:33 refused-grant secrets[0].hosts[1]'],
    note: 'the port says where the protocol is spoken',
  },
  {
    name: 'login beside a header',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = ["db.example.org:6379"]\nlogin = "redis"\nheader = "x-key"\n',
    errors: ['2:1 refused-grant secrets[0]'],
    note: 'a login is not a request of HTTP',
  },
  {
    name: 'login of an unknown database',
    text: '[[secrets]]\nname = "A"\nsource = "env:A"\nhosts = ["db.example.org:3306"]\nlogin = "mysql"\n',
    errors: ['6:9 bad-value secrets[0].login'],
    note: '',
  },
  {
    name: 'wildcard directory',
    text: '[capabilities.allow]\nadditional_directories = ["~/*"]\n',
    errors: ['3:27 bad-path capabilities.allow.additional_directories[0]'],
    note: '',
  },
  {
    name: 'several at once, in order',
    text: '[security]\npipe = 1\n[http]\nx =\n[limits]\nprocesses = "a"\n',
    errors: ['3:1 unknown-key security.pipe', '5:4 syntax ', '7:13 wrong-type limits.processes'],
    note: '',
  },
]

describe('load errors', () => {
  test.each(errors)('$name', ({ text, errors: expected, suggestion }) => {
    const result = load(text)
    expect(errorsOf(result)).toEqual(expected)
    if (suggestion !== undefined && 'problems' in result) expect(result.problems[0]!.suggestion).toBe(suggestion)
  })
})

const warnings: readonly { name: string; text: string; warnings: string[]; note: string }[] = [
  {
    name: 'grant within a broader grant',
    text: allow('"ls:*", "ls -l:*"'),
    warnings: ['3:21 shadowed capabilities.allow.commands.patterns[1]'],
    note: '',
  },
  {
    name: 'narrower with other settings',
    text: allow('"ls:*", { command = "ls -l", prompt = true }'),
    warnings: [],
    note: 'meant',
  },
  {
    name: 'path within a broader path',
    text: reads('"**", "src/**"'),
    warnings: ['3:16 shadowed capabilities.allow.read.paths[1]'],
    note: '',
  },
  {
    name: 'a named secret beside a broad grant',
    text: reads('"**", ".env"'),
    warnings: [],
    note: 'it opens the secret',
  },
  {
    name: 'denied files within a grant',
    text: `${reads('"**"')}${noReads('{ path = "**", files = ["*.key"] }')}`,
    warnings: [],
    note: '',
  },
  {
    name: 'host under a wildcard',
    text: '[http]\nallowed_hosts = ["*.nodejs.org", "x.nodejs.org"]\n',
    warnings: ['3:34 shadowed http.allowed_hosts[1]'],
    note: '',
  },
  {
    name: 'sudo with the flag',
    text: `[security]\nprivilege_wrappers = true\n${allow('"sudo:*"')}`,
    warnings: ['5:13 dangerous-setting capabilities.allow.commands.patterns[0]'],
    note: 'at every load',
  },
  {
    name: 'interpreter with the flag',
    text: `[security]\nsystem_python = true\n${allow('"python3:*"')}`,
    warnings: [],
    note: '',
  },
  {
    name: 'custom tool near a built-in',
    text: '[permission.tools]\nbahs = "deny"\n[tools.bahs]\n',
    warnings: [],
    note: 'declared',
  },
]

describe('warnings', () => {
  test.each(warnings)('$name', ({ text, warnings: expected }) => {
    const result = load(text)
    expect(errorsOf(result)).toEqual([])
    expect(warningsOf(result)).toEqual(expected)
  })
})

const wholes: readonly { name: string; input: string | Uint8Array; code: string; note: string }[] = [
  { name: 'empty', input: '', code: 'empty', note: '' },
  { name: 'blank', input: '\ufeff \n\n', code: 'empty', note: '' },
  { name: 'huge', input: 'a'.repeat(1_048_577), code: 'too-large', note: '' },
  { name: 'binary', input: 'schema_version = 1\n\0', code: 'not-text', note: '' },
  { name: 'not UTF-8', input: new Uint8Array([0x61, 0xff, 0xfe]), code: 'not-text', note: '' },
  { name: 'half a surrogate', input: 'a = "\ud800"', code: 'not-text', note: '' },
  { name: 'no version', input: '[security]\npipes = true\n', code: 'schema-version', note: '' },
  { name: 'another version', input: 'schema_version = 2\n', code: 'schema-version', note: '' },
  { name: 'version as text', input: 'schema_version = "1"\n', code: 'schema-version', note: '' },
  {
    name: 'deep arrays',
    input: `schema_version = 1\na = ${'['.repeat(100_000)}`,
    code: 'syntax',
    note: 'no stack overflow',
  },
  { name: 'deep keys', input: `schema_version = 1\n${'a.'.repeat(100_000)}b = 1`, code: 'syntax', note: '' },
  {
    name: 'endless list',
    input: `schema_version = 1\n[shell_policy]\ndeny = [${Array.from({ length: 6000 }, (_, i) => `"x${i}"`).join(',')}]`,
    code: 'too-large',
    note: '',
  },
]

test.each(wholes)('as a whole: $name', ({ input, code }) => {
  const result = loadManifest(input, 'cordon.toml', OPTIONS)
  expect('problems' in result ? result.problems.map((problem) => problem.code) : []).toContain(code)
})

test('bytes and text load the same', () => {
  const text = 'schema_version = 1\n[shell_policy]\ndeny = ["é"]\n'
  const [a, b] = [loadManifest(text, 'f', OPTIONS), loadManifest(new TextEncoder().encode(text), 'f', OPTIONS)]
  expect('manifest' in a).toBe(true)
  expect(a).toEqual(b)
})

test('the object form names key paths', () => {
  const result = manifestFromObject({
    schema_version: 1,
    capabilities: { allow: { commands: { patterns: ['ls', 'a | b'] } } },
  })
  expect('problems' in result && result.problems.map(renderProblem)).toEqual([
    expect.stringContaining('manifest:capabilities.allow.commands.patterns[1]: error: "|" is shell syntax'),
  ])
})

test.each([null, 5, [], 'x', { schema_version: 1, security: null }, { schema_version: 1, x: () => 1 }])(
  'an object that is not a manifest: %j',
  (value) => {
    expect('problems' in manifestFromObject(value)).toBe(true)
  },
)

test('an object that refers to itself is refused', () => {
  const value: Record<string, unknown> = { schema_version: 1 }
  value.security = value
  expect('problems' in manifestFromObject(value)).toBe(true)
})

test('the suffix list is fetched when a wildcard or a variable needs it, and only then', async () => {
  const open = (host: string) => openManifest({ object: { schema_version: 1, http: { allowed_hosts: [host] } } })
  const literal = await open('a.com')
  const wildcard = await open('*.nodejs.org')
  const variable = await open('${HOST}')
  expect('manifest' in literal && literal.suffixes).toBe(null)
  expect('manifest' in wildcard && wildcard.suffixes).toBe(tldtsSuffixes)
  expect('manifest' in variable && variable.suffixes).toBe(tldtsSuffixes)
  expect('problems' in (await open('*.com'))).toBe(true)
  expect('problems' in manifestFromObject({ schema_version: 1, http: { allowed_hosts: ['*.nodejs.org'] } })).toBe(true)
})

describe('the tables of programs are fetched when a grant of an interpreter needs them', () => {
  const object = (command: string) => ({
    schema_version: 1,
    capabilities: { allow: { commands: { patterns: [command] } } },
  })
  const alone = [
    ['npm run build:*', true, 'no interpreter'],
    ['npx tsc:*', true, 'a runner of a program that does not exist'],
    ['/usr/bin/sudo ls:*', false, 'refused by its name alone'],
    ['uv run:*', false, 'a runner of anything'],
    ['python3 scripts/build.py:*', false, 'fine, but only the tables can tell'],
    ['/opt/bin/python3.11 -c:*', false, 'refused, but only the tables can tell'],
    ['env A=1 nohup node build.js:*', false, 'behind wrappers'],
    ['sqlite3:*', true, 'a database shell contains no files of the machine'],
  ] as const
  test.each(alone)('without them, %s: %s (%s)', (command, loads) => {
    expect('manifest' in manifestFromObject(object(command))).toBe(loads)
  })
  test.each([
    ['npm run build:*', true],
    ['/usr/bin/sudo ls:*', false],
    ['python3 scripts/build.py:*', true],
    ['python3.11 -m pytest:*', true],
    ['env A=1 nohup node build.js:*', true],
    ['/opt/bin/python3.11 -c:*', false],
    ['python3:*', false],
    ['uv run --no-sync python:*', false],
  ])('opened, %s: %s', async (command, loads) => {
    const result = await openManifest({ object: object(command) })
    expect('manifest' in result).toBe(loads)
    if ('problems' in result) expect(result.problems.map((problem) => problem.code)).toEqual(['refused-grant'])
  })
})

test("a project's interpreter grants follow the user's flag", () => {
  const grant = allow('"python3:*"')
  const user = (value: boolean) => {
    const result = load(`[security]\nsystem_python = ${value}\n`)
    return 'manifest' in result ? result.manifest : null
  }
  expect(errorsOf(load(grant, { ...OPTIONS, below: user(true) }))).toEqual([])
  expect(errorsOf(load(grant, { ...OPTIONS, below: user(false) }))).toHaveLength(1)
  expect(errorsOf(load(`[security]\nsystem_python = true\n${grant}`, { ...OPTIONS, below: user(false) }))).toHaveLength(
    1,
  )
  expect(errorsOf(load(`[security]\nsystem_python = false\n${grant}`, { ...OPTIONS, below: user(true) }))).toHaveLength(
    1,
  )
})

test('default_files reach entries without files, and denied names without a place are denied everywhere', () => {
  const result = load(
    '[capabilities.allow.read]\ndefault_files = ["*.ts"]\npaths = ["a/**", { path = "b", files = ["*.md"] }]\n[capabilities.deny.read]\ndefault_files = ["*.sqlite"]\n',
  )
  if (!('manifest' in result)) throw new Error('does not load')
  const entries = (section: string) =>
    itemsOf<PathEntry>(result.manifest, `capabilities.${section}.read.paths`).map((item) => item.value)
  expect(entries('allow')).toEqual([
    { path: 'a/**', files: ['*.ts'] },
    { path: 'b', files: ['*.md'] },
  ])
  expect(entries('deny')).toEqual([{ path: '**', files: ['*.sqlite'] }])
})

test('messages cannot move the cursor of a terminal', () => {
  const result = load('"\\u001b[2J\\u202e" = 1\n')
  const text = 'problems' in result ? result.problems.map(renderProblem).join('\n') : ''
  expect(text).not.toBe('')
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('random bytes and random objects never crash', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect('problems' in loadManifest(bytes, 'cordon.toml')).toBe(true)
    }),
  )
  const name = fc.constantFrom(
    'schema_version',
    'security',
    'pipes',
    'capabilities',
    'allow',
    'deny',
    'read',
    'commands',
    'patterns',
    'paths',
    'path',
    'command',
    'http',
    'allowed_hosts',
    'secrets',
    'agents',
    'x',
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom('**', 'ls:*', '*.a.com', '${X}'),
      fc.array(tie('value')),
      fc.dictionary(name, tie('value')),
    ),
  }))
  fc.assert(
    fc.property(fc.dictionary(name, value), (object) => {
      const result = manifestFromObject({ ...object, schema_version: 1 }, OPTIONS)
      expect('manifest' in result || result.problems.length > 0).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('says what a denial leaves out if default_files is beside paths', () => {
  const text = 'schema_version = 1\n[capabilities.deny.read]\ndefault_files = ["*.sqlite"]\npaths = ["secrets"]\n'
  const result = loadManifest(text, 'cordon.toml')
  expect(result.warnings).toMatchObject([
    { code: 'narrow-denial', line: 4, message: expect.stringContaining('elsewhere') },
  ])
})

test('refuses a level of the plan agent that nobody would read', () => {
  const text = (level: string): string => `schema_version = 1\n[agents.plan.tools]\nbash = "${level}"\n`
  expect(loadManifest(text('deny'), 'cordon.toml')).toHaveProperty('manifest')
  expect(loadManifest(text('allow'), 'cordon.toml')).toMatchObject({ problems: [{ code: 'unused', line: 3 }] })
})
