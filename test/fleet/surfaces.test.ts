/** Asks of a hook, of `cordon mcp` and of the gateway, each a process of the real program, answered by the fleet. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callHash } from '../../src/approval/approve.ts'
import { machineKey } from '../../src/fleet/identity.ts'
import { answerAsk, followAsks, type WaitingAsk, waitingAsks } from '../../src/organisation/answer.ts'
import { askFleet, type FleetQuestion } from '../../src/organisation/ask-fleet.ts'
import { syncPolicy } from '../../src/organisation/sync.ts'
import { openAsks } from '../../src/questions/asks.ts'
import { answerOnPage } from '../../src/surfaces/page/asks-view.ts'
import { openKeyStore } from '../../src/system/keys/keychain.ts'
import type { Machine } from '../../src/system/machine.ts'
import { layer } from './fleet-world.ts'
import { type NatsFleet, openNatsFleet } from './nats-fleet.ts'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../dist/cordon.cjs')
const node = realpathSync(process.execPath)
const SERVER = `
import { createInterface } from 'node:readline'
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '0' } })
  if (method === 'tools/list') say(id, { tools: [{ name: 'act', description: 'Does it.', inputSchema: { type: 'object' } }] })
  if (method === 'tools/call') say(id, { content: [{ type: 'text', text: 'acted' }] })
}
`

let fleet: NatsFleet
let machine: Machine
let ann: Machine
let project = ''
const LOADS = layer(`[capabilities.allow]\nadditional_directories = [${JSON.stringify(dirname(node))}]\n`)

beforeAll(async () => {
  fleet = await openNatsFleet(1)
  machine = await fleet.machine('m1')
  ann = await fleet.machine('ann', 'approver')
  const key = machineKey(openKeyStore(ann.stateDir)).key.publicKey
  const publish = { version: 1, layers: [LOADS], approvers: [{ key, name: 'Ann', groups: ['*'] }] }
  await fleet.publish(publish)
  for (const one of [machine, ann]) await syncPolicy(fleet.settings, one)
  project = join(machine.home, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'server.mjs'), SERVER)
})
afterAll(() => fleet?.close())

const environment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: machine.home,
  XDG_CONFIG_HOME: join(machine.home, 'config'),
  XDG_STATE_HOME: join(machine.home, 'state'),
  XDG_CACHE_HOME: join(machine.home, 'cache'),
  CORDON_KEYCHAIN: 'off',
})

function hook(command: string): Promise<string> {
  const child = spawn(node, [CLI, 'hook', 'codex', '--root', project], { env: environment(), cwd: project })
  child.stdin.end(
    JSON.stringify({
      hook_event_name: 'PreToolUse',
      session_id: 's1',
      cwd: project,
      permission_mode: 'bypassPermissions',
      tool_name: 'Bash',
      tool_input: { command },
    }),
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  return new Promise((resolve) => child.once('close', () => resolve(said)))
}

/** Answers the ask about this, once it comes; those of other tests may still be open. */
async function answered(verdict: 'yes' | 'no', subject: string): Promise<WaitingAsk['ask']> {
  const bus = await fleet.bus(ann)
  try {
    for (;;) {
      const found = (await waitingAsks(fleet.settings, ann, bus)).find(({ ask }) => ask.subject === subject)
      if (found) {
        await answerAsk(fleet.settings, ann, bus, found, verdict)
        return found.ask
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    await bus.close()
  }
}

async function connected(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' })
  const transport = { command: node, args: [CLI, 'mcp', ...args], env: environment(), cwd: project }
  await client.connect(new StdioClientTransport({ ...transport, stderr: 'ignore' }))
  return client
}

const approvals = () =>
  readdirSync(join(machine.stateDir, 'audit'))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) =>
      readFileSync(join(machine.stateDir, 'audit', name), 'utf8')
        .trim()
        .split('\n'),
    )
    .filter((line) => line.includes('"type":"approval"'))

it('prints keys, codes and the servers’ configuration as they are', () => {
  const run = (...args: readonly string[]) => {
    const at = { HOME: fleet.admin.home, XDG_CONFIG_HOME: join(fleet.admin.home, 'config') }
    const env = { ...environment(), ...at, XDG_STATE_HOME: join(fleet.admin.home, 'state') }
    return spawnSync(node, [CLI, 'fleet', ...args], { env, encoding: 'utf8' }).stdout
  }
  const configuration = run('nats')
  expect(configuration.match(/eyJ[\w-]+\.[\w-]+\.[\w-]{86}/g)).toHaveLength(3)
  expect(run('machines')).toMatch(/ed25519:[A-Za-z0-9+/]{43}=/)
  expect(run('invite')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{32}\n$/)
})

