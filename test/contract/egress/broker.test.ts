/** Brokered secrets, end to end: put in for the granted host alone, and never seen by the command. */

import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { createBroker } from '../../../src/egress/credentials/broker.ts'
import { createWorld, hosts, RawClient, type World } from './world.ts'

const VALUE = 'ghp_realValueOfTheToken0123456789'
let world: World
afterEach(() => world.close())

async function open(more: { query?: string; exclusive?: boolean } = {}) {
  world = createWorld()
  const seen: { headers: Record<string, unknown>; url: string; body: string }[] = []
  const answer: Parameters<World['serveHttp']>[0] = (message, response) => {
    let body = ''
    message.on('data', (chunk) => {
      body += chunk
    })
    message.on('error', () => {})
    message.on('end', () => {
      seen.push({ headers: message.headers, url: message.url!, body })
      response.setHeader('x-echo', String(message.headers.authorization))
      // An echo in two pieces, cut inside the value.
      const echo = `you sent ${message.headers.authorization ?? message.url}`
      response.write(echo.slice(0, 25))
      setImmediate(() => response.end(echo.slice(25)))
    })
  }
  await world.serveHttps(answer)
  await world.serveHttp(answer)
  const patterns = hosts('api.example.org').map((rule) => rule.pattern)
  const broker = createBroker([{ name: 'GH_TOKEN', value: VALUE, hosts: patterns, ...more }])
  const { port } = await world.open({ allowed: hosts('api.example.org', 'other.example.org') }, { broker })
  return { port, seen, placeholder: broker.environment.GH_TOKEN! }
}

async function send(port: number, host: string, request: string): Promise<string> {
  const client = await RawClient.connect(port)
  await client.tunnel(`${host}:443`)
  const inside = await client.encrypt({ ca: world.ca.pem, servername: host })
  inside.send(request)
  return inside.receive()
}

