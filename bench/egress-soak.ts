/**
 * The proxy under load for minutes: `node bench/egress-soak.ts [gigabytes] [rounds]`. One long stream, then clients and
 * hosts that misbehave; the proxy's memory and descriptors are counted before and after. Not part of `npm test` or `npm run bench`.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  connectThrough,
  download,
  getPooled,
  inParallel,
  requestHead,
  resetTunnel,
  ThroughAgent,
} from './egress-client.ts'
import { type Held, HOST, MEGABYTE, type ProxyUnderTest, resident, startOrigin, startProxy } from './egress-proxies.ts'
import { printTable } from './measure.ts'

const AUTHORITY = `${HOST}:443`

/** Megabytes resident at every gigabyte that passed. */
async function longStream(proxy: ProxyUnderTest, gigabytes: number): Promise<number[]> {
  const samples: number[] = []
  let bytes = 0
  await download(proxy, gigabytes * 1024, (count) => {
    bytes += count
    if (bytes >= (samples.length + 1) * 1024 * MEGABYTE) samples.push(resident(proxy.pid))
  })
  return samples
}

const connected = async (proxy: ProxyUnderTest): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port: proxy.port, allowHalfOpen: true }).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

const FAULTS: readonly (readonly [name: string, act: (proxy: ProxyUnderTest) => Promise<void>])[] = [
  [
    'the host resets',
    async (proxy) => {
      const socket = (await connectThrough(proxy)).on('error', () => {})
      socket.write(requestHead(proxy, '/reset'))
      await once(socket, 'data')
      socket.destroy()
    },
  ],
  [
    'the client resets in the middle of a download',
    async (proxy) => {
      const socket = (await connectThrough(proxy)).on('error', () => {})
      socket.write(requestHead(proxy, '/bytes/64'))
      await once(socket, 'data')
      resetTunnel(socket)
    },
  ],
  [
    'the client stops reading a download, and is ended',
    async (proxy) => {
      const socket = (await connectThrough(proxy)).on('error', () => {})
      socket.write(requestHead(proxy, '/bytes/64'))
      await once(socket, 'data')
      socket.pause()
      await new Promise((resolve) => setTimeout(resolve, 20))
      socket.destroy()
    },
  ],
  [
    'the client closes its half before the answer',
    async (proxy) => {
      const socket = (await connectThrough(proxy)).on('error', () => {})
      socket.resume().end(requestHead(proxy, '/'))
      await once(socket, 'close')
    },
  ],
  [
    'half a request head, and away',
    async (proxy) => {
      const socket = await connected(proxy)
      socket.write(`GET http://${HOST}/ HTTP/1.1\r\nHost: `)
      await new Promise((resolve) => setTimeout(resolve, 5))
      socket.destroy()
    },
  ],
  [
    'a tunnel with half a TLS hello, and away',
    async (proxy) => {
      const socket = await connected(proxy)
      socket.write(`CONNECT ${AUTHORITY} HTTP/1.1\r\nHost: ${AUTHORITY}\r\n\r\n`)
      await once(socket, 'data')
      socket.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0]))
      await new Promise((resolve) => setTimeout(resolve, 5))
      socket.resetAndDestroy()
    },
  ],
  ['a tunnel that asks for nothing', async (proxy) => void (await connectThrough(proxy)).destroy()],
]

async function misbehave(proxy: ProxyUnderTest, rounds: number): Promise<void> {
  const agent = new ThroughAgent(proxy, 4)
  for (let round = 0; round < rounds; round++) {
    await Promise.all([...FAULTS.map(([, act]) => act(proxy)), inParallel(4, 20, () => getPooled(agent))])
  }
  agent.destroy()
}

/** Waits until connections that are let go by a timer are gone too. */
async function settle(proxy: ProxyUnderTest): Promise<Held> {
  let kept = await proxy.usage()
  for (let again = 0; again < 40; again++) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const now = await proxy.usage()
    if (now.descriptors === kept.descriptors && again >= 14) return now
    kept = now
  }
  return kept
}

function row(when: string, kept: Held): string[] {
  const resources = Object.entries(kept.resources).map(([name, count]) => `${count} ${name}`)
  return [when, String(kept.descriptors), kept.heap.toFixed(1), kept.resident.toFixed(1), resources.sort().join(', ')]
}

async function soakEgress(gigabytes: number, rounds: number): Promise<void> {
  const origin = await startOrigin()
  const proxy = await startProxy('cordon', origin)
  await misbehave(proxy, 20)
  const rows = [['', 'descriptors', 'heap MB', 'resident MB', 'event loop'], row('at first', await settle(proxy))]
  const started = performance.now()
  const samples = await longStream(proxy, gigabytes)
  const rate = (gigabytes * 1024) / ((performance.now() - started) / 1000)
  rows.push(row(`after a stream of ${gigabytes} GB`, await settle(proxy)))
  for (let quarter = 1; quarter <= 4; quarter++) {
    await misbehave(proxy, rounds / 4)
    rows.push(row(`after ${(rounds / 4) * quarter} rounds of faults`, await settle(proxy)))
  }
  printTable('Memory and descriptors of the proxy', rows)
  const range = `${Math.min(...samples).toFixed(1)} to ${Math.max(...samples).toFixed(1)} MB`
  console.log(`\n  the stream: ${rate.toFixed(0)} MB/s; resident at every GB: ${range}`)
  console.log(`  a round: ${FAULTS.map(([name]) => name).join('; ')}; and 20 requests on kept connections`)
  await proxy.close()
  origin.close()
}

if (import.meta.main) await soakEgress(Number(process.argv[2] ?? 10), Number(process.argv[3] ?? 400))
