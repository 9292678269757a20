/** The tools that need something of their session, in every session: the library's, an MCP client's, an agent's. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
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
  // The person of this table answers "blue" to every question, which is not a yes.
  expect(resultText(await plain.call('skill', { name: 'theirs' }))).toContain('has not agreed')
  expect(await plain.call('task', { prompt: 'x' })).toMatchObject({ status: 'failed', error: { code: 'unknown-tool' } })
  mkdirSync(world.machine.configDir, { recursive: true, mode: 0o700 })
  const config = join(world.machine.configDir, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { url: 'https://search.example/q' } }), { mode: 0o600 })
  const session = cordon.openSession({ task: async ({ prompt }) => ({ text: `did ${prompt}` }) })
  expect(names(session)).toEqual(expect.arrayContaining(['skill', 'lsp', 'websearch', 'task']))
  expect(resultText(await session.call('task', { prompt: 'it' }))).toBe('did it')
  // A configuration that cannot be read offers nothing, and stops no one else.
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
  expect(() => session.offer([{ ...late, name: 'bash' }])).toThrow(/cannot be the name/)
})

/** A server that pushes one problem for each file that is opened. */
const PUSHING_SERVER = `#!/usr/bin/python3
import json, sys
def send(message):
    body = json.dumps({'jsonrpc': '2.0', **message}).encode()
    sys.stdout.buffer.write(b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body)
    sys.stdout.buffer.flush()
while True:
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line: sys.exit()
        if line.strip() == b'': break
        if line.lower().startswith(b'content-length:'): length = int(line.split(b':')[1])
    message = json.loads(sys.stdin.buffer.read(length))
    if message.get('method') == 'initialize': send({'id': message['id'], 'result': {'capabilities': {}}})
    if message.get('method') == 'textDocument/didOpen':
        place = {'line': 3, 'character': 1}
        problem = {'range': {'start': place, 'end': place}, 'severity': 1, 'message': 'wrong'}
        uri = message['params']['textDocument']['uri']
        send({'method': 'textDocument/publishDiagnostics', 'params': {'uri': uri, 'diagnostics': [problem]}})
`

it('lsp passes over a program that is not a server, and says where a pushed problem is', async () => {
  world.file('a.ts', 'x\n')
  for (const [name, text] of [
    ['tsc', '#!/bin/sh\necho "error TS5023: Unknown compiler option"\nexit 1\n'],
    ['typescript-language-server', PUSHING_SERVER],
  ] as const) {
    world.file(`node_modules/.bin/${name}`, text)
    chmodSync(join(world.root, 'node_modules/.bin', name), 0o755)
  }
  const session = (await world.open({ manifest: { object: { schema_version: 1 } } })).openSession()
  const asked = await session.call('lsp', { action: 'diagnostics', path: 'a.ts' })
  expect(resultText(asked)).toBe('4:2 error: wrong')
})
