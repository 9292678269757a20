/** Real packages and compilers in projects whose manifest `cordon init` wrote; registries are stand-ins on loopback. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { PackageRegistry } from '../e2e/projects/package-registry.ts'
import { ProjectWorld, packageJson } from '../e2e/projects/project-world.ts'
import { goModule, simpleIndex, wheel } from './stand-ins.ts'

/** The registry that npm is configured with here is behind ours. */
const behind = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
const registry = new PackageRegistry([], behind.endsWith('/') ? behind : `${behind}/`)
const tools = mkdtempSync(join(tmpdir(), 'cordon-projects-'))

beforeAll(async () => {
  await registry.listen()
  execFileSync('npm', ['install', '--silent', '--prefix', tools, '--global', 'pnpm@10'], { stdio: 'ignore' })
})
afterAll(async () => {
  await registry.close()
  rmSync(tools, { recursive: true, force: true })
})

let world: ProjectWorld
let served: Server | null = null
afterEach(() => {
  served?.close()
  served = null
  world.close()
})

function nodeProject(programs?: string): void {
  world = new ProjectWorld(programs === undefined ? {} : { programs })
  world.home('.npmrc', `registry=${registry.url}\n`)
}

/** Files by their path, on loopback. */
async function serve(files: ReadonlyMap<string, Buffer | string>): Promise<string> {
  const server = createServer((request, response) => {
    const body = files.get(request.url ?? '')
    const isIndex = request.url?.startsWith('/simple/')
    const type = isIndex ? 'application/vnd.pypi.simple.v1+json' : 'application/octet-stream'
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  served = server
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('vite and vitest', async () => {
  nodeProject()
  await world.start({
    'package.json': packageJson({
      type: 'module',
      scripts: { dev: 'vite --port 24173', test: 'vitest run', build: 'vite build' },
      devDependencies: { vite: '^6.0.0', vitest: '^3.0.0' },
    }),
    'index.html': '<script type="module" src="/main.js"></script>hello\n',
    'main.js': 'export const one = 1\n',
    'sum.test.js': "import { expect, it } from 'vitest'\nit('adds', () => expect(1 + 1).toBe(2))\n",
    '.gitignore': 'node_modules\ndist\n',
  })
  await world.run('npm', 'install', '--no-audit', '--no-fund')
  expect((await world.run('npm', 'test')).out).toContain('1 passed')
  await world.run('npm', 'run', 'build')
  expect(await world.served(24173, 'npm', 'run', 'dev')).toContain('hello')
  await world.commit()
})

it('express', async () => {
  nodeProject()
  await world.start({
    'package.json': packageJson({
      scripts: { start: 'PORT=24174 node app.js', test: 'node --test' },
      dependencies: { express: '^5.0.0' },
    }),
    'app.js': "require('express')().get('/', (_, a) => a.send('hello')).listen(process.env.PORT, '127.0.0.1')\n",
    'app.test.js': "require('node:test')('loads', () => require('express'))\n",
    '.gitignore': 'node_modules\n',
  })
  await world.run('npm', 'install', '--no-audit', '--no-fund')
  expect((await world.run('npm', 'test')).out).toMatch(/pass 1/)
  expect(await world.served(24174, 'npm', 'start')).toBe('hello')
  await world.commit()
})

it('a workspace of pnpm', async () => {
  // Where nvm has what was installed for all projects.
  const own = '.nvm/versions/node/v20'
  nodeProject(own)
  cpSync(tools, join(world.homeDirectory, own), { recursive: true, verbatimSymlinks: true })
  await world.start({
    'package.json': packageJson({ scripts: { test: 'pnpm -r test' } }),
    'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
    'packages/a/package.json': JSON.stringify({ name: 'a', version: '1.0.0', main: 'index.js' }),
    'packages/a/index.js': "module.exports = require('is-number')\n",
    'packages/b/package.json': JSON.stringify({
      name: 'b',
      version: '1.0.0',
      scripts: { test: 'node --test' },
      dependencies: { a: 'workspace:*' },
    }),
    'packages/b/b.test.js': "require('node:test')('a', () => require('node:assert').ok(require('a')(1)))\n",
    '.gitignore': 'node_modules\n',
  })
  await world.run('pnpm', '--filter', 'a', 'add', 'is-number@7')
  await world.run('pnpm', 'install')
  expect((await world.run('pnpm', 'test')).out).toMatch(/pass 1/)
  await world.commit()
})

it('Python with a package from an index', async () => {
  world = new ProjectWorld()
  const { name, bytes } = wheel('tiny', 'def answer():\n    return 42\n')
  const index = await serve(
    new Map<string, Buffer | string>([
      ['/simple/tiny/', simpleIndex('tiny', name, bytes)],
      [`/${name}`, bytes],
    ]),
  )
  world.home('.config/pip/pip.conf', `[global]\nindex-url = ${index}/simple/\n`)
  await world.start({
    'pyproject.toml': '[project]\nname = "app"\nversion = "0"\ndependencies = ["tiny"]\n',
    'requirements.txt': 'tiny==1.0\n',
    'test_app.py':
      'import unittest, tiny\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(tiny.answer(), 42)\n',
    '.gitignore': '.venv\n__pycache__\n',
  })
  await world.run('python3', '-m', 'venv', '.venv')
  await world.run('.venv/bin/pip', 'install', '--disable-pip-version-check', '-r', 'requirements.txt')
  expect((await world.run('.venv/bin/python', '-m', 'unittest')).err).toContain('OK')
  await world.commit()
})

it('go with a module from a proxy', async () => {
  world = new ProjectWorld()
  const proxy = await serve(goModule('example.org/tiny', 'package tiny\n\nfunc Answer() int { return 42 }\n'))
  world.home('.config/go/env', `GOPROXY=${proxy}\nGOSUMDB=off\n`)
  await world.start({
    'go.mod': 'module example.org/app\n\ngo 1.19\n',
    'app.go': 'package app\n\nimport "example.org/tiny"\n\nfunc Answer() int { return tiny.Answer() }\n',
    'app_test.go':
      'package app\n\nimport "testing"\n\nfunc TestAnswer(t *testing.T) {\n\tif Answer() != 42 {\n\t\tt.Fail()\n\t}\n}\n',
  })
  await world.run('go', 'get', 'example.org/tiny@v1.0.0')
  await world.run('go', 'build', './...')
  expect((await world.run('go', 'test', './...')).out).toContain('ok')
  await world.commit()
})

it('cargo', async () => {
  world = new ProjectWorld()
  await world.start({
    'Cargo.toml':
      '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ntiny = { path = "tiny" }\n',
    'src/lib.rs':
      'pub fn answer() -> i32 { tiny::answer() }\n\n#[test]\nfn answers() {\n    assert_eq!(answer(), 42);\n}\n',
    'tiny/Cargo.toml': '[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n',
    'tiny/src/lib.rs': 'pub fn answer() -> i32 { 42 }\n',
    '.gitignore': 'target\n',
  })
  await world.run('cargo', 'build')
  expect((await world.run('cargo', 'test')).out).toContain('1 passed')
  await world.commit()
})
