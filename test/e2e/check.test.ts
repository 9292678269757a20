/** `cordon check`, `explain`, `init` and `policy` as others call them: exit codes, JSON, batches, bad input. */

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const MANIFEST = `schema_version = 1
[permission.tools]
webfetch = "deny"
[capabilities.allow.commands]
patterns = ["git status:*", { command = "npm test:*", match = ["npm test -- a"], not_match = ["npm run x"] }]
[capabilities.deny.commands]
patterns = ["git push:*"]
`

describe('cordon check', () => {
  let project: Project
  beforeAll(() => {
    project = new Project({ 'cordon.toml': MANIFEST, 'src/a.ts': '' })
  })
  afterAll(() => project.remove())

  it.each([
    [['--', 'git status'], 0, 'allow'],
    [['--', 'git', 'status', '-s'], 0, 'allow'],
    [['--', 'make'], 3, 'ask'],
    [['--', 'git push'], 4, 'deny'],
    [['--', 'git -C . push'], 4, 'deny'],
    [['--tool', 'read', '--input', '{"path":"src/a.ts"}'], 0, 'allow'],
    [['--tool', 'read', '--input', '{"path":"/etc/passwd"}'], 4, 'deny'],
    [['--tool', 'read', '--input', '{"path":".env"}'], 3, 'ask'],
    [['--tool', 'write', '--input', '{"path":"cordon.toml","content":""}'], 4, 'deny'],
    [['--tool', 'webfetch', '--input', '{"url":"https://example.com"}'], 4, 'deny'],
    [['--tool', 'http', '--input', '{"url":"http://127.0.0.1/"}'], 4, 'deny'],
    [['--tool', 'nope', '--input', '{}'], 4, 'deny'],
    [['--tool', 'read', '--input', '{"file":"x"}'], 4, 'deny'],
  ])('%j exits with %i (%s)', (args, code, decision) => {
    const ran = project.cordon(['check', '--json', ...args])
    expect(ran.code, ran.err).toBe(code)
    const answer = JSON.parse(ran.out)
    expect(answer).toMatchObject({ decision, reason: { code: expect.any(String), message: expect.any(String) } })
    expect(answer.segments.length).toBeGreaterThan(0)
  })

  it('a link counts by its own name as well: a secret’s, a protected one, or one that a rule denies', () => {
    const other = new Project({ 'vault/prod.txt': 'x', 'config/app.txt': 'x' })
    try {
      symlinkSync('../vault/prod.txt', join(other.directory, 'config/.env'))
      symlinkSync('app.txt', join(other.directory, 'config/plain'))
      const code = (path: string) => other.cordon(['check', '--tool', 'read', '--input', JSON.stringify({ path })]).code
      expect(code('config/.env')).toBe(3)
      expect(code('config/../config/.env')).toBe(3)
      expect(code('config/plain')).toBe(0)
      symlinkSync('config', join(other.directory, '.vscode'))
      const write = JSON.stringify({ path: '.vscode/tasks.json', content: '' })
      expect(other.cordon(['check', '--tool', 'write', '--input', write]).code).toBe(4)
      other.write('deny.toml', 'schema_version = 1\n[capabilities.deny.read]\npaths = ["config/plain"]\n')
      const denied = ['check', '--manifest', 'deny.toml', '--tool', 'read', '--input', '{"path":"config/plain"}']
      expect(other.cordon(denied).code).toBe(4)
    } finally {
      other.remove()
    }
  })

  it('names the rule with its place', () => {
    const { rules } = JSON.parse(project.cordon(['check', '--json', '--', 'git push']).out)
    expect(rules).toContainEqual({ rule: 'capabilities.deny.commands.patterns[0]', source: 'cordon.toml:7:13' })
  })

  it.each([
    [['check'], 'give a command'],
    [['check', '--jsno', '--', 'ls'], 'did you mean --json'],
    [['check', '--tool', 'read', '--input', '{'], 'not JSON'],
    [['chekc'], 'did you mean "check"'],
    [['check', '--manifest', 'missing.toml', '--', 'ls'], 'does not exist'],
    [['policy'], 'show, test, lint or replay'],
    [['completions', 'tcsh'], 'bash, zsh or fish'],
  ])('%j is a usage error: %s', (args, message) => {
    const ran = project.cordon(args)
    expect(ran.code).toBe(2)
    expect(ran.err).toContain(message)
    expect(ran.out).toBe('')
  })

  it('answers a batch line by line, in order, and goes on after errors', () => {
    const lines = [
      { id: 1, tool: 'bash', input: { command: 'git status' } },
      { id: 2, tool: 'bash', input: { command: 'ls' }, manifest: { schema_version: 1, nonsense: true } },
      'not json',
      { id: 'four', tool: 'read', input: { path: 'x' }, root: '/nowhere/project', manifest: { schema_version: 1 } },
      {
        id: 5,
        tool: 'http',
        input: { url: 'https://a.example/', resolved: ['10.0.0.1'] },
        manifest: { schema_version: 1 },
      },
      // Unescaped, as JSON allows it: only a line feed ends a line.
      `{"id":6,"tool":"bash","input":{"command":"echo 'a\u2028b'"}}`,
    ]
    const input = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    const ran = project.cordon(['check', '--batch'], { input })
    const answers = ran.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(ran.code).toBe(0)
    expect(answers.map((answer) => [answer.id, answer.decision ?? 'error'])).toEqual([
      [1, 'allow'],
      [2, 'error'],
      [null, 'error'],
      ['four', 'allow'],
      [5, 'deny'],
      [6, 'deny'],
    ])
    expect(answers[1].error).toContain('nonsense')
  })

  it('draws the tree and says which step decided', () => {
    const { out, code } = project.cordon(['explain', '--', 'git status && timeout 5 git push'])
    expect(code).toBe(4)
    expect(out).toContain('timeout ▸ git push')
    expect(out).toContain('cordon.toml:7:13')
    expect(out).toContain('step 1')
  })

  it('puts the strictest decision on top, and names the entry that opens a path', () => {
    const other = new Project({
      'cordon.toml':
        'schema_version = 1\n[permission]\nmode = "contained"\n[capabilities.allow.read]\npaths = ["**", ".env", "docs/**"]\n',
    })
    try {
      const draw = (text: string) => other.cordon(['explain', '--', text]).out
      const out = draw('timeout 5 sh -c "cat .env.local; ls"')
      expect(out).toMatch(/└─ ask {3}timeout 5 sh -c/)
      expect(out).toMatch(/└─ ask {3}timeout ▸ sh -c/)
      expect(out).toMatch(/├─ ask {3}sh -c ▸ cat \.env\.local\n.*allow `cat \.env\.local`/)
      expect(out).toMatch(/└─ allow sh -c ▸ ls/)
      expect(draw('cat .env')).toContain('".env" covers .env.')
      expect(draw('cat docs/a')).toContain('"docs/**" covers docs/a.')
      expect(draw('cat src/a')).toContain('"**" covers src/a.')
    } finally {
      other.remove()
    }
  })

  it('escapes what could forge the output', () => {
    const { out } = project.cordon(['explain', '--', "echo $'\\e[2J' '\u202e'"])
    for (const character of ['\u202e', '\u001b']) expect(out).not.toContain(character)
  })
})

