/**
 * Real clients of every kind against servers on loopback, through Cordon: `npm test -- clients [words of vitest]`. Libraries and
 * package managers are installed into the ignored cache; what has to come from the distribution and is not there is said, and
 * makes the run incomplete (status 2).
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const checkout = join(import.meta.dirname, '..')
const cache = join(checkout, '.cache/clients')

const PACKAGES: readonly string[] = [
  'ws@8.22.2',
  'undici@8.12.4',
  'axios@1.21.1',
  '@grpc/grpc-js@1.14.7',
  'pnpm@10.34.8',
  'yarn@1.22.22',
  '@yarnpkg/cli-dist@4.18.1',
]
const PYTHON: readonly string[] = ['requests==2.34.2', 'httpx==0.28.1', 'aiohttp==3.14.3']
/** Programs of the distribution, by the package that brings them in Debian. */
const PROGRAMS: readonly (readonly [path: string, from: string])[] = [
  ['/usr/bin/curl', 'curl'],
  ['/usr/bin/wget', 'wget'],
  ['/usr/bin/git', 'git'],
  ['/usr/bin/java', 'default-jdk-headless'],
  ['/usr/bin/psql', 'postgresql'],
  ['/usr/bin/redis-server', 'redis-server'],
  ['/usr/sbin/sshd', 'openssh-server'],
]

function run(program: string, args: readonly string[], cwd = cache): void {
  const done = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${(done.stderr ?? '').slice(-400)}`)
}

function isInstalled(wanted: string): boolean {
  const at = wanted.lastIndexOf('@')
  const file = join(cache, 'node_modules', wanted.slice(0, at), 'package.json')
  return existsSync(file) && spawnSync('grep', ['-q', `"version": "${wanted.slice(at + 1)}"`, file]).status === 0
}

function setUp(): string[] {
  mkdirSync(cache, { recursive: true })
  if (!existsSync(join(cache, 'package.json'))) writeFileSync(join(cache, 'package.json'), '{"private":true}\n')
  if (!PACKAGES.every(isInstalled)) run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', ...PACKAGES])
  setUpPython()
  return [...PROGRAMS.filter(([path]) => !existsSync(path)).map(([, from]) => from), ...setUpGo(), ...setUpUv()]
}

/** For the machine's own Python, which is in every sandbox; its pip may be another's. */
function setUpPython(): void {
  const target = join(cache, 'python')
  const env = { PYTHONPATH: target }
  if (spawnSync('/usr/bin/python3', ['-c', 'import requests, httpx, aiohttp'], { env }).status === 0) return
  const code = 'import sys; print("%d.%d" % sys.version_info[:2])'
  const version = spawnSync('/usr/bin/python3', ['-c', code], { encoding: 'utf8' }).stdout.trim()
  const how = ['--target', target, '--upgrade', '--python-version', version, '--only-binary=:all:']
  run('python3', ['-m', 'pip', 'install', '-q', ...how, ...PYTHON])
}

const UV = join(cache, 'uv')

/** uv comes from Python's package index, which not every machine reaches. */
function setUpUv(): string[] {
  if (existsSync(join(UV, 'bin/uv')) || spawnSync('uv', ['--version']).status === 0) return []
  const how = ['--target', UV, '--upgrade', '--only-binary=:all:', '--retries', '0', '--timeout', '20']
  const { status } = spawnSync('python3', ['-m', 'pip', 'install', '-q', ...how, 'uv'], { stdio: 'ignore' })
  return status === 0 ? [] : ['uv']
}

/** Go is unpacked beside the others: as a package of the machine it would bring half a gigabyte. */
function setUpGo(): string[] {
  const root = join(cache, 'root')
  if (spawnSync('go', ['version']).status === 0 || goIn(root) !== null) return []
  const names = spawnSync('apt-cache', ['search', '--names-only', '^golang-[0-9.]+-(go|src)$'], { encoding: 'utf8' })
  const found = (names.stdout ?? '').split('\n').flatMap((line) => /^\S+/.exec(line)?.[0] ?? [])
  if (found.length < 2) return ['golang']
  mkdirSync(root, { recursive: true })
  run('apt-get', ['download', ...found])
  for (const name of readdirSync(cache).filter((file) => file.endsWith('.deb'))) run('dpkg', ['-x', name, root])
  return goIn(root) === null ? ['golang'] : []
}

function goIn(root: string): string | null {
  const base = join(root, 'usr/lib')
  const version = existsSync(base) ? readdirSync(base).find((name) => /^go-[0-9.]+$/.test(name)) : undefined
  return version === undefined ? null : join(base, version, 'bin/go')
}

const missing = setUp()
const go = goIn(join(cache, 'root'))
const path = `${process.env.PATH}:${join(UV, 'bin')}`
const env = { ...process.env, PATH: path, CORDON_TEST_CLIENTS: cache, ...(go && { CORDON_TEST_GO: go }) }
const words = process.argv.slice(2)
const tests = spawnSync('vitest', ['run', '--config', 'test/clients/vitest.config.ts', ...words], {
  cwd: checkout,
  env,
  stdio: 'inherit',
})
if (missing.length > 0) console.error(`not installed, and so not run: ${missing.join(', ')}`)
process.exitCode = tests.status !== 0 ? 1 : missing.length > 0 ? 2 : 0
