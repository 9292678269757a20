/** The package as a person has it: packed, installed into an empty project without network or compiler, and used. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asUser, ORDINARY } from '../users.ts'

const CHECKOUT = resolve(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'))

let base: string
let project: string
let home: string
let runtime: string

/** Runs as the ordinary user, who has neither a compiler nor a registry. */
function run(argv: readonly string[]) {
  const [program, ...args] = asUser(ORDINARY, argv)
  const env = {
    PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`,
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    CORDON_KEYCHAIN: 'off',
    CC: 'false',
  }
  return spawnSync(program!, args, { cwd: project, env, encoding: 'utf8' })
}

/** The packages that are there at run time, from the lock file. */
function runtimePackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8'))
  return Object.entries(packages as Record<string, { dev?: boolean }>)
    .filter(([place, { dev }]) => place !== '' && !dev && existsSync(join(CHECKOUT, place)))
    .map(([place]) => join(CHECKOUT, place))
}

function npm(args: readonly string[]): void {
  const offline = ['--offline', `--cache=${join(base, 'cache')}`, '--no-audit', '--no-fund', '--ignore-scripts']
  const done = spawnSync('npm', [...args, ...offline], { cwd: project, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`npm ${args[0]}: ${done.stderr}`)
}

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-package-'))
  chmodSync(base, 0o755)
  project = join(base, 'project')
  home = join(base, 'home')
  runtime = join(base, 'runtime')
  mkdirSync(project)
  for (const own of [home, runtime]) {
    mkdirSync(own, { mode: 0o700 })
    chownSync(own, ORDINARY.uid, ORDINARY.gid)
  }
  writeFileSync(join(project, 'package.json'), '{"name":"empty","version":"1.0.0","private":true,"type":"module"}\n')
  writeFileSync(join(project, 'a.txt'), 'plain\n')
  npm(['pack', CHECKOUT, '--pack-destination', base])
  const tarball = join(base, readdirSync(base).find((name) => name.endsWith('.tgz'))!)
  npm(['install', '--install-links', '--omit=optional', ...runtimePackages(), tarball])
})
afterAll(() => {
  run(['node_modules/.bin/cordon', 'resident', 'stop'])
  rmSync(base, { recursive: true, force: true })
})

const installed = (path: string) => join(project, 'node_modules/cordon', path)

describe('the package', () => {
  it('runs nothing when it is installed, and names the platforms it contains', () => {
    const { scripts, os, cpu } = JSON.parse(readFileSync(installed('package.json'), 'utf8'))
    expect(Object.keys(scripts).filter((name) => /install|prepare/.test(name))).toEqual([])
    expect([os, cpu]).toEqual([['linux'], ['x64', 'arm64']])
  })

  it('contains what its exports name, and nothing of the workshop', () => {
    const targets = Object.values(manifest.exports as Record<string, string | Record<string, string>>)
    const paths = targets.flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    expect(paths.filter((path) => !existsSync(installed(path)))).toEqual([])
    expect(Object.keys(manifest.exports)).toEqual([
      '.',
      './policy',
      './shell',
      './sandbox',
      './mcp',
      './ai-sdk',
      './package.json',
    ])
    const names = readdirSync(installed('.'), { recursive: true, encoding: 'utf8' })
    expect(names.filter((name) => /\.test\.|(^|\/)(test|bench|scripts)\/|\.code-cache/.test(name))).toEqual([])
  })

  it('contains the native files that the build wrote', () => {
    const sums = readFileSync(installed('dist/native/SHA256SUMS'), 'utf8').trim().split('\n')
    const hash = (name: string) =>
      createHash('sha256')
        .update(readFileSync(installed(`dist/native/${name}`)))
        .digest('hex')
    const names = sums.map((line) => line.split('  ')[1]!)
    expect(names).toContain(`cordon-init-${process.arch}`)
    expect(sums).toEqual(names.map((name) => `${hash(name)}  ${name}`))
  })
})

describe('as an ordinary user', () => {
  it.each([
    ['says its version', ['npx', '--offline', 'cordon', '--version'], 0, /^cordon \d/],
    ['runs a command', ['npx', '--offline', 'cordon', 'run', '--', 'true'], 0, /^$/],
    ['passes its output on', ['node_modules/.bin/cordon', 'run', '--', 'cat', 'a.txt'], 0, /^plain\n$/],
    ['passes its exit code on', ['node_modules/.bin/cordon', 'run', '--', 'sh', '-c', 'exit 7'], 7, /^$/],
    ['decides', ['node_modules/.bin/cordon', 'check', '--json', '--', 'rm -rf /'], 4, /"decision":"deny"/],
  ])('the program %s', (_note, argv, status, output) => {
    const done = run(argv)
    expect(done.stdout, done.stderr).toMatch(output)
    expect(done.status, done.stderr).toBe(status)
  })

  it('its commands and hooks are the client’s, which has started a resident', () => {
    run(['node_modules/.bin/cordon', 'run', '--', 'true'])
    expect(run(['node_modules/.bin/cordon', 'resident', 'status']).stdout).toContain(installed('dist/cordon.cjs'))
  })

  it('the library works by every one of its exports', () => {
    writeFileSync(
      join(project, 'use.mjs'),
      `import { createCordon, defineTool } from 'cordon'
import { evaluate } from 'cordon/policy'
import { analyze } from 'cordon/shell'
import { createBwrapBackend, planSandbox } from 'cordon/sandbox'
import { McpServer, serveStdio } from 'cordon/mcp'
import { aiSdkTools } from 'cordon/ai-sdk'
const found = [evaluate, analyze, createBwrapBackend, planSandbox, McpServer, serveStdio, aiSdkTools, defineTool]
if (found.some((value) => typeof value !== 'function')) throw new Error('an export is missing')
const object = { schema_version: 1, capabilities: { allow: { commands: { patterns: ['cat:*'] } } } }
const cordon = await createCordon({ project: process.cwd(), manifest: { object } })
const session = cordon.openSession()
const ran = await session.call('bash', { command: 'cat a.txt' })
console.log(ran.status, ran.output?.text ?? JSON.stringify(ran))
await cordon.close()
`,
    )
    const done = run([process.execPath, 'use.mjs'])
    expect(done.stderr).toBe('')
    expect(done.stdout).toBe('done plain\n')
  })
})

it('an init that is not the one that was built starts nothing', () => {
  const init = installed(`dist/native/cordon-init-${process.arch}`)
  const built = readFileSync(init)
  const changed = Buffer.from(built)
  changed[changed.length - 1]! ^= 1
  // As an installation puts it there: one that still runs, of a session before this, cannot be written into.
  const put = (bytes: Uint8Array) => {
    writeFileSync(`${init}.new`, bytes, { mode: 0o755 })
    renameSync(`${init}.new`, init)
  }
  put(changed)
  const refused = run(['node_modules/.bin/cordon', 'run', '--', 'echo', 'ran'])
  expect(refused).toMatchObject({ status: 125, stdout: '' })
  expect(refused.stderr).toContain('is not the file that the build of Cordon created')
  put(built)
  expect(run(['node_modules/.bin/cordon', 'run', '--', 'echo', 'ran'])).toMatchObject({ status: 0, stdout: 'ran\n' })
})

it('a release is built for both platforms, or not at all', () => {
  const folder = join(base, 'native')
  const other = process.arch === 'x64' ? 'arm64' : 'x64'
  // What was built for this machine is used unchanged: only the other half is compiled here.
  const own = (name: string) => !name.endsWith(`-${other}`)
  cpSync(join(CHECKOUT, 'dist/native'), folder, { recursive: true, preserveTimestamps: true, filter: own })
  const created = readdirSync(folder)
  const done = spawnSync('sh', [join(CHECKOUT, 'native/build.sh'), folder, 'every'], { encoding: 'utf8' })
  if (done.status !== 0) {
    expect(done.stderr).toMatch(new RegExp(`files for ${other} too.*apt install gcc-`))
    expect(readdirSync(folder)).toEqual(created)
    return
  }
  const machines = { x64: 0x3e, arm64: 0xb7 } as const
  for (const [platform, machine] of Object.entries(machines)) {
    for (const name of ['init', 'launch']) {
      expect(readFileSync(join(folder, `cordon-${name}-${platform}`)).readUInt16LE(18)).toBe(machine)
    }
    // Static: no interpreter among the program headers.
    const init = readFileSync(join(folder, `cordon-init-${platform}`))
    const headers = Array.from({ length: init.readUInt16LE(56) }, (_, i) =>
      init.readUInt32LE(Number(init.readBigUInt64LE(32)) + i * 56),
    )
    expect(headers).not.toContain(3)
  }
})
