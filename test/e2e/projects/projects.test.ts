/** Projects as people have them, with the manifest that `cordon init` wrote: install, test, serve, commit, and nothing edited. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PackageRegistry } from './package-registry.ts'
import { ProjectWorld, packageJson } from './project-world.ts'

const serve = `const { createServer } = require('node:http')
const at = process.argv.indexOf('--port')
const port = Number(at < 0 ? 5173 : process.argv[at + 1])
createServer((_, answer) => answer.end('served')).listen(port, '127.0.0.1', () => console.log('ready'))`

/** The heavy ones are in `npm test -- projects`. */
const registry = new PackageRegistry([
  { name: 'vite', bin: 'cli.js', files: { 'cli.js': `#!/usr/bin/env node\n${serve}\n` } },
  {
    name: 'vitest',
    bin: 'cli.js',
    files: { 'cli.js': '#!/usr/bin/env node\nrequire(process.cwd() + "/sum.test.js"); console.log("1 passed")\n' },
  },
  { name: 'express', files: { 'index.js': 'module.exports = () => ({ name: "express" })\n' } },
])
beforeAll(() => registry.listen())
afterAll(() => registry.close())

let world: ProjectWorld
beforeEach(() => {
  world = new ProjectWorld()
  world.home('.npmrc', `registry=${registry.url}\n`)
})
afterEach(() => world.close())

describe('a project', () => {
  it('of vite and vitest', async () => {
    const port = await chosenPort()
    await world.start({
      'package.json': packageJson({
        scripts: { dev: `vite --port ${port}`, test: 'vitest run' },
        devDependencies: { vite: '^1.0.0', vitest: '^1.0.0' },
      }),
      'sum.test.js': 'require("node:assert").equal(1 + 1, 2)\n',
      '.gitignore': 'node_modules\n',
    })
    await world.run('npm', 'install', '--no-audit', '--no-fund')
    expect((await world.run('npm', 'test')).out).toContain('1 passed')
    expect(await world.served(port, 'npm', 'run', 'dev')).toBe('served')
    await world.commit()
  })

  it('of express', async () => {
    await world.start({
      'package.json': packageJson({ scripts: { test: 'node --test' }, dependencies: { express: '^1.0.0' } }),
      'app.test.js':
        'require("node:test")("app", () => require("node:assert").equal(require("express")().name, "express"))\n',
      '.gitignore': 'node_modules\n',
    })
    await world.run('npm', 'install', '--no-audit', '--no-fund')
    expect((await world.run('npm', 'test')).out).toMatch(/pass 1/)
    await world.commit()
  })

  it('of Python, with a virtual environment', async () => {
    await world.start({
      'pyproject.toml': '[project]\nname = "app"\nversion = "0"\n',
      'app.py': 'def add(a, b):\n    return a + b\n',
      'test_app.py':
        'import unittest, app\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(app.add(1, 1), 2)\n',
      '.gitignore': '.venv\n__pycache__\n',
    })
    await world.run('python3', '-m', 'venv', '--without-pip', '.venv')
    expect((await world.run('.venv/bin/python', '-m', 'unittest', '-v')).err).toContain('OK')
    await world.commit()
  })

  it('with a Makefile', async () => {
    await world.start({
      Makefile: 'build: out.txt\nout.txt: in.txt\n\ttr a-z A-Z < in.txt > out.txt\n',
      'in.txt': 'abc\n',
    })
    await world.run('make', 'build')
    expect((await world.run('cat', 'out.txt')).out).toBe('ABC\n')
    await world.commit()
  })

  it('with a submodule and a worktree', async () => {
    const other = join(world.homeDirectory, 'lib')
    mkdirSync(other)
    const inLib = (...args: string[]) =>
      spawnSync('git', args, { cwd: other, env: { PATH: process.env.PATH, HOME: world.homeDirectory } }).status
    expect([inLib('init', '-q', '-b', 'main', '.'), inLib('commit', '--allow-empty', '-qm', 'lib')]).toEqual([0, 0])
    await world.start({ 'a.txt': 'a\n' })
    world.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'lib')
    await world.commit()
    expect((await world.run('git', '-C', 'lib', 'log', '--format=%s')).out).toBe('lib\n')
    world.write('lib/new.txt', 'new\n')
    await world.run('git', '-C', 'lib', 'add', 'new.txt')
    await world.run('git', '-C', 'lib', 'commit', '-qm', 'in the submodule')
    await world.run('git', 'worktree', 'add', '-q', 'tree', '-b', 'topic')
    await world.run('git', '-C', 'tree', 'commit', '--allow-empty', '-qm', 'in the tree')
    expect(world.git('log', '--format=%s', 'topic')).toContain('in the tree')
  })
})

/** A port that nothing has, and that the kernel does not hand out by itself. */
async function chosenPort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 4000); ; port++) {
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}
