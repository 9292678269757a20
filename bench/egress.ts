/** The way out, measured: throughput through ended TLS, new connections, the first request, many at once, memory over time. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request as httpsRequest } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { createSecureContext, type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { createSessionCa } from '../src/egress/ca.ts'
import { openDoor } from '../src/egress/door.ts'
import { createUpstream } from '../src/egress/upstream.ts'
import { mappedResolver } from '../src/system/dns.ts'
import { createWorld, hosts, listen, PUBLIC_ADDRESS, type World } from '../test/egress/world.ts'
import { median, printTable } from './measure.ts'

/** A proxy in a process of its own, so that its share is measured and not the bench's. */
export interface ProxyUnderTest {
  readonly name: string
  readonly pid: number
  readonly port: number
  /** The port of the host as this proxy dials it. */
  readonly hostPort: number
  /** What its clients trust. */
  readonly ca: string
  readonly trust: SecureContext
  /** Milliseconds from loaded modules to a listening proxy with its CA. */
  readonly made: number
  close(): void
}

const HOST = 'bench.example.org'
const PIECE = Buffer.alloc(1 << 20, 'x')

/** The origin: small answers, and large ones at `/bytes/N` of N megabytes. Resolves to its port. */
export async function serveBench(world: World): Promise<number> {
  const server = await world.serveHttps((message, response) => {
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
  return (server.address() as AddressInfo).port
}

/** Starts a proxy in front of an origin on loopback, in a process of its own. */
export async function startProxy(name: ProxyName, world: World, originPort: number): Promise<ProxyUnderTest> {
  const orders = JSON.stringify({ originPort, trust: world.authority.pem })
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), name], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(`${orders}\n`)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const { port, ca, made } = JSON.parse(line.toString()) as { port: number; ca: string; made: number }
  // The peer has no place for a dialler of our own, so its clients ask for the origin's real port.
  const hostPort = name === 'cordon' ? 443 : originPort
  const trust = createSecureContext({ ca, ecdhCurve: 'X25519' })
  return { name, pid: child.pid!, port, hostPort, ca, trust, made, close: () => child.stdin.end() }
}

export type ProxyName = 'cordon' | 'sandbox-runtime'

const PEER = new URL('../.cache/peers/node_modules/@anthropic-ai/sandbox-runtime/dist/sandbox/', import.meta.url)

interface Orders {
  readonly originPort: number
  readonly trust: string
}

async function readOrders(): Promise<Orders> {
  const [line] = (await once(process.stdin, 'data')) as [Buffer]
  return JSON.parse(line.toString()) as Orders
}

/** The child's side for the peer: its own proxy with its own CA, told where the test host is. */
async function servePeer(): Promise<void> {
  const { trust } = await readOrders()
  const { createMitmCA } = await import(new URL('mitm-ca.js', PEER).href)
  const { createHttpProxyServer } = await import(new URL('http-proxy.js', PEER).href)
  const started = performance.now()
  const ca = await createMitmCA({})
  const lookup = (
    _host: string,
    options: { all?: boolean },
    done: (error: null, address: unknown, family?: number) => void,
  ) => (options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4))
  const server = createHttpProxyServer({
    filter: (_port: number, host: string) => host === HOST,
    mitmCA: ca,
    lookupFor: () => lookup,
    tlsTerminateUpstreamCA: trust,
  }) as Server
  await listen(server)
  const made = performance.now() - started
  process.stdout.write(JSON.stringify({ port: (server.address() as AddressInfo).port, ca: ca.certPem, made }))
  await once(process.stdin, 'end')
  process.exit()
}

/** The child's side: a door on loopback until standard input ends. */
async function serveDoor(): Promise<void> {
  const { originPort, trust } = await readOrders()
  const started = performance.now()
  const listener = createServer()
  await listen(listener)
  const ca = createSessionCa()
  const door = openDoor({
    listener,
    rules: { command: 'bench', allowed: hosts(HOST), denied: [], allowPrivate: false },
    ca,
    upstream: createUpstream({
      // As the peer does: told roots take the place of the machine's.
      roots: trust,
      dialer: () => ({ host: '127.0.0.1', port: originPort, noDelay: true }),
    }),
    resolver: mappedResolver({ [HOST]: [PUBLIC_ADDRESS] }),
  })
  const made = performance.now() - started
  process.stdout.write(JSON.stringify({ port: (listener.address() as AddressInfo).port, ca: ca.pem, made }))
  await once(process.stdin, 'end')
  await door.close()
}

/** A tunnel through the proxy with TLS inside; by hand, so that the bench's own HTTP does not set the pace. */
export async function connectThrough(proxy: ProxyUnderTest): Promise<TLSSocket> {
  const authority = `${HOST}:${proxy.hostPort}`
  const socket = connect({ host: '127.0.0.1', port: proxy.port, noDelay: true })
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    socket.destroy()
    throw new Error(`${proxy.name} answered ${answer.toString('latin1').split('\r\n')[0]}`)
  }
  const tls = tlsConnect({ socket, servername: HOST, secureContext: proxy.trust, ALPNProtocols: ['http/1.1'] })
  await once(tls, 'secureConnect')
  return tls
}

function hostOf(proxy: Pick<ProxyUnderTest, 'hostPort'>): string {
  return proxy.hostPort === 443 ? HOST : `${HOST}:${proxy.hostPort}`
}

export function get(proxy: Pick<ProxyUnderTest, 'hostPort'>, socket: TLSSocket, path: string): Promise<number> {
  const host = hostOf(proxy)
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: HOST, path, headers: { host }, createConnection: () => socket })
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

