/** The processes of the proxy bench: the origin, Cordon's proxy, and the peer's proxy. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { openProxy } from '../src/egress/command-proxy.ts'
import { createUpstream } from '../src/egress/route/upstream.ts'
import { createSessionCa } from '../src/egress/tls/certificate.ts'
import { createWorld, hosts, listen, PUBLIC_ADDRESS } from '../test/contract/egress/world.ts'

export type ProxyName = 'cordon' | 'sandbox-runtime'

export interface Origin {
  readonly port: number
  /** The authority that signed its certificate. */
  readonly authority: string
  close(): void
}

export interface ProxyUnderTest {
  readonly name: ProxyName
  readonly pid: number
  readonly port: number
  /** The port of the host as this proxy's clients ask for it. */
  readonly hostPort: number
  /** What its clients trust: in PEM, and for clients in this process. */
  readonly ca: string
  readonly trust: SecureContext
  /** When it took the listener, on the clock of `process.hrtime`, which all processes share. */
  readonly started: bigint
  /** Its memory and descriptors, after a garbage collection. */
  usage(): Promise<Held>
  close(): Promise<void>
}

/** Open descriptors of a process, what keeps its event loop alive, and its memory in megabytes. */
export interface Held {
  readonly descriptors: number
  readonly resources: Readonly<Record<string, number>>
  readonly heap: number
  readonly resident: number
}

export const HOST = 'bench.example.org'
export const MEGABYTE: number = 1 << 20

const PEER = new URL('../.cache/peers/node_modules/@anthropic-ai/sandbox-runtime/dist/sandbox/', import.meta.url)
const LISTENER = 3

/** Cordon, and the peer where it is installed. */
export function proxyNames(): readonly ProxyName[] {
  return existsSync(new URL('http-proxy.js', PEER)) ? ['cordon', 'sandbox-runtime'] : ['cordon']
}

export async function startOrigin(): Promise<Origin> {
  const { child, answer } = await start<{ port: number; authority: string }>('origin', '', [])
  return { ...answer, close: () => child.stdin!.end() }
}

/** Starts a proxy in front of the origin; its listening socket is created here and handed over, as a sandbox does. */
export async function startProxy(name: ProxyName, origin: Origin): Promise<ProxyUnderTest> {
  const listener = createServer()
  await listen(listener)
  const { port } = listener.address() as AddressInfo
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle
  const input = JSON.stringify({ originPort: origin.port, authority: origin.authority })
  const { child, answer } = await start<{ ca: string; started: string }>(name, input, [fd])
  listener.close()
  const pid = child.pid!
  return {
    name,
    pid,
    port,
    // The peer cannot use our dialler, so its clients ask for the origin's real port.
    hostPort: name === 'cordon' ? 443 : origin.port,
    ca: answer.ca,
    trust: createSecureContext({ ca: answer.ca, ecdhCurve: 'X25519' }),
    started: BigInt(answer.started),
    usage: async () => {
      child.stdin!.write('usage\n')
      const [answer] = (await once(child.stdout!, 'data')) as [Buffer]
      const facts = JSON.parse(answer.toString()) as Pick<Held, 'resources' | 'heap'>
      return { ...facts, descriptors: readdirSync(`/proc/${pid}/fd`).length, resident: resident(pid) }
    },
    close: async () => {
      child.stdin!.end()
      await once(child, 'close')
    },
  }
}

async function start<Answer>(name: string, input: string, descriptors: readonly number[]) {
  const child = spawn(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), name], {
    stdio: ['pipe', 'pipe', 'inherit', ...descriptors],
  })
  child.stdin!.write(`${input}\n`)
  const [line] = (await Promise.race([once(child.stdout!, 'data'), once(child, 'close')])) as [Buffer | number]
  if (typeof line === 'number') throw new Error(`bench: the process of ${name} ended with ${line}`)
  return { child, answer: JSON.parse(line.toString()) as Answer }
}

/** Resident megabytes of a process. */
export function resident(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/** Milliseconds of processor time that a process has used, all of its threads. */
export function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

interface Orders {
  readonly originPort: number
  readonly authority: string
}

async function readOrders(): Promise<Orders> {
  const [line] = (await once(process.stdin, 'data')) as [Buffer]
  return JSON.parse(line.toString()) as Orders
}

/** Answers every line with memory and descriptors, until standard input ends. */
async function serveUntilEnd(): Promise<void> {
  process.stdin.on('data', () => {
    globalThis.gc!()
    const resources: Record<string, number> = {}
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
    tell({ resources, heap: process.memoryUsage().heapUsed / MEGABYTE })
  })
  await once(process.stdin, 'end')
}

function tell(facts: object): void {
  process.stdout.write(JSON.stringify(facts))
}

/** Small answers, and large ones at `/bytes/N` of N megabytes; `/reset` breaks off. */
async function serveOrigin(): Promise<void> {
  const piece = Buffer.alloc(MEGABYTE, 'x')
  const world = createWorld()
  const below = new Map<number, Socket>()
  const server = await world.serveHttps((message, response) => {
    message.resume()
    if (message.url === '/reset') return void below.get(message.socket.remotePort!)?.resetAndDestroy()
    const megabytes = /^\/bytes\/(\d+)$/.exec(message.url!)?.[1]
    if (megabytes === undefined) return void response.end('ok')
    let left = Number(megabytes)
    response.writeHead(200, { 'content-length': left * MEGABYTE })
    const more = () => {
      while (left > 0) {
        left--
        if (!response.write(piece)) return
      }
      response.end()
    }
    response.on('drain', more)
    more()
  })
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket
    below.set(remotePort!, socket)
    socket.once('close', () => below.delete(remotePort!))
  })
  tell({ port: (server.address() as AddressInfo).port, authority: world.authority.pem })
  await once(process.stdin.resume(), 'end')
  process.exit()
}

async function serveProxy(): Promise<void> {
  const { originPort, authority } = await readOrders()
  const allowed = hosts(HOST)
  const started = process.hrtime.bigint()
  const listener = createServer()
  await listenOn(listener)
  const ca = createSessionCa()
  const proxy = openProxy({
    listener,
    rules: { command: 'bench', allowed, denied: [], allowPrivate: false },
    ca,
    upstream: createUpstream({
      // As the peer does: configured roots replace the machine's.
      roots: authority,
      dialer: () => ({ host: '127.0.0.1', port: originPort, noDelay: true }),
    }),
    resolver: { resolve: async () => [PUBLIC_ADDRESS] },
  })
  tell({ ca: ca.pem, started: String(started) })
  await serveUntilEnd()
  await proxy.close()
}

async function servePeer(): Promise<void> {
  const { authority } = await readOrders()
  const { createMitmCA, disposeMitmCASync } = await import(new URL('mitm-ca.js', PEER).href)
  const { createHttpProxyServer } = await import(new URL('http-proxy.js', PEER).href)
  const started = process.hrtime.bigint()
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
    tlsTerminateUpstreamCA: authority,
  }) as Server
  await listenOn(server)
  tell({ ca: ca.certPem, started: String(started) })
  await serveUntilEnd()
  disposeMitmCASync(ca)
  process.exit()
}

function listenOn(server: Server): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen({ fd: LISTENER }, resolve))
}

if (import.meta.main) {
  const [, , name] = process.argv
  if (name === 'origin') await serveOrigin()
  else if (name === 'cordon') await serveProxy()
  else await servePeer()
}
