/** ssh, scp and git over ssh against Debian's own sshd, with a key that is shown, and with one that stays in the agent outside. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { createUpstream } from '../../src/egress/route/upstream.ts'
import { listen, PUBLIC_ADDRESS } from '../contract/egress/world.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'
import { until } from '../until.ts'

const HOST = 'git.example.org'
let world: SessionWorld
let folder: string
let port: number
const children: ChildProcess[] = []
const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe', encoding: 'utf8' })

beforeAll(async () => {
  world = openSessionWorld()
  folder = mkdtempSync(join(tmpdir(), 'cordon-sshd-'))
  const probe = createServer()
  await listen(probe)
  port = (probe.address() as { port: number }).port
  await new Promise((resolve) => probe.close(resolve))
  for (const name of ['host', 'in-agent']) run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name))
  const ssh = join(world.machine.home, '.ssh')
  mkdirSync(ssh, { mode: 0o700 })
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(ssh, 'id_ed25519'))
  const hostKey = readFileSync(join(folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ')
  // ssh looks for keys in the home of its user, which is not that of the test.
  writeFileSync(join(ssh, 'config'), `Host *\n  IdentityFile ${join(ssh, 'id_ed25519')}\n`, { mode: 0o600 })
  writeFileSync(join(ssh, 'known_hosts'), `${HOST} ${hostKey}\n`)
  const authorized = [join(folder, 'in-agent.pub'), join(ssh, 'id_ed25519.pub')].map((key) => readFileSync(key, 'utf8'))
  writeFileSync(join(folder, 'authorized_keys'), authorized.join(''), { mode: 0o600 })
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized_keys')}`,
    'PermitRootLogin yes',
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'Subsystem sftp internal-sftp',
  ]
  writeFileSync(join(folder, 'sshd_config'), `${settings.join('\n')}\n`)
  // Its own /run: sshd wants a folder there, which no test should create on the machine.
  const space = ['--dev-bind', '/', '/', '--tmpfs', '/run', '--dir', '/run/sshd', '--die-with-parent']
  const rights = process.getuid!() === 0 ? ['--cap-add', 'ALL'] : []
  const serve = ['/usr/sbin/sshd', '-D', '-e', '-f', join(folder, 'sshd_config')]
  children.push(spawn('bwrap', [...space, ...rights, '--', ...serve], { stdio: 'ignore' }))
  await until('the servers listen', () => {
    if (children.some((child) => child.exitCode !== null)) throw new Error('a server did not start')
    return answers(port)
  })
  children.push(spawn('ssh-agent', ['-D', '-a', join(folder, 'agent')], { stdio: 'ignore' }))
  await until('the agent listens', () => existsSync(join(folder, 'agent')))
  const env = { ...process.env, SSH_AUTH_SOCK: join(folder, 'agent') }
  execFileSync('ssh-add', ['-q', join(folder, 'in-agent')], { env, stdio: 'pipe' })
  rmSync(join(folder, 'in-agent'))
  const [bare, work] = [join(folder, 'repository.git'), join(folder, 'work')]
  run('git', 'init', '-q', '--bare', '-b', 'main', bare)
  run('git', 'init', '-q', '-b', 'main', work)
  writeFileSync(join(work, 'a.txt'), 'over ssh')
  run('git', '-C', work, 'add', '-A')
  run('git', '-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'one')
  run('git', '-C', work, 'push', '-q', bare, 'main')
})

afterAll(async () => {
  for (const child of children) {
    const gone = new Promise((resolve) => child.once('close', resolve))
    child.kill()
    await gone
  }
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

function answers(at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

async function bash(command: string, entry: object = {}, shown: readonly string[] = ['**']): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    capabilities: {
      allow: { read: { paths: shown }, commands: { default_domains: [{ host: `${HOST}:22`, ...entry }] } },
    },
  }
  const env = { ...world.machine.env, SSH_AUTH_SOCK: join(folder, 'agent') }
  const upstream = createUpstream({ dialer: () => ({ host: '127.0.0.1', port, noDelay: true }) })
  const resolver = { resolve: async () => [PUBLIC_ADDRESS] }
  const cordon = await world.open({ manifest: { object }, machine: { ...world.machine, env }, resolver, upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const me = userInfo().username
const WITH_KEY = ['**', '~/.ssh/id_ed25519', '~/.ssh/config']

it('ssh and scp with a key that is shown, 3 MB of it', async () => {
  const text = await bash(
    `ssh ${me}@${HOST} 'echo "hello from $0"; head -c 3000000 /dev/zero' | wc -c; ssh ${me}@${HOST} echo again; scp -q ${me}@${HOST}:${folder}/work/a.txt . && cat a.txt`,
    {},
    WITH_KEY,
  )
  expect(text).toMatch(/30000\d\d[\s\S]*again[\s\S]*over ssh/)
})

it('git with a key that is shown', async () => {
  const text = await bash(
    `git clone -q ssh://${me}@${HOST}${folder}/repository.git shown && cat shown/a.txt`,
    {},
    WITH_KEY,
  )
  expect(text).toContain('over ssh')
})

it('git with a key in the agent outside, and nothing else with it', async () => {
  const clone = `git clone -q ssh://${me}@${HOST}${folder}/repository.git out 2>&1 && cat out/a.txt`
  const text = await bash(`${clone}; ssh -o BatchMode=yes ${me}@${HOST} echo got in 2>&1; ssh-add -l 2>&1`, {
    ssh: 'fetch',
  })
  expect(text).toContain('over ssh')
  expect(text).not.toMatch(/^got in/m)
})
