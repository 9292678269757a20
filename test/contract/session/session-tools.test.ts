/** The tools that need something of their session, in every session: the library's, an MCP client's, an agent's. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const names = (session: { tools(): readonly { readonly name: string }[] }) => session.tools().map(({ name }) => name)

it('skill and lsp are always there, websearch with an endpoint, task where somebody runs sub-agents', async () => {
  world.file('.agents/skills/theirs/SKILL.md', '---\ndescription: Helps.\n---\nTEXT\n')
  const cordon = await world.open()
  const plain = cordon.openSession()
  expect(names(plain)).toEqual(expect.arrayContaining(['skill', 'lsp']))
  expect(names(plain)).not.toEqual(expect.arrayContaining(['websearch']))
  expect(names(plain)).not.toEqual(expect.arrayContaining(['task']))
  expect(resultText(await plain.call('skill', {}))).toBe('theirs: Helps.')
  // The person of this table answers "blue" to every question, which is no yes.
  expect(resultText(await plain.call('skill', { name: 'theirs' }))).toContain('has not agreed')
  expect(await plain.call('task', { prompt: 'x' })).toMatchObject({ status: 'failed', error: { code: 'unknown-tool' } })
  mkdirSync(world.machine.configDir, { recursive: true, mode: 0o700 })
  const config = join(world.machine.configDir, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { url: 'https://search.example/q' } }), { mode: 0o600 })
  const session = cordon.openSession({ task: async ({ prompt }) => ({ text: `did ${prompt}` }) })
  expect(names(session)).toEqual(expect.arrayContaining(['skill', 'lsp', 'websearch', 'task']))
  expect(resultText(await session.call('task', { prompt: 'it' }))).toBe('did it')
  // A configuration that cannot be read offers nothing, and stops nobody else.
  writeFileSync(config, '{')
  expect(names(cordon.openSession())).not.toContain('websearch')
})

it('a tool that is offered later is decided like every other, and takes the place of none', async () => {
  const session = (await world.open({ manifest: { object: { schema_version: 1 } } })).openSession()
  const late = {
    name: 'mcp__x__y',
    description: 'Late.',
    input: { type: 'object', properties: {}, required: [] },
    checksInput: true,
    labels: [],
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    actions: () => ({}),
    run: async (input: unknown) => ({ text: `ran ${JSON.stringify(input)}` }),
  } as const
  session.offer([late])
  expect((await session.call('mcp__x__y', { any: [{ thing: null }] })).status).toBe('refused')
  expect(world.asked).toHaveLength(1)
  session.setLevel('mcp__x__y', 'allow')
  expect(resultText(await session.call('mcp__x__y', { any: [{ thing: null }] }))).toBe('ran {"any":[{"thing":null}]}')
  session.setAgent('plan')
  expect((await session.call('mcp__x__y', {})).status).toBe('denied')
  expect(() => session.offer([{ ...late, name: 'bash' }])).toThrow(/already/)
})
