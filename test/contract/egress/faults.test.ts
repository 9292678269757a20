/** Faults: hosts that reset, clients that dawdle or vanish, commands that end. Nothing may hang, and nothing may stay. */

import { createHash } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../until.ts'
import { createWorld, hosts, type OpenProxy, RawClient, type World } from './world.ts'

let world: World
afterEach(() => world.close())

const HOST = 'api.example.org'

async function inside(port: number): Promise<RawClient> {
  const client = await RawClient.connect(port)
  expect(await client.tunnel(`${HOST}:443`)).toContain(' 200 ')
  return client.encrypt({ ca: world.ca.pem, servername: HOST })
}

/** Sockets among the descriptors of this process. */
function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length
}

/** A real ClientHello for the host. */
async function recordHello(): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', (bytes) => {
        socket.destroy()
        resolve(bytes)
      })
  })
  const port = await world.serve(1, server)
  connectTls({ port, host: '127.0.0.1', servername: HOST }).on('error', () => {})
  return promise
}

const GET = `GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`

describe('hosts that fail', () => {
  const rows: { name: string; answer: (socket: Socket, raw: Socket) => void; seen: RegExp; code: string | null }[] = [
    {
      name: 'resets before an answer',
      answer: (_, raw) => raw.resetAndDestroy(),
      seen: /^HTTP\/1.1 502 /,
      code: 'upstream-protocol',
    },
    {
      name: 'closes before an answer',
      answer: (socket) => socket.end(),
      seen: /^HTTP\/1.1 502 /,
      code: 'upstream-protocol',
    },
    {
      name: 'answers nonsense',
      answer: (socket) => socket.end('what?\r\n\r\n'),
      seen: /^HTTP\/1.1 502 /,
      code: 'upstream-protocol',
    },
    {
      name: 'smuggles in its answer',
      answer: (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      seen: /^HTTP\/1.1 502 /,
      code: 'upstream-protocol',
    },
    {
      name: 'switches protocols though nobody asked',
      answer: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      seen: /^HTTP\/1.1 502 /,
      code: 'upstream-protocol',
    },
    {
      name: 'breaks off a body',
      answer: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
      seen: /^HTTP\/1.1 200 [\s\S]*half$/,
      code: 'upstream-protocol',
    },
    {
      name: 'answers and stays silent',
      answer: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
      seen: /ok$/,
      code: null,
    },
  ]
  it.each(rows)('$name', async ({ answer, seen, code }) => {
    world = createWorld()
    const server = createHttps(world.authority.issue(HOST))
    server.removeAllListeners('secureConnection')
    const raws: Socket[] = []
    server.on('connection', (raw) => raws.push(raw as Socket))
    server.on('secureConnection', (socket) => socket.on('error', () => {}).once('data', () => answer(socket, raws[0]!)))
    await world.serve(443, server)
    const { port } = await world.open({ allowed: hosts(HOST) })
    const client = await inside(port)
    client.send(GET)
    const text = await client.receive((all) => seen.test(all) && (code === null || all.includes('half') === false))
    expect(text).toMatch(seen)
    client.close()
    if (code !== null) await until('it settles', () => world.events.some((event) => event.code === code))
  })

  it('refuses what does not listen, and what does not answer in time', async () => {
    world = createWorld()
    await world.serve(
      443,
      createServer(() => {}),
    )
    const { port } = await world.open({ allowed: hosts(HOST) }, { limits: { connectMilliseconds: 50 } })
    const silent = await inside(port)
    silent.send(GET)
    expect(await silent.receive()).toContain(' 504 ')
    const nobody = await RawClient.connect(port)
    nobody.send(`GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    expect(await nobody.receive()).toContain('upstream-unreachable')
  })

  it('takes a fresh connection when the host closed a waiting one', async () => {
    world = createWorld()
    const server = await world.serveHttps((_, response) => response.end('ok'))
    server.keepAliveTimeout = 10
    const { port } = await world.open({ allowed: hosts(HOST) })
    const client = await inside(port)
    for (let round = 0; round < 20; round++) {
      client.send(GET)
      expect(await client.receive((text) => text.endsWith('ok'))).toContain(' 200 ')
      await new Promise((resolve) => setTimeout(resolve, round))
    }
    client.close()
  })
})

describe('clients that dawdle', () => {
  const limits = { headMilliseconds: 150 }
  const rows: { name: string; bytes: string; tunnelled: boolean }[] = [
    { name: 'half a request line', bytes: 'GET http://', tunnelled: false },
    { name: 'half of its headers', bytes: `GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\nX: `, tunnelled: false },
    { name: 'half a SOCKS greeting', bytes: '\x05', tunnelled: false },
    { name: 'half a SOCKS request', bytes: '\x05\x01\x00\x05\x01\x00', tunnelled: false },
    { name: 'nothing at all', bytes: '', tunnelled: false },
    { name: 'nothing in a tunnel', bytes: '', tunnelled: true },
    { name: 'half a TLS hello', bytes: '\x16\x03\x01\x02\x00\x01\x00', tunnelled: true },
  ]
  it.each(rows)('$name: let go', async ({ bytes, tunnelled }) => {
    world = createWorld()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) }, { limits })
    const client = await RawClient.connect(port)
    if (tunnelled) await client.tunnel(`${HOST}:443`)
    if (bytes !== '') client.send(bytes)
    await client.receive()
    await until('it settles', () => proxy.stats().open === 0)
  })

  it('lets go at once of a client that leaves in the middle of a TLS handshake', async () => {
    world = createWorld()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) }, { limits: { headMilliseconds: 2 ** 30 } })
    const hello = await recordHello()
    for (const leave of ['reset', 'close', 'end'] as const) {
      const client = await RawClient.connect(port)
      await client.tunnel(`${HOST}:443`)
      client.send(hello)
      // The server's own part of the handshake, which is never answered.
      await client.receive((text) => text.length > 0)
      if (leave === 'reset') client.socket.resetAndDestroy()
      else if (leave === 'close') client.close()
      else client.socket.end()
      await until('it settles', () => proxy.stats().open === 0)
      client.close()
    }
    expect(world.events.map((event) => event.code)).toEqual(['client-tls', 'client-tls', 'client-tls'])
    await until('it settles', () => proxy.stats().upstream === 0)
  })

  it('answers a client that has said everything and closed its half', async () => {
    world = createWorld()
    await world.serveHttp((_, response) => setTimeout(() => response.end('late'), 50))
    await world.serveHttps((_, response) => setTimeout(() => response.end('late'), 50))
    const { port } = await world.open({ allowed: hosts(HOST) })
    const plain = await RawClient.connect(port)
    plain.socket.end(`GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    expect(await plain.receive()).toContain('late')
    const encrypted = await inside(port)
    encrypted.socket.end(GET)
    expect(await encrypted.receive()).toContain('late')
  })

  it('explains to a client that is still sending why it was refused', async () => {
    world = createWorld()
    const { port } = await world.open({ allowed: hosts(HOST) })
    const size = 8 << 20
    const client = await RawClient.connect(port)
    client.send(`POST http://evil.com/ HTTP/1.1\r\nHost: evil.com\r\nContent-Length: ${size}\r\n\r\n`)
    client.send(Buffer.alloc(size))
    expect(await client.receive()).toContain('host-unlisted')
  })

  it('keeps no more connections than it may', async () => {
    world = createWorld()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) }, { limits: { connections: 10 } })
    const clients = await Promise.all(Array.from({ length: 10 }, () => RawClient.connect(port)))
    await until('it settles', () => proxy.stats().open === 10)
    const more = await RawClient.connect(port)
    await more.receive()
    expect(world.events.at(-1)?.code).toBe('too-many-connections')
    for (const client of clients) client.close()
  })

  it('does not contain an endless row of pipelined requests', async () => {
    world = createWorld()
    let reached = 0
    await world.serveHttp(() => {
      reached++
    })
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    const client = await RawClient.connect(port)
    client.send(`GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`.repeat(5_000))
    await client.receive()
    await until('it settles', () => proxy.stats().open === 0)
    expect(reached).toBeLessThanOrEqual(100)
  })

  it.each([
    { name: 'of a body without end', length: null },
    { name: 'of a body of a known length', length: 1 << 30 },
  ])('lets a slow reader $name wait and not the memory grow', async ({ length }) => {
    world = createWorld()
    let sent = 0
    const piece = Buffer.alloc(1 << 20)
    await world.serveHttps((_, response) => {
      if (length !== null) response.setHeader('content-length', length)
      const more = () => {
        while (!response.destroyed && response.write(piece)) sent += piece.length
        sent += piece.length
      }
      response.on('drain', more)
      more()
    })
    const { port } = await world.open({ allowed: hosts(HOST) })
    const client = await inside(port)
    client.socket.removeAllListeners('data')
    client.socket.pause()
    client.send(GET)
    let before = -1
    while (before !== sent || sent === 0) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // Kernel buffers of four sockets and Node's own, but nowhere near an endless body.
    expect(sent).toBeLessThan(64 << 20)
    client.close()
  })
})

