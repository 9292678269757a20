/** What a command leaves in its own home is reported by sessions and the gateway, as by `cordon run` and hooks. */

import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runServer } from '../../src/agents/mcp/servers.ts'
import { openRecord } from '../../src/call/record/open.ts'
import { resultText } from '../../src/call/tool-result.ts'
import { withAnswers } from '../../src/project/answers.ts'
import { openPolicy } from '../../src/project/open.ts'
import { machineFiles } from '../../src/system/files.ts'
import type { Machine } from '../../src/system/machine.ts'
import { openSessionWorld, type SessionWorld } from './session/session-world.ts'

const NOTE = expect.stringContaining('~/.aliases went to a temporary home')
const object = { schema_version: 1, permission: { mode: 'auto' } }

let world: SessionWorld
let machine: Machine
beforeEach(() => {
  world = openSessionWorld()
  machine = { ...world.machine, cwd: world.root, env: { ...world.machine.env, HOME: world.machine.home } }
  world.file('leave.sh', 'echo x > ~/.aliases\n')
})
afterEach(() => world.close())

it('a session reports it to the agent', async () => {
  const cordon = await world.open({ manifest: { object }, machine })
  const result = await cordon.openSession().call('bash', { command: 'sh leave.sh' })
  expect(resultText(result)).toEqual(NOTE)
})

it('a server behind the gateway has it in what is said at its end', async () => {
  const { root } = world
  const choice = { kind: 'object', object } as const
  const opened = await openPolicy({ machine, files: machineFiles, root, choice, unsigned: 'refused' })
  if (!('loaded' in opened)) throw new Error(JSON.stringify(opened))
  const recorder = openRecord(opened.loaded, machine, { by: 'gateway', name: 's' })
  const argv = ['sh', 'leave.sh']
  const spec = { name: 's', argv, remote: null, grants: null, env: {}, requests: [], definition: null }
  const answered = await withAnswers(opened.loaded, { machine, files: machineFiles, session: null, agent: null })
  const { signal } = new AbortController()
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough(), stderr: new PassThrough(), signal }
  expect(await runServer(spec, answered, machine, recorder, streams)).toEqual([NOTE, 'it ended with 0'])
  recorder.close()
})
