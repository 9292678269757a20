/** Clients of the proxy, written by hand where the bench's own HTTP would set the pace. */

import { once } from 'node:events'
import { Agent, request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import { type TLSSocket, connect as tlsConnect } from 'node:tls'
import { HOST, MEGABYTE, type Origin, type ProxyUnderTest } from './egress-proxies.ts'

/** A tunnel through the proxy with TLS inside. */
export async function connectThrough(proxy: ProxyUnderTest): Promise<TLSSocket> {
  const authority = `${HOST}:${proxy.hostPort}`
  const socket = connect({ host: '127.0.0.1', port: proxy.port, noDelay: true })
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
  const [answer] = (await come(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    socket.destroy()
    throw new Error(`${proxy.name} answered ${answer.toString('latin1').split('\r\n')[0]}`)
  }
  const tls = tlsConnect({ socket, servername: HOST, secureContext: proxy.trust, ALPNProtocols: ['http/1.1'] })
  below.set(tls, socket)
  await come(tls, 'secureConnect')
  return tls
}

/** An event of a socket. One that closes without it, as a proxy that is full closes it, would be waited for without end. */
async function come(socket: Socket, event: string): Promise<unknown[]> {
  const closed = new AbortController()
  const stop = () => closed.abort()
  socket.once('close', stop)
  try {
    return await once(socket, event, { signal: closed.signal })
  } finally {
    socket.off('close', stop)
  }
}

/** Ends a tunnel by a reset of the connection below it. */
export function resetTunnel(tls: TLSSocket): void {
  below.get(tls)?.resetAndDestroy()
  tls.destroy()
}

const below = new WeakMap<TLSSocket, Socket>()

/** The head of a request, ready to be written. */
export function requestHead(proxy: Pick<ProxyUnderTest, 'hostPort'>, path: string, more = ''): string {
  const host = proxy.hostPort === 443 ? HOST : `${HOST}:${proxy.hostPort}`
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
}

/** Opens a connection, asks for something small, and resolves with the first piece of the answer. */
export async function askOnce(proxy: ProxyUnderTest): Promise<TLSSocket> {
  const socket = await connectThrough(proxy)
  socket.write(requestHead(proxy, '/'))
  await come(socket, 'data')
  return socket
}

/** Reads all of a large answer; `onBytes` hears of every piece. */
export async function download(
  proxy: ProxyUnderTest,
  megabytes: number,
  onBytes: (count: number) => void = () => {},
): Promise<void> {
  const socket = await connectThrough(proxy)
  socket.write(requestHead(proxy, `/bytes/${megabytes}`, 'Connection: close\r\n'))
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    onBytes(chunk.length)
  })
  await once(socket, 'end')
  if (bytes < megabytes * MEGABYTE) throw new Error(`${proxy.name} sent ${bytes} bytes of ${megabytes} MB`)
}

/** The bench's own first connections would otherwise be part of the first proxy's. */
export async function warmClient(origin: Origin): Promise<void> {
  for (let count = 0; count < 100; count++) {
    const options = { port: origin.port, host: '127.0.0.1', servername: HOST, ca: origin.authority }
    const tls = tlsConnect(options)
    await come(tls, 'secureConnect')
    tls.write(requestHead({ hostPort: origin.port }, '/'))
    await come(tls, 'data')
    tls.destroy()
  }
}

export class ThroughAgent extends Agent {
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

/** One request on a kept connection; resolves with the status once all of the answer is there. */
export function getPooled(agent: ThroughAgent, path = '/'): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: HOST, port: agent.proxy.hostPort, path, agent })
    request.once('error', reject)
    request.once('response', (response) => response.resume().once('end', () => resolve(response.statusCode!)))
    request.end()
  })
}

/** Runs `work` `count` times, `width` of them at once. */
export async function inParallel(width: number, count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count
  const lane = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: width }, lane))
}
