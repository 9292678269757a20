/** `every_program`: what a command starts needs a grant as its text does (S8). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const manifest = (every: boolean, granted: string, mode = 'custom') =>
  `schema_version = 1\n[permission]\nmode = "${mode}"\n[security]\nevery_program = ${every}\n[capabilities.allow.commands]\npatterns = [${granted}]\n`
const SCRIPT = '#!/bin/sh\nenv touch first && echo first\nsh -c "cp first copied" && echo copied\n'

async function run(text: string, command = './build.sh') {
  world.file('build.sh', SCRIPT, 0o755)
  await world.sign(text)
  const result = await (await world.open()).openSession().call('bash', { command })
  return 'output' in result ? result.output.text : result.status
}

const first = (): readonly string[] => ['first', 'copied'].filter((name) => existsSync(join(world.root, name)))

it('what a granted script starts is asked about, and refused by a no', async () => {
  const text = await run(manifest(true, '"./build.sh"'))
  expect(first()).toEqual([])
  expect(world.asked.map(({ subject }) => subject)).toEqual(['touch first', 'cp first copied'])
  expect(text).toMatch(/`touch first`, started by \.\/build\.sh → env touch first, was refused: /)
})

it('runs what is granted as well, and nothing else', async () => {
  await run(manifest(true, '"./build.sh", "touch:*"'))
  expect(first()).toEqual(['first'])
  expect(world.asked.map(({ subject }) => subject)).toEqual(['cp first copied'])
})

it('a program of the project does not pass as a granted one', async () => {
  world.file('touch', '#!/bin/sh\ncp build.sh first\n', 0o755)
  world.file('other.sh', '#!/bin/sh\nPATH=.:$PATH touch x; ./touch x\n', 0o755)
  await run(manifest(true, '"./other.sh", "touch:*"'), './other.sh')
  expect(first()).toEqual([])
})

it.each([
  ['without it', manifest(false, '"./build.sh"')],
  ['in a mode that needs no grants', manifest(true, '', 'contained')],
  ['with every grant', manifest(true, '"./build.sh", "touch:*", "cp:*"')],
])('control: nothing is asked %s', async (_, text) => {
  await run(text)
  expect(first()).toEqual(['first', 'copied'])
  expect(world.asked).toEqual([])
})
