/** Every wire row, played with raw sockets against a door. */

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { World } from '../../egress/world.ts'
import { createWireWorld, play, type WireRow } from './wire-row.ts'
import { wireRows } from './wire-rows.ts'

const corpus = readFileSync(new URL('../../cases/hosts.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes('"stage": "wire"'))
  .map((line) => JSON.parse(line) as WireRow)

let world: World
beforeAll(async () => {
  world = await createWireWorld()
})
afterAll(() => world.close())

describe('wire rows', () => {
  it('has the rows of the corpus', () => expect(corpus.length).toBeGreaterThanOrEqual(13))
  it.each([...corpus, ...wireRows])('$id $expect: $why', async (row) => {
    expect(await play(world, row)).toBe(row.expect)
  })
})