describe('large bodies', () => {
  const size = 9_000_001
  const body = Buffer.alloc(size, 'abcdefghijk')
  const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

  async function fetch(port: number, path: string): Promise<Buffer> {
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    const tls = await client.encrypt({ ca: world.ca.pem, servername: HOST })
    tls.socket.removeAllListeners('data')
    const parts: Buffer[] = []
    tls.socket.on('data', (chunk: Buffer) => parts.push(chunk))
    tls.send(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
    await new Promise((resolve) => tls.socket.once('close', resolve))
    const whole = Buffer.concat(parts)
    return whole.subarray(whole.indexOf('\r\n\r\n') + 4)
  }

  it('arrive whole, to the last byte, and are counted', async () => {
    world = createWorld()
    await world.serveHttps((message, response) => {
      response.writeHead(200, { 'content-length': size })
      if (message.url === '/slow') {
        response.write(body.subarray(0, 10))
        setTimeout(() => response.end(body.subarray(10)), 30)
      } else response.end(body)
    })
    const { port } = await world.open({ allowed: hosts(HOST) })
    for (const path of ['/', '/slow', '/', '/slow']) expect(sum(await fetch(port, path))).toBe(sum(body))
    await until('it settles', () => world.events.length === 4)
    for (const event of world.events) expect(event).toMatchObject({ verdict: 'allow', down: size })
  })

  it('end at the announced length, whatever the host sends after it', async () => {
    world = createWorld()
    const server = createHttps(world.authority.issue(HOST))
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket) => {
      socket
        .on('error', () => {})
        .once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
          socket.write(body)
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nextra')
        })
    })
    await world.serve(443, server)
    const { port } = await world.open({ allowed: hosts(HOST) })
    expect(sum(await fetch(port, '/'))).toBe(sum(body))
  })

  it('that break off are seen to be broken', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => {
      response.writeHead(200, { 'content-length': size })
      response.write(body.subarray(0, 5_000_000), () => response.socket?.destroy())
    })
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    expect((await fetch(port, '/')).length).toBeLessThan(size)
    await until('it settles', () => world.events.some((event) => event.code === 'upstream-protocol'))
    await until('it settles', () => proxy.stats().upstream === 0 && proxy.stats().open === 0)
  })

  it('leave nothing behind when the client goes away', async () => {
    world = createWorld()
    await world.serveHttps((_, response) => response.writeHead(200, { 'content-length': size }).end(body))
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    for (let round = 0; round < 10; round++) {
      const client = await inside(port)
      client.send(GET)
      await client.receive((text) => text.length > 100_000 * round)
      client.close()
    }
    await until('it settles', () => proxy.stats().upstream === 0 && proxy.stats().open === 0)
  })
})

