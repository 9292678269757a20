/** Unix sockets (O10): those of one sandbox work, and none of the host's is reached by any way to it. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { asUser, eachUser, giveTo, removeTree, type User } from '../../users.ts'

const HERE = import.meta.dirname
const OUTSIDE = readFileSync(join(HERE, 'unix-sockets-outside.py'))
/** In a sandbox /tmp is another one. */
const TOP = '/var/tmp'
/** That every user may run. */
const PYTHON = '/usr/bin/python3'

const HOSTS = [
  'in the project',
  'by another name of it',
  'by a link',
  'by the folder of a process',
  'outside, by a link',
  'outside, by its path',
  'abstract',
  'a packet socket',
  'a datagram',
  'a datagram, connected',
  'a datagram by a link',
  'a datagram with a descriptor',
  'several datagrams',
  'a datagram, abstract',
  'a datagram of a pair',
  'created while it runs',
]
const OWN = [
  'own, in the project',
  'own, in /tmp',
  'own, abstract',
  'own, packets',
  'own, a descriptor',
  'own, a datagram in the project',
  'own, a datagram in /tmp',
  'own, an abstract datagram',
  'own, a datagram by sendmsg',
  'own, a connected datagram',
  'own, a datagram that is answered',
  'own, a descriptor by datagram',
  'own, a pair of datagrams',
]

eachUser(describe)('as $name', (user) => {
  let base: string
  let server: ChildProcess
  beforeEach(async () => {
    base = mkdtempSync(join(TOP, 'cordon-unix-'))
    const [project, home, tmp] = ['project', 'home', 'tmp'].map((name) => join(base, name))
    for (const folder of [project!, home!, tmp!, join(project!, '.git')]) mkdirSync(folder)
    chmodSync(base, 0o755)
    const far = { outside: join(base, 'outside.sock'), abstract: base }
    symlinkSync(far.outside, join(project!, 'outside.sock'))
    writeFileSync(join(project!, 'far.json'), JSON.stringify(far))
    copyFileSync(join(HERE, 'unix-sockets-inside.py'), join(project!, 'inside.py'))
    giveTo(user.uid, base)
    const [program, ...words] = asUser(user, [PYTHON, '-', project!, far.outside, far.abstract])
    server = spawn(program!, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    server.stdin!.end(OUTSIDE)
    await new Promise((resolve) => server.stdout!.once('data', resolve))
  })
  afterEach(async () => {
    const ended = new Promise((resolve) => server.once('close', resolve))
    server.kill('SIGKILL')
    await ended
    removeTree(base)
  })

  it('in a sandbox only its own answer, whatever is swapped meanwhile', () => {
    const seen = attempt(user, base, [process.execPath, CLI, 'run', '--', PYTHON, 'inside.py', 'races'])
    for (const name of OWN) expect([name, seen[name]]).toEqual([name, 'own'])
    for (const name of HOSTS) expect([name, seen[name]]).not.toEqual([name, 'host'])
    for (const name of ['a link', 'another socket', 'the first datagram socket'])
      expect([name, seen[`swapped for ${name}`]]).toEqual([name, 'never'])
    expect(seen['swapped address of a datagram']).toBe('never')
    expect(seen['where git listens']).toBe('PermissionError')
  })

  it('control: without one each is reached', () => {
    const seen = attempt(user, base, [PYTHON, 'inside.py'])
    for (const name of HOSTS) expect([name, seen[name]]).toEqual([name, 'host'])
    for (const name of OWN) expect([name, seen[name]]).toEqual([name, 'own'])
    expect(seen['where git listens']).toBe('own')
  })
})

function attempt(user: User, base: string, argv: readonly string[]): Record<string, string> {
  const [program, ...words] = asUser(user, argv)
  const ran = spawnSync(program!, words, {
    cwd: join(base, 'project'),
    env: { PATH: process.env.PATH, HOME: join(base, 'home'), CORDON_RESIDENT: 'off', TMPDIR: join(base, 'tmp') },
    encoding: 'utf8',
    timeout: 120_000,
  })
  try {
    return JSON.parse(ran.stdout) as Record<string, string>
  } catch {
    throw new Error(`no result (${ran.status}, ${ran.signal}): ${ran.stdout}${ran.stderr}`)
  }
}