describe('a manifest that does not load', () => {
  const deep = `x = ${'['.repeat(5000)}`
  it.each<[string, string | Uint8Array, RegExp]>([
    ['empty', '', /schema_version|empty/],
    ['unknown key', 'schema_version = 1\n[securty]\npipes = true\n', /2:2.*did you mean.*security/s],
    ['wrong type', 'schema_version = 1\n[security]\npipes = "yes"\n', /3:9/],
    ['several problems', 'schema_version = 2\n[security]\npipe = true\nredirects = "some"\n', /3 problems/],
    ['huge', `# ${'x'.repeat(3_000_000)}`, /bytes|large/],
    ['binary', new Uint8Array([0, 1, 2, 3, 0, 255]), /UTF-8|text|NUL|control/i],
    ['not UTF-8', new Uint8Array([0x73, 0x3d, 0x22, 0xc3, 0x28, 0x22]), /UTF-8/],
    ['deeply nested', deep, /deep|nest/],
    ['suffix wildcard', 'schema_version = 1\n[http]\nallowed_hosts = ["*.co.uk"]\n', /co\.uk/],
    ['sudo', 'schema_version = 1\n[capabilities.allow.commands]\npatterns = ["sudo:*"]\n', /privilege_wrappers/],
    ['interpreter', 'schema_version = 1\n[capabilities.allow.commands]\npatterns = ["python3:*"]\n', /system_python/],
    [
      'a failing example',
      'schema_version = 1\n[capabilities.allow.commands]\npatterns = [{ command = "git log:*", match = ["git push"] }]\n',
      /git push/,
    ],
    [
      'contradiction',
      'schema_version = 1\n[capabilities.allow.commands]\npatterns = ["rm:*"]\n[capabilities.deny.commands]\npatterns = ["rm:*"]\n',
      /rm/,
    ],
  ])('%s: a clear error, exit 2, nothing written', (_, content, message) => {
    const project = new Project({ 'cordon.toml': content })
    try {
      const ran = project.cordon(['check', '--', 'ls'])
      expect(ran.code, ran.err).toBe(2)
      expect(ran.err).toMatch(message)
      expect(readdirSync(project.directory)).toEqual(['cordon.toml'])
      expect(readdirSync(project.home)).toEqual([])
    } finally {
      project.remove()
    }
  })

  it('a loop of links', () => {
    const project = new Project()
    symlinkSync('cordon.toml', join(project.directory, 'cordon.toml'))
    const ran = project.cordon(['check', '--manifest', 'cordon.toml', '--', 'ls'])
    expect(ran.code).toBe(2)
    expect(ran.err).toMatch(/loop/)
    project.remove()
  })

  it('a directory in its place', () => {
    const project = new Project({ 'cordon.toml/x': '' })
    const ran = project.cordon(['check', '--', 'ls'])
    expect(ran.code).toBe(2)
    expect(ran.err).toMatch(/not a regular file|directory/)
    project.remove()
  })
})

