/** git, ssh and scp to a real server, from inside: with the port granted and a key that a grant names, and not otherwise. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
/** Not on everybody's PATH. */
const SERVER = '/usr/sbin/dropbear'

let world: SessionWorld
let folder: string
let server: ChildProcess
let port: number
let log = ''

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe', encoding: 'utf8' })

beforeAll(async () => {
  world = openSessionWorld()
  folder = mkdtempSync(join(tmpdir(), 'cordon-ssh-'))
  const probe = createServer()
  await listen(probe)
  port = (probe.address() as { port: number }).port
  await new Promise((resolve) => probe.close(resolve))

  const keys = join(world.machine.home, '.ssh')
  mkdirSync(keys, { mode: 0o700 })
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(keys, 'id_ed25519'))
  const hostKey = join(folder, 'host-key')
  const published = run('dropbearkey', '-t', 'ed25519', '-f', hostKey)
  const hostLine = published.split('\n').find((line) => line.startsWith('ssh-ed25519'))!
  writeFileSync(join(keys, 'known_hosts'), `other.example.org ssh-ed25519 AAAA\n${HOST} ${hostLine}\n`)
  writeFileSync(join(keys, 'config'), `Host ${HOST}\n  IdentityFile ${join(keys, 'id_ed25519')}\n`, { mode: 0o600 })

  // The server takes its authorized keys from the home of the process that runs it: a private one, in its own namespace.
  const home = join(folder, 'home')
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, '.ssh', 'authorized_keys'), readFileSync(join(keys, 'id_ed25519.pub')), { mode: 0o600 })
  const space = ['--dev-bind', '/', '/', '--bind', home, userInfo().homedir, '--die-with-parent']
  const rights = process.getuid!() === 0 ? ['--cap-add', 'ALL'] : []
  const serve = [SERVER, '-F', '-E', '-s', '-m', '-r', hostKey, '-p', `127.0.0.1:${port}`, '-P', join(folder, 'pid')]
  server = spawn('bwrap', [...space, ...rights, '--', ...serve], { stdio: ['ignore', 'ignore', 'pipe'] })
  server.stderr!.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8')
  })
  await answering(port)

  const repository = join(folder, 'repository.git')
  const work = join(folder, 'work')
  run('git', 'init', '-q', '--bare', '-b', 'main', repository)
  run('git', 'init', '-q', '-b', 'main', work)
  writeFileSync(join(work, 'a.txt'), 'over ssh')
  run('git', '-C', work, 'add', '-A')
  run('git', '-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'one')
  run('git', '-C', work, 'push', '-q', repository, 'main')
})

