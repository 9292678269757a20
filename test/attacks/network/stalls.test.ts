/** Work that a command can cause in the proxy: bounded by what it sends, and never kept for ever. Counted, not timed. */

import { expect, it } from 'vitest'
import { createEgressLog, refused } from '../../../src/egress/route/event.ts'
import { helloReader } from '../../../src/egress/wire/client-hello.ts'
import { createWorld, hosts, RawClient } from '../../contract/egress/world.ts'
import { clientHello } from './hello.ts'

/** A hello cut into records of so many bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

it('a ClientHello in one-byte records is refused after a few of them', () => {
  const hello = clientHello({ serverName: 'github.com', protocols: Array.from({ length: 60 }, (_, at) => `p${at}`) })
  const read = helloReader()
  const split = inRecords(hello, 1)
  let looks = 0
  let state = 'more'
  for (let end = 1; end <= split.length && state === 'more'; end++) {
    looks++
    ;({ state } = read(split.subarray(0, end)))
  }
  expect(state).toBe('bad')
  // Six bytes a record, sixty-four records, and one.
  expect(looks).toBeLessThanOrEqual(6 * 65)
  // Control: a few records are read.
  expect(helloReader()(inRecords(hello, 60)).state).toBe('hello')
})

it('a record that claims 16 MB is refused at its head', () => {
  expect(helloReader()(Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff])).state).toBe('more')
  const claimed = Buffer.concat([Buffer.from([0x16, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])])
  expect(helloReader()(claimed)).toMatchObject({ state: 'bad', problem: expect.stringContaining('65536') })
})

it('a proxy goes on while a hello comes in one-byte records, and says why it refused it', async () => {
  const world = createWorld()
  try {
    await world.serveHttps((_, response) => response.end('reached the host'))
    const { port } = await world.open({ allowed: hosts('github.com') })
    const slow = await RawClient.connect(port)
    await slow.tunnel('github.com:443')
    slow.send(inRecords(clientHello({ serverName: 'github.com' }), 1))
    expect((await slow.receive()).charCodeAt(0)).toBe(0x15)
    expect(world.events.at(-1)).toMatchObject({ code: 'not-tls', message: expect.stringContaining('records') })
    const other = await RawClient.connect(port)
    await other.tunnel('github.com:443')
    const inside = await other.encrypt({ ca: world.ca.pem, servername: 'github.com' })
    inside.send('GET / HTTP/1.1\r\nHost: github.com\r\nConnection: close\r\n\r\n')
    expect(await inside.receive()).toContain('reached the host')
  } finally {
    await world.close()
  }
})

it('refusals are kept as few, with counts, and none pushes another out', () => {
  const log = createEgressLog()
  const refuse = (host: string, path: string) =>
    log.add(
      refused(
        { command: 'x', kind: 'http', target: { host, port: 443, kind: 'name' }, path },
        { code: 'host-unlisted', message: `"${host}" is not granted` },
      ),
    )
  const long = `/${'a'.repeat(60_000)}`
  for (let at = 0; at < 12_000; at++) refuse('junk.example.org', long)
  refuse('evil.example.com', '/')
  expect(log.events().map(({ host, count }) => [host, count])).toEqual([
    ['junk.example.org', 12_000],
    ['evil.example.com', 1],
  ])
  expect(JSON.stringify(log.events()).length).toBeLessThan(2_000)
  for (let at = 0; at < 20_000; at++) refuse(`h${at}.example.org`, long)
  expect(log.events().length).toBeLessThanOrEqual(1_001)
  expect(log.events().reduce((sum, event) => sum + event.count, 0)).toBe(32_001)
  expect(log.events().some((event) => event.host === 'evil.example.com')).toBe(true)
})
