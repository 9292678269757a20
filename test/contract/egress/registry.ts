/** A package registry of every kind, in memory, for the real clients to fetch from. */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join, relative } from 'node:path'

/** How much is sent both ways at once. */
export const LARGE: number = 64 * 1024 * 1024
export const REGISTRY_HOST = 'pkg.example.org'
const ORIGIN = `https://${REGISTRY_HOST}`
/** Long ago: package managers hold back what is new. */
const PUBLISHED = { '1.0.0': '2020-01-01T00:00:00.000Z' }

/** Builds one package for each package manager below `directory`, and answers for them. */
export function createRegistry(directory: string): RequestListener {
  const routes = new Map<string, Buffer | string>([['/hello', 'hello from the host\n']])
  for (const add of [addNpm, addWheel, addCrate, addGoModule, addRepository]) add(directory, routes)
  return (message, response) => {
    let received = 0
    message.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    const content = routes.get(decodeURIComponent(message.url!.split('?')[0]!))
    if (message.url === '/upload') return void message.once('end', () => response.end(`uploaded ${received}\n`))
    if (message.url === '/large') return void response.end(Buffer.alloc(LARGE, 'x'))
    if (content === undefined) return void response.writeHead(404).end(`nothing at ${message.url}\n`)
    const type = typeof content === 'string' && content.startsWith('{') ? 'application/json' : 'text/html'
    response
      .writeHead(200, { 'content-type': Buffer.isBuffer(content) ? 'application/octet-stream' : type })
      .end(content)
  }
}

type Routes = Map<string, Buffer | string>

function addNpm(directory: string, routes: Routes): void {
  const root = join(directory, 'npm')
  mkdirSync(join(root, 'package'), { recursive: true })
  const manifest = { name: 'left', version: '1.0.0', main: 'index.js' }
  writeFileSync(join(root, 'package', 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(root, 'package', 'index.js'), 'module.exports = 1\n')
  execFileSync('tar', ['-czf', join(root, 'left.tgz'), '-C', root, 'package'])
  const tarball = readFileSync(join(root, 'left.tgz'))
  const dist = {
    tarball: `${ORIGIN}/left/-/left-1.0.0.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  }
  const versions = { '1.0.0': { ...manifest, dist } }
  routes.set('/left', JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.0.0' }, time: PUBLISHED, versions }))
  routes.set('/left/-/left-1.0.0.tgz', tarball)
}

function addWheel(directory: string, routes: Routes): void {
  const path = join(directory, 'tiny-1.0-py3-none-any.whl')
  const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('tiny.py', '')
    wheel.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
    wheel.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('tiny-1.0.dist-info/RECORD', '')
`
  execFileSync('python3', ['-c', script, path])
  routes.set('/simple/tiny/', '<a href="../../wheels/tiny-1.0-py3-none-any.whl">tiny-1.0-py3-none-any.whl</a>')
  routes.set('/wheels/tiny-1.0-py3-none-any.whl', readFileSync(path))
}

function addCrate(directory: string, routes: Routes): void {
  const root = join(directory, 'crate')
  mkdirSync(join(root, 'tiny-1.0.0', 'src'), { recursive: true })
  writeFileSync(
    join(root, 'tiny-1.0.0', 'Cargo.toml'),
    '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n',
  )
  writeFileSync(join(root, 'tiny-1.0.0', 'src', 'lib.rs'), '')
  execFileSync('tar', ['-czf', join(root, 'tiny.crate'), '-C', root, 'tiny-1.0.0'])
  const crate = readFileSync(join(root, 'tiny.crate'))
  const cksum = createHash('sha256').update(crate).digest('hex')
  routes.set('/index/config.json', JSON.stringify({ dl: `${ORIGIN}/crates/{crate}-{version}.crate` }))
  routes.set(
    '/index/ti/ny/tiny',
    `${JSON.stringify({ name: 'tiny', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false })}\n`,
  )
  routes.set('/crates/tiny-1.0.0.crate', crate)
}

function addGoModule(_directory: string, routes: Routes): void {
  routes.set('/go/example.org/tiny/@v/list', 'v1.0.0\n')
  routes.set('/go/example.org/tiny/@v/v1.0.0.info', JSON.stringify({ Version: 'v1.0.0', Time: '2024-01-01T00:00:00Z' }))
  routes.set('/go/example.org/tiny/@v/v1.0.0.mod', 'module example.org/tiny\n')
}

/** A repository that needs no program behind it: git's plain transport reads files. */
function addRepository(directory: string, routes: Routes): void {
  const work = join(directory, 'work')
  const bare = join(directory, 'tiny.git')
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'init.defaultBranch=main', ...args],
      {
        env: { PATH: process.env.PATH, HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
        stdio: 'pipe',
      },
    )
  git('init', work)
  writeFileSync(join(work, 'README'), 'tiny\n')
  git('-C', work, 'add', 'README')
  git('-C', work, 'commit', '-m', 'First')
  git('clone', '--bare', work, bare)
  git('-C', bare, 'update-server-info')
  for (const path of filesBelow(bare)) routes.set(`/tiny.git/${relative(bare, path)}`, readFileSync(path))
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? filesBelow(path) : [path]
  })
}