afterAll(async () => {
  const gone = new Promise((resolve) => server.once('close', resolve))
  server.kill()
  await gone
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Waits until something listens; a server that ended instead is an error with its own words. */
async function answering(at: number): Promise<void> {
  await until(`${SERVER} listens`, () => {
    if (server.exitCode !== null) throw new Error(`${SERVER} did not start: ${log}`)
    return new Promise<boolean>((resolve) => {
      const socket = connect(at, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
  })
}

/** Runs a command in a session that reaches these hosts and reads these files. `own`: they are for git alone. */
async function bash(
  command: string,
  domains: readonly string[],
  reads: readonly string[],
  own = false,
): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    capabilities: {
      allow: {
        read: { paths: ['**', ...reads] },
        write: { paths: ['**'] },
        commands: own ? { patterns: [{ command: 'git:*', domains: [...domains] }] } : { default_domains: [...domains] },
      },
    },
  }
  const resolver = { resolve: async () => [PUBLIC_ADDRESS] }
  const upstream = createUpstream({ dialer: () => ({ host: '127.0.0.1', port, noDelay: true }) })
  const cordon = await world.open({ manifest: { object }, resolver, upstream })
  const session = cordon.openSession()
  const text = resultText(await session.call('bash', { command }))
  await session.close()
  return text
}

const KEY = ['~/.ssh/id_ed25519', '~/.ssh/config']
const clone = (into: string) => `git clone -q ssh://${HOST}${join(folder, 'repository.git')} ${into} 2>&1`

describe('git over ssh', () => {
  it('clones and pushes where host:22 is granted and a grant names the key', async () => {
    const change = 'cd out && touch b.txt && git add b.txt && git -c user.name=a -c user.email=a@b.c commit -qm two'
    const text = await bash(`${clone('out')} && cat out/a.txt && ${change} && git push -q 2>&1`, [`${HOST}:22`], KEY)
    expect(text).toContain('over ssh')
    expect(run('git', '-C', join(folder, 'repository.git'), 'log', '--format=%s', 'main')).toBe('two\none\n')
  })

  it('has the hosts of git where these are for git alone, and its own ssh there does not', async () => {
    const port22 = [`${HOST}:22`]
    expect(await bash(`${clone('alone')} && cat alone/a.txt; sh -c true`, port22, KEY, true)).toContain('over ssh')
    const beside = `git --version; ssh -o BatchMode=yes ${HOST} git-upload-pack ${join(folder, 'repository.git')} </dev/null 2>&1`
    expect(await bash(beside, port22, KEY, true)).toMatch(/blocked|not granted/)
  })

  it('shows of known_hosts only what speaks for granted hosts', async () => {
    const files = `\${SSL_CERT_FILE%/*}`
    const text = await bash(`cat ${files}/ssh-known-hosts ${files}/ssh-config`, [`${HOST}:22`], [])
    expect(text).toContain(`${HOST} ssh-ed25519`)
    expect(text).not.toContain('other.example.org')
  })

  it.each([
    {
      name: 'without the port, and says how to grant it',
      domains: [HOST],
      reads: KEY,
      says: /port-unlisted|or add "git\.example\.org:22"/,
    },
    {
      name: 'for a host that is not granted',
      domains: ['example.com'],
      reads: KEY,
      says: /a remote on a host that is not granted/,
    },
    {
      name: 'without a key: ~/.ssh is hidden',
      domains: [`${HOST}:22`],
      reads: [],
      says: /Permission denied \(publickey/,
    },
  ])('is refused $name', async ({ domains, reads, says }) => {
    const text = await bash(clone('refused'), domains, reads)
    expect(text).toMatch(says)
    expect(existsSync(join(world.root, 'refused'))).toBe(false)
  })

  it('is refused by ssh where the host shows another key than the known one', async () => {
    const known = join(world.machine.home, '.ssh', 'known_hosts')
    const right = readFileSync(known, 'utf8')
    const other = run('ssh-keygen', '-y', '-f', join(world.machine.home, '.ssh', 'id_ed25519')).trim()
    writeFileSync(known, `${HOST} ${other}\n`)
    const text = await bash(clone('wrong'), [`${HOST}:22`], KEY)
    writeFileSync(known, right)
    expect(text).toMatch(/IDENTIFICATION HAS CHANGED|Host key verification failed/)
  })
})

describe('ssh and scp', () => {
  const remote = () => join(folder, 'repository.git')

  it('go the same way, started by name, by path or by another program', async () => {
    const commands = [
      `ssh ${HOST} 'echo by-name in ${remote()}' 2>&1`,
      `/usr/bin/ssh ${HOST} echo by-path 2>&1`,
      `env -i CORDON_PROXY_HOST=$CORDON_PROXY_HOST CORDON_PROXY_PORT=$CORDON_PROXY_PORT sh -c 'ssh ${HOST} echo by-sh' 2>&1`,
      `scp -O -q ${HOST}:${join(folder, 'work', 'a.txt')} fetched.txt 2>&1 && cat fetched.txt`,
      `scp -O -q fetched.txt ${HOST}:${join(folder, 'sent.txt')} 2>&1`,
    ]
    const text = await bash(commands.join('; '), [`${HOST}:22`], KEY)
    expect(text).toContain(`by-name in ${remote()}`)
    expect(text).toContain('by-path')
    expect(text).toContain('by-sh')
    expect(text).toContain('over ssh')
    expect(readFileSync(join(folder, 'sent.txt'), 'utf8')).toBe('over ssh')
  })

  it('are refused for a host without the port, with the reason', async () => {
    const text = await bash(`ssh ${HOST} echo reached 2>&1`, [HOST], KEY)
    expect(text).toMatch(/port-unlisted/)
    expect(text).not.toMatch(/^reached$/m)
  })

  it("find a configuration instead of the machine's, only with a proxy", async () => {
    expect(await bash('cat /etc/ssh/ssh_config', [`${HOST}:22`], KEY)).toContain('ssh-connect')
    expect(await bash('cat /etc/ssh/ssh_config', [], KEY)).not.toContain('ssh-connect')
    expect(readFileSync('/etc/ssh/ssh_config', 'utf8')).not.toContain('ssh-connect')
  })

  it('reach nothing where no host is granted', async () => {
    const text = await bash(`ssh -o BatchMode=yes ${HOST} echo reached 2>&1`, [], KEY)
    expect(text).not.toMatch(/^reached$/m)
  })
})