describe('cordon init', () => {
  const projects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    node: { 'package.json': '{"name":"x","scripts":{"test":"vitest","deploy":"x"},"devDependencies":{"vitest":"1"}}' },
    rust: { 'Cargo.toml': '[package]\nname = "x"\nversion = "0.1.0"\n' },
    python: { 'pyproject.toml': '[project]\nname = "x"\n[tool.pytest.ini_options]\n' },
    go: { 'go.mod': 'module x\n' },
    empty: {},
    hostile: {
      'package.json': '{"scripts":{"a\\"]\\nmode = \\"auto\\"\\n#":"x","--eval=x":"y"}}',
      Makefile: 'all: x\n\n$(shell id):\n',
    },
  }

  it.each(Object.keys(projects))('writes a manifest for a %s project that loads without a word', (kind) => {
    const project = new Project(projects[kind])
    try {
      expect(project.cordon(['init']).code).toBe(0)
      const lint = project.cordon(['policy', 'lint'])
      expect(lint.out + lint.err).toBe('no problems found\n')
      expect(project.cordon(['policy', 'test']).code).toBe(0)
      const push = project.cordon(['check', '--', 'git push'])
      expect(push.code, push.out).toBe(3)
      expect(project.cordon(['check', '--', 'mkdir -p build && echo hi > build/x']).code).toBe(0)
    } finally {
      project.remove()
    }
  })

  it('does not replace a manifest, unless asked to', () => {
    const project = new Project({ 'cordon.toml': 'schema_version = 1\n' })
    const refused = project.cordon(['init'])
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('--force')
    expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).toBe('schema_version = 1\n')
    expect(project.cordon(['init', '--force']).code).toBe(0)
    project.remove()
  })
})

