/** A host that no one decided about, reached for by a running command: who is asked, and what becomes of the answer. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Answer, Prompter } from '../../src/approval/prompter.ts'
import { type PromptTerminal, terminalPrompter } from '../../src/approval/terminal-prompter.ts'
import { resultText } from '../../src/call/tool-result.ts'
import { createCordon } from '../../src/session/cordon.ts'
import type { Session } from '../../src/session/session.ts'
import { McpServer } from '../../src/surfaces/mcp/server.ts'
import type { Json } from '../../src/system/json-rpc.ts'
import { envelope, rawClient } from '../contract/mcp/mcp-world.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'
import { until } from '../until.ts'

const MODES = ['contained', 'default', 'auto_accept', 'custom'] as const
const REACHED = 'from the server'
const resolver = { resolve: async () => ['127.0.0.1'] }

let world: SessionWorld
let server: Server
let port: number
beforeEach(async () => {
  world = openSessionWorld()
  server = createServer((_, response) => response.end(REACHED))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  await world.close()
  await new Promise((resolve) => server.close(resolve))
})

const manifest = (mode: string, more: object = {}) => ({
  schema_version: 1,
  permission: { mode, ...more },
  capabilities: {
    allow: { commands: { default_domains: ['one.example.org'], patterns: ['python3 fetch.py:*'] } },
  },
  security: { system_python: true },
  http: { allow_private_hosts: true },
})

/** The host is not in the command's words, so it is met only on the wire. */
const FETCH = `
import sys, threading, urllib.request, urllib.error
def fetch(name):
    try: print(urllib.request.urlopen(f'http://{name}.example.org:{sys.argv[1]}/').read().decode())
    except urllib.error.HTTPError as error: print(error.read().decode())
threads = [threading.Thread(target=fetch, args=(name,)) for name in sys.argv[2:]]
for thread in threads: thread.start()
for thread in threads: thread.join()
`

async function openSession(object: object, options: object = {}): Promise<Session> {
  world.file('fetch.py', FETCH)
  return (await world.open({ manifest: { object }, resolver, ...options })).openSession()
}

const fetch = async (session: Session, ...names: string[]) =>
  resultText(await session.call('bash', { command: `python3 fetch.py ${port} ${names.join(' ')}` }))

const reached = (text: string) => text.split(REACHED).length - 1

describe.each(MODES)('in mode %s', (mode) => {
  it('a person is asked, sees the host, and a yes lets this command through', async () => {
    const session = await openSession(manifest(mode))
    world.answer = () => ({ kind: 'once' })
    expect(await fetch(session, 'two')).toContain(REACHED)
    expect(world.asked).toHaveLength(1)
    expect(world.asked[0]).toMatchObject({ tool: 'bash', asks: [{ kind: 'host', text: `two.example.org:${port}` }] })
    expect(await fetch(session, 'two')).toContain(REACHED)
    expect(world.asked, 'once is once').toHaveLength(2)
  })
})

describe('an answer', () => {
  it('is asked for once, however many connections wait for it', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return { kind: 'once' }
    }
    expect(reached(await fetch(session, ...Array<string>(8).fill('two')))).toBe(8)
    expect(world.asked).toHaveLength(1)
  })

  it('is about one host: another one is another question', async () => {
    const session = await openSession(manifest('contained'))
    const answers: Answer[] = [{ kind: 'once' }, { kind: 'deny' }]
    world.answer = () => answers.shift()!
    const text = await fetch(session, 'two', 'three')
    expect(reached(text)).toBe(1)
    expect(text).toContain('ask-refused')
    expect(world.asked).toHaveLength(2)
  })

  it('for the session applies to later commands, but not to an identical one in another session', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = ({ suggestions }) => ({ kind: 'session', grant: suggestions[0]! })
    expect(await fetch(session, 'two')).toContain(REACHED)
    expect(await fetch(session, 'two')).toContain(REACHED)
    expect(world.asked).toHaveLength(1)
    world.answer = () => ({ kind: 'deny' })
    expect(await fetch(await openSession(manifest('contained')), 'two')).not.toContain(REACHED)
    expect(world.asked).toHaveLength(2)
  })

  it('of two commands that wait for the same one, given for the session, settles both', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = async ({ suggestions }) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return { kind: 'session', grant: suggestions[0]! }
    }
    const texts = await Promise.all([fetch(session, 'two'), fetch(session, 'two', 'two')])
    expect(texts.map(reached)).toEqual([1, 2])
    expect(world.asked).toHaveLength(1)
  })

  it('for always is written into the manifest and signed', async () => {
    await world.sign(
      `schema_version = 1\n[permission]\nmode = "contained"\n[capabilities.allow.commands]\ndefault_domains = ["one.example.org"]\npatterns = ["python3 fetch.py:*"]\n[security]\nsystem_python = true\n[http]\nallow_private_hosts = true\n`,
    )
    world.file('fetch.py', FETCH)
    world.answer = ({ suggestions }) => ({ kind: 'always', grant: suggestions[0]! })
    const first = (await world.open({ resolver })).openSession()
    expect(await fetch(first, 'two')).toContain(REACHED)
    expect(world.text('cordon.toml')).toContain(`two.example.org:${port}`)
    const second = (await world.open({ resolver })).openSession()
    expect(await fetch(second, 'two')).toContain(REACHED)
    expect(world.asked).toHaveLength(1)
  })

  it('of never applies: nobody is asked again', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = ({ suggestions }) => ({ kind: 'deny-always', grant: suggestions[0]! })
    expect(await fetch(session, 'two')).not.toContain(REACHED)
    world.answer = () => ({ kind: 'once' })
    expect(await fetch(session, 'two')).not.toContain(REACHED)
    expect(world.asked).toHaveLength(1)
  })

  it('that never comes does not outlive its command', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = () => new Promise(() => {})
    const abort = new AbortController()
    const call = session.call('bash', { command: `python3 fetch.py ${port} two` }, { signal: abort.signal })
    await until('it is asked', () => world.asked.length > 0)
    abort.abort()
    expect((await call).status).toBe('failed')
  })

  it('is in the record, with who gave it', async () => {
    const session = await openSession(manifest('contained'))
    world.answer = () => ({ kind: 'once' })
    await fetch(session, 'two')
    await session.close()
    const lines = world.auditLines()
    expect(lines).toContainEqual(expect.objectContaining({ type: 'approval', approver: 'table', approved: true }))
    expect(lines).toContainEqual(expect.objectContaining({ type: 'end', hosts: ['two.example.org'] }))
  })
})