describe('a proxy that closes', () => {
  async function busy(): Promise<OpenProxy> {
    world = createWorld()
    await world.serveHttps(() => {})
    const open = await world.open({ allowed: hosts(HOST, `${HOST}:22`) })
    return open
  }

  it('ends what is under way, and gives up its port', async () => {
    const { proxy, port } = await busy()
    const waiting = await inside(port)
    waiting.send(GET)
    const idle = await RawClient.connect(port)
    const tunnel = await RawClient.connect(port)
    await tunnel.tunnel(`${HOST}:443`)
    await until('it settles', () => proxy.stats().upstream === 1)
    await proxy.close()
    expect(proxy.stats()).toMatchObject({ open: 0, upstream: 0 })
    await Promise.all([waiting.receive(), idle.receive(), tunnel.receive()])
    await expect(RawClient.connect(port)).rejects.toThrow(/ECONNREFUSED/)
    await proxy.close()
  })

  it('closes by its signal', async () => {
    world = createWorld()
    const abort = new AbortController()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) }, { signal: abort.signal })
    const client = await RawClient.connect(port)
    abort.abort()
    await client.receive()
    await proxy.close()
    await expect(RawClient.connect(port)).rejects.toThrow(/ECONNREFUSED/)
  })

  it('signals that nobody waits any more', async () => {
    world = createWorld()
    const { promise, resolve } = Promise.withResolvers<AbortSignal>()
    const ask = ({ signal }: { signal: AbortSignal }) => {
      resolve(signal)
      return new Promise<boolean>(() => {})
    }
    const { proxy, port } = await world.open({}, { ask })
    const client = await RawClient.connect(port)
    client.send(`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}:443\r\n\r\n`)
    const signal = await promise
    expect(signal.aborted).toBe(false)
    await proxy.close()
    expect(signal.aborted).toBe(true)
  })
})

