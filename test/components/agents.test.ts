/** Components as a person meets them: built from the example, signed for, run; and the loop of chat, which does the same as the native one. */

import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ChatWorld, type WorldOptions } from '../e2e/chat/chat-world.ts'
import type { Script } from '../e2e/chat/scripted-model.ts'
import { componentTools } from './component-tools.ts'

const CHECKOUT = join(import.meta.dirname, '../..')

let world: ChatWorld | null = null
afterEach(async () => {
  await world?.close()
  world = null
})

async function open(script: Script, options: WorldOptions = {}): Promise<ChatWorld> {
  world = await ChatWorld.open(script, options)
  mkdirSync(world.state, { recursive: true, mode: 0o700 })
  symlinkSync(componentTools(), join(world.state, 'component-tools'))
  return world
}

async function sign(at: ChatWorld, file: string, more: string): Promise<void> {
  const sha256 = createHash('sha256')
    .update(readFileSync(join(at.root, file)))
    .digest('hex')
  at.write('cordon.toml', `schema_version = 1\n[components.one]\nsha256 = "${sha256}"\n${more}\n`)
  expect((await at.cordon(['sign', '--yes'])).code).toBe(0)
}

it('examples/code/agent.ts is built, signed for and run, and keeps what it stored', async () => {
  const at = await open(() => ({ text: '' }), { files: { 'a.txt': 'hello there\n' } })
  copyFileSync(join(CHECKOUT, 'examples/code/agent.ts'), join(at.root, 'agent.ts'))
  const built = await at.cordon(['agent', 'build', 'agent.ts'])
  expect(built).toMatchObject({ code: 0, err: '' })
  const unlisted = await at.cordon(['agent', 'run', 'agent.wasm', 'a.txt'])
  expect(unlisted.err).toContain('the manifest does not name this component')
  await sign(at, 'agent.wasm', 'tools = ["read"]\nstorage = "64 KiB"')
  expect(await at.cordon(['agent', 'run', 'agent.wasm', 'a.txt'])).toMatchObject({
    code: 0,
    out: 'hello there\n',
    err: 'run 1: a.txt\n',
  })
  expect(await at.cordon(['agent', 'run', 'agent.wasm', 'a.txt'])).toMatchObject({
    out: 'hello there\n',
    err: 'run 2: a.txt\n',
  })
  expect(at.auditLines().filter(({ tool, type }) => tool === 'read' && type === 'begin')).toHaveLength(2)
})

it('a source that does not parse says so', async () => {
  const at = await open(() => ({ text: '' }), { files: { 'agent.js': 'export const run = (\n' } })
  const built = await at.cordon(['agent', 'build', 'agent.js'])
  expect(built.code).not.toBe(0)
  expect(built.err).toMatch(/cannot be compiled/)
})

const calls = [
  [{ name: 'read', input: { path: 'a.txt' } }],
  [
    { name: 'read', input: { path: 'nothing.txt' } },
    { name: 'read', input: { path: '/etc/shadow' } },
  ],
  [{ name: 'list', input: { path: '.' }, raw: '{"path": ' }],
]

it.each(['anthropic', 'openai-chat'])(
  'the loop of chat as a component answers as the native one does, over %s',
  async (wire) => {
    const script: Script = (_, index) => {
      const turn = calls[index % (calls.length + 1)]
      return turn ? { text: 'Looking.', calls: turn } : { text: 'It says hello.' }
    }
    const at = await open(script, { files: { 'a.txt': 'hello there\n' }, wire })
    copyFileSync(join(CHECKOUT, 'dist/agents/chat.wasm'), join(at.root, 'chat.wasm'))
    await sign(at, 'chat.wasm', 'tools = ["read", "list"]\nmodel = true')
    const native = await at.cordon(['chat', '-p', 'what does a.txt say?', '--json'])
    const asked = at.model.seen.splice(0)
    const inside = await at.cordon(['agent', 'run', 'chat.wasm', 'what does a.txt say?'])
    expect(inside).toMatchObject({ code: 0, out: `${JSON.parse(native.out).text}\n` })
    const messages = (seen: typeof asked) => seen.map(({ body }) => body.messages)
    expect(comparable(messages(at.model.seen))).toEqual(comparable(messages(asked)))
    expect(at.model.seen).toHaveLength(calls.length + 1)
  },
)

/** Message to the model beforehand names the skills and instructions of chat; the names of calls are the model's own. */
function comparable(requests: readonly unknown[]): string[] {
  return requests.map((messages) =>
    JSON.stringify((messages as { role: string }[]).filter(({ role }) => role !== 'system')).replace(
      /"(id|tool_call_id|tool_use_id)":"[^"]*"/g,
      '"$1":""',
    ),
  )
}
