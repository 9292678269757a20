/** Secret-shaped files that git has in HEAD as they are: file tools, hooks and the words of commands give the answer of the sandbox. */

import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepSecret } from '../../../src/sandbox/quarantine/kept.ts'
import { answerHook } from '../../../src/surfaces/hook/answer-hook.ts'
import { findHost } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, effectOf } from '../hooks/world.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('server.key', 'COMMITTED\n')
  world.file('plain.txt', 'text\n')
  world.file('.ssh/config', 'Host x\n')
  symlinkSync('plain.txt', join(world.root, 'linked.key'))
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'one')
})
afterEach(() => world.close())

function git(...args: string[]): void {
  const env = { PATH: process.env.PATH ?? '', HOME: world.machine.home, GIT_CONFIG_NOSYSTEM: '1' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  execFileSync('git', [...who, ...args], { cwd: world.root, env })
}

const CONTAINED = 'schema_version = 1\n[permission]\nmode = "contained"\n'

interface Row {
  readonly note: string
  readonly path?: string
  readonly manifest?: string
  readonly change?: () => void
  readonly shown: boolean
}

const ROWS: readonly Row[] = [
  { note: 'committed and unchanged', shown: true },
  { note: 'a link with a secret’s name to a committed file', path: 'linked.key', shown: true },
  { note: 'changed since', change: () => world.file('server.key', 'CHANGED\n'), shown: false },
  { note: 'mask_tracked', manifest: `${CONTAINED}[sandbox.os]\nmask_tracked = true\n`, shown: false },
  {
    note: 'in the index alone, which a command can write',
    path: 'new.key',
    change: () => {
      world.file('new.key', 'NEW\n')
      git('add', 'new.key')
    },
    shown: false,
  },
  { note: 'committed and unchanged, in a folder that is secret as a whole', path: '.ssh/config', shown: true },
  {
    note: 'changed since, in a folder that is secret as a whole',
    path: '.ssh/config',
    change: () => world.file('.ssh/config', 'CHANGED\n'),
    shown: false,
  },
  {
    note: 'on the list of what stays hidden',
    change: () => keepSecret(world.machine.stateDir, join(world.root, 'server.key'), [world.root]),
    shown: false,
  },
  {
    note: 'a repository that cannot be read',
    change: () => world.file('.git/HEAD', 'nonsense\n'),
    shown: false,
  },
]

it.each(ROWS)('$note', async ({ path = 'server.key', manifest = CONTAINED, change, shown }) => {
  await world.sign(manifest)
  change?.()
  const ask = async (tool: string, input: object) => {
    const setting = {
      machine: world.machine,
      files: machineFiles,
      root: world.root,
      cordon: ['/opt/node', '/opt/cordon.cjs'],
    }
    const text = JSON.stringify(claude(tool, input)).replaceAll('$P', world.root)
    return effectOf(
      'claude-code',
      await answerHook(findHost('claude-code')!, text, { ...setting, inside: false, commandLines: () => [] }),
    )
  }
  const session = (await world.open()).openSession()
  const read = await session.call('read', { path })
  expect({
    read: read.status,
    asked: world.asked.length,
    hookRead: await ask('Read', { file_path: join(world.root, path) }),
    hookBash: await ask('Bash', { command: `cat ${path}` }),
  }).toEqual(
    shown
      ? { read: 'done', asked: 0, hookRead: 'pass', hookBash: 'sandboxed' }
      : { read: 'refused', asked: 1, hookRead: 'ask', hookBash: 'ask' },
  )
})
