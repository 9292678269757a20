/** Real clients, unmodified, through a proxy to loopback servers with test names. */

import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientSettings } from '../../../src/egress/clients/clients.ts'
import { systemRoots } from '../../../src/egress/route/upstream.ts'
import { until } from '../../until.ts'
import { type RealClient, realClients } from './client-rows.ts'
import { createRegistry, REGISTRY_HOST } from './registry.ts'
import { createWorld, hosts, type OpenProxy, type World } from './world.ts'

/** A folder with clients that are not installed system-wide. */
const EXTRA = process.env.CORDON_TEST_CLIENTS ?? '/nonexistent'
/** What every machine has that can build Cordon and run its tests. */
const ALWAYS: readonly string[] = ['curl', 'git', 'node', 'npm']

let world: World
let open: OpenProxy
let directory: string
let environment: Readonly<Record<string, string>>

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cordon clients-'))
  world = createWorld()
  const registry = createRegistry(directory)
  await world.serveHttps(registry)
  await world.serveHttp(registry)
  // As much of an ssh server as shows that bytes go both ways: it speaks first, and leaves when it was answered.
  const ssh = createServer((socket) => {
    socket.write('SSH-2.0-CordonTest\r\n')
    socket.on('error', () => {}).once('data', () => socket.end())
  })
  await world.serve(22, ssh)
  open = await world.open({ command: 'client', allowed: hosts(REGISTRY_HOST, `${REGISTRY_HOST}:22`) })
  const { ca } = world
  const settings = clientSettings({
    proxyHost: '127.0.0.1',
    proxyPort: open.port,
    directory,
    caPem: ca.pem,
    roots: systemRoots(),
  })
  for (const file of settings.files) {
    writeFileSync(file.path, file.content)
    chmodSync(file.path, file.mode)
  }
  environment = settings.environment
})

afterAll(async () => {
  await world.close()
  rmSync(directory, { recursive: true, force: true })
})

function programOf(row: RealClient): string | null {
  const program = row.program.replace('{extra}', EXTRA)
  if (program.includes('/') && !row.probe) return existsSync(program) ? program : null
  try {
    if (row.probe) execFileSync(program, row.probe, { stdio: 'ignore' })
    return execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

function run(row: RealClient, program: string): Promise<string> {
  const home = join(directory, row.client.replaceAll(' ', '-'))
  mkdirSync(home, { recursive: true })
  row.prepare?.(home)
  const fill = (text: string) =>
    text.replace('{home}', home).replace('{proxy}', `127.0.0.1:${open.port}`).replace('{directory}', directory)
  const own = Object.entries(row.environment ?? {}).map(([name, value]) => [name, fill(value)])
  const { PATH = '', RUSTUP_HOME, PYENV_ROOT, HOME = '' } = process.env
  const tools = { RUSTUP_HOME: RUSTUP_HOME ?? join(HOME, '.rustup'), PYENV_ROOT: PYENV_ROOT ?? join(HOME, '.pyenv') }
  const env = { PATH, HOME: home, ...tools, ...environment, ...Object.fromEntries(own) }
  return new Promise((resolve) => {
    const child = execFile(
      program,
      row.args.map(fill),
      { cwd: home, env, timeout: 200_000 },
      (error, stdout, stderr) => {
        resolve(`${stdout}${stderr}${error ? `\nfailed: ${error.message}` : ''}`)
      },
    )
    child.stdin?.end(row.stdin ?? '')
  })
}

describe('real clients', () => {
  const present = new Set(realClients.filter((row) => programOf(row) !== null).map((row) => row.client.split(' ')[0]!))
  const absent = realClients.filter((row) => programOf(row) === null).map((row) => row.client)
  it(`has ${ALWAYS.join(', ')} here; not installed and so not run: ${absent.join(', ') || 'none'}`, () => {
    expect(ALWAYS.filter((name) => !present.has(name))).toEqual([])
  })
  for (const row of realClients) {
    const program = programOf(row)
    if (program === null) continue
    it(`${row.client} (${row.note})`, async () => {
      const before = world.events.length
      const output = await run(row, program)
      expect(output).toMatch(row.expect)
      expect(/\nfailed: /.test(output)).toBe(row.fails ?? false)
      // A tunnel is reported when it closes, which may be after the client has ended. s_client asks for nothing.
      if (row.client !== 'openssl') await until('the tunnel is reported', () => world.events.length > before)
      const seen = world.events.slice(before)
      expect(seen.filter((event) => event.verdict !== 'allow')).toEqual([])
    })
  }
})
