/** A registry with packages of every kind that the package gate judges: old, young, undated, imitated, with scripts, withdrawn. */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

export const PACKAGE_HOST = 'pkg.example.org'
/** Where files of Python and of one package of npm are. */
export const FILES_HOST = 'files.example.org'
/** Has the same, under its own name. */
export const MIRROR_HOST = 'mirror.example.net'
/** A source archive where the public index of Python would have it. */
export const PUBLIC_FILE: string = `/packages/ab/cd/${'0'.repeat(60)}/steady-2.0.0.tar.gz`
const ORIGIN = `https://${PACKAGE_HOST}`

const HOUR = 3_600_000
/** Long ago, and an hour ago. */
export const OLD = '2020-01-01T00:00:00Z'
export const YOUNG: string = `${new Date(Date.now() - HOUR).toISOString().slice(0, 19)}Z`

interface Sample {
  readonly name: string
  readonly version: string
  readonly published: string | null
  readonly script?: true
  readonly withdrawn?: string
}

const SAMPLES: readonly Sample[] = [
  { name: 'steady', version: '1.0.0', published: OLD },
  { name: 'steady', version: '1.1.0', published: OLD },
  { name: 'steady', version: '2.0.0', published: YOUNG },
  { name: 'later', version: '1.0.0', published: OLD },
  { name: 'newborn', version: '1.0.0', published: YOUNG },
  { name: 'undated', version: '1.0.0', published: null },
  { name: 'lodahs', version: '1.0.0', published: OLD },
  { name: 'expres', version: '1.0.0', published: OLD },
  { name: 'reqeusts', version: '1.0.0', published: OLD },
  { name: 'sered', version: '1.0.0', published: OLD },
  { name: 'scripted', version: '1.0.0', published: OLD, script: true },
  { name: 'retired', version: '1.0.0', published: OLD, withdrawn: 'use steady' },
]

/** Formats that a client asks for, and what routes call them. */
const FORMS = [
  ['application/vnd.pypi.simple.v1+json', 'json'],
  ['application/vnd.npm.install-v1+json', 'brief'],
] as const

type Routes = Map<string, { readonly type: string; readonly body: Buffer | string }>

export interface PackageRegistry {
  readonly listener: RequestListener
  /** What was asked of it, in order: `METHOD host/path`. */
  readonly asked: string[]
  /** Compresses answers from now on, asked or not; null: no more. */
  encode(how: Encoding | null): void
  /** A further version from now on. */
  add(sample: Sample): void
}

type Pack = (body: Buffer | string) => Buffer | string
const ENCODINGS: Readonly<Record<'gzip' | 'br' | 'deflate' | 'gzip, gzip' | 'unknown', Pack>> = {
  gzip: (body) => gzipSync(body),
  br: (body) => brotliCompressSync(body),
  deflate: (body) => deflateSync(body),
  'gzip, gzip': (body) => gzipSync(gzipSync(body)),
  unknown: (body) => body,
}
type Encoding = keyof typeof ENCODINGS

export function createPackageRegistry(directory: string): PackageRegistry {
  const asked: string[] = []
  let encoding: Encoding | null = null
  const routes = routesOf(directory, SAMPLES)
  return {
    asked,
    encode: (how) => {
      encoding = how
    },
    add: (sample) => {
      const versions = [...SAMPLES.filter(({ name }) => name === sample.name), sample]
      addNpm(directory, routes, sample.name, versions)
    },
    listener: (message, response) => {
      const path = decodeURIComponent(message.url!.split('?')[0]!)
      const named = message.headers.host!.split(':')[0]!
      asked.push(`${message.method} ${named}${path}`)
      const host = named !== MIRROR_HOST ? named : /^\/packages\//.test(path) ? FILES_HOST : PACKAGE_HOST
      const form = FORMS.find(([type]) => message.headers.accept?.includes(type))?.[1]
      const found = routes.get(`${host}${path} ${form}`) ?? routes.get(`${host}${path}`)
      if (found === undefined) return void response.writeHead(404).end('{"error":"nothing there"}\n')
      if (found.type === 'redirect') return void response.writeHead(302, { location: String(found.body) }).end()
      const body =
        named === MIRROR_HOST && typeof found.body === 'string'
          ? found.body.replaceAll(PACKAGE_HOST, MIRROR_HOST).replaceAll(FILES_HOST, MIRROR_HOST)
          : found.body
      const headers = { 'content-type': found.type, etag: '"one"', ...(encoding && { 'content-encoding': encoding }) }
      response.writeHead(200, headers).end(encoding === null ? body : ENCODINGS[encoding](body))
    },
  }
}