/** The bench's own first request would otherwise be part of the first proxy's. */
async function warmClient(world: World, originPort: number): Promise<void> {
  for (let count = 0; count < 50; count++) {
    const tls = tlsConnect({ port: originPort, host: '127.0.0.1', servername: HOST, ca: world.authority.pem })
    await once(tls, 'secureConnect')
    await get({ hostPort: originPort }, tls, '/')
  }
}

/** Samples in turns, so that a busy machine slows all sides alike; the median of each. */
async function inTurns<Side>(
  sides: readonly Side[],
  rounds: number,
  sample: (side: Side) => Promise<number>,
): Promise<number[]> {
  const samples: number[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      samples[index]!.push(await sample(side))
      // What the one leaves to be closed must not be charged to the next.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return samples.map((values) => median(values))
}

async function firstRequest(name: ProxyName, world: World, originPort: number): Promise<number> {
  const proxy = await startProxy(name, world, originPort)
  const started = performance.now()
  await get(proxy, await connectThrough(proxy), '/')
  const milliseconds = proxy.made + performance.now() - started
  proxy.close()
  return milliseconds
}

async function newConnection(proxy: ProxyUnderTest): Promise<number> {
  const started = performance.now()
  const socket = await connectThrough(proxy)
  socket.write(`GET / HTTP/1.1\r\nHost: ${hostOf(proxy)}\r\n\r\n`)
  await once(socket, 'data')
  const milliseconds = performance.now() - started
  socket.destroy()
  return milliseconds
}

/** Spoken by hand, so that the bench's own HTTP does not set the pace. */
async function download(proxy: ProxyUnderTest): Promise<number> {
  const megabytes = 256
  const socket = await connectThrough(proxy)
  const started = performance.now()
  socket.write(`GET /bytes/${megabytes} HTTP/1.1\r\nHost: ${hostOf(proxy)}\r\nConnection: close\r\n\r\n`)
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await once(socket, 'end')
  if (bytes < megabytes * PIECE.length) throw new Error(`${proxy.name} sent ${bytes} bytes of ${megabytes} MB`)
  return megabytes / ((performance.now() - started) / 1000)
}

async function keptAlive(proxy: ProxyUnderTest): Promise<number> {
  const agent = keepAlive(proxy, 8)
  const count = 1_000
  const started = performance.now()
  await inParallel(8, count, () => getPooled(agent))
  agent.destroy()
  return count / ((performance.now() - started) / 1000)
}

/** How many of a thousand connections are answered while all of them are open. */
async function manyAtOnce(proxy: ProxyUnderTest): Promise<number> {
  const sockets: TLSSocket[] = []
  await inParallel(50, 1_000, async () => {
    // A proxy that turns some away holds fewer.
    const socket = await connectThrough(proxy).catch(() => null)
    if (socket !== null) sockets.push(socket)
  })
  const answers = await Promise.all(sockets.map((socket) => get(proxy, socket, '/').catch(() => 0)))
  for (const socket of sockets) socket.destroy()
  return answers.filter((bytes) => bytes === 2).length
}

async function memoryGrowth(proxy: ProxyUnderTest, requests: number): Promise<number> {
  const agent = keepAlive(proxy, 8)
  await inParallel(8, requests / 4, () => getPooled(agent))
  const before = resident(proxy.pid)
  await inParallel(8, requests, () => getPooled(agent))
  const after = resident(proxy.pid)
  agent.destroy()
  return after - before
}

function resident(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
  return Number(kilobytes) / 1024
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

function keepAlive(proxy: ProxyUnderTest, maxSockets: number): ThroughAgent {
  return new ThroughAgent(proxy, maxSockets)
}

function getPooled(agent: ThroughAgent): Promise<void> {
  const { hostPort } = agent.proxy
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: HOST, port: hostPort, path: '/', agent })
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

/** Prints one table; the peer stands in it where it is installed. */
export async function benchEgress(requests = 100_000): Promise<void> {
  const world = createWorld()
  const originPort = await serveBench(world)
  const names: ProxyName[] = existsSync(new URL('http-proxy.js', PEER)) ? ['cordon', 'sandbox-runtime'] : ['cordon']
  await warmClient(world, originPort)
  const cold = await inTurns(names, 7, (name) => firstRequest(name, world, originPort))
  const proxies: ProxyUnderTest[] = []
  for (const name of names) proxies.push(await startProxy(name, world, originPort))
  const table: readonly (readonly [what: string, unit: string, values: readonly number[]])[] = [
    ['CA, proxy and first request, cold', 'ms', cold],
    ['new connection and request', 'ms', await inTurns(proxies, 200, newConnection)],
    ['one download', 'MB/s', await inTurns(proxies, 9, download)],
    ['requests on 8 kept connections', '1/s', await inTurns(proxies, 7, keptAlive)],
    ['of 1,000 connections at once, held', '', await inTurns(proxies, 1, manyAtOnce)],
    [
      `memory growth over ${requests} requests`,
      'MB',
      await inTurns(proxies, 1, (proxy) => memoryGrowth(proxy, requests)),
    ],
  ]
  const rows = table.map(([what, unit, values]) => {
    const ratio = values.length > 1 ? (values[0]! / values[1]!).toFixed(2) : ''
    return [what, ...values.map((value) => `${value.toFixed(2)} ${unit}`), ratio]
  })
  printTable('The way out', [['', ...names, 'ratio'], ...rows])
  for (const proxy of proxies) proxy.close()
  await world.close()
}

if (import.meta.main) {
  const [, , mode] = process.argv
  if (mode === 'cordon') await serveDoor()
  else if (mode === 'sandbox-runtime') await servePeer()
  else await benchEgress(mode === undefined ? undefined : Number(mode))
}
