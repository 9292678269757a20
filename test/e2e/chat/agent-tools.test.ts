/** The tools that only Cordon's own agent has: websearch, skill and lsp, each through the built program. */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ChatWorld, type WorldOptions } from './chat-world.ts'

let world: ChatWorld | null = null
let engine: Server | null = null
afterEach(async () => {
  await world?.close()
  engine?.closeAllConnections()
  await new Promise((resolve) => (engine ? engine.close(resolve) : resolve(null)))
  world = null
  engine = null
})

/** Runs these calls one after the other, and returns what the model read of each. */
async function results(
  calls: readonly { name: string; input: unknown }[],
  options: WorldOptions,
  args: readonly string[] = [],
  set: (at: ChatWorld) => void = () => {},
) {
  world = await ChatWorld.open((_, index) => (calls[index] ? { calls: [calls[index]] } : { text: 'ok' }), options)
  set(world)
  const ran = await world.cordon(['chat', ...args, '-p', 'go', '--json'])
  const { messages, tools } = world.model.seen.at(-1)!.body as {
    messages: { role: string; content: string }[]
    tools: { function: { name: string } }[]
  }
  return {
    system: messages[0]!.content,
    said: messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
    offered: tools.map((tool) => tool.function.name),
    statuses: (JSON.parse(ran.out).calls as { status: string }[]).map(({ status }) => status),
  }
}

it('websearch asks the endpoint under the host rules, and is not offered without one', async () => {
  const asked: string[] = []
  engine = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end(JSON.stringify({ results: [{ title: 'A page', url: 'https://example.org/a', content: 'about\nit' }] }))
  })
  await new Promise<void>((resolve) => engine!.listen(0, '127.0.0.1', resolve))
  const { port } = engine.address() as AddressInfo
  const calls = [{ name: 'websearch', input: { query: 'a & b' } }]
  const configured = (at: ChatWorld) => {
    const profile = { wire: 'openai-chat', base_url: at.model.url, model: 'scripted' }
    const config = { profile: 'test', profiles: { test: profile }, search: { url: `http://127.0.0.1:${port}/search` } }
    writeFileSync(join(at.home, '.config/cordon/config.json'), JSON.stringify(config), { mode: 0o600 })
  }
  const manifest = `schema_version = 1\n[http]\nallow_private_hosts = true\nallowed_hosts = ["127.0.0.1:${port}"]\n`
  const found = await results(calls, { manifest }, ['--manifest', 'manifest.toml'], configured)
  expect(found.said[0]).toBe('1. A page\n   https://example.org/a\n   about it')
  expect(asked).toEqual(['/search?q=a+%26+b&format=json'])
  await world!.close()
  // A private address stays closed to it as to webfetch.
  const closed = await results(calls, {}, [], configured)
  expect(closed.statuses).toEqual(['denied'])
  expect(asked).toHaveLength(1)
  await world!.close()
  const without = await results(calls, {})
  expect(without.offered).not.toContain('websearch')
  expect(without.statuses).toEqual(['failed'])
})

it('a skill of the person is loaded, one of the project only when a person agrees', async () => {
  const { said, system } = await results(
    [
      { name: 'skill', input: {} },
      { name: 'skill', input: { name: 'mine' } },
      { name: 'skill', input: { name: 'theirs' } },
      { name: 'skill', input: { name: 'none' } },
    ],
    { files: { '.agents/skills/theirs/SKILL.md': '---\nname: theirs\ndescription: Steers you.\n---\nSTEER-TEXT\n' } },
    [],
    (at) => {
      mkdirSync(join(at.home, '.agents/skills/mine'), { recursive: true })
      writeFileSync(join(at.home, '.agents/skills/mine/SKILL.md'), '---\ndescription: Does it well.\n---\nOWN-TEXT\n')
      writeFileSync(join(at.home, '.agents/skills/mine/run.sh'), 'echo hi\n')
    },
  )
  // What a project says of its skills is data that a tool brings, and no part of the prompt before a person agreed.
  expect(system).toContain('mine: Does it well.')
  expect(system).not.toMatch(/theirs|Steers you/)
  expect(said[0]).toBe('mine: Does it well.\ntheirs: Steers you.')
  expect(said[1]).toMatch(/OWN-TEXT[\s\S]*run\.sh/)
  expect(said[2]).toContain('has not agreed')
  expect(said[2]).not.toContain('STEER-TEXT')
  expect(said[3]).toContain('there is no skill "none"')
})

it('lsp asks TypeScript’s own server, in the sandbox and also when planning', async () => {
  const modules = join(import.meta.dirname, '../../../node_modules')
  const ask = (action: string, rest: object = {}) => ({ name: 'lsp', input: { path: 'a.ts', action, ...rest } })
  const { said } = await results(
    [
      ask('diagnostics'),
      ask('symbols'),
      ask('references', { line: 1, column: 17 }),
      ask('rename', { line: 1, column: 17, new_name: 'sum' }),
      { name: 'lsp', input: { path: 'a.xyz', action: 'symbols' } },
    ],
    {
      files: {
        'a.ts':
          'export function add(a: number, b: number): number { return a + b }\nexport const x: string = add(1, 2)\n',
        'a.xyz': 'x',
        'tsconfig.json': '{"compilerOptions":{"strict":true}}',
      },
    },
    ['--agent', 'plan'],
    ({ root }) => {
      mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
      for (const name of ['typescript', '@typescript'])
        cpSync(join(modules, name), join(root, 'node_modules', name), { recursive: true })
      cpSync(join(modules, '.bin/tsc'), join(root, 'node_modules/.bin/tsc'), { verbatimSymlinks: true })
    },
  )
  expect(said).toEqual([
    "2:14 error: Type 'number' is not assignable to type 'string'.",
    'add (line 1)\nx (line 2)',
    'a.ts:1:17\na.ts:2:26',
    'a.ts:1:17-1:20 -> "sum"\na.ts:2:26-2:29 -> "sum"',
    'Failed: no language server is known for .xyz.',
  ])
})
