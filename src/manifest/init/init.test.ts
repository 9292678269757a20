import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lintManifest } from '../check/lint.ts'
import { loadManifest } from '../load.ts'
import type { BundleEntry, CommandEntry } from '../schema/manifest.ts'
import { itemsOf } from '../schema/manifest.ts'
import { detectProject, type ProjectFiles } from './detect.ts'
import { proposeManifest } from './init.ts'

function project(files: Readonly<Record<string, string>>): ProjectFiles {
  const paths = Object.keys(files)
  return {
    exists: (path) => paths.some((name) => name === path || name.startsWith(`${path}/`)),
    readText: (path) => (Object.hasOwn(files, path) ? files[path]! : null),
    list: (path) => {
      const prefix = path === '.' ? '' : `${path}/`
      return [
        ...new Set(
          paths.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length).split('/')[0]!),
        ),
      ]
    },
  }
}

function proposed(files: Readonly<Record<string, string>>) {
  const text = proposeManifest(detectProject(project(files)))
  const result = loadManifest(text, 'cordon.toml')
  if ('problems' in result) throw new Error(`${result.problems.map((problem) => problem.message).join('\n')}\n${text}`)
  const { manifest, warnings } = result
  return {
    text,
    manifest,
    warnings: [...warnings, ...lintManifest(manifest)],
    commands: itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns').map((item) => item.value.command),
    bundles: itemsOf<BundleEntry>(manifest, 'sandbox.os.command_tools').map((item) => item.value.tool),
  }
}