it('the status of a fleet that nobody has joined names no versions', () => {
  const home = mkdtempSync(join(tmpdir(), 'cordon-empty-fleet-'))
  const env = { PATH: process.env.PATH, HOME: home, CORDON_KEYCHAIN: 'off' }
  const run = (...args: readonly string[]) =>
    spawnSync(node, [CLI, 'fleet', ...args], { env, cwd: home, encoding: 'utf8' })
  try {
    expect(run('init', 'acme', '--policy', join(home, 'policy.bundle')).status).toBe(0)
    expect(run('status').stdout).toMatch(/^machines 0$/m)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})

describe('a hook whose host cannot ask', () => {
  it('waits for a signed yes, which is for one call and in the record', async () => {
    const [said, ask] = await Promise.all([hook('npm publish'), answered('yes', 'npm publish')])
    expect(ask).toMatchObject({ tool: 'bash', subject: 'npm publish', project })
    expect(said).toContain('"permissionDecision":"allow"')
    expect(approvals().at(-1)).toContain('"approver":"fleet (Ann)"')
    const [again] = await Promise.all([hook('npm publish'), answered('no', 'npm publish')])
    expect(again).toContain('"permissionDecision":"deny"')
  })

  it('gets a no when the deadline passes', async () => {
    const path = join(machine.configDir, 'fleet.json')
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, JSON.stringify({ ...JSON.parse(whole), asks: 1 }))
    const said = await hook('npm publish --late')
    writeFileSync(path, whole)
    expect(said).toContain('"permissionDecision":"deny"')
    expect(said).toContain('no one in the fleet answered in time')
  })
})

describe('an asker that cannot wait so long', () => {
  const decision = { reason: { code: 'x', message: 'it reaches out' }, rules: [] } as never
  const question = (subject: string, waitMs: number, input = '{}'): FleetQuestion => ({
    project,
    request: {
      tool: 'bash',
      subject,
      input: { command: subject, more: input },
      call: callHash(project, null, 'bash', { command: subject, more: input }),
      once: callHash(project, null, 'bash', { command: subject, more: input }),
      facts: null,
      decision,
      worst: { bound: 'unbounded', hosts: [], labels: [], text: 'anything' },
      asks: [],
      suggestions: [],
    },
    signal: new AbortController().signal,
    waitMs,
  })
  it('tries again, and takes the answer that came meanwhile once', async () => {
    const ask = (waitMs: number, input?: string) =>
      askFleet(fleet.settings, machine, question('make release', waitMs, input))
    await expect(ask(1)).rejects.toThrow('try the very same call again')
    await answered('yes', 'make release')
    // Another call of the same words is another ask.
    await expect(ask(1, '{"more":1}')).rejects.toThrow('try the very same call again')
    expect(await ask(5000)).toEqual({ kind: 'once', by: 'fleet (Ann)' })
    await expect(ask(1)).rejects.toThrow('try the very same call again')
  })
  it('a yes that two wait for is taken by one', async () => {
    const two = [0, 1].map(() => askFleet(fleet.settings, machine, question('make two', 20_000)))
    await answered('yes', 'make two')
    const ended = await Promise.allSettled(two)
    expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })
})

it('an ask is answered where those of the approver’s own machine are: on the page, by a link, by cordon approvals', async () => {
  const bus = await fleet.bus(ann)
  const ended = new AbortController()
  const heard: string[] = []
  const following = followAsks(fleet.settings, ann, bus, ended.signal, ({ ask }, outcome) =>
    heard.push(`${ask.subject} ${outcome}`),
  )
  const consent = { take: () => 'no code', offer: () => null } as never
  const answeredOnPage = async (kind: 'once' | 'deny-message', subject: string) => {
    for (;;) {
      const ask = openAsks(ann, Date.now()).find(({ view }) => view.subject === subject)
      if (ask) return answerOnPage(ann, { ask: ask.id, kind, message: 'not today' }, consent)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const [yes, said] = await Promise.all([hook('npm publish --page'), answeredOnPage('once', 'npm publish --page')])
  expect(said).toMatchObject({ status: 'done' })
  expect(yes).toContain('"permissionDecision":"allow"')
  const [no] = await Promise.all([hook('npm publish --two'), answeredOnPage('deny-message', 'npm publish --two')])
  expect(no).toContain('not today')
  ended.abort()
  await following
  await bus.close()
  expect(heard).toEqual(['npm publish --page yes', 'npm publish --two no'])
})

it('cordon mcp, whose client cannot ask, asks the fleet', async () => {
  const client = await connected('--root', project)
  const run = (verdict: 'yes' | 'no') =>
    Promise.all([
      client.callTool({ name: 'bash', arguments: { command: 'make asked' } }),
      answered(verdict, 'make asked'),
    ])
  const [yes, ask] = await run('yes')
  expect(ask).toMatchObject({ tool: 'bash', subject: 'make asked' })
  expect(yes).toMatchObject({ structuredContent: { status: 'done' } })
  const [no] = await run('no')
  expect(no).toMatchObject({ structuredContent: { status: 'refused' } })
  await client.close()
})

it('the gateway asks the fleet, and takes a new policy into force with the next call', async () => {
  const client = await connected('wrap', '--root', project, '--name', 'srv', '--', node, 'server.mjs')
  const act = () => client.callTool({ name: 'srv__act', arguments: { with: 'this' } })
  const [yes, ask] = await Promise.all([act(), answered('yes', 'mcp__srv__act')])
  expect(ask).toMatchObject({ tool: 'mcp__srv__act', subject: 'mcp__srv__act' })
  expect(yes).toMatchObject({ content: [{ text: expect.stringContaining('acted') }] })
  const denies = layer('[permission.tools]\nmcp__srv__act = "deny"\n')
  await fleet.publish({ version: 2, layers: [LOADS, denies] })
  await syncPolicy(fleet.settings, machine)
  expect(await act()).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('Denied') }] })
  await client.close()
})
