/** git over ssh with keys that stay outside: in an agent, or behind a passphrase; a real server, and what must not go there. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { createUpstream } from '../../src/egress/route/upstream.ts'
import { listen, PUBLIC_ADDRESS } from '../contract/egress/world.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'
import { until } from '../until.ts'

const HOST = 'git.example.org'
const PASSPHRASE = 'correct horse'

let world: SessionWorld
let folder: string
let server: ChildProcess
let agent: ChildProcess
let port: number
let hostKey: string

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe', encoding: 'utf8' })
const repository = () => join(folder, 'repository.git')

beforeAll(async () => {
  world = openSessionWorld()
  folder = mkdtempSync(join(tmpdir(), 'cordon-keys-'))
  const probe = createServer()
  await listen(probe)
  port = (probe.address() as { port: number }).port
  await new Promise((resolve) => probe.close(resolve))

  const [inAgent, locked] = [join(folder, 'in-agent'), join(folder, 'locked')]
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', inAgent)
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', PASSPHRASE, '-f', locked)
  mkdirSync(join(world.machine.home, '.ssh'), { mode: 0o700 })
  hostKey = join(folder, 'host-key')
  const published = run('dropbearkey', '-t', 'ed25519', '-f', hostKey)
  hostKey = published.split('\n').find((line) => line.startsWith('ssh-ed25519'))!
  writeFileSync(join(world.machine.home, '.ssh', 'known_hosts'), `${HOST} ${hostKey}\n`)

  const home = join(folder, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  const authorized = [inAgent, locked].map((key) => readFileSync(`${key}.pub`, 'utf8')).join('')
  writeFileSync(join(home, '.ssh', 'authorized_keys'), authorized, { mode: 0o600 })
  const space = ['--dev-bind', '/', '/', '--bind', home, userInfo().homedir, '--die-with-parent']
  const rights = process.getuid!() === 0 ? ['--cap-add', 'ALL'] : []
  const serve = [
    '/usr/sbin/dropbear',
    '-F',
    '-E',
    '-s',
    '-m',
    '-r',
    join(folder, 'host-key'),
    '-p',
    `127.0.0.1:${port}`,
  ]
  server = spawn('bwrap', [...space, ...rights, '--', ...serve, '-P', join(folder, 'pid')], { stdio: 'ignore' })
  await until('the server listens', () => {
    if (server.exitCode !== null) throw new Error('the server did not start')
    return answers(port)
  })

  agent = spawn('ssh-agent', ['-D', '-a', join(folder, 'agent')], { stdio: 'ignore' })
  await until('the agent listens', () => existsSync(join(folder, 'agent')))
  const env = { ...process.env, SSH_AUTH_SOCK: join(folder, 'agent') }
  execFileSync('ssh-add', ['-q', inAgent], { env, stdio: 'pipe' })
  rmSync(inAgent)
  writeFileSync(join(folder, 'askpass'), `#!/bin/sh\necho '${PASSPHRASE}'\n`)
  chmodSync(join(folder, 'askpass'), 0o755)

  const work = join(folder, 'work')
  run('git', 'init', '-q', '--bare', '-b', 'main', repository())
  run('git', 'init', '-q', '-b', 'main', work)
  writeFileSync(join(work, 'a.txt'), 'over ssh')
  run('git', '-C', work, 'add', '-A')
  run('git', '-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'one')
  run('git', '-C', work, 'push', '-q', repository(), 'main')
})

afterAll(async () => {
  const gone = [server, agent].map((child) => new Promise((resolve) => child.once('close', resolve)))
  server.kill()
  agent.kill()
  await Promise.all(gone)
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

function answers(at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const AGENT = () => ({ SSH_AUTH_SOCK: join(folder, 'agent') })

async function bash(command: string, entry: object, env: Record<string, string> = AGENT()): Promise<string> {
  return bashUnder(
    { capabilities: { allow: { commands: { default_domains: [{ host: `${HOST}:22`, ...entry }] } } } },
    command,
    env,
  )
}

async function bashUnder(rest: object, command: string, env: Record<string, string> = AGENT()): Promise<string> {
  const object = { schema_version: 1, permission: { mode: 'auto' }, ...rest }
  const { SSH_AUTH_SOCK: _, SSH_ASKPASS: __, ...others } = world.machine.env
  const machine = { ...world.machine, env: { ...others, ...env } }
  const resolver = { resolve: async () => [PUBLIC_ADDRESS] }
  const upstream = createUpstream({ dialer: () => ({ host: '127.0.0.1', port, noDelay: true }) })
  const cordon = await world.open({ manifest: { object }, machine, resolver, upstream })
  const session = cordon.openSession()
  const text = resultText(await session.call('bash', { command }))
  await session.close()
  return text
}

const clone = (into: string) => `git clone -q ssh://${userInfo().username}@${HOST}${repository()} ${into} 2>&1`
const commit = 'git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m'

describe('git over ssh that logs in outside', () => {
  it('clones with a key in the agent, which nothing inside can reach', async () => {
    const look = 'echo "[$SSH_AUTH_SOCK]"; ssh-add -l 2>&1'
    const text = await bash(`${clone('out')} && cat out/a.txt; ${look}`, { ssh: 'fetch' })
    expect(text).toContain('over ssh')
    expect(text).toContain('[]')
    expect(text).toMatch(/Could not open a connection|not found/)
  })

  it('clones with a key behind a passphrase that the person is asked for outside', async () => {
    const config = join(world.machine.home, '.ssh', 'config')
    writeFileSync(config, `Host *\n  IdentityFile ${join(folder, 'locked')}\n  IdentitiesOnly yes\n`, { mode: 0o600 })
    try {
      const asked = { SSH_ASKPASS: join(folder, 'askpass'), DISPLAY: ':0' }
      expect(await bash(`${clone('locked')} && cat locked/a.txt`, { ssh: 'fetch' }, asked)).toContain('over ssh')
      expect(await bash(clone('unasked'), { ssh: 'fetch' }, {})).toMatch(/Permission denied|upstream-unreachable/)
    } finally {
      rmSync(config)
    }
  })

  it.each([
    [
      'a pattern',
      (domains: object[]) => ({
        capabilities: { allow: { commands: { patterns: [{ command: 'git clone:*', domains }] } } },
      }),
      'git ls-remote',
    ],
    [
      'a bundle',
      (domains: object[]) => ({
        sandbox: { os: { command_tools: [{ tool: 'git', default_domains: false, domains }] } },
        capabilities: { allow: { commands: { patterns: ['git:*', 'env:*'] } } },
      }),
      'GIT_TRACE=0 sh -c "git ls-remote $0"',
    ],
  ] as const)(
    'logs in where the host is one of %s, for what it is about and for nothing else',
    async (name, grants, other) => {
      const granted = grants([{ host: `${HOST}:22`, ssh: 'fetch' }])
      const into = name.replaceAll(' ', '-')
      expect(await bashUnder(granted, `${clone(into)} && cat ${into}/a.txt`)).toContain('over ssh')
      const url = `ssh://${userInfo().username}@${HOST}${repository()}`
      const elsewhere = await bashUnder(granted, `${other} ${url} 2>&1`)
      expect(elsewhere).not.toContain('refs/heads/main')
      // Control: without `ssh` the same grant is a plain connection, and the key outside is not used for it.
      expect(await bashUnder(grants([{ host: `${HOST}:22` }]), clone(`${into}-plain`))).toMatch(
        /Permission denied|not-http|closed/,
      )
    },
  )

  it('pushes where pushing is granted, and only there', async () => {
    const change = (into: string, subject: string) =>
      `${clone(into)} && cd ${into} && ${commit} ${subject} && git push -q 2>&1`
    expect(await bash(change('read-only', 'refused'), { ssh: 'fetch' })).toContain(
      'granted for fetching, not for pushing',
    )
    await bash(change('writing', 'pushed'), { ssh: 'push' })
    expect(run('git', '-C', repository(), 'log', '--format=%s', 'main')).toBe('pushed\none\n')
  })

  it('keeps to the granted repositories', async () => {
    const granted = { ssh: 'fetch', paths: [repository().replace(/\.git$/, '')] }
    expect(await bash(`${clone('granted')} && cat granted/a.txt`, granted)).toContain('over ssh')
    expect(await bash(clone('other'), { ssh: 'fetch', paths: ['/acme/*'] })).toContain('not among the granted paths')
  })

  it('refuses a host that shows another key than the known one', async () => {
    const known = join(world.machine.home, '.ssh', 'known_hosts')
    writeFileSync(known, `${HOST} ${readFileSync(join(folder, 'locked.pub'), 'utf8')}`)
    const text = await bash(clone('wrong'), { ssh: 'fetch' })
    writeFileSync(known, `${HOST} ${hostKey}\n`)
    expect(text).toMatch(/Host key verification failed/)
  })

  it('leaves no other way to that host: ssh and raw streams are refused', async () => {
    const text = await bash(`ssh -o BatchMode=yes ${HOST} echo reached 2>&1`, { ssh: 'push' })
    expect(text).not.toMatch(/^reached$/m)
    expect(text).toMatch(/not-http|closed|Connection/)
  })

  it('does not log in to a host that is granted without it', async () => {
    expect(await bash(clone('plain'), {})).toMatch(/Permission denied \(publickey/)
  })
})
