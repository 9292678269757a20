/** Servers behind one gateway that never answer, or make it check for ever: the others answer meanwhile. Counted, not timed. */

import { describe, expect, it } from 'vitest'
import { echo, openWorld, PlayedServer, text } from '../../contract/mcp/gateway-world.ts'

const levels = { mcp__good__echo: 'allow', mcp__bad__echo: 'allow' } as const
const two = (): { good: PlayedServer; bad: PlayedServer } => ({ good: new PlayedServer(), bad: new PlayedServer() })

describe('a call that its server never answers', () => {
  it('keeps nobody else waiting, and is answered when it does', async () => {
    const servers = two()
    let release = (): void => {}
    servers.bad.answer = () => new Promise((resolve) => (release = () => resolve(text('late'))))
    const at = await openWorld({ servers, levels })
    await at.list()
    const ended: string[] = []
    const stuck = Array.from({ length: 20 }, () => at.call('bad__echo', { text: '' }).then(() => ended.push('bad')))
    for (let time = 0; time < 20; time++) expect((await at.call('good__echo', { text: 'hi' })).text).toBe('hi')
    expect(await at.list()).toEqual(['good__echo', 'bad__echo'])
    expect(ended).toEqual([])
    // Control: it was the server that kept them.
    release()
    await stuck.at(-1)
    expect(ended).toEqual(['bad'])
  })
})

describe('a server that starts and does not answer', () => {
  it('is missing from the lists of the others, and reported when it does', async () => {
    const servers = two()
    const { bad } = servers
    const kept: (() => void)[] = []
    const connect = bad.connect.bind(bad)
    let isHeld = true
    bad.connect = (receive) => {
      const send = connect(receive)
      return (message) => (isHeld ? void kept.push(() => send(message)) : send(message))
    }
    const at = await openWorld({ servers, levels, startMs: 60_000, patienceMs: 1 })
    expect(await at.list()).toEqual(['good__echo'])
    expect(at.warnings.join()).toContain('bad is still starting')
    expect((await at.call('good__echo', { text: 'hi' })).text).toBe('hi')
    expect(await at.request('logging/setLevel', { level: 'info' })).toEqual({})
    expect(at.heard).toEqual([])
    isHeld = false
    for (const send of kept) send()
    await expect.poll(() => at.heard.map(({ method }) => method)).toEqual(['notifications/tools/list_changed'])
    expect(await at.list()).toEqual(['good__echo', 'bad__echo'])
    await expect.poll(() => bad.asked.map(({ method }) => method)).toContain('logging/setLevel')
  })

  it('control: alone it is waited for', async () => {
    const at = await openWorld({ servers: { bad: new PlayedServer() }, patienceMs: 0 })
    expect(await at.list()).toEqual(['bad__echo'])
  })
})

describe('a server that never answers when it is asked what it offers', () => {
  const open = async (answers: boolean, more: object) => {
    const servers = two()
    const connect = servers.bad.connect.bind(servers.bad)
    servers.bad.connect = (receive) => {
      const send = connect(receive)
      return (message) => (message.method === 'tools/list' && !answers ? undefined : send(message))
    }
    return openWorld({ servers, levels, ...more })
  }

  it('is left out of the list after its time, and its own calls fail alone', async () => {
    const at = await open(false, { listMs: 1 })
    expect(await at.list()).toEqual(['good__echo'])
    expect(at.warnings.join()).toContain('bad did not list its tools in time')
    expect((await at.call('good__echo', { text: 'hi' })).text).toBe('hi')
    await expect(at.call('bad__echo', { text: '' })).rejects.toThrow('did not list')
  })

  it('delays no other server’s calls', async () => {
    const at = await open(false, { listMs: 3_600_000 })
    const listed = at.list().then(() => 'listed')
    for (let time = 0; time < 20; time++) expect((await at.call('good__echo', { text: 'hi' })).text).toBe('hi')
    expect(await Promise.race([listed, 'still waited for'])).toBe('still waited for')
  })

  it('control: one that answers is listed', async () => {
    const at = await open(true, { listMs: 3_600_000 })
    expect(await at.list()).toEqual(['good__echo', 'bad__echo'])
  })
})

describe('an outputSchema with 2,000 branches', () => {
  const outputSchema = {
    type: 'object',
    anyOf: [...Array.from({ length: 2_000 }, () => ({ required: ['missing'] })), {}],
  }
  const call = async (fields: number) => {
    const servers = two()
    servers.bad.tools = [{ ...echo, outputSchema }]
    const structuredContent = Object.fromEntries(Array.from({ length: fields }, (_, at) => [`k${at}`, at]))
    servers.bad.answer = async () => ({ content: [], structuredContent })
    const at = await openWorld({ servers, levels })
    expect(await at.list()).toEqual(['good__echo', 'bad__echo'])
    const [bad, good] = await Promise.all([
      at.request('tools/call', { name: 'bad__echo', arguments: { text: '' } }),
      at.call('good__echo', { text: 'hi' }),
    ])
    expect(good.text).toBe('hi')
    return bad
  }

  it('is given up over 20,000 fields', async () => {
    const bad = await call(20_000)
    expect(bad.isError).toBe(true)
    expect(JSON.stringify(bad.content)).toContain('too complex')
  })

  it('control: over one field it is checked, and fits', async () => {
    expect(await call(1)).toMatchObject({ structuredContent: { k0: 0 } })
  })
})