const projects: readonly {
  name: string
  files: Readonly<Record<string, string>>
  commands: string[]
  bundles: string[]
  note: string
}[] = [
  { name: 'an empty folder', files: {}, commands: [], bundles: [], note: '' },
  {
    name: 'a monorepo of several languages',
    files: {
      'package.json': '{"workspaces":["web"]}',
      'web/package.json': '{"scripts":{"secret-deploy":"x"}}',
      'services/core/Cargo.toml': '[package]\nname = "core"',
      'services/core/src/main.rs': '',
      'api/pyproject.toml': '[tool.pytest]',
      'api/uv.lock': '',
      'node_modules/x/go.mod': '',
      'test/fixtures/pom.xml': '',
    },
    commands: [
      'cargo build:*',
      'cargo check:*',
      'cargo test:*',
      'cargo clippy:*',
      'cargo fmt:*',
      'pytest:*',
      '.venv/bin/pytest:*',
    ],
    bundles: ['node', 'npm', 'cargo', 'python', 'uv'],
    note: 'folders add tools, but not their own names; what is installed or written for tests adds nothing',
  },
  { name: 'only git', files: { '.git/HEAD': '' }, commands: [], bundles: ['git'], note: '' },
  {
    name: 'Node',
    files: {
      '.git/HEAD': '',
      '.github/workflows/ci.yml': '',
      'package.json': JSON.stringify({
        name: '@me/tool',
        bin: './cli.js',
        packageManager: 'pnpm@9.0.0',
        scripts: { test: 'vitest', pretest: 'x', build: 'tsc', deploy: 'x', prepare: 'x', 'test:unit': 'x' },
        devDependencies: { typescript: '^5', vitest: '^2' },
      }),
    },
    commands: [
      'pnpm run test:*',
      'pnpm run build:*',
      'pnpm run deploy:*',
      'pnpm run test:unit:*',
      'tool:*',
      'pnpm exec tsc:*',
      'pnpm exec vitest:*',
    ],
    bundles: ['git', 'gh', 'node', 'pnpm'],
    note: 'lifecycle scripts are left out',
  },
  {
    name: 'npm',
    files: { 'package.json': '{"scripts":{"test":"x"}}', 'package-lock.json': '{}' },
    commands: ['npm test:*'],
    bundles: ['node', 'npm'],
    note: '',
  },
  {
    name: 'Rust',
    files: {
      'Cargo.toml': '[package]\nname = "rg"\n[[bin]]\nname = "extra"\n',
      'src/main.rs': '',
      'rust-toolchain.toml': '',
    },
    commands: [
      'cargo build:*',
      'cargo check:*',
      'cargo test:*',
      'cargo clippy:*',
      'cargo fmt:*',
      'target/debug/extra:*',
      'target/debug/rg:*',
    ],
    bundles: ['cargo', 'rustup'],
    note: '',
  },
  {
    name: 'Python',
    files: {
      'pyproject.toml':
        '[project]\nname = "x"\ndependencies = ["pytest>=8"]\n[project.scripts]\nserve = "x:main"\n[tool.ruff]\n',
      'uv.lock': '',
    },
    commands: ['pytest:*', 'ruff:*', '.venv/bin/pytest:*', '.venv/bin/ruff:*', 'serve:*', '.venv/bin/serve:*'],
    bundles: ['python', 'uv'],
    note: '',
  },
  {
    name: 'Go and make',
    files: {
      'go.mod': 'module x',
      'cmd/server/main.go': '',
      Makefile: 'VERSION := 1\n.PHONY: all\nall: build\n\tgo build\nbuild:\n\tx\nrelease-all:\n\tx\n%.o: %.c\n',
    },
    commands: ['go build:*', 'go test:*', 'go vet:*', 'go fmt:*', 'make all:*', 'make build:*', 'make release-all:*'],
    bundles: ['go', 'make'],
    note: 'assignments and patterns are no targets',
  },
  {
    name: 'just',
    files: {
      justfile: 'set shell := ["bash"]\nx := "1"\ndefault:\n  @just --list\ntest *args:\n  x\n@quiet: test\n  x\n',
    },
    commands: ['just default:*', 'just test:*', 'just quiet:*'],
    bundles: ['make'],
    note: '',
  },
  {
    name: 'names that are not names',
    files: {
      'package.json': JSON.stringify({
        scripts: { 'a"]\nx = 1': 'x', '$(id)': 'x', ok: 'x', __proto__: 'x' },
        bin: { '; rm -rf ~': 'x' },
      }),
    },
    commands: ['npm run ok:*'],
    bundles: ['node', 'npm'],
    note: 'a repository cannot write into its own manifest',
  },
  {
    name: 'a program with the name of a dangerous one',
    files: { 'package.json': JSON.stringify({ bin: { dd: 'x', tool: 'x' } }) },
    commands: ['tool:*'],
    bundles: ['node', 'npm'],
    note: 'the grant would be of the real dd as well',
  },
  {
    name: 'broken files',
    files: { 'package.json': '{', 'Cargo.toml': '[', 'pyproject.toml': 'x' },
    commands: ['cargo build:*', 'cargo check:*', 'cargo test:*', 'cargo clippy:*', 'cargo fmt:*'],
    bundles: ['node', 'npm', 'cargo', 'python', 'pip'],
    note: '',
  },
]

describe('cordon init', () => {
  test.each(projects)('$name', ({ files, commands, bundles }) => {
    const found = proposed(files)
    expect(found.warnings).toEqual([])
    expect(found.commands).toEqual(commands)
    expect(found.bundles).toEqual(bundles)
  })
})

test('the settings that keep it quiet, and an ask for what reaches out', () => {
  const { manifest } = proposed({ 'package.json': '{"scripts":{"deploy":"x","build":"y"}}' })
  expect(manifest.settings.get('permission.mode')?.value).toBe('contained')
  expect(manifest.settings.get('security.redirects')?.value).toBe('all')
  expect(manifest.settings.get('security.command_substitution')?.value).toBe(true)
  expect(manifest.settings.get('security.outside_roots')?.value).toBe('ask')
  const rules = itemsOf<CommandEntry>(manifest, 'capabilities.allow.commands.patterns').map((item) => item.value)
  expect(rules).toEqual([{ command: 'npm run deploy:*', prompt: true }, { command: 'npm run build:*' }])
})

