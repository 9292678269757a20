/** Real servers and their own clients, unmodified, inside a sandbox: PostgreSQL and Redis by the granted name, logged in from outside. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { until } from '../../until.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { createWorld, listen, type World } from './world.ts'

const POSTGRES = postgresFolder()
const REDIS = '/usr/bin/redis-server'
/** The servers refuse to be root's. */
const NOBODY = 65534
const PASSWORD = 'of-ada/and:nobody@else'
const DATABASE_URL = `postgres://ada:${encodeURIComponent(PASSWORD)}@db.example.org:5433/postgres`
/** Who logs in how; the first line that fits applies. */
const LOGINS = `host all ada 127.0.0.1/32 scram-sha-256
host all bob 127.0.0.1/32 password
host all eve 127.0.0.1/32 md5
host all all 127.0.0.1/32 trust
`

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
  await until(`${program} comes up`, () => {
    return new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  })
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
    const own = (name: string, text: string) => {
      writeFileSync(join(data, name), text, { mode: 0o600 })
      if (process.getuid?.() === 0) chownSync(join(data, name), NOBODY, NOBODY)
    }
    const { key, cert } = internet.authority.issue('db.example.org')
    own('server.key', key)
    own('server.crt', cert)
    own('pg_hba.conf', LOGINS)
    const settings = ['-c', 'ssl=on', '-k', directory, '-h', '127.0.0.1', '-p', String(port), '-c', 'fsync=off']
    await start(join(POSTGRES, 'postgres'), ['-D', data, ...settings], port)
    internet.route(5432, port)
    internet.route(5433, port)
    const roles = ['ada', 'bob'].map((name) => `create role ${name} login password '${PASSWORD}';`).join('')
    const old = `set password_encryption = 'md5'; create role eve login password '${PASSWORD}';`
    const where = ['-X', '-h', '127.0.0.1', '-p', String(port), '-U', 'app', '-d', 'postgres', '-c']
    execFileSync('psql', [...where, `${roles}${old}`], { stdio: 'ignore' })
  }
  if (existsSync(REDIS)) {
    const port = await freePort()
    await start(REDIS, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory], port)
    internet.route(6379, port)
    const locked = await freePort()
    const lock = ['--requirepass', PASSWORD, '--save', '', '--dir', directory]
    await start(REDIS, ['--port', String(locked), '--bind', '127.0.0.1', ...lock], locked)
    internet.route(6380, locked)
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
    security: { command_substitution: true },
    capabilities: {
      allow: {
        commands: {
          default_domains: [
            'db.example.org:5432',
            'db.example.org:5433',
            'cache.example.org:6379',
            'cache.example.org:6380',
          ],
        },
      },
    },
    secrets: [
      {
        name: 'DATABASE_URL',
        source: 'env:DATABASE_URL',
        part: 'password',
        hosts: ['db.example.org:5433'],
        login: 'postgres',
      },
      { name: 'REDISCLI_AUTH', source: 'env:REDISCLI_AUTH', hosts: ['cache.example.org:6380'], login: 'redis' },
    ],
  }
  const machine = { ...session.machine, env: { ...session.machine.env, DATABASE_URL, REDISCLI_AUTH: PASSWORD } }
  const { resolver, upstream } = internet
  const cordon = await session.open({ manifest: { object }, machine, resolver, upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

interface Row {
  readonly client: string
  readonly there: boolean
  readonly command: string
  readonly expect: RegExp
}

/** Logs in to Redis and says more on the same connection. */
const redisTalk = (...commands: readonly (readonly string[])[]) => `python3 - <<'E'
import os, socket
s = socket.create_connection(('cache.example.org', 6380)); s.settimeout(5)
for words in [['AUTH', 'PLACEHOLDER']] + ${JSON.stringify(commands)}:
  words = [w.replace('PLACEHOLDER', os.environ['REDISCLI_AUTH']) for w in words]
  s.sendall(('*%d\\r\\n' % len(words) + ''.join('$%d\\r\\n%s\\r\\n' % (len(w), w) for w in words)).encode())
  try: got = s.recv(65536)
  except OSError: got = b''
  print(got.decode() or 'closed')
  if not got: break
E`

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
  ...[
    ['with SCRAM', '"$DATABASE_URL"'],
    ['without TLS inside', '"$DATABASE_URL?sslmode=disable"'],
    ['with TLS that the client checks', '"$DATABASE_URL?sslmode=verify-full&sslrootcert=$SSL_CERT_FILE"'],
    ['with a password as it is', '"$(echo "$DATABASE_URL" | sed s/ada/bob/)"'],
    ['with a hash of the old kind', '"$(echo "$DATABASE_URL" | sed s/ada/eve/)"'],
  ].map(([how, url]) => ({
    client: `psql, logged in outside, ${how}`,
    there: POSTGRES !== null,
    command: `psql -X -At ${url} -c "select current_user, repeat('x', 300000)" | cut -c-9`,
    expect: /^(?:ada|bob|eve)\|xxxx/m,
  })),
  {
    client: 'psql, a login outside is broken off and the next one works',
    there: POSTGRES !== null,
    command: `timeout 1 psql -X "$DATABASE_URL" -c 'select pg_sleep(5)'; psql -X -At "$DATABASE_URL" -c 'select 6*7'`,
    expect: /^42$/m,
  },
  {
    client: 'attack: psql with another password',
    there: POSTGRES !== null,
    command: 'psql -X -At postgres://bob:theirs@db.example.org:5433/postgres -c "select 6*7"',
    expect: /^(?![\s\S]*\b42\b)[\s\S]*refused by Cordon \(secret-foreign\)/,
  },
  {
    client: 'attack: something else than PostgreSQL',
    there: POSTGRES !== null,
    command:
      'curl -sS -m 60 --noproxy "*" -H "Authorization: Bearer theirs" http://db.example.org:5433/; echo; curl -sS -m 60 --noproxy "" http://db.example.org:5433/',
    expect: /secret-unread[\s\S]*secret-misplaced/,
  },
  {
    client: 'attack: the password is nowhere inside',
    there: POSTGRES !== null && existsSync(REDIS),
    command:
      'env | grep -c nobody@else; redis-cli -h cache.example.org -p 6380 config get requirepass; redis-cli -h cache.example.org -p 6380 ping',
    expect: /^(?![\s\S]*of-ada)[\s\S]*\*{10}[\s\S]*PONG/,
  },
  {
    client: 'attack: redis-cli with another password',
    there: existsSync(REDIS),
    command: 'REDISCLI_AUTH=theirs redis-cli -h cache.example.org -p 6380 ping',
    expect: /secret-foreign/,
  },
  ...[
    ['after the login', ['AUTH', 'theirs']],
    ['in a later HELLO', ['HELLO', '3', 'AUTH', 'default', 'theirs']],
    ['behind the placeholder', ['HELLO', '3', 'AUTH', 'default', 'PLACEHOLDER', 'AUTH', 'default', 'theirs']],
    ['under a name', ['HELLO', '3', 'SETNAME', 'AUTH', 'AUTH', 'PLACEHOLDER', 'theirs']],
  ].map(([how, words]) => ({
    client: `attack: another password for Redis ${how as string}`,
    there: existsSync(REDIS),
    command: redisTalk(['PING'], words as string[], ['PING']),
    expect: /^(?![\s\S]*PONG[\s\S]*PONG)[\s\S]*PONG[\s\S]*refused by Cordon \(secret-(?:foreign|unread)\)/,
  })),
  {
    client: 'control: the placeholder for Redis again, and in a HELLO with a name',
    there: existsSync(REDIS),
    command: redisTalk(
      ['AUTH', 'PLACEHOLDER'],
      ['HELLO', '2', 'AUTH', 'default', 'PLACEHOLDER', 'SETNAME', 'AUTH'],
      ['CLIENT', 'GETNAME'],
      ['PING'],
    ),
    expect: /OK[\s\S]*OK[\s\S]*AUTH[\s\S]*PONG/,
  },
  {
    client: 'redis-cli, logged in outside, with 3 MB',
    there: existsSync(REDIS),
    command: `head -c 3000000 /dev/zero | tr '\\0' x | redis-cli -h cache.example.org -p 6380 -x set big; redis-cli -h cache.example.org -p 6380 strlen big`,
    expect: /OK\s+3000000/,
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
