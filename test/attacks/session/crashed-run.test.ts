/** Between a hook's answer and its command the machine may crash, and what does not wait for the disk is then empty, cut off or gone: nothing runs by it, and no one's yes is in it. */

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  keepAnswer,
  keepOwner,
  ownerOf,
  type RunOwner,
  runKey,
  runProgram,
  takeAnswer,
} from '../../../src/agents/hook/wrapped-runs.ts'
import { type HookWorld, openHookWorld } from '../../contract/hooks/world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
})
afterAll(() => world.close())

const LEFT: readonly (readonly [string, (path: string) => void])[] = [
  ['empty', (path) => writeFileSync(path, '')],
  ['cut off', (path) => writeFileSync(path, readFileSync(path).subarray(0, 20))],
  ['full of zeros', (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  ['gone', (path) => rmSync(path)],
]

describe.each(LEFT)('what is %s', (what, leave) => {
  const call = { command: 'cat ../x', cwd: '/p' }
  const ownerAt = (session: string): RunOwner => ({ host: 'codex', root: world.project, session })

  it('names no owner, so the command does not run, and the next hook writes it again or says what is damaged', () => {
    const owner = ownerAt(`owner-${what}`)
    const { machine } = world
    keepOwner(machine, owner, Date.now())
    const file = ownerFile(runKey(owner))
    expect(ownerOf(machine, runKey(owner))).toMatchObject(owner)
    leave(file)
    expect(() => ownerOf(machine, runKey(owner))).toThrow()
    if (what === 'empty' || what === 'gone') {
      keepOwner(machine, owner, Date.now())
      expect(ownerOf(machine, runKey(owner))).toMatchObject(owner)
    } else expect(() => keepOwner(machine, owner, Date.now())).toThrow(/is damaged/)
    rmSync(file)
  })

  it('is not a yes', () => {
    const owner = ownerAt(`answer-${what}`)
    const { machine } = world
    keepOwner(machine, owner, Date.now())
    const id = keepAnswer(machine, owner, call, ['/x'])
    leave(ownerFile(`${runKey(owner)}.${id}`))
    const taken = () => takeAnswer(machine, runKey(owner), id, call, Date.now())
    if (what === 'gone') expect(taken()).toBeNull()
    else expect(taken).toThrow(/is damaged/)
  })

  it('is not a program: the next hook puts the whole one there', () => {
    const cordon = ['/opt/node', '/opt/cordon.cjs']
    const path = runProgram(world.machine, cordon)
    const whole = readFileSync(path, 'utf8')
    leave(path)
    expect(readFileSync(runProgram(world.machine, cordon), 'utf8')).toBe(whole)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(path))).toEqual(['cordon-run'])
  })
})

function ownerFile(name: string): string {
  const { stateDir } = world.machine
  const found = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).find((path) =>
    path.endsWith(`/${name}.json`),
  )
  return join(stateDir, found!)
}