const get = (host: string, path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`

describe('brokered secrets', () => {
  it('that are exclusive let no other credential to their hosts, and any to others', async () => {
    const { port, seen, placeholder } = await open({ exclusive: true })
    const ask = (host: string, ...headers: string[]) => send(port, host, get(host, '/', ...headers))
    expect(await ask('api.example.org', 'X-Api-Key: sk-theirs')).toContain('403')
    expect(await ask('api.example.org', `Authorization: Bearer ${placeholder}`, 'X-Api-Key: sk-theirs')).toContain(
      '403',
    )
    expect(seen).toHaveLength(0)
    expect(await ask('api.example.org', `Authorization: Bearer ${placeholder}`)).toContain('200 OK')
    expect(await ask('api.example.org')).toContain('secret-absent')
    expect(await ask('other.example.org', 'X-Api-Key: sk-theirs')).toContain('200 OK')
  })

  it('without a value close their own hosts, and no others', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached'))
    const absent = {
      name: 'KEY',
      hosts: hosts('api.example.org').map((rule) => rule.pattern),
      problem: 'KEY is not set',
    }
    const broker = createBroker([], [absent])
    expect(broker.environment).toEqual({ KEY: '' })
    const { port } = await world.open({ allowed: hosts('api.example.org', 'other.example.org') }, { broker })
    expect(await send(port, 'api.example.org', get('api.example.org', '/', 'X-Api-Key: sk-theirs'))).toMatch(
      /secret-missing[\s\S]*KEY is not set/,
    )
    expect(await send(port, 'other.example.org', get('other.example.org', '/'))).toContain('reached')
  })

  it('are put in for the granted host, and taken out of its answer', async () => {
    const { port, seen, placeholder } = await open()
    const answer = await send(
      port,
      'api.example.org',
      get('api.example.org', '/', `Authorization: Bearer ${placeholder}`),
    )
    expect(seen[0]?.headers.authorization).toBe(`Bearer ${VALUE}`)
    expect(answer).toContain(`you sent Bearer`)
    expect(answer.replace(/\r\n[0-9a-f]+\r\n/g, '')).toContain(placeholder)
    expect(answer).not.toContain(VALUE)
    expect(world.events.at(-1)).toMatchObject({ verdict: 'allow', secrets: ['GH_TOKEN'] })
    expect(JSON.stringify(world.events)).not.toContain(VALUE)
  })

  it('are put into Basic credentials, which is how git sends them', async () => {
    const { port, seen, placeholder } = await open()
    const basic = Buffer.from(`x-access-token:${placeholder}`).toString('base64')
    await send(port, 'api.example.org', get('api.example.org', '/', `Authorization: Basic ${basic}`))
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from(`x-access-token:${VALUE}`).toString('base64')}`)
  })

  it('are put into a query parameter where that was granted', async () => {
    const { port, seen, placeholder } = await open({ query: 'key' })
    await send(port, 'api.example.org', get('api.example.org', `/?a=1&key=${placeholder}`))
    expect(seen[0]?.url).toBe(`/?a=1&key=${VALUE}`)
  })

  const basicOf = (text: string) => Buffer.from(`me:${text}`).toString('base64')
  const leaks: { name: string; code: string; host: string; request: (placeholder: string, host: string) => string }[] =
    [
      {
        name: 'in the header, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) => get(h, '/', `Authorization: Bearer ${p}`),
      },
      {
        name: 'in Basic credentials, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) => get(h, '/', `Authorization: Basic ${basicOf(p)}`),
      },
      {
        name: 'in the path, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) => get(h, `/${p}`),
      },
      {
        name: 'percent-encoded, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) => get(h, `/?q=%63${p.slice(1)}`),
      },
      {
        name: 'in a body, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) => `POST / HTTP/1.1\r\nHost: ${h}\r\nContent-Length: ${p.length}\r\n\r\n${p}`,
      },
      {
        name: 'in chunks that cut it, to another host',
        code: 'secret-elsewhere',
        host: 'other.example.org',
        request: (p, h) =>
          `POST / HTTP/1.1\r\nHost: ${h}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${p.slice(0, 5)}\r\n${(p.length - 5).toString(16)}\r\n${p.slice(5)}\r\n0\r\n\r\n`,
      },
      {
        name: 'in another header of the granted host',
        code: 'secret-misplaced',
        host: 'api.example.org',
        request: (p, h) => get(h, '/', `X-Token: ${p}`),
      },
      {
        name: 'in the path of the granted host',
        code: 'secret-misplaced',
        host: 'api.example.org',
        request: (p, h) => get(h, `/?q=${p}`),
      },
    ]
  it.each(leaks)('are refused $name', async ({ code, host, request }) => {
    const { port, seen, placeholder } = await open()
    const answer = await send(port, host, request(placeholder, host))
    expect(answer).toContain(' 403 ')
    expect(answer).toContain(code)
    expect(seen).toEqual([])
    expect(world.events.at(-1)).toMatchObject({ verdict: 'deny', code })
  })

  it("are not put in below a public suffix by a wildcard: what lies there is a stranger's", async () => {
    world = createWorld()
    const seen: unknown[] = []
    await world.serveHttps((message, response) => {
      seen.push(message.headers.authorization)
      response.end('ok')
    })
    const patterns = hosts('*.amazonaws.com').map((rule) => rule.pattern)
    const broker = createBroker([{ name: 'T', value: VALUE, hosts: patterns }])
    const { port } = await world.open({ allowed: hosts('*.amazonaws.com', 'bucket.s3.amazonaws.com') }, { broker })
    const ask = (host: string) => send(port, host, get(host, '/', `Authorization: ${broker.environment.T}`))
    expect(await ask('bucket.s3.amazonaws.com')).toContain('secret-elsewhere')
    expect(await ask('sts.amazonaws.com')).toContain(' 200 ')
    expect(seen).toEqual([VALUE])
  })

  it('are taken out of packed answers too, and out of what cannot be unpacked by refusing it', async () => {
    world = createWorld()
    await world.serveHttps((message, response) => {
      const encoding = message.url!.slice(1)
      const echo = `you sent ${message.headers.authorization}`
      response.setHeader('content-encoding', encoding)
      const packed: Record<string, (text: string) => Buffer> = {
        gzip: gzipSync,
        br: brotliCompressSync,
        zstd: zstdCompressSync,
      }
      response.end(packed[encoding]?.(echo) ?? echo)
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const header = `Authorization: Bearer ${broker.environment.T}`
    for (const encoding of ['gzip', 'br', 'zstd', 'identity']) {
      // A body may come in several chunks, whose sizes are between them.
      const answer = (await send(port, 'api.example.org', get('api.example.org', `/${encoding}`, header))).replaceAll(
        /\r\n[0-9a-f]+\r\n/g,
        '',
      )
      expect(answer).toContain(`you sent Bearer ${broker.environment.T}`)
      expect(answer).not.toContain(VALUE)
    }
    const unknown = await send(port, 'api.example.org', get('api.example.org', '/compress', header))
    expect(unknown).toContain(' 502 ')
    expect(unknown).not.toContain(VALUE)
  })

  it('are not looked for in letters of more bytes, which a command may ask for: such an answer is refused', async () => {
    world = createWorld()
    let echoed = Buffer.alloc(0)
    await world.serveHttps((message, response) => {
      const charset = message.url!.slice(1)
      const echo = Buffer.from(`you sent ${message.headers.authorization}\n`, /16/.test(charset) ? 'utf16le' : 'utf8')
      echoed = echo
      response.setHeader('content-type', `application/json; charset=${charset}`)
      response.end(echo)
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const header = `Authorization: Bearer ${broker.environment.T}`
    const ask = (charset: string) => send(port, 'api.example.org', get('api.example.org', `/${charset}`, header))
    for (const charset of ['UTF-16LE', 'utf-16', 'utf-32', 'IBM037', 'utf-7']) {
      const answer = await ask(charset)
      // Control: the host did send it back.
      expect(echoed.toString('latin1').replaceAll('\0', '')).toContain(VALUE)
      expect(answer).toContain(' 502 ')
      expect(answer.replaceAll('\0', '')).not.toContain(VALUE)
    }
    for (const charset of ['utf-8', 'iso-8859-1', 'windows-1252', 'Shift_JIS', '']) {
      const answer = await ask(charset)
      expect(answer).toContain(broker.environment.T)
      expect(answer).not.toContain(VALUE)
    }
  })

  it('are taken out of an answer to a request that did not carry them: the host may have kept them', async () => {
    world = createWorld()
    let kept = ''
    await world.serveHttps((message, response) => {
      kept = message.headers.authorization ?? kept
      response.end(`kept ${kept}`)
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const header = `Authorization: ${broker.environment.T}`
    await send(port, 'api.example.org', get('api.example.org', '/', header))
    const answer = await send(port, 'api.example.org', get('api.example.org', '/'))
    expect(kept).toBe(VALUE)
    // A last character that could begin the secret comes in its own chunk.
    expect(answer.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain(`kept ${broker.environment.T}`)
    expect(answer).not.toContain(VALUE)
  })

  it('are blotted out of large answers, which keep their length', async () => {
    world = createWorld()
    await world.serveHttps((message, response) => {
      const half = 'x'.repeat(700_000)
      response.end(`${half}${message.headers.authorization}${half}`)
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const request = get('api.example.org', '/', `Authorization: ${broker.environment.T}`)
    const answer = await send(port, 'api.example.org', request)
    const length = 1_400_000 + VALUE.length
    expect(answer).toContain(`Content-Length: ${length}\r\n`)
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(body).toHaveLength(length)
    expect(body).toContain(`x${'*'.repeat(VALUE.length)}x`)
    expect(body).not.toContain(VALUE)
  })

  it.each([
    { name: 'plain', encoding: 'identity', part: Buffer.from('part of it') },
    { name: 'packed', encoding: 'gzip', part: gzipSync('part of it'.repeat(1000)).subarray(0, 20) },
    { name: 'not what it says', encoding: 'gzip', part: Buffer.from('part of it') },
  ])('survive an answer that breaks off ($name), to a request and to an upgrade', async ({ encoding, part }) => {
    world = createWorld()
    const server = await world.serveHttps((message, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      response.write(part, () => message.socket.destroy())
    })
    server.on('upgrade', (_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9999\r\nContent-Encoding: ${encoding}\r\n\r\n`)
      socket.write(part, () => socket.destroy())
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port, proxy } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    for (const upgrade of ['', 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n']) {
      const request = `GET / HTTP/1.1\r\nHost: api.example.org\r\nAuthorization: ${broker.environment.T}\r\n${upgrade}\r\n`
      await send(port, 'api.example.org', request)
    }
    await proxy.close()
    expect(proxy.stats()).toMatchObject({ open: 0, upstream: 0 })
  })

  it.each([
    { name: 'HEAD', method: 'HEAD', status: 200, keeps: true },
    { name: '304', method: 'GET', status: 304, keeps: true },
    { name: '204', method: 'GET', status: 204, keeps: true },
    { name: 'a body of no bytes', method: 'GET', status: 200, keeps: false },
  ])('leave an answer without a body as it is ($name)', async ({ method, status, keeps }) => {
    world = createWorld()
    await world.serveHttps((_, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip', ...(method === 'HEAD' && { 'content-length': '1234' }) })
      response.end()
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const request = get('api.example.org', '/', `Authorization: ${broker.environment.T}`).replace('GET', method)
    const answer = await send(port, 'api.example.org', request)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer.includes('content-encoding: gzip')).toBe(keeps)
    if (method === 'HEAD') expect(answer).toContain('content-length: 1234')
    expect(world.events.at(-1)).toMatchObject({ verdict: 'allow' })
  })

  it('are taken out of echoes in base64 and hex, out of the status line and out of headers', async () => {
    world = createWorld()
    await world.serveHttps((message, response) => {
      const sent = String(message.headers.authorization)
      response.writeHead(401, `no such token ${sent}`, { 'x-echo': Buffer.from(sent).toString('base64') })
      response.end(
        JSON.stringify({ basic: Buffer.from(`u:${sent}`).toString('base64'), hex: Buffer.from(sent).toString('hex') }),
      )
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const request = get('api.example.org', '/', `Authorization: ${broker.environment.T}`)
    const answer = await send(port, 'api.example.org', request)
    expect(answer).toContain(`401 no such token ${broker.environment.T}`)
    const readings = (answer.match(/[A-Za-z0-9+/=]{16,}/g) ?? []).flatMap((text) => [
      text,
      Buffer.from(text, 'base64').toString('latin1'),
      Buffer.from(text, 'hex').toString('latin1'),
    ])
    expect(readings.length).toBeGreaterThan(6)
    for (const reading of readings) expect(reading).not.toContain(VALUE.slice(4, -4))
  })

  it.each([
    { name: 'blotted out of frames, which keep their length', extensions: false },
    { name: 'not let through packed frames', extensions: true },
  ])('are $name', async ({ extensions }) => {
    world = createWorld()
    const server = await world.serveHttps((_, response) => response.end())
    let offered: string | undefined
    server.on('upgrade', (message, socket) => {
      offered = message.headers['sec-websocket-extensions']
      const echo = Buffer.from(`you sent ${message.headers.authorization}`)
      const extra = extensions ? 'Sec-WebSocket-Extensions: permessage-deflate\r\n' : ''
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${extra}\r\n`)
      socket.end(Buffer.concat([Buffer.of(0x81, echo.length), echo, Buffer.of(0x88, 0)]))
    })
    const broker = createBroker([
      { name: 'T', value: VALUE, hosts: hosts('api.example.org').map((rule) => rule.pattern) },
    ])
    const { port } = await world.open({ allowed: hosts('api.example.org') }, { broker })
    const headers = ['Upgrade: websocket', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 'Sec-WebSocket-Version: 13']
    const request = get(
      'api.example.org',
      '/',
      ...headers,
      'Sec-WebSocket-Extensions: permessage-deflate',
      `Authorization: ${broker.environment.T}`,
    ).replace('Connection: close', 'Connection: Upgrade')
    const answer = await send(port, 'api.example.org', request)
    expect(offered).toBeUndefined()
    expect(answer).not.toContain(VALUE)
    if (extensions) expect(answer).toContain(' 502 ')
    else expect(answer).toContain(`you sent ${'*'.repeat(VALUE.length)}\x88\0`)
  })

  it('do not go over plain HTTP', async () => {
    const { port, seen, placeholder } = await open()
    const client = await RawClient.connect(port)
    client.send(get('api.example.org', 'http://api.example.org/', `Authorization: ${placeholder}`))
    expect(await client.receive()).toContain('secret-insecure')
    expect(seen).toEqual([])
  })

  it('must be able to stand in a header, and the error does not show them', () => {
    world = createWorld()
    const value = 'line one\nline two'
    expect(() => createBroker([{ name: 'KEY', value, hosts: [] }])).toThrow(/KEY cannot go into a header/)
    expect(() => createBroker([{ name: 'KEY', value, hosts: [] }])).not.toThrow(/line/)
  })
})
