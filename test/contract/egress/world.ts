/** A small internet on loopback for the tests of the proxy: named hosts with certificates, and a proxy in front of them. */

import { createServer as createHttp, type Server as HttpServer, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createSecureContext, type SecureContext, type TLSSocket, connect as tlsConnect } from 'node:tls'
import { type CommandProxy, openProxy, type ProxyOptions } from '../../../src/egress/command-proxy.ts'
import type { EgressEvent } from '../../../src/egress/route/event.ts'
import type { EgressRules } from '../../../src/egress/route/rules.ts'
import { createUpstream, type Upstream } from '../../../src/egress/route/upstream.ts'
import {
  createKeyPair,
  createSessionCa,
  type Issuer,
  type SessionCa,
  signAuthority,
  signLeaf,
  toPem,
} from '../../../src/egress/tls/certificate.ts'
import { parseHostPattern } from '../../../src/hosts/pattern.ts'
import { tldtsSuffixes } from '../../../src/hosts/suffix.ts'
import type { HostRule } from '../../../src/policy/policy.ts'
import type { Resolver } from '../../../src/system/dns.ts'
import { mappedResolver } from './mapped-resolver.ts'

/** A public address that is every host of the test internet. */
export const PUBLIC_ADDRESS = '140.82.112.3'

const DAY = 86_400_000

