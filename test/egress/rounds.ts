/** Rounds of broken openings against a proxy: whatever comes, only the granted host is reached, and the proxy goes on. */

import { connect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { createWorld, hosts, RawClient } from '../contract/egress/world.ts'
import { until } from '../until.ts'
import { dice, GRANTED, KINDS, type Kind, opening } from './generator.ts'

export interface Rounds {
  /** Names that the hosts were asked by. */
  readonly reached: readonly string[]
  /** What was still open when all were gone. */
  readonly left: number
}

const TOGETHER = 10

export async function playRounds(seed: number, connections: number, kinds: readonly Kind[] = KINDS): Promise<Rounds> {
  const roll = dice(seed)
  const world = createWorld()
  const reached = new Set<string>()
  const note: Parameters<typeof world.serveHttp>[0] = (message, response) => {
    reached.add(String(message.headers.host))
    message.on('error', () => {}).resume()
    response.on('error', () => {}).end('here')
  }
  const limits = { headMilliseconds: 200, serverFirstMilliseconds: 10, connectMilliseconds: 500, idleMilliseconds: 500 }
  try {
    await world.serveHttps(note)
    await world.serveHttp(note)
    const { proxy, port } = await world.open({ allowed: hosts(GRANTED, `${GRANTED}:80`) }, { limits })

    async function attack(): Promise<void> {
      const kind = kinds[roll(kinds.length)]!
      const parts = opening(kind, roll)
      const encrypted = kind === 'http2' && roll(2) === 0
      const client = connect(port, '127.0.0.1')
      client.on('error', () => {}).on('data', () => {})
      await settled(client, 'connect')
      let socket: typeof client = client
      if (kind === 'hello' || kind === 'http2') {
        const authority = `${GRANTED}:${encrypted || kind === 'hello' ? 443 : 80}`
        client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
        await settled(client, 'data')
      }
      if (encrypted && !client.destroyed) {
        client.removeAllListeners('data')
        socket = tlsConnect({ socket: client, servername: GRANTED, ca: world.ca.pem, ALPNProtocols: ['h2'] })
        socket.on('error', () => {}).on('data', () => {})
        await settled(socket, 'secureConnect')
      }
      for (const part of parts) {
        if (socket.destroyed) break
        socket.write(part)
        if (parts.length > 1 && roll(20) === 0) await new Promise(setImmediate)
      }
      await new Promise((resolve) => setTimeout(resolve, roll(20)))
      client.destroy()
    }

    for (let left = connections; left > 0; left -= TOGETHER) await Promise.all(Array.from({ length: TOGETHER }, attack))
    // On a busy machine a client can be slower than the limits above.
    await until('it goes on serving', () => isServing(port, world.ca.pem).catch(() => false))
    await until('nothing is open', () => proxy.stats().open === 0)
    await proxy.close()
    return { reached: [...reached], left: proxy.stats().open + proxy.stats().upstream }
  } finally {
    await world.close()
  }
}

/** The event, or the end of the connection, which a busy machine may have brought before anybody listened. */
function settled(socket: Socket, event: string): Promise<void> {
  if (socket.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 5_000)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.once(event, done).once('close', done)
  })
}

async function isServing(port: number, ca: string): Promise<boolean> {
  const client = await RawClient.connect(port)
  await client.tunnel(`${GRANTED}:443`)
  const inside = await client.encrypt({ ca, servername: GRANTED })
  inside.send(`GET / HTTP/1.1\r\nHost: ${GRANTED}\r\nConnection: close\r\n\r\n`)
  return (await inside.receive()).includes('here')
}