describe('nobody is asked, and the refusal says how to grant it,', () => {
  it.each([
    { name: 'without a prompter', object: () => manifest('contained'), options: { prompter: undefined } },
    { name: 'where nobody may be asked', object: () => manifest('contained', { interactive: false }), options: {} },
    { name: 'in auto mode', object: () => manifest('auto'), options: {} },
  ])('$name', async ({ object, options }) => {
    const session = await openSession(object(), options)
    const text = await fetch(session, 'two')
    expect(text).not.toContain(REACHED)
    expect(text).toContain('host-unlisted')
    expect(text).toContain(`cordon add host two.example.org:${port}`)
    expect(world.asked).toEqual([])
  })
})

describe('the question reaches', () => {
  it('a person at a terminal', async () => {
    const shown: string[] = []
    let now = 0
    const open = (): PromptTerminal => ({
      screen: () => ({ rows: 40, columns: 120 }),
      show: (rows) => void shown.push(rows.join('\n')),
      listen: (onKeys) => {
        setTimeout(() => {
          now = 5000
          onKeys('y')
        }, 20)
        return () => {}
      },
      close: () => {},
    })
    const prompter = terminalPrompter({ open, clock: { now: () => now, after: () => () => {} } })
    const session = await openSession(manifest('contained'), { prompter })
    expect(await fetch(session, 'two')).toContain(REACHED)
    expect(shown.join('\n')).toContain(`two.example.org:${port}`)
  })

  const served = () => {
    world.file('fetch.py', FETCH)
    return {
      open: (prompter: Prompter) => {
        const { root: project, machine } = world
        return createCordon({ project, machine, manifest: { object: manifest('contained') }, resolver, prompter })
      },
      fallback: { name: 'nobody', ask: async () => Promise.reject(new Error('nobody')) },
    }
  }
  const call = () => ({ name: 'bash', arguments: { command: `python3 fetch.py ${port} two` } })

  it('a person behind an MCP client, by elicitation', async () => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    const mcp = new McpServer((message) => void far.send(message as never), served())
    far.onmessage = (message) => void mcp.peer.accept(message)
    await far.start()
    const asked: string[] = []
    const client = new Client({ name: 'test', version: '0' }, { capabilities: { elicitation: {} } })
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { answer: 'once' } }
    })
    await client.connect(near)
    // The second command runs in a space that was prepared after the first.
    for (const times of [1, 2]) {
      const result = await client.callTool(call())
      expect(JSON.stringify(result.content)).toContain(REACHED)
      expect(asked).toHaveLength(times)
    }
    await client.close()
    await mcp.close()
    expect(asked[0]).toContain(`two.example.org:${port}`)
  })

  it('a person behind an MCP client that is asked in results', async () => {
    const client = rawClient(served())
    const send = async (more: Json = {}) => {
      const params = { ...call(), ...more, _meta: envelope({ elicitation: { form: {} } }) }
      return (await client.peer.request('tools/call', params, new AbortController().signal)) as Json
    }
    const question = await send()
    expect(question).toMatchObject({ resultType: 'input_required' })
    expect(JSON.stringify(question)).toContain(`two.example.org:${port}`)
    const inputResponses = { answer: { action: 'accept', content: { answer: 'once' } } }
    const result = await send({ requestState: question.requestState, inputResponses })
    await client.close()
    expect(JSON.stringify(result)).toContain(REACHED)
  })
})
