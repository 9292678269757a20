import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBwrapBackend } from '../bwrap/backend.ts'
import { commandEnvironment } from '../environment.ts'
import { planSandbox } from '../plan.ts'
import { readHostFacts } from '../session.ts'
import { builtInBundle } from './built-in.ts'
import { furnish, selectBundles } from './bundle.ts'

const home = homedir()
let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync('/var/tmp/cordon-bundles-'))
})

afterEach(() => {
  rmSync(root, { recursive: true, force: true })
})

interface Row {
  readonly tool: string
  readonly argv: readonly string[]
  readonly files: Readonly<Record<string, string>>
  readonly output: RegExp
  readonly note: string
}

const rows: readonly Row[] = [
  {
    tool: 'git',
    argv: [
      'bash',
      '-c',
      'git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m one && git log --format=%s',
    ],
    files: {},
    output: /^one\n$/,
    note: 'a commit',
  },
  { tool: 'node', argv: ['node', '-p', '6 * 7'], files: {}, output: /^42\n$/, note: 'the interpreter' },
  {
    tool: 'npm',
    argv: ['bash', '-c', 'npm ci --offline --no-audit --no-fund >/dev/null && npm test --silent'],
    files: {
      'package.json':
        '{"name":"a","version":"1.0.0","dependencies":{"b":"file:b"},"scripts":{"test":"node -p \\"require(\'b\')\\""}}',
      'package-lock.json':
        '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a","version":"1.0.0","dependencies":{"b":"file:b"}},"b":{"version":"1.0.0"},"node_modules/b":{"resolved":"b","link":true}}}',
      'b/package.json': '{"name":"b","version":"1.0.0"}',
      'b/index.js': 'module.exports = "from b"',
    },
    output: /from b/,
    note: 'an install without network, and a script',
  },
  {
    tool: 'python',
    argv: ['bash', '-c', 'python3 -m venv --without-pip v && v/bin/python -c "import sys; print(sys.prefix)"'],
    files: {},
    output: /\/v\n$/,
    note: 'a virtual environment',
  },
  {
    tool: 'cargo',
    argv: ['cargo', 'run', '--quiet', '--offline'],
    files: {
      'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': 'fn main() { println!("built"); }\n',
    },
    output: /^built\n$/,
    note: 'a build and a run',
  },
  {
    tool: 'make',
    argv: ['make', '-s'],
    files: { Makefile: 'all:\n\t@echo ok\n' },
    output: /^ok\n$/,
    note: 'a target',
  },
]

const installed = rows.filter((row) => isInstalled(row.tool === 'python' ? 'python3' : row.tool))

test('the tools of this table are mostly there', () => {
  expect(installed.map((row) => row.tool)).toEqual(expect.arrayContaining(['git', 'node']))
})

test.each(process.platform === 'linux' ? installed : [])('$tool works inside: $note', async (row) => {
  for (const [path, text] of Object.entries(row.files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const choice = { tool: row.tool, fetch: null, install: null, defaultDomains: true, wrappers: [] }
  const program = row.tool === 'python' ? 'python3' : row.tool
  const furnished = furnish(selectBundles([choice], [program], builtInBundle), { home, registries: {} })
  const seen = (paths: readonly string[]) => paths.filter((path) => existsSync(path)).map((path) => realpathSync(path))
  const sight = {
    baseline: 'system' as const,
    home,
    cwd: root,
    // The programs of the test's own environment, wherever they were installed.
    reads: [
      ...seen(furnished.reads),
      ...seen([dirname(dirname(process.execPath)), dirname(realpathSync(process.execPath))]),
    ],
    writes: [root, ...seen(furnished.writes)],
    unixSockets: false,
  }
  const variables = commandEnvironment({
    parent: process.env,
    platform: 'linux',
    allowlist: null,
    declared: furnished.env,
    denied: [],
    fixed: furnished.variables,
    temporary: '/tmp',
    writable: [root],
  })
  const plan = planSandbox({
    ...sight,
    argv: row.argv,
    env: variables,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    masks: [],
    pins: [],
    network: 'none',
    limits: { timeoutMs: 240_000 },
    facts: readHostFacts(sight),
  })
  const result = await createBwrapBackend().launch(plan, { stdout: 'capture', stderr: 'capture' })
  expect(`${result.stderr?.bytes}${result.exitCode}`).toMatch(/0$/)
  expect(`${result.stdout?.bytes}`).toMatch(row.output)
})

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