function routesOf(directory: string, samples: readonly Sample[]): Routes {
  const routes: Routes = new Map()
  const wheels = samples.map(({ name, version }) => [join(directory, wheelName(name, version)), name, version])
  execFileSync('python3', ['-c', WHEELS], { input: JSON.stringify(wheels) })
  for (const [name, versions] of Map.groupBy(samples, (sample) => sample.name)) {
    addNpm(directory, routes, name, versions!)
    addPython(directory, routes, name, versions!)
    addCrate(directory, routes, name, versions!)
  }
  routes.set(`${PACKAGE_HOST}/broken`, { type: 'application/json', body: '{"name": "broken", "versions"' })
  routes.set(`${PACKAGE_HOST}/impostor`, routes.get(`${PACKAGE_HOST}/steady`)!)
  // Its short form has a version more.
  const crept = { name: 'crept', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': {} }, time: { '1.0.0': OLD } }
  const more = { ...crept, versions: { '1.0.0': {}, '9.9.9': {} }, time: undefined, modified: YOUNG }
  for (const [form, document] of [
    ['', crept],
    [' brief', more],
  ] as const)
    routes.set(`${PACKAGE_HOST}/crept${form}`, { type: 'application/json', body: JSON.stringify(document) })
  routes.set(`${PACKAGE_HOST}/simple/plain/`, {
    type: 'text/html',
    body: '<a href="/x.whl">plain-1.0-py3-none-any.whl</a>',
  })
  const stray = routes.get(`${PACKAGE_HOST}/steady/-/steady-2.0.0.tgz`)!
  const elsewhere = ['steady-2.0.0.tgz', 'main.zip', 'main.tar.zst', 'steady-2.0.0.tar.gz'].map(
    (one) => `/elsewhere/${one}`,
  )
  for (const path of [...elsewhere, '/steady/-/steady-9.9.9.tgz', '/steady/-/other-1.0.0.tgz', PUBLIC_FILE])
    for (const host of [PACKAGE_HOST, FILES_HOST]) routes.set(`${host}${path}`, stray)
  return routes
}

function addNpm(directory: string, routes: Routes, name: string, samples: readonly Sample[]): void {
  const versions: Record<string, object> = {}
  for (const { version, script, withdrawn } of samples) {
    const root = join(directory, `npm-${name}-${version}`)
    mkdirSync(join(root, 'package'), { recursive: true })
    const manifest = { name, version, main: 'index.js', ...(script && { scripts: { postinstall: 'node -e 0' } }) }
    writeFileSync(join(root, 'package', 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(root, 'package', 'index.js'), 'module.exports = 1\n')
    const file = join(root, 'one.tgz')
    execFileSync('tar', ['-czf', file, '-C', root, 'package'])
    const bytes = readFileSync(file)
    const tarball = `${ORIGIN}/${name}/-/${name}-${version}.tgz`
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    versions[version] = { ...manifest, dist: { tarball, integrity }, ...(withdrawn && { deprecated: withdrawn }) }
    routes.set(`${PACKAGE_HOST}/${name}/-/${name}-${version}.tgz`, { type: 'application/octet-stream', body: bytes })
  }
  const time = Object.fromEntries(
    samples.flatMap(({ version, published }) => (published ? [[version, published]] : [])),
  )
  const latest = samples.at(-1)!.version
  const document = { name, 'dist-tags': { latest }, versions, time }
  routes.set(`${PACKAGE_HOST}/${name}`, { type: 'application/json', body: JSON.stringify(document) })
  const modified = samples.at(-1)!.published ?? undefined
  routes.set(`${PACKAGE_HOST}/${name} brief`, {
    type: 'application/vnd.npm.install-v1+json',
    body: JSON.stringify({ name, 'dist-tags': { latest }, versions, modified }),
  })
  for (const [part, version] of [...Object.keys(versions).map((one) => [one, one]), ['latest', latest]])
    routes.set(`${PACKAGE_HOST}/${name}/${part}`, {
      type: 'application/json',
      body: JSON.stringify(versions[version!]),
    })
}

const wheelName = (name: string, version: string): string => `${name}-${version}-py3-none-any.whl`

const WHEELS = `
import json, sys, zipfile
for path, name, version in json.load(sys.stdin):
  info = f'{name}-{version}.dist-info'
  with zipfile.ZipFile(path, 'w') as wheel:
    wheel.writestr(name + '.py', '')
    wheel.writestr(info + '/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n')
    wheel.writestr(info + '/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + '/RECORD', '')
`

function addPython(directory: string, routes: Routes, name: string, samples: readonly Sample[]): void {
  const files = samples.map(({ version, published, withdrawn }) => {
    const filename = wheelName(name, version)
    const bytes = readFileSync(join(directory, filename))
    routes.set(`${FILES_HOST}/packages/${filename}`, { type: 'application/octet-stream', body: bytes })
    const hashes = { sha256: createHash('sha256').update(bytes).digest('hex') }
    const url = `https://${FILES_HOST}/packages/${filename}`
    return { filename, url, hashes, ...(published && { 'upload-time': published }), yanked: withdrawn ?? false }
  })
  const document = { meta: { 'api-version': '1.1' }, name, versions: samples.map(({ version }) => version), files }
  const anchors = files.map(({ filename, url }) => `<a href="${url}">${filename}</a>`)
  const place = `${PACKAGE_HOST}/simple/${name}/`
  routes.set(place, { type: 'text/html', body: anchors.join('\n') })
  routes.set(`${place} json`, { type: 'application/vnd.pypi.simple.v1+json', body: JSON.stringify(document) })
}

function addCrate(directory: string, routes: Routes, name: string, samples: readonly Sample[]): void {
  const lines = samples.map(({ version, published, withdrawn }) => {
    const root = join(directory, `crate-${name}-${version}`)
    const own = join(root, `${name}-${version}`)
    mkdirSync(join(own, 'src'), { recursive: true })
    writeFileSync(join(own, 'Cargo.toml'), `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2021"\n`)
    writeFileSync(join(own, 'src', 'lib.rs'), '')
    const file = join(root, 'one.crate')
    execFileSync('tar', ['-czf', file, '-C', root, `${name}-${version}`])
    const bytes = readFileSync(file)
    const cksum = createHash('sha256').update(bytes).digest('hex')
    routes.set(`${PACKAGE_HOST}/crates/${name}-${version}.crate`, { type: 'application/octet-stream', body: bytes })
    const entry = { name, vers: version, deps: [], cksum, features: {}, yanked: withdrawn !== undefined }
    return JSON.stringify({ ...entry, ...(published && { pubtime: published }) })
  })
  const config = { dl: `${ORIGIN}/crates/{crate}-{version}.crate` }
  routes.set(`${PACKAGE_HOST}/index/config.json`, { type: 'application/json', body: JSON.stringify(config) })
  const path = `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`
  routes.set(`${PACKAGE_HOST}/index/${path}`, { type: 'text/plain', body: `${lines.join('\n')}\n` })
}
