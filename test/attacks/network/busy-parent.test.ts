/** The time limit is the init's own: whatever keeps the parent busy, the command is ended when its time is up. */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'
import { until } from '../../until.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

/** Nothing of this process goes on meanwhile. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

it('a command ends long before its stuck parent sees it', async () => {
  const command = 'while true; do date +%s%3N >> beats; sleep 0.1; done'
  const beats = join(world.root, 'beats')
  // The time of the command begins before its sandbox is there, which on a busy machine may take all of it.
  for (let seconds = 1; ; seconds *= 4) {
    const object = {
      schema_version: 1,
      permission: { mode: 'auto' },
      security: { redirects: 'all' },
      limits: { command_timeout: seconds },
    }
    const session = (await world.open({ manifest: { object } })).openSession()
    const called = session.call('bash', { command })
    let over = false
    void called.finally(() => {
      over = true
    })
    await until('it beats, or is over', () => existsSync(beats) || over)
    if (over && seconds < 64) {
      rmSync(beats, { force: true })
      continue
    }
    block((seconds + 5) * 1000)
    const free = Date.now()
    expect(resultText(await called)).toMatch(/time/i)
    const last = Number(readFileSync(beats, 'utf8').trim().split('\n').at(-1))
    // It beat ten times a second while it lived: silence for this long means that it was dead, and not slow.
    expect(free - last).toBeGreaterThan(2_000)
    return
  }
})