test('a server on a port that no script says is mentioned, and opened by nobody but the person', () => {
  const { text, manifest } = proposed({ 'package.json': '{"scripts":{"dev":"node server.js"}}' })
  expect(text).toContain('# dev_server_ports')
  expect(manifest.settings.has('sandbox.os.dev_server_ports')).toBe(false)
  const opened = loadManifest(text.replace('# dev_server_ports', 'dev_server_ports'), 'cordon.toml')
  expect('manifest' in opened && itemsOf<number>(opened.manifest, 'sandbox.os.dev_server_ports')).toHaveLength(2)
  expect(proposed({ 'package.json': '{"scripts":{"build":"tsc"}}' }).text).not.toContain('dev_server_ports')
})

const ports: readonly (readonly [note: string, files: Readonly<Record<string, string>>, ports: readonly number[]])[] = [
  ['vite, as it comes', { 'package.json': scripts({ dev: 'vite', preview: 'vite preview' }) }, [4173, 5173]],
  ['next with a port', { 'package.json': scripts({ dev: 'next dev -p 4321' }) }, [4321]],
  ['a port in the environment', { 'package.json': scripts({ start: 'PORT=8088 node server.js' }) }, [8088]],
  ['a port after =', { 'package.json': scripts({ 'dev:web': 'astro dev --port=5000' }) }, [5000]],
  ['a build serves nothing', { 'package.json': scripts({ build: 'vite build', test: 'vitest -p 4444' }) }, []],
  [
    'vite with its own port',
    { 'package.json': scripts({ dev: 'vite' }), 'vite.config.ts': 'export default { server: { port: 7001 } }' },
    [7001],
  ],
  [
    'a package of a workspace',
    { 'package.json': '{"workspaces":["apps/*"]}', 'apps/web/package.json': scripts({ dev: 'next dev' }) },
    [3000],
  ],
  [
    'the port of a database, or of the system',
    { 'package.json': scripts({ dev: 'vite -p 5432', start: 'x -p 0022' }) },
    [],
  ],
  ['an invalid number', { 'package.json': scripts({ dev: 'vite --port 99999' }) }, []],
]

function scripts(all: Readonly<Record<string, string>>): string {
  return JSON.stringify({ scripts: all })
}

test.each(ports)('ports: %s', (_, files, expected) => {
  const { manifest, warnings } = proposed(files)
  expect(itemsOf<number>(manifest, 'sandbox.os.dev_server_ports').map(({ value }) => value)).toEqual(expected)
  expect(warnings).toEqual([])
})

const managers: readonly (readonly [note: string, files: Readonly<Record<string, string>>, manager: string])[] = [
  ['a workspace of pnpm without a lock', { 'package.json': '{}', 'pnpm-workspace.yaml': '' }, 'pnpm'],
  ['settings of yarn', { 'package.json': '{}', '.yarnrc.yml': '' }, 'yarn'],
  ['bun', { 'package.json': '{}', 'bunfig.toml': '' }, 'bun'],
  ['npm', { 'package.json': '{}', 'package-lock.json': '' }, 'npm'],
  [
    'the field of the package before any file',
    { 'package.json': '{"packageManager":"yarn@4"}', 'pnpm-lock.yaml': '' },
    'yarn',
  ],
  ['what the engines say', { 'package.json': '{"devEngines":{"packageManager":{"name":"pnpm"}}}' }, 'pnpm'],
  ['a package below, by the files at the top', { 'pnpm-workspace.yaml': '', 'web/package.json': '{}' }, 'pnpm'],
  ['nothing that says it', { 'package.json': '{}' }, 'npm'],
]

test.each(managers)('package manager: %s', (_, files, manager) => {
  expect(detectProject(project(files)).node?.manager).toBe(manager)
})

