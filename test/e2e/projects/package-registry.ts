/** A package registry on loopback: packages of a test's own making, and, where it has one behind it, those of that one. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface StandIn {
  readonly name: string
  /** Its program, where it has one: the file of that name in `files`. */
  readonly bin?: string
  readonly files: Readonly<Record<string, string>>
}

const VERSION = '1.0.0'

export class PackageRegistry {
  readonly #server: Server
  readonly #tarballs = new Map<string, Buffer>()
  readonly #packages: readonly StandIn[]
  /** The address of the registry behind it, with a slash at its end; null: none. */
  readonly #behind: string | null

  constructor(packages: readonly StandIn[], behind: string | null = null) {
    this.#packages = packages
    this.#behind = behind
    for (const one of packages) this.#tarballs.set(one.name, tarball(one))
    this.#server = createServer((request, response) => {
      const name = decodeURIComponent(request.url ?? '').slice(1)
      const packed = this.#tarballs.get(name.replace(/\.tgz$/, ''))
      if (packed && name.endsWith('.tgz')) response.end(packed)
      else if (packed) response.end(JSON.stringify(this.#document(name, packed)))
      else
        this.#fetch(request.url ?? '/').then(
          ({ status, body }) => response.writeHead(status).end(body),
          () => response.writeHead(502).end('{}'),
        )
    })
  }

  /** What the registry behind has, with its own address instead of that one's. */
  async #fetch(path: string): Promise<{ readonly status: number; readonly body: Buffer | string }> {
    if (this.#behind === null) return { status: 404, body: '{}' }
    const answer = await fetch(this.#behind + path.slice(1))
    const body = Buffer.from(await answer.arrayBuffer())
    const isDocument = answer.headers.get('content-type')?.includes('json') ?? false
    return { status: answer.status, body: isDocument ? body.toString().replaceAll(this.#behind, this.url) : body }
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #document(name: string, packed: Buffer): object {
    const { bin } = this.#packages.find((one) => one.name === name)!
    const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`
    const dist = { tarball: `${this.url}${name}.tgz`, integrity }
    const version = { name, version: VERSION, ...(bin && { bin: { [name]: bin } }), dist }
    const time = { [VERSION]: '2020-01-01T00:00:00.000Z' }
    return { name, 'dist-tags': { latest: VERSION }, time, versions: { [VERSION]: version } }
  }
}

function tarball({ name, bin, files }: StandIn): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-npm-'))
  try {
    const manifest = { name, version: VERSION, main: 'index.js', ...(bin && { bin: { [name]: bin } }) }
    for (const [path, text] of Object.entries({ 'package.json': JSON.stringify(manifest), ...files })) {
      mkdirSync(dirname(join(folder, 'package', path)), { recursive: true })
      writeFileSync(join(folder, 'package', path), text, { mode: path === bin ? 0o755 : 0o644 })
    }
    const created = spawnSync('tar', ['-czf', join(folder, 'package.tgz'), '-C', folder, 'package'])
    if (created.status !== 0) throw new Error(`tar: ${created.stderr}`)
    return readFileSync(join(folder, 'package.tgz'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
