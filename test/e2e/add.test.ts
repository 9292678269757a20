/** `cordon add`, and the grants that a person types with one run: what they open is open, and nothing beside it. */

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CLI, Project, type Ran } from './cordon.ts'

const env = { CORDON_KEYCHAIN: 'off' }
let project: Project
const home = (path: string): string => join(project.home, path)
const cordon = (...args: string[]): Ran => project.cordon(args, { env })
const manifest = (): string => readFileSync(join(project.directory, 'cordon.toml'), 'utf8')

/** As `cordon init` writes it for a package with a registry of the person's own: what was signed is more than the text. */
function fresh(): void {
  expect(cordon('init', '--force').code).toBe(0)
  expect(cordon('sign', '--yes').code).toBe(0)
}

beforeAll(() => {
  project = new Project({ 'package.json': '{"scripts":{"test":"true"}}', 'package-lock.json': '{}' })
  writeFileSync(home('.npmrc'), 'registry=https://packages.example.org/\n')
  for (const folder of ['lib', 'out']) {
    mkdirSync(home(folder))
    writeFileSync(home(`${folder}/a.txt`), `${folder}\n`)
  }
})
afterAll(() => project.remove())

describe('cordon add', () => {
  beforeEach(fresh)

  const rows: readonly {
    readonly note: string
    readonly add: () => readonly string[]
    readonly says: string
    readonly written: RegExp
    /** Works afterwards, and did not before. */
    readonly works?: () => readonly string[]
  }[] = [
    {
      note: 'a folder to read',
      add: () => ['read', home('lib')],
      says: '+ opens  commands and agents may read ~/lib and everything below it',
      written: /\[capabilities\.allow\.read\]\n# The project.\npaths = \[\n {2}"\*\*",\n {2}"~\/lib\/\*\*"/,
      works: () => ['cat', home('lib/a.txt')],
    },
    {
      note: 'a folder to write, where reads are listed: it is shown as well',
      add: () => ['write', home('out')],
      says: '+ opens  commands and agents may change ~/out and everything below it',
      written: /additional_directories = \["~\/out"\]/,
      works: () => ['sh', '-c', `grep -q out ${home('out/a.txt')} && touch ${home('out/b.txt')}`],
    },
    {
      note: 'a command',
      add: () => ['command', 'make check:*'],
      says: '+ opens  agents run make check:* without asking',
      written: /patterns = \[[^\]]*"make check:\*"/,
    },
    {
      note: 'a port',
      add: () => ['port', '4123'],
      says: '+ opens  a command that serves on port 4123 is reached at http://127.0.0.1:4123',
      written: /dev_server_ports = \[4123\]/,
    },
    {
      note: 'a host',
      add: () => ['host', 'db.example.org:5432'],
      says: '+ opens  every command may reach db.example.org:5432',
      written: /default_domains = \["db\.example\.org:5432"\]/,
    },
  ]
  it.each(rows)('$note', ({ add, says, written, works }) => {
    if (works) expect(cordon('run', '--', ...works()).code).not.toBe(0)
    const added = cordon('add', ...add(), '--yes')
    expect(added.code, added.err).toBe(0)
    expect(added.out.trim()).toBe(says)
    expect(manifest()).toMatch(written)
    expect(cordon('verify').code).toBe(0)
    if (works) expect(cordon('run', '--', ...works())).toMatchObject({ code: 0 })
    // Once more it has nothing to do.
    const before = manifest()
    expect(cordon('add', ...add(), '--yes').out).toContain('already')
    expect(manifest()).toBe(before)
  })

  it('and cordon alone agree about a change that opens nothing: both take it for signed', () => {
    writeFileSync(join(project.directory, 'cordon.toml'), `${manifest()}# a word of mine\n`)
    expect(cordon().out).toContain('signed by you')
    expect(cordon('add', 'port', '4124', '--yes')).toMatchObject({ code: 0 })
    expect(manifest()).toContain('# a word of mine')
    expect(cordon('verify').code).toBe(0)
  })

  it('signs nothing that others put there, and asks where nobody said yes', () => {
    const asked = cordon('add', 'port', '4125')
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('there is no terminal to ask on')])
    writeFileSync(join(project.directory, 'cordon.toml'), manifest().replace('contained', 'auto'))
    const refused = cordon('add', 'port', '4125', '--yes')
    expect([refused.code, refused.err]).toEqual([125, expect.stringContaining('is not signed in its current form')])
    expect(manifest()).not.toContain('4125')
  })
})

describe('with one run', () => {
  beforeAll(fresh)

  it('--env passes a variable of the person’s on, and no other', () => {
    const script = 'echo "$MY_TOKEN-$OTHER"'
    const given = { ...env, MY_TOKEN: 'mine', OTHER: 'not' }
    expect(project.cordon(['run', '--env', 'MY_TOKEN', '--', 'sh', '-c', script], { env: given }).out).toBe('mine-\n')
    expect(project.cordon(['run', '--', 'sh', '-c', script], { env: given }).out).toBe('-\n')
  })

  it('--tool gives a command what the bundle gives, whatever it is called', () => {
    writeFileSync(join(project.directory, 'bare.toml'), 'schema_version = 1\n')
    const hosts = (...args: string[]): unknown =>
      JSON.parse(cordon('run', '--plan', '--json', '--manifest', 'bare.toml', ...args).out).hosts
    expect(hosts('--', 'bash', '-c', 'npm ci')).toEqual([])
    expect(hosts('--tool', 'npm', '--', 'bash', '-c', 'npm ci')).toContain('packages.example.org (--tool)')
  })

  it('--port opens one port of the command, and only while it runs', async () => {
    const port = await freePort()
    const server = ['python3', '-m', 'http.server', '--bind', '127.0.0.1', String(port)]
    const child = spawn(process.execPath, [CLI, 'run', '--port', String(port), '--', ...server], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise((resolve) => child.once('close', resolve))
    let said = ''
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk
        if (said.includes('serving:')) resolve()
      })
      void ended.then(() => resolve())
    })
    expect(said).toContain(`http://127.0.0.1:${port}`)
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('cordon.toml')
    child.kill('SIGTERM')
    await ended
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    expect(manifest()).not.toContain(String(port))
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
