/** Real servers and their own clients, unmodified, inside a sandbox: PostgreSQL and Redis by the name that was granted. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/runtime/session/tool-result.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { createWorld, listen, type World } from './world.ts'

const POSTGRES = postgresFolder()
const REDIS = '/usr/bin/redis-server'
/** The servers refuse to be root's. */
const NOBODY = 65534

let session: SessionWorld
let internet: World
let directory: string
const children: ChildProcess[] = []

function postgresFolder(): string | null {
  const base = '/usr/lib/postgresql'
  const version = existsSync(base) ? readdirSync(base).sort().at(-1) : undefined
  return version === undefined ? null : join(base, version, 'bin')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await listen(server)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

const asNobody = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {})

async function start(program: string, args: readonly string[], port: number): Promise<void> {
  children.push(spawn(program, args, { stdio: 'ignore', cwd: directory, ...asNobody() }))
  for (let tries = 0; tries < 200; tries++) {
    const there = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (there) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${program} did not come up`)
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cordon-servers-'))
  chmodSync(directory, 0o755)
  if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY)
  session = openSessionWorld()
  internet = createWorld()
  if (POSTGRES) {
    const port = await freePort()
    const data = join(directory, 'pg')
    execFileSync(join(POSTGRES, 'initdb'), ['-D', data, '-U', 'app', '-A', 'trust', '--no-sync'], {
      stdio: 'ignore',
      ...asNobody(),
    })
    const settings = ['-k', directory, '-h', '127.0.0.1', '-p', String(port), '-c', 'fsync=off']
    await start(join(POSTGRES, 'postgres'), ['-D', data, ...settings], port)
    internet.route(5432, port)
  }
  if (existsSync(REDIS)) {
    const port = await freePort()
    await start(REDIS, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory], port)
    internet.route(6379, port)
  }
})

afterAll(async () => {
  for (const child of children) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    await gone
  }
  await session.close()
  await internet.close()
  rmSync(directory, { recursive: true, force: true })
})

async function inside(command: string): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    capabilities: { allow: { commands: { default_domains: ['db.example.org:5432', 'cache.example.org:6379'] } } },
  }
  const cordon = await session.open({ manifest: { object }, resolver: internet.resolver, upstream: internet.upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

interface Row {
  readonly client: string
  readonly there: boolean
  readonly command: string
  readonly expect: RegExp
}

const psql = 'psql -X -h db.example.org -U app -d postgres -At -c'
const rows: readonly Row[] = [
  { client: 'psql', there: POSTGRES !== null, command: `${psql} 'select 6*7'`, expect: /^42$/m },
  {
    client: 'psql, 3 MB',
    there: POSTGRES !== null,
    command: `${psql} "select repeat('x', 3000000)" | wc -c`,
    expect: /3000001/,
  },
  {
    client: 'redis-cli',
    there: existsSync(REDIS),
    command: 'redis-cli -h cache.example.org set k v; redis-cli -h cache.example.org get k',
    expect: /OK\n+v/,
  },
  {
    client: 'redis-cli, to a host that nobody granted',
    there: existsSync(REDIS),
    command: 'redis-cli -h other.example.org ping',
    expect: /not granted/,
  },
]

describe('clients of databases', () => {
  const absent = rows.filter(({ there }) => !there).map(({ client }) => client)
  it(`are tried where their servers are; not here: ${absent.join(', ') || 'none'}`, () => {
    expect(rows.length).toBeGreaterThan(absent.length - 1)
  })
  for (const { client, there, command, expect: expected } of rows) {
    if (there) it(client, async () => expect(await inside(command)).toMatch(expected))
  }
})