describe('leaks', () => {
  it('leaves no socket and no timer after some thousand requests of every kind', async () => {
    world = createWorld()
    await world.serveHttps((message, response) => {
      message.resume()
      if (message.url === '/cut') response.socket?.destroy()
      else message.on('end', () => response.end('ok'))
    })
    await world.serveHttp((_, response) => response.end('ok'))
    const before = openSockets()
    const { proxy, port } = await world.open({ allowed: hosts(HOST) })
    const plain = (host: string) =>
      new Promise<void>((resolve) => {
        const request = httpRequest({
          host: '127.0.0.1',
          port,
          path: `http://${host}/`,
          headers: { host },
          agent: false,
        })
        request.on('response', (response) => response.resume().once('close', resolve)).on('error', () => resolve())
        request.end()
      })
    const broken = async () => {
      const client = await RawClient.connect(port)
      await client.tunnel(`${HOST}:443`)
      client.close()
    }
    const cut = async () => {
      const client = await inside(port)
      client.send(`GET /cut HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
      await client.receive((text) => text.includes('502'))
      client.close()
    }
    const many = async () => {
      const client = await inside(port)
      for (let count = 0; count < 20; count++) {
        client.send(GET)
        await client.receive((text) => text.endsWith('ok'))
      }
      client.close()
    }
    const kinds = [() => plain(HOST), () => plain('evil.com'), broken, cut, many]
    for (let round = 0; round < 60; round++) await Promise.all(kinds.map((kind) => kind()))
    await until('it settles', () => proxy.stats().open === 0)
    expect(proxy.stats()).toMatchObject({ accepted: 300, denied: 60 })
    await proxy.close()
    await until('it settles', () => proxy.stats().upstream === 0)
    const left = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap')
    expect(left).toEqual([])
    await until('it settles', () => openSockets() <= before)
  })
})
