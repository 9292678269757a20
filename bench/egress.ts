/** The way out, measured: throughput through ended TLS, new connections, the first request, many at once, memory over time. */

import { request as httpRequest } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { createSessionCa } from '../src/egress/ca.ts'
import { createWorld, hosts, type World } from '../test/egress/world.ts'

/** What a bench of another proxy has to offer: where it listens, and the CA that its clients trust. */
export interface ProxyUnderTest {
  readonly name: string
  readonly port: number
  readonly ca: string
  close(): Promise<void>
}

export interface Measurement {
  readonly what: string
  readonly value: number
  readonly unit: string
}

const HOST = 'bench.example.org'
const PIECE = Buffer.alloc(1 << 20, 'x')

/** Serves small answers, large ones of `/bytes/N` megabytes, and answers that wait for `/hold`. */
export async function serveBench(world: World): Promise<void> {
  await world.serveHttps((message, response) => {
    message.resume()
    const megabytes = /^\/bytes\/(\d+)$/.exec(message.url!)?.[1]
    if (megabytes === undefined) return void response.end('ok')
    let left = Number(megabytes)
    response.writeHead(200, { 'content-length': left * PIECE.length })
    const more = () => {
      while (left > 0) {
        left--
        if (!response.write(PIECE)) return
      }
      response.end()
    }
    response.on('drain', more)
    more()
  })
}

export function connectThrough(proxy: ProxyUnderTest): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port: proxy.port,
      method: 'CONNECT',
      path: `${HOST}:443`,
      headers: { host: `${HOST}:443` },
      agent: false,
    })
    request.once('error', reject)
    request.once('connect', (response, socket: Socket) => {
      if (response.statusCode !== 200) return void reject(new Error(`CONNECT: ${response.statusCode}`))
      const tls = tlsConnect({ socket, servername: HOST, ca: proxy.ca, ALPNProtocols: ['http/1.1'] })
      tls.once('secureConnect', () => resolve(tls)).once('error', reject)
    })
    request.end()
  })
}

export function get(socket: TLSSocket, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: HOST, path, headers: { host: HOST }, createConnection: () => socket })
    request.once('error', reject)
    request.once('response', (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.once('end', () => resolve(bytes)).once('error', reject)
    })
    request.end()
  })
}

export async function measure(proxy: ProxyUnderTest, requests: number): Promise<Measurement[]> {
  return [
    await firstRequest(proxy),
    await newConnections(proxy),
    await throughput(proxy),
    await keptAlive(proxy),
    ...(await manyAtOnce(proxy)),
    ...(await memory(proxy, requests)),
  ]
}

async function firstRequest(proxy: ProxyUnderTest): Promise<Measurement> {
  const started = performance.now()
  await get(await connectThrough(proxy), '/')
  return { what: 'first request, cold', value: performance.now() - started, unit: 'ms' }
}

async function newConnections(proxy: ProxyUnderTest): Promise<Measurement> {
  const times: number[] = []
  for (let count = 0; count < 300; count++) {
    const started = performance.now()
    await get(await connectThrough(proxy), '/')
    times.push(performance.now() - started)
  }
  return { what: 'new connection and request, median', value: median(times), unit: 'ms' }
}

async function throughput(proxy: ProxyUnderTest): Promise<Measurement> {
  const megabytes = 512
  const socket = await connectThrough(proxy)
  const started = performance.now()
  await get(socket, `/bytes/${megabytes}`)
  return { what: 'one download', value: megabytes / ((performance.now() - started) / 1000), unit: 'MB/s' }
}

async function keptAlive(proxy: ProxyUnderTest): Promise<Measurement> {
  const agent = keepAlive(proxy, 8)
  const count = 5_000
  const started = performance.now()
  await inParallel(8, count, () => getPooled(agent))
  agent.destroy()
  return { what: 'requests on 8 kept connections', value: count / ((performance.now() - started) / 1000), unit: '1/s' }
}

async function manyAtOnce(proxy: ProxyUnderTest): Promise<Measurement[]> {
  const count = 1_000
  const started = performance.now()
  const sockets: TLSSocket[] = []
  await inParallel(50, count, async () => {
    sockets.push(await connectThrough(proxy))
  })
  const opened = performance.now() - started
  const answers = await Promise.all(sockets.map((socket) => get(socket, '/')))
  for (const socket of sockets) socket.destroy()
  return [
    { what: 'connections held at once', value: answers.filter((bytes) => bytes === 2).length, unit: '' },
    { what: 'time to open them', value: opened, unit: 'ms' },
  ]
}

async function memory(proxy: ProxyUnderTest, requests: number): Promise<Measurement[]> {
  const agent = keepAlive(proxy, 8)
  await inParallel(8, Math.min(20_000, requests), () => getPooled(agent))
  const before = settledMemory()
  await inParallel(8, requests, () => getPooled(agent))
  const after = settledMemory()
  agent.destroy()
  return [
    { what: `heap growth over ${requests} requests`, value: (after.heap - before.heap) / (1 << 20), unit: 'MB' },
    {
      what: `resident growth over ${requests} requests`,
      value: (after.resident - before.resident) / (1 << 20),
      unit: 'MB',
    },
  ]
}

function settledMemory(): { heap: number; resident: number } {
  const collect = (globalThis as { gc?: () => void }).gc
  collect?.()
  collect?.()
  return { heap: process.memoryUsage().heapUsed, resident: process.memoryUsage.rss() }
}

class ThroughAgent extends Agent {
  readonly proxy: ProxyUnderTest

  constructor(proxy: ProxyUnderTest, maxSockets: number) {
    super({ keepAlive: true, maxSockets })
    this.proxy = proxy
  }

  override createConnection(_options: object, callback?: (error: Error | null, socket: never) => void): undefined {
    connectThrough(this.proxy).then(
      (socket) => callback?.(null, socket as never),
      (error: Error) => callback?.(error, undefined as never),
    )
  }
}

function keepAlive(proxy: ProxyUnderTest, maxSockets: number): Agent {
  return new ThroughAgent(proxy, maxSockets)
}

function getPooled(agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: HOST, path: '/', agent })
    request.once('error', reject)
    request.once('response', (response) => response.resume().once('end', () => resolve()))
    request.end()
  })
}

async function inParallel(width: number, count: number, work: () => Promise<void>): Promise<void> {
  let left = count
  const lane = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: width }, lane))
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

async function main(): Promise<void> {
  const requests = Number(process.argv[2] ?? 100_000)
  const world = createWorld()
  await serveBench(world)
  const started = performance.now()
  const ca = createSessionCa()
  const made = performance.now() - started
  const { door, port } = await world.open({ allowed: hosts(HOST) }, { ca, onEvent: () => {} })
  const proxy: ProxyUnderTest = { name: 'cordon', port, ca: ca.pem, close: () => door.close() }
  const rows = [{ what: 'session CA made', value: made, unit: 'ms' }, ...(await measure(proxy, requests))]
  for (const { what, value, unit } of rows) {
    process.stdout.write(`${what.padEnd(44)} ${value.toFixed(2).padStart(10)} ${unit}\n`)
  }
  await world.close()
}

if (import.meta.main) await main()