test('databases of compose files and samples are there to be opened, and closed until then', () => {
  const { text, manifest, warnings } = proposed({
    'package.json': '{"scripts":{"test":"x"}}',
    'compose.yaml':
      'services:\n  db:\n    image: "postgres:16-alpine"\n    ports:\n      - "127.0.0.1:5433:5432"\n  web:\n    build: .\n    ports: ["80:80"]\n  cache:\n    image: redis\nvolumes:\n  x: {}\n',
    '.env.example': 'DATABASE_URL=postgres://u:p@localhost:5433/x\nAMQP=amqp://localhost\nAPI=https://localhost:9/\n',
  })
  expect(warnings).toEqual([])
  expect(manifest.settings.has('capabilities.allow.commands.default_domains')).toBe(false)
  expect(text).toContain('postgres of compose.yaml, redis of compose.yaml, rabbitmq of .env.example.')
  const opened = loadManifest(
    text.replace(/^# (?=default_domains|\[http\]\n# allow)/gm, '').replace('# allow_private', 'allow_private'),
    'cordon.toml',
  )
  if ('problems' in opened) throw new Error(JSON.stringify(opened.problems))
  const hosts = opened.manifest.settings.get('capabilities.allow.commands.default_domains')
  expect(JSON.stringify(hosts)).toMatch(/localhost:5433.*localhost:6379.*localhost:5672/)
})

test('agents that are installed are there, with the folders that they have', () => {
  const text = proposeManifest(detectProject(project({})), {
    bundles: ['claude-code'],
    agents: [{ bundle: 'claude-code', program: 'claude' }],
    reads: ['~/.claude/skills/**'],
  })
  expect(text).toContain('"claude-code",  # cordon run -- claude')
  expect(text).toContain('"~/.claude/skills/**"')
  expect(text).not.toContain('.codex')
  expect('manifest' in loadManifest(text, 'cordon.toml')).toBe(true)
})

test('the programs of a virtual environment get what those outside it have', () => {
  const wrappers = (files: Readonly<Record<string, string>>) =>
    itemsOf<BundleEntry>(proposed(files).manifest, 'sandbox.os.command_tools').map(({ value }) =>
      (value.wrappers ?? []).map((item) => item.value),
    )
  expect(wrappers({ 'requirements.txt': 'pytest' })).toEqual([
    ['.venv/bin/python', '.venv/bin/python3', '.venv/bin/pytest'],
    ['.venv/bin/pip'],
  ])
  expect(wrappers({ 'setup.py': '', 'uv.lock': '', 'venv/pyvenv.cfg': '' })).toEqual([
    ['venv/bin/python', 'venv/bin/python3'],
    [],
  ])
})

test('a sample that is named like a secret may be read, and the secret may not', () => {
  const { text, warnings } = proposed({ '.env': 'KEY=1', '.env.example': 'KEY=' })
  expect(text).toContain('  ".env.example",\n')
  expect(text).not.toContain('".env"')
  expect(warnings).toEqual([])
  expect(proposed({ '.env': 'KEY=1' }).text).not.toContain('sample')
})

test('bundles that do not exist are not proposed', () => {
  const facts = detectProject(project({ '.git/HEAD': '', 'go.mod': '' }))
  expect(proposeManifest(facts, { bundles: ['git'], agents: [], reads: [] })).not.toContain('"go"')
})

test('whatever a folder is called, the manifest loads', () => {
  fc.assert(
    fc.property(fc.string(), (folder) => {
      expect(proposed({ [`${folder}/Cargo.toml`]: '' }).warnings).toEqual([])
    }),
  )
  expect(proposed({ 'a\n"evil:*",/go.mod': '' }).bundles).toEqual([])
})

test('whatever a project is called, the manifest loads', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('run', 'python3', 'sudo', 'x"', "x'", 'a b', 'a:*', '-x'))
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), fc.array(name), (scripts, targets) => {
      const files = {
        'package.json': JSON.stringify({ scripts, bin: scripts }),
        Makefile: targets.map((target) => `${target}:\n`).join(''),
      }
      expect(proposed(files).warnings).toEqual([])
    }),
  )
})
