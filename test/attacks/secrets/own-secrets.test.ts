/** What Cordon itself logs in with, and what a rule denies, is read by no command and no file tool, wherever it lies. */

import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeSigningKey } from '../../../src/system/keys/signing-key.ts'
import type { Machine } from '../../../src/system/machine.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const VALUE = 'bob:kept-from-commands-1234'
const CONTAINED = 'schema_version = 1\n[permission]\nmode = "contained"\n'
const brokered = (source: string) =>
  `[[secrets]]\nname = "KEY"\nsource = "file:${source}"\nhosts = ["api.example.com"]\n`

interface Row {
  readonly note: string
  readonly manifest?: string
  /** The person's own manifest. */
  readonly user?: string
  readonly set?: (root: string) => void
  /** The file, and the other names by which it is tried. */
  readonly paths: readonly string[]
  readonly machine?: (machine: Machine) => Partial<Machine>
}

const rows: readonly Row[] = [
  { note: 'the file of a brokered secret', manifest: brokered('conf/tok.txt'), paths: ['conf/tok.txt'] },
  {
    note: 'the same behind a link',
    manifest: brokered('conf/link'),
    set: (root) => symlinkSync('tok.txt', join(root, 'conf/link')),
    paths: ['conf/tok.txt', 'conf/link'],
  },
  {
    note: 'the login of the parent proxy',
    user: '[network]\nparent_proxy = "http://127.0.0.1:9"\nparent_proxy_login = "file:conf/tok.txt"\n',
    paths: ['conf/tok.txt'],
  },
  {
    note: 'the settings of the fleet, with the login of the collector, and the key of the machine',
    set: (root) => {
      const fleet = {
        ...{
          version: 1,
          fleet: 'acme',
          keys: [makeSigningKey().key.publicKey],
          tls: { key: join(root, 'conf/tok.txt') },
        },
        records: { otlp: 'https://127.0.0.1:9', headers: { authorization: VALUE } },
      }
      mkdirSync(join(root, 'etc'))
      writeFileSync(join(root, 'etc/fleet.json'), JSON.stringify(fleet), { mode: 0o600 })
    },
    paths: ['etc/fleet.json', 'conf/tok.txt'],
    machine: ({ cwd }) => ({ systemDir: join(cwd, 'etc') }),
  },
]

/** Opens each path by a name that no analysis of the text can know, and by others that it makes. */
const script = (paths: readonly string[]) => `
import os
for path in ${JSON.stringify(paths)}:
    top = path.split('/')[0]
    for act in (lambda: open(path).read(), lambda: (os.link(path, 'second'), open('second').read())[1],
                lambda: (os.rename(top, 'moved'), open(path.replace(top, 'moved')).read())[1],
                lambda: open(path, 'w').write('theirs')):
        try: print(act())
        except OSError: pass
`

async function sessionIn({ manifest = '', user, set, paths, machine }: Row) {
  world.file('conf/tok.txt', VALUE)
  world.file('t.py', script(paths))
  set?.(world.root)
  if (user !== undefined) {
    mkdirSync(world.machine.configDir)
    writeFileSync(join(world.machine.configDir, 'cordon.toml'), `schema_version = 1\n${user}`)
  }
  const own = { ...world.machine, ...machine?.(world.machine) }
  const cordon = await openWith(CONTAINED + manifest, own)
  return cordon.openSession()
}

async function openWith(manifest: string, machine: Machine = world.machine) {
  await world.sign(manifest)
  return world.open({ machine })
}

const shown = (result: object) => JSON.stringify(result).includes(VALUE)

describe('what Cordon logs in with', () => {
  it.each(rows)('$note', async (row) => {
    const session = await sessionIn(row)
    const ran = await session.call('bash', { command: 'python3 t.py' })
    expect([ran.status, shown(ran)], JSON.stringify(ran)).toEqual(['done', false])
    expect(world.text('conf/tok.txt')).toBe(VALUE)
    for (const path of row.paths) {
      for (const call of [
        session.call('bash', { command: `cat ${path}` }),
        session.call('read', { path }),
        session.call('copy', { source: path, destination: 'copy.txt' }),
        session.call('write', { path, content: 'theirs' }),
      ])
        expect(await call).toMatchObject({ status: 'denied' })
    }
    expect(shown(await session.call('grep', { pattern: 'kept', path: '.' }))).toBe(false)
    expect(readdirSync(world.root)).not.toContain('copy.txt')
  })

  it('control: another file beside it is read by each of these', async () => {
    const session = await sessionIn({
      note: '',
      manifest: brokered('conf/other'),
      paths: ['conf/tok.txt'],
    })
    expect(shown(await session.call('bash', { command: 'python3 t.py' }))).toBe(true)
    world.file('conf/tok.txt', VALUE)
    for (const call of [
      session.call('bash', { command: 'cat conf/tok.txt' }),
      session.call('read', { path: 'conf/tok.txt' }),
      session.call('grep', { pattern: 'kept', path: '.' }),
    ])
      expect(shown(await call)).toBe(true)
  })
})

describe('a denied path that the system shows beside the grants', () => {
  const READ = "python3 -c \"print(open('/etc/pass' + 'wd').read())\""

  it.each([
    ['is empty', '[capabilities.deny.read]\npaths = ["/etc/passwd"]\n', false],
    ['control: is there without the rule', '', true],
  ])('%s', async (_, manifest, isThere) => {
    const cordon = await openWith(CONTAINED + manifest)
    const ran = await cordon.openSession().call('bash', { command: READ })
    expect([ran.status, JSON.stringify(ran).includes('root:')]).toEqual(['done', isThere])
  })
})
