/** A file tool that makes many files at once makes no repository whose settings or hooks would run. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const MARKS = ['r/HEAD', 'r/objects/x', 'r/refs/x']
const ROWS: readonly [what: string, names: readonly string[], allowed: boolean][] = [
  ['settings', ['r/config', ...MARKS], false],
  ['settings that come last', [...MARKS, 'r/config'], false],
  ['a hook', ['r/hooks/post-checkout', ...MARKS], false],
  ['settings of another folder', ['r/HEAD', 'r/commondir', 'c/config', 'c/objects/x', 'c/refs/x'], false],
  ['control: nothing that runs', MARKS, true],
  ['control: not a repository', ['r/config', 'r/HEAD', 'r/refs/x'], true],
]

const call = async (tool: string, input: object) => {
  const manifest = { object: { schema_version: 1, permission: { mode: 'contained' } } }
  const session = (await world.open({ manifest })).openSession()
  return session.call(tool, input)
}

it.each(ROWS)('apply_patch: %s', async (_, names, allowed) => {
  const added = names.map((name) => `*** Add File: ${name}\n+text\n`).join('')
  await call('apply_patch', { patch: `*** Begin Patch\n${added}*** End Patch\n` })
  expect(names.some((name) => existsSync(join(world.root, name)))).toBe(allowed)
})

it.each(ROWS)('extract: %s', async (_, names, allowed) => {
  for (const name of names) world.file(`from/${name}`, 'text\n')
  execFileSync('tar', [
    '-cf',
    join(world.root, 'a.tar'),
    '-C',
    join(world.root, 'from'),
    'r',
    ...(names.some((name) => name.startsWith('c/')) ? ['c'] : []),
  ])
  await call('extract', { path: 'a.tar', destination: 'to' })
  expect(names.some((name) => existsSync(join(world.root, 'to', name)))).toBe(allowed)
})
