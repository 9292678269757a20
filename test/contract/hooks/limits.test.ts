/** What applies in hooks as in a session: the rate of a ring's calls (P8), and the discovery brief (F3). */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { codex, effectOf, type HookWorld, MANIFEST, openHookWorld } from './world.ts'

let world: HookWorld
afterEach(() => world.close())

const ask = async (command: string, session: string) =>
  world.ask('codex', codex('Bash', { command }, { session_id: session }))

it('a session has so many calls a minute, and another has its own', async () => {
  world = await openHookWorld(`${MANIFEST}[rings.2]\ncalls_per_minute = 2\n`)
  const effects: string[] = []
  for (let count = 0; count < 3; count++) effects.push(effectOf('codex', await ask('ls', 'a')))
  expect(effects).toEqual(['sandboxed', 'sandboxed', 'deny'])
  expect((await ask('ls', 'a')).stdout).toContain('a minute')
  expect(effectOf('codex', await ask('ls', 'b'))).toBe('sandboxed')
})

it('a brief bounds what is written, also when it grows', async () => {
  world = await openHookWorld(`${MANIFEST}[files]\ndiscovery_brief = "brief.json"\n`)
  const brief = (paths: readonly string[]): void =>
    writeFileSync(join(world.project, 'brief.json'), JSON.stringify({ in_scope_files: paths }))
  const write = async (path: string) => {
    const input = { session_id: 's', cwd: world.project, hook_event_name: 'PreToolUse', tool_name: 'Write' }
    const tool_input = { file_path: join(world.project, path), content: 'x' }
    return effectOf('claude-code', await world.ask('claude-code', { ...input, tool_input }))
  }
  brief(['src/**'])
  expect([await write('src/b.ts'), await write('docs/b.md')]).toEqual(['pass', 'deny'])
  brief(['src/**', 'docs/**'])
  expect(await write('docs/b.md')).toBe('pass')
})
