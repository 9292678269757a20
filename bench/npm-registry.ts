/**
 * A registry on loopback with the packages of a real project, for `bench/packages.ts`: it stores what the configured registry
 * has once in `.cache/`, and then answers from memory. `node bench/npm-registry.ts FOLDER` prints its port.
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const [folder = ''] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const upstream = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()

interface Answer {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer | null
}

const answers = new Map<string, Answer>()
let origin = ''

const server = createServer(async (message, response) => {
  const path = message.url!.split('?')[0]!
  const brief = message.headers.accept?.includes('application/vnd.npm.install-v1+json') === true
  message.resume()
  try {
    const answer = await answerFor(path, brief)
    const gzip = answer.gzip !== null && String(message.headers['accept-encoding']).includes('gzip')
    const body = gzip ? answer.gzip! : answer.body
    const headers = { 'content-type': answer.type, 'content-length': body.length }
    response.writeHead(200, { ...headers, ...(gzip && { 'content-encoding': 'gzip' }) }).end(body)
  } catch {
    response.writeHead(404).end('{}')
  }
})
server.listen(0, '127.0.0.1', async () => {
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const name of readdirSync(folder)) {
    const path = Buffer.from(name, 'base64url').toString()
    await answerFor(path, false)
    if (!path.endsWith('.tgz')) await answerFor(path, true)
  }
  console.log(new URL(origin).port)
})

async function answerFor(path: string, brief: boolean): Promise<Answer> {
  const isFile = path.endsWith('.tgz')
  const key = `${path} ${brief && !isFile}`
  const known = answers.get(key)
  if (known) return known
  const bytes = await stored(path)
  const answer = isFile
    ? { type: 'application/octet-stream', body: bytes, gzip: null }
    : documentOf(bytes.toString('utf8'), brief)
  answers.set(key, answer)
  return answer
}

async function stored(path: string): Promise<Buffer> {
  const file = join(folder, Buffer.from(path).toString('base64url'))
  try {
    return readFileSync(file)
  } catch {
    const response = await fetch(new URL(path.slice(1), upstream), { headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    writeFileSync(file, bytes)
    return bytes
  }
}

/** The whole document, or the short form that npm asks for: fewer fields, and `modified` instead of times. */
function documentOf(text: string, brief: boolean): Answer {
  const { name, versions, time, 'dist-tags': tags, ...rest } = JSON.parse(text)
  const own = Object.fromEntries(
    Object.entries<Record<string, unknown>>(versions).map(([version, manifest]) => [
      version,
      ofVersion(manifest, brief),
    ]),
  )
  const modified = time.modified ?? Object.values<string>(time).toSorted().at(-1)
  const document = brief
    ? { name, modified, 'dist-tags': tags, versions: own }
    : { ...rest, name, 'dist-tags': tags, versions: own, time: { ...time, modified } }
  const body = Buffer.from(JSON.stringify(document))
  const type = brief ? 'application/vnd.npm.install-v1+json' : 'application/json'
  return { type, body, gzip: gzipSync(body) }
}

const BRIEF = [
  ...['name', 'version', 'deprecated', 'dependencies', 'optionalDependencies', 'devDependencies', 'bundleDependencies'],
  ...['peerDependencies', 'peerDependenciesMeta', 'bin', 'directories', 'engines', 'cpu', 'os', 'hasInstallScript'],
]

function ofVersion(manifest: Record<string, unknown>, brief: boolean): object {
  const dist = manifest.dist as { readonly tarball: string }
  const file = { ...dist, tarball: `${origin}${new URL(dist.tarball).pathname}` }
  if (!brief) return { ...manifest, dist: file }
  const scripts = (manifest.scripts ?? {}) as Record<string, unknown>
  const runs = ['preinstall', 'install', 'postinstall'].some((script) => Object.hasOwn(scripts, script))
  const kept = Object.fromEntries(BRIEF.flatMap((key) => (key in manifest ? [[key, manifest[key]]] : [])))
  return { ...kept, ...(runs && { hasInstallScript: true }), dist: file }
}
