/** Components as `cordon agent` meets them: what does not load, and what is missing where the optional tools are not there. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entryOf, hashOf, runComponent } from '../../../src/chat/component/component.ts'
import { buildComponent, requireOwnImports } from '../../../src/chat/component/files.ts'
import { BUILT_IN_BACKEND, openBackend } from '../../../src/run/open-backend.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const EMPTY = Uint8Array.from([0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00])
const name = 'wasi:sockets/tcp@0.2.0'
const body = [1, 0, name.length, ...Buffer.from(name), 5, 0]
const FOREIGN = Uint8Array.from([...EMPTY, 10, body.length, ...body])
const entry = { name: 'x', sha256: hashOf(EMPTY), tools: [], model: false, storageBytes: 10, memoryBytes: 1 << 28 }

describe('a component', () => {
  it('that imports more than cordon:agent does not load', () => {
    expect(() => requireOwnImports(FOREIGN)).toThrow(/wasi:sockets\/tcp@0\.2\.0/)
    expect(() => requireOwnImports(Uint8Array.from([1, 2, 3]))).toThrow(/does not load/)
    expect(() => requireOwnImports(EMPTY)).not.toThrow()
  })

  it('that the manifest does not name by its bytes does not run', () => {
    expect(entryOf([entry], EMPTY)).toBe(entry)
    expect(() => entryOf([entry], FOREIGN)).toThrow(/does not name this component/)
    expect(() => entryOf([{ ...entry, sha256: null }], EMPTY)).toThrow(/does not name/)
  })

  it('is neither built nor run without the tools, and what is missing is said', async () => {
    const source = join(world.root, 'agent.ts')
    writeFileSync(source, 'export const run = (task: string) => task\n')
    await expect(buildComponent(world.machine, await openBackend(BUILT_IN_BACKEND), source)).rejects.toMatchObject({
      code: 'no-engine',
      remedy: expect.stringContaining('npm install'),
    })
    const cordon = await world.open({ manifest: { object: { schema_version: 1 } } })
    const run = {
      bytes: EMPTY,
      entry,
      task: '',
      session: cordon.openSession(),
      root: cordon.root,
      machine: world.machine,
      backend: await openBackend(BUILT_IN_BACKEND),
      milliseconds: 1000,
      complete: null,
      signal: new AbortController().signal,
    }
    await expect(runComponent(run)).rejects.toMatchObject({ code: 'no-engine' })
    await expect(runComponent({ ...run, bytes: FOREIGN })).rejects.toMatchObject({ code: 'bad-component' })
  })

  it('is not built with tools of the project, which an agent can write', async () => {
    const planted = join('node_modules', '@bytecodealliance', 'componentize-js')
    world.file(join(planted, 'package.json'), '{"name":"@bytecodealliance/componentize-js","main":"index.js"}')
    world.file(join(planted, 'index.js'), 'require("fs").writeFileSync(__dirname + "/ran", "")\n')
    writeFileSync(join(world.root, 'agent.js'), 'export const run = (task) => task\n')
    await expect(
      buildComponent(
        { ...world.machine, cwd: world.root },
        await openBackend(BUILT_IN_BACKEND),
        join(world.root, 'agent.js'),
      ),
    ).rejects.toMatchObject({ code: 'no-engine' })
    expect(Object.keys(world.snapshot())).not.toContain(join(planted, 'ran'))
  })
})
