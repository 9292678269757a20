/** `[sandbox.os] backend`: every surface runs commands in the engine that the person chose, or runs nothing. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { BUILT_IN_BACKEND, openBackend } from '../../../src/run/open-backend.ts'
import { findEngineProgram } from '../../../src/sandbox/oci/local-engine.ts'
import { createCordon } from '../../../src/session/cordon.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { KeyWorld } from '../keys/key-world.ts'

const KERNEL = ['uname', '-r']
const RUNS = { schema_version: 1, permission: { tools: { bash: 'allow' } } }
const GVISOR = /4\.4\.0/
const MISSING = /runsc, which is not installed/

let world: KeyWorld
let config: string
beforeAll(() => {
  world = new KeyWorld({ 'a.txt': 'a\n' }, {})
  config = join(world.machine.configDir, 'cordon.toml')
  mkdirSync(world.machine.configDir, { recursive: true })
})
afterAll(() => world.close())

const messageOf = (error: Error) => error.message

it('a project’s own manifest does not choose it', async () => {
  expect(await world.seen('hook', { ...RUNS, sandbox: { os: { backend: 'runsc' } } }, KERNEL)).toBe(release())
})

describe('the person’s own file chooses it', () => {
  const expected = findEngineProgram('runsc') === null ? MISSING : GVISOR
  beforeAll(() => writeFileSync(config, 'schema_version = 1\n[sandbox.os]\nbackend = "runsc"\n'))
  afterAll(() => rmSync(config))

  it('for hooks, which sign the project for what follows', async () => {
    expect(await world.seen('hook', RUNS, KERNEL).catch(messageOf)).toMatch(expected)
  })

  it('for sessions, and so for MCP', async () => {
    const cordon = await createCordon({ project: world.root, machine: world.machine })
    try {
      expect(resultText(await cordon.openSession().call('bash', { command: KERNEL.join(' ') }))).toMatch(expected)
    } finally {
      await cordon.close()
    }
  })

  it('for what a person types', async () => {
    const choice = { kind: 'project' } as const
    const outcome = await loadPolicy({ machine: world.machine, files: machineFiles, root: world.root, choice })
    if (!('loaded' in outcome)) throw new Error('the manifest does not load')
    expect((await openBackend(outcome.loaded.sandbox)).name).toBe('runsc')
  })
})

it('is the platform’s own where nobody wrote anything, and no engine of Linux is taken elsewhere', async () => {
  expect((await openBackend(BUILT_IN_BACKEND)).name).toBe(process.platform === 'darwin' ? 'seatbelt' : 'bwrap')
  if (process.platform === 'darwin')
    await expect(openBackend({ backend: { value: 'runc' } })).rejects.toThrow(/no sandbox on darwin/)
})
