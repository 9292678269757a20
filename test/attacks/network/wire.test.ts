/** Every wire row, played with raw sockets against a proxy. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { World } from '../../contract/egress/world.ts'
import { createWireWorld, play, rulesOf } from './wire-row.ts'
import { corpusRows, wireRows } from './wire-rows.ts'

let world: World
beforeAll(async () => {
  world = await createWireWorld()
})
afterAll(() => world.close())

describe('wire rows', () => {
  it('has the rows of the corpus', () => expect(corpusRows.length).toBeGreaterThanOrEqual(13))
  it.each([...corpusRows, ...wireRows])('$id $expect: $why', async (row) => {
    const { proxy, port } = await world.open(rulesOf(row.config))
    expect(await play(port, world.ca.pem, row)).toBe(row.expect)
    await proxy.close()
  })
})
