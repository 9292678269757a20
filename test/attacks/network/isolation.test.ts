/** Two commands of one session: neither may use the other's proxy, its answers, its rules or its connections. */

import { afterEach, describe, expect, it } from 'vitest'
import { createWorld, hosts, RawClient, type World } from '../../contract/egress/world.ts'

let world: World
afterEach(() => world.close())

describe('proxyPorts of one session', () => {
  it('share the CA and nothing else', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const first = await world.open({ command: 'first', allowed: hosts('github.com') })
    const second = await world.open({ command: 'second', allowed: hosts('python.org') })
    const status = async (port: number, host: string) => {
      const client = await RawClient.connect(port)
      const line = await client.tunnel(`${host}:443`)
      client.close()
      return line.split(' ')[1]
    }
    expect(await status(first.port, 'github.com')).toBe('200')
    expect(await status(first.port, 'python.org')).toBe('403')
    expect(await status(second.port, 'python.org')).toBe('200')
    expect(await status(second.port, 'github.com')).toBe('403')
    expect(world.events.filter((event) => event.verdict === 'deny').map((event) => event.command)).toEqual([
      'first',
      'second',
    ])
  })

  it('do not take over an answer that a person gave to the other', async () => {
    world = createWorld()
    const asked: string[] = []
    const ask = (answer: boolean) => async (question: { command: string }) => {
      asked.push(question.command)
      return answer
    }
    const first = await world.open({ command: 'first' }, { ask: ask(true) })
    const second = await world.open({ command: 'second' }, { ask: ask(false) })
    const lines: string[] = []
    for (const { port } of [first, second]) {
      const client = await RawClient.connect(port)
      lines.push(await client.tunnel('github.com:443'))
      client.close()
    }
    expect(asked).toEqual(['first', 'second'])
    expect(lines.map((line) => line.split(' ')[1])).toEqual(['200', '403'])
  })

  it('close one at a time: a tunnel of the ended command is dead, the other lives', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const first = await world.open({ command: 'first', allowed: hosts('github.com') })
    const second = await world.open({ command: 'second', allowed: hosts('github.com') })
    const clients = await Promise.all([first, second].map(({ port }) => RawClient.connect(port)))
    const inside: RawClient[] = []
    for (const client of clients) {
      await client.tunnel('github.com:443')
      inside.push(await client.encrypt({ ca: world.ca.pem, servername: 'github.com' }))
    }
    await first.proxy.close()
    inside[0]!.send('GET / HTTP/1.1\r\nHost: github.com\r\n\r\n')
    expect(await inside[0]!.receive()).toBe('')
    await expect(RawClient.connect(first.port)).rejects.toThrow(/ECONNREFUSED/)
    inside[1]!.send('GET / HTTP/1.1\r\nHost: github.com\r\n\r\n')
    expect(await inside[1]!.receive((text) => text.includes('reached'))).toContain(' 200 ')
  })
})
