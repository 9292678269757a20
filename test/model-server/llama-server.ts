/** A real model server: llama.cpp's, from PATH or out of Debian's newer suite, unpacked into the ignored cache; nothing is installed. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CALL_TOKEN, END_TOKEN, QUOTE_TOKEN } from './random-model.ts'

const cache: string = join(import.meta.dirname, '../../.cache/llama')
const SUITE = 'forky'
const PACKAGE = 'llama.cpp-tools'
/** The end, the beginning of calls and the end of texts are liked, or a random model would reach none of them. */
const LIKED = [`${END_TOKEN}+15`, `${CALL_TOKEN}+12`, `${QUOTE_TOKEN}+8`].flatMap((bias) => ['--logit-bias', bias])

/** How to start it, or why it cannot be had. */
export function findServer():
  | { readonly command: (model: string) => readonly string[] }
  | { readonly missing: string } {
  if (spawnSync('llama-server', ['--version']).status === 0)
    return { command: (model) => ['llama-server', '-m', model] }
  const root = join(cache, 'root')
  if (!existsSync(join(root, 'usr/bin/llama-server'))) {
    const problem = unpack(root)
    if (problem !== null) return { missing: problem }
  }
  const space = ['--symlink', 'usr/lib64', '/lib64', '--symlink', 'usr/lib', '/lib', '--proc', '/proc', '--dev', '/dev']
  return {
    // Its libraries are newer than this system's, so that it has its own root; the network is shared.
    command: (model) => [
      ...['bwrap', '--die-with-parent', '--unshare-pid', '--ro-bind', join(root, 'usr'), '/usr', ...space],
      ...['--tmpfs', '/tmp', '--ro-bind', model, '/model.gguf', '/usr/bin/llama-server', '-m', '/model.gguf'],
    ],
  }
}

/** Downloads the package and all that it needs, and unpacks it; null when it is there. */
function unpack(root: string): string | null {
  const mirror = debianMirror()
  if (mirror === null) return 'this is not Debian with a mirror, and llama-server is not on PATH'
  rmSync(cache, { recursive: true, force: true })
  const archives = join(cache, 'archives')
  for (const folder of [join(cache, 'lists/partial'), join(archives, 'partial'), root])
    mkdirSync(folder, { recursive: true })
  const signed = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(join(cache, 'sources'), `deb [signed-by=${signed}] ${mirror} ${SUITE} main\n`)
  writeFileSync(join(cache, 'status'), '')
  const settings = {
    'Dir::Etc::sourcelist': join(cache, 'sources'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(cache, 'lists'),
    'Dir::State::status': join(cache, 'status'),
    'Dir::Cache': cache,
    'Dir::Cache::archives': archives,
    'Debug::NoLocking': '1',
    'APT::Sandbox::User': '',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const steps = [['update'], ['install', '-y', '--download-only', '--no-install-recommends', PACKAGE]]
  for (const step of steps) {
    const ran = spawnSync('apt-get', ['-q', ...options, ...step], { encoding: 'utf8' })
    if (ran.status !== 0) return `apt-get ${step[0]} of ${SUITE} failed: ${(ran.stderr ?? '').trim().slice(-300)}`
  }
  for (const name of readdirSync(archives).filter((one) => one.endsWith('.deb'))) {
    if (spawnSync('dpkg-deb', ['-x', join(archives, name), root]).status !== 0) return `${name} cannot be unpacked`
  }
  rmSync(archives, { recursive: true })
  rmSync(join(cache, 'lists'), { recursive: true })
  return existsSync(join(root, 'usr/bin/llama-server')) ? null : `${PACKAGE} of ${SUITE} has no llama-server`
}

/** The mirror that this machine uses. */
function debianMirror(): string | null {
  const places = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list']
  const texts = places.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'))
  return /^(?:URIs:|deb(?: \[[^\]]*\])?) (\S+\/debian)\/?(?:\s|$)/m.exec(texts.join('\n'))?.[1] ?? null
}

/** A server that runs. */
export interface ModelServer {
  readonly url: string
  /** What it wrote so far. */
  log(): string
  stop(): Promise<void>
}

const START_MS = 60_000

/** Starts it and waits until it answers. */
export async function startServer(command: readonly string[]): Promise<ModelServer> {
  const port = await freePort()
  const own = ['--host', '127.0.0.1', '--port', String(port), '-c', '131072', '-np', '1', '--jinja', '--no-warmup']
  const [program, ...args] = [...command, ...own, ...LIKED]
  const child: ChildProcess = spawn(program!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-20_000)
    })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + START_MS
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`llama-server did not start:\n${log}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    url: `${url}/v1`,
    log: () => log,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).status === 200
  } catch {
    return false
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const place = server.address()
      server.close(() => resolve(typeof place === 'object' && place ? place.port : 0))
    })
  })
}