describe('the rest of the CLI', () => {
  const project = new Project({
    'cordon.toml': MANIFEST,
    'cases.jsonl': '{"command":"git status","expect":"allow"}\n{"command":"git push","expect":"allow"}\n',
  })
  afterAll(() => project.remove())

  it('shows the effective manifest with origins', () => {
    const { values } = JSON.parse(project.cordon(['policy', 'show', '--json']).out)
    expect(values).toContainEqual(expect.objectContaining({ path: 'security.pipes', value: true, source: 'built-in' }))
    expect(values).toContainEqual(
      expect.objectContaining({ path: 'permission.tools.webfetch', source: 'cordon.toml:3:1' }),
    )
  })

  it('runs a file of cases', () => {
    const ran = project.cordon(['policy', 'test', 'cases.jsonl'])
    expect(ran.code).toBe(1)
    expect(ran.out).toContain('cases.jsonl:2: expected allow, got deny')
  })

  it('knows its version and helps with every command', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(project.cordon(['--version']).out).toBe(`cordon ${version}\n`)
    const names = [...project.cordon(['--help']).out.matchAll(/^ {2}([a-z]+) {2}/gm)].map((match) => match[1]!)
    expect(names).toContain('check')
    for (const name of names) expect(project.cordon([name, '--help']).out, name).toContain('Usage:')
  })

  it('prints completions that their shell accepts', () => {
    const script = project.cordon(['completions', 'bash']).out
    expect(script).toContain('complete -F _cordon cordon')
    expect(spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })
})

it.each(['check', 'explain'])('%s says of a manifest that is not signed that nothing runs by it', (command) => {
  const project = new Project({ 'cordon.toml': 'schema_version = 1\n[permission.tools]\nbash = "allow"\n' })
  try {
    const words = [command, '--', 'echo x']
    const draft = project.cordon(words)
    expect(draft.err).toContain('not signed as it is now')
    project.cordon(['sign', '--yes'])
    const signed = project.cordon(words)
    expect([signed.code, signed.err]).toEqual([draft.code, ''])
  } finally {
    project.remove()
  }
})

it('grants says what a locked project does not take', () => {
  const project = new Project({ 'cordon.toml': 'schema_version = 1\n[security]\nruntime_grants = false\n' })
  const env = { CORDON_KEYCHAIN: 'off' }
  const root = realpathSync(project.directory)
  const state = join(project.home, '.local/state/cordon')
  const saved = (id: string, verdict: string, place: string) => ({
    ...{ id, project: place, kind: 'command', value: `make ${id}`, verdict, scope: 'project' },
    ...{ session: 's', created: Date.now(), expires: null, uses: 0 },
  })
  try {
    expect(project.cordon(['sign', '--yes'], { env }).code).toBe(0)
    const empty = project.cordon(['grants'], { env })
    expect(empty.out).toMatch(
      /is locked: .*\(security\.runtime_grants is false, cordon\.toml:3:1\)\nnothing was granted/,
    )
    const grants = [saved('gyes', 'allow', root), saved('gnot', 'deny', root), saved('gfar', 'allow', '/elsewhere')]
    writeFileSync(join(state, 'grants.json'), JSON.stringify({ version: 1, grants }), { mode: 0o600 })
    const { out } = project.cordon(['grants'], { env })
    expect(out).toMatch(/allow command make gyes\n\s+not in force, /)
    expect(out.match(/not in force/g)).toHaveLength(1)
    const rows = JSON.parse(project.cordon(['grants', '--json'], { env }).out) as { id: string; locked: boolean }[]
    expect(rows.map(({ id, locked }) => [id, locked])).toEqual([
      ['gyes', true],
      ['gnot', false],
      ['gfar', false],
    ])
  } finally {
    project.remove()
  }
})

it('setup says what it would write, and then what it wrote', () => {
  const project = new Project()
  const env = { SHELL: '/bin/bash' }
  try {
    expect(project.cordon(['setup'], { env }).err).toContain('This would be written for you:')
    expect(project.cordon(['setup', '--yes'], { env }).err).toMatch(
      /^Written for you:\n {2}link ~\/\.local\/bin\/cordon/,
    )
  } finally {
    project.remove()
  }
})