/** An authority of the test internet, which the proxy trusts. */
export class TestAuthority {
  readonly #issuer: Issuer = { name: 'Test internet', keys: createKeyPair() }
  readonly #validity = { from: new Date(Date.now() - DAY), until: new Date(Date.now() + DAY) }
  readonly pem: string = toPem(signAuthority(this.#issuer, this.#validity))

  /** Key and certificate for a host, for `https.createServer`. */
  issue(host: string, validity: { from: Date; until: Date } = this.#validity): { key: string; cert: string } {
    const keys = createKeyPair()
    const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    return { key, cert: toPem(signLeaf(this.#issuer, host, keys.spki, validity)) }
  }

  /** An `SNICallback` that has a certificate for every name. */
  contexts(): (name: string, done: (error: Error | null, context?: SecureContext) => void) => void {
    const known = new Map<string, SecureContext>()
    return (name, done) => {
      const context = known.get(name) ?? createSecureContext(this.issue(name))
      known.set(name, context)
      done(null, context)
    }
  }
}

export interface World {
  readonly authority: TestAuthority
  readonly ca: SessionCa
  readonly upstream: Upstream
  readonly resolver: Resolver
  readonly events: EgressEvent[]
  /** Serves a port of the test internet; the same server is behind every name. */
  serve(port: number, server: Server): Promise<number>
  /** Lets a port of the test internet be one of this machine, where another program serves. */
  route(port: number, own: number): void
  /** TLS on port 443 with the right certificate for whichever name is asked for. */
  serveHttps(listener: RequestListener, port?: number): Promise<HttpServer>
  serveHttp(listener: RequestListener): Promise<HttpServer>
  open(rules: Partial<EgressRules>, options?: Partial<ProxyOptions>): Promise<OpenProxy>
  close(): Promise<void>
}

export interface OpenProxy {
  readonly proxy: CommandProxy
  readonly port: number
  readonly url: string
}

export interface WorldOptions {
  readonly names?: Readonly<Record<string, readonly string[] | (() => readonly string[])>>
  readonly resolver?: Resolver
}

export function createWorld(options: WorldOptions = {}): World {
  const authority = new TestAuthority()
  const ports = new Map<number, number>()
  const servers = new Set<Server>()
  const sockets = new Set<Socket>()
  const proxyPorts: CommandProxy[] = []
  const events: EgressEvent[] = []
  const ca = createSessionCa()
  const upstream = createUpstream({
    trust: [authority.pem],
    // Only what was judged arrives here; the test internet answers on loopback for all of it.
    dialer: (route) => ({ host: '127.0.0.1', port: ports.get(route.target.port) ?? 1, noDelay: true }),
  })
  const everything: Resolver = { resolve: async () => [PUBLIC_ADDRESS] }
  const resolver = options.resolver ?? (options.names ? mappedResolver(options.names) : everything)

  async function serve(port: number, server: Server): Promise<number> {
    servers.add(server)
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    await listen(server)
    const own = (server.address() as AddressInfo).port
    ports.set(port, own)
    return own
  }

  return {
    authority,
    ca,
    upstream,
    resolver,
    events,
    serve,
    route: (port, own) => void ports.set(port, own),
    serveHttps: async (listener, port = 443) => {
      const server = createHttps({ ...authority.issue('default.test'), SNICallback: authority.contexts() }, listener)
      await serve(port, server)
      return server
    },
    serveHttp: async (listener) => {
      const server = createHttp(listener)
      await serve(80, server)
      return server
    },
    open: async (rules, more = {}) => {
      const listener = createServer()
      await listen(listener)
      const { port } = listener.address() as AddressInfo
      const whole: EgressRules = {
        command: 'npm test',
        allowed: [],
        denied: [],
        allowPrivate: false,
        suffixes: tldtsSuffixes,
        ...rules,
      }
      const proxy = openProxy({
        listener,
        rules: whole,
        ca,
        upstream,
        resolver,
        onEvent: (event) => events.push(event),
        ...more,
      })
      proxyPorts.push(proxy)
      return { proxy, port, url: `http://127.0.0.1:${port}` }
    },
    close: async () => {
      await Promise.all(proxyPorts.map((proxy) => proxy.close()))
      for (const socket of sockets) socket.destroy()
      await Promise.all(Array.from(servers, (server) => new Promise((resolve) => server.close(resolve))))
    },
  }
}

/** Host rules from entries as a manifest writes them. */
export function hosts(
  ...entries: readonly (string | (Omit<Partial<HostRule>, 'pattern'> & { host: string }))[]
): HostRule[] {
  return entries.map((entry, index) => {
    const { host, ...narrowed } = typeof entry === 'string' ? { host: entry } : entry
    const parsed = parseHostPattern(host, tldtsSuffixes)
    if ('problem' in parsed) throw new TypeError(parsed.problem)
    return { rule: `domains[${index}]`, source: 'cordon.toml', ...narrowed, pattern: parsed.pattern }
  })
}

/** A raw connection that remembers what it was sent. */
export class RawClient {
  readonly socket: Socket | TLSSocket
  #text = ''
  #closed = false

  constructor(socket: Socket | TLSSocket) {
    this.socket = socket
    socket.on('data', (chunk) => {
      this.#text += chunk.toString('latin1')
    })
    socket.on('error', () => {})
    socket.once('close', () => {
      this.#closed = true
    })
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new RawClient(socket)
  }

  get text(): string {
    return this.#text
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** Waits until what came satisfies `done`, or the connection closes; gives back the text so far and forgets it. */
  async receive(done: (text: string) => boolean = () => false): Promise<string> {
    while (!this.#closed && !done(this.#text)) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.socket.off('data', wake)
          this.socket.off('close', wake)
          resolve()
        }
        this.socket.on('data', wake)
        this.socket.on('close', wake)
      })
    }
    const text = this.#text
    this.#text = ''
    return text
  }

  /** CONNECT; the status line. */
  async tunnel(authority: string): Promise<string> {
    this.send(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`)
    const text = await this.receive((all) => all.includes('\r\n\r\n'))
    return text.split('\r\n')[0]!
  }

  /** TLS over this connection; rejects when the handshake is refused. */
  async encrypt(options: {
    ca: string
    servername?: string
    ALPNProtocols?: string[]
    host?: string
  }): Promise<RawClient> {
    // TLS over a socket that is closed already says nothing at all.
    if (this.socket.destroyed) throw new Error('closed before the handshake')
    this.socket.removeAllListeners('data')
    const { host = options.servername, ...rest } = options
    const tls = tlsConnect({
      socket: this.socket,
      ...rest,
      servername: options.servername ?? '',
      ...(options.servername === undefined && { checkServerIdentity: () => undefined }),
      ...(host !== undefined && { host }),
    })
    await new Promise((resolve, reject) => {
      tls.once('secureConnect', resolve)
      tls.once('error', reject)
      tls.once('close', () => reject(new Error('closed during the handshake')))
    })
    return new RawClient(tls)
  }

  close(): void {
    this.socket.destroy()
  }
}

export function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
}
