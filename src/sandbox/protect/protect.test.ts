import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBwrapBackend } from '../bwrap/backend.ts'
import { commandEnvironment } from '../environment.ts'
import { planSandbox } from '../plan.ts'
import { ProjectGuard } from '../quarantine/run.ts'
import { MaskIndex } from '../secrets/masks.ts'
import { maskPlaces } from '../secrets/secrets.ts'
import { readHostFacts } from '../session.ts'

// Other systems have another backend with its own tests.
const isLinux = process.platform === 'linux'

let base: string
let root: string
let home: string

beforeEach(() => {
  base = realpathSync(mkdtempSync('/var/tmp/cordon-protect-'))
  root = join(base, 'project')
  home = join(base, 'home')
  for (const folder of [root, home, join(base, 'state'), join(base, 'config')]) mkdirSync(folder, { mode: 0o700 })
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: root, env: { PATH: process.env.PATH ?? '', HOME: home } })
  put('.env', 'SECRET=project')
  put('deep/er/server.key', 'SECRET=key')
  put('.vscode/settings.json', '{}')
  put('cordon.toml', 'schema_version = 1\n')
  put(join(home, '.ssh/id_rsa'), 'SECRET=ssh')
  put(join(base, 'config/keys'), 'SECRET=cordon')
})

afterEach(() => {
  rmSync(base, { recursive: true, force: true })
})

function put(path: string, text: string): void {
  const full = path.startsWith('/') ? path : join(root, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
}

function planOf(
  argv: readonly string[],
  cwd: string,
  writes: readonly string[],
  masks: readonly string[],
  pins: readonly { path: string; mode: 'read-only' | 'in-place' }[],
) {
  const names = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' }
  const variables = commandEnvironment({
    parent: { PATH: process.env.PATH, HOME: home },
    platform: 'linux',
    allowlist: null,
    declared: [],
    denied: [],
    fixed: { ...names, GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' },
    temporary: '/tmp',
    writable: writes,
  })
  const sight = { baseline: 'all' as const, home, cwd, reads: [], writes, unixSockets: false }
  return planSandbox({
    ...sight,
    argv,
    env: variables,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    masks,
    pins,
    network: 'none',
    limits: { timeoutMs: 240_000 },
    facts: readHostFacts(sight),
  })
}

async function run(script: string): Promise<{ readonly output: string; readonly findings: readonly string[] }> {
  const own = {
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    manifestPath: join(root, 'cordon.toml'),
  }
  const index = new MaskIndex({ home, roots: [root], deniedShapes: [] })
  index.refresh()
  const guarded = new ProjectGuard(index.tree, own.stateDir).begin({
    home,
    write: [root],
    named: [],
    own,
    hosts: ['example.com'],
  })
  const places = maskPlaces({ home, visible: ['/'], grants: [] })
  const masks = [...index.masks([]).files, ...places.files, ...places.directories, own.configDir, own.stateDir]
  const plan = planOf(['bash', '-c', script], root, [root], masks, guarded.pins)
  const result = await createBwrapBackend().launch(plan, { stdout: 'capture', stderr: 'capture' })
  const findings = guarded.end().map((found) => `${found.action} ${found.path.replace(`${root}/`, '')}`)
  index.close()
  return { output: `${result.stdout?.bytes}${result.stderr?.bytes}`, findings: findings.sort() }
}

const rows: readonly [name: string, script: string, output: RegExp, findings: readonly string[]][] = [
  ['secrets read as empty', 'cat .env deep/er/server.key; grep -rs SECRET= . ~ ../config; true', /^$/, []],
  ['a secret in a moved folder stays masked', 'mv deep x && cat x/er/server.key', /^$/, []],
  [
    'a secret cannot be renamed, linked or removed',
    'mv .env x; ln .env y; rm .env',
    /busy[\s\S]*cross-device[\s\S]*busy/i,
    [],
  ],
  ['hooks are read-only', 'echo evil > .git/hooks/pre-commit', /Read-only/, []],
  [
    'the repository stays in place',
    'mv .git g; mv .vscode v; rm -rf .git/hooks',
    /busy[\s\S]*busy[\s\S]*Read-only/,
    [],
  ],
  [
    'settings and the manifest are read-only',
    'echo > .vscode/settings.json; echo > cordon.toml',
    /Read-only[\s\S]*Read-only/,
    [],
  ],
  [
    'what is new is moved',
    'echo > .vscode/tasks.json; echo > .envrc',
    /^$/,
    ['moved .envrc', 'moved .vscode/tasks.json'],
  ],
  ['a code-running key is reverted', 'git config core.pager evil', /^$/, ['reverted .git/config']],
  [
    'ordinary work goes on',
    `echo 1 > a && git add a && git commit -qm one && git remote add o https://example.com/x && git clone -q . copy &&
     git worktree add -q wt && cd wt && echo 2 > b && git add b && git commit -qm two && git log --oneline | wc -l`,
    /^2\n$/,
    [],
  ],
]

test.each(isLinux ? rows : [])('in the sandbox: %s', async (_name, script, output, findings) => {
  const result = await run(script)
  expect(result.output).toMatch(output)
  expect(result.findings).toEqual(findings)
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('SECRET=project')
})

test.each(isLinux ? ['a clone'] : [])('in the sandbox: %s of one command can be removed by the next', async () => {
  expect((await run('git commit -q --allow-empty -m one && git clone -q . tmp/copy')).findings).toEqual([])
  expect(existsSync(join(root, 'tmp/copy/.git/hooks'))).toBe(true)
  expect(await run('rm -rf tmp')).toEqual({ output: '', findings: [] })
  expect(existsSync(join(root, 'tmp'))).toBe(false)
})
