/** Keys that show in more than one answer: what tools give back, custom tools, the record, the model's own words. */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { openAgentSession } from '../../../src/chat/agent-session.ts'
import { openCustomTools } from '../../../src/custom/tools.ts'
import { toolRows, trustTool } from '../../../src/custom/trust.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { startScriptedModel } from '../../e2e/chat/scripted-model.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

let world: SessionWorld

beforeEach(() => {
  world = openSessionWorld()
})

afterEach(async () => {
  await world.close()
})

async function says(object: object, tool: string, input: object): Promise<string> {
  const manifest = { object: { schema_version: 1, ...object } }
  const session = (await world.open({ manifest })).openSession()
  return resultText(await session.call(tool, input))
}

it('files.read_size_limit: characters that one read returns', async () => {
  world.file('a.txt', '#'.repeat(500))
  const hashes = async (object: object) => (await says(object, 'read', { path: 'a.txt' })).match(/#/g)?.length
  expect(await hashes({})).toBe(500)
  expect(await hashes({ files: { read_size_limit: 100 } })).toBe(100)
})

it.each([
  ['list', { path: '.' }],
  ['glob', { pattern: '**/*' }],
  ['grep', { pattern: 'word' }],
])('security.filter_listings: %s shows only what may be read', async (tool, input) => {
  world.file('open/a.txt', 'word\n')
  world.file('shut/b.txt', 'word\n')
  const base = {
    capabilities: { allow: { read: { paths: ['open/**'] } } },
  }
  const filtered = { ...base, security: { filter_listings: true } }
  world.answer = () => ({ kind: 'once' })
  expect(await says(base, tool, input)).toMatch(/shut/)
  expect(await says(filtered, tool, input)).not.toMatch(/shut/)
  expect(await says(filtered, tool, input)).toMatch(/open/)
})

it('audit.max_bytes: a file that grows past it is rotated', async () => {
  world.file('a.txt', 'x')
  const files = async (object: object): Promise<number> => {
    const session = (await world.open({ manifest: { object: { schema_version: 1, ...object } } })).openSession()
    for (let calls = 0; calls < 8; calls++) await session.call('read', { path: 'a.txt' })
    await session.close()
    return readdirSync(join(world.machine.stateDir, 'audit')).length
  }
  const before = await files({})
  expect(await files({ audit: { max_bytes: 2048 } })).toBeGreaterThan(before + 1)
})

const PROBE = `#!/bin/bash
echo "one=$ONE two=$TWO"
echo "trust=$SSL_CERT_FILE"
printf '#%.0s' {1..500}
read -t "\${WAIT:-0}" _ < <(sleep 2)
`

async function probe(settings: object, more: object = {}): Promise<string> {
  world.file('.cordon/tools/probe.sh', PROBE, 0o755)
  const tool = { name: 'probe', description: 'Probes.', script: 'probe.sh', labels: ['execute'], env: ['ONE'], ...more }
  world.file('.cordon/tools/probe.json', JSON.stringify(tool))
  const choice = { kind: 'object', object: { schema_version: 1 } } as const
  const machine = { ...world.machine, env: { ...world.machine.env, ONE: '1', TWO: '2', WAIT: '1.5' } }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: world.root, choice })
  if ('problems' in outcome) throw new Error('does not load')
  const tools = openCustomTools(outcome.loaded, machine, () => new Date())
  trustTool(tools, toolRows(tools)[0]!, new Date())
  const object = { schema_version: 1, permission: { tools: { probe: 'allow' } }, tools: { probe: settings } }
  const session = (await world.open({ manifest: { object }, machine })).openSession()
  return resultText(await session.call('probe', {}))
}

it('tools.NAME.env_vars: narrows what the tool declares, and never widens it', async () => {
  expect(await probe({})).toContain('one=1 two=\n')
  expect(await probe({ env_vars: ['TWO'] })).toContain('one= two=\n')
  expect(await probe({ env_vars: ['ONE', 'TWO'] })).toContain('one=1 two=\n')
})

it('tools.NAME.max_output_bytes, timeout and enabled', async () => {
  expect((await probe({})).match(/#/g)).toHaveLength(500)
  expect((await probe({ max_output_bytes: 60 })).match(/#/g)!.length).toBeLessThan(60)
  expect(await probe({ timeout: 0.4 }, { env: ['ONE', 'WAIT'] })).toContain('[stopped: the time limit of 0.4 s')
  expect(await probe({ enabled: false })).toMatch(/^(Denied|Failed)/)
})

it('tools.NAME.require_confirmation: asks of a tool that asks for none itself', async () => {
  await probe({})
  expect(world.asked).toEqual([])
  await probe({ require_confirmation: true })
  expect(world.asked).toHaveLength(1)
})

it('tools.NAME.domains: of declared hosts only these, and no other', async () => {
  const reaches = async (domains: readonly string[]): Promise<boolean> =>
    /trust=\//.test(await probe({ domains }, { labels: ['execute', 'network'], domains: ['api.example.org'] }))
  expect(await reaches(['api.example.org'])).toBe(true)
  expect(await reaches(['other.example.org'])).toBe(false)
})

it('security.hide_model and debug.dump_provider_payloads: what the model receives, and what is kept of it', async () => {
  const model = await startScriptedModel(() => ({ text: 'hello' }))
  try {
    mkdirSync(world.machine.configDir, { recursive: true, mode: 0o700 })
    const profile = { wire: 'openai-chat', base_url: model.url, model: 'scripted', key_env: 'SCRIPTED_KEY' }
    const config = JSON.stringify({ profile: 'test', profiles: { test: profile } })
    writeFileSync(join(world.machine.configDir, 'config.json'), config, { mode: 0o600 })
    const machine = { ...world.machine, env: { ...world.machine.env, SCRIPTED_KEY: 'sk-test-0123456789abcdef' } }
    const turn = async (object: object): Promise<{ sent: string; notes: string }> => {
      const manifest = { object: { schema_version: 1, ...object } }
      const agent = await openAgentSession({ machine, project: world.root, manifest, report: () => {} })
      const { signal } = new AbortController()
      const end = await agent.agent.turn({ role: 'user', parts: [{ type: 'text', text: 'hi' }] }, { signal })
      expect(end).toMatchObject({ reason: 'done' })
      await agent.cordon.close()
      return { sent: JSON.stringify(model.seen.at(-1)!.body.messages), notes: agent.notes.join('\n') }
    }
    const dumps = join(machine.stateDir, 'payloads')
    expect((await turn({})).sent).toContain('model scripted, provider test')
    expect(existsSync(dumps)).toBe(false)
    const hidden = await turn({ security: { hide_model: true }, debug: { dump_provider_payloads: true } })
    expect(hidden.sent).not.toContain('scripted')
    expect(hidden.notes).toContain('clear text')
    expect(readdirSync(dumps).length).toBeGreaterThan(0)
  } finally {
    await model.close()
  }
})
