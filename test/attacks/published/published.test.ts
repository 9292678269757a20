/** Published bypasses: each is refused or has no effect, its control works, and the documents name it. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'
import { PUBLISHED, publishedSection, type Tried } from './published.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('a.txt', 'one\n')
  world.file('src/x.txt', 'x\n')
})
afterEach(() => world.close())

async function open({ manifest, set }: Tried) {
  set?.(world.root)
  // A run of refusals would stop the control as well.
  await world.sign(`schema_version = 1\n[rings.breaker]\nfailures = 1000\n${manifest}`)
  return (await world.open()).openSession()
}

describe('tried', () => {
  const tried = PUBLISHED.flatMap((one) => (one.tried ? [{ ...one, tried: one.tried }] : []))

  it.each(tried)('$id: $what', async ({ tried }) => {
    const session = await open(tried)
    for (const [tool, input] of tried.attacks) {
      const result = await session.call(tool, input)
      expect(JSON.stringify(result)).not.toContain('OUTSIDE')
      // Inside the sandbox a command may run and come to nothing.
      if (tool !== 'bash') expect(result.status).toMatch(/denied|refused|failed/)
    }
    for (const path of tried.absent ?? []) expect([path, existsSync(join(world.root, path))]).toEqual([path, false])
    const control = await session.call(...tried.control)
    expect([control.status, control.status === 'done' ? (control.output.exitCode ?? 0) : control]).toEqual(['done', 0])
  })
})

it.each(PUBLISHED.flatMap(({ id, row }) => (row ? [{ id, ...row }] : [])))('$id is in $file', ({ file, text }) => {
  expect(readFileSync(file, 'utf8')).toContain(text)
})

it('the documents have this table', () => {
  expect(readFileSync('docs/reference/attacks.md', 'utf8')).toContain(publishedSection())
})
