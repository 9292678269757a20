/** Rows about bytes on the wire, as `hosts.jsonl` writes them, and a client that plays them against a proxy. */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EgressRules } from '../../../src/egress/route/rules.ts'
import { createWorld, hosts, RawClient, type World } from '../../contract/egress/world.ts'

export interface WireRow {
  readonly id: string
  readonly why: string
  readonly expect: 'allow' | 'deny'
  readonly config: {
    readonly allow: readonly string[]
    readonly deny: readonly string[]
    readonly allowPrivate: boolean
  }
  /** CONNECT to this authority first. */
  readonly connect?: string
  /** Then TLS with this server name; null for none; absent for no TLS. */
  readonly sni?: string | null
  /** The Host of a plain GET, where `raw` does not say it all. */
  readonly host?: string
  readonly raw?: string
  /** Straight to the proxy, without CONNECT. */
  readonly plain?: boolean
  readonly socks?: {
    readonly atyp?: 'domain' | 'ipv4' | 'ipv6'
    readonly cmd?: 'connect' | 'bind' | 'udp'
    readonly host: string
    readonly port: number
  }
}

/** What every host of the test internet answers, so that a test can tell that it was reached. */
export const REACHED = 'reached the host'

export async function createWireWorld(): Promise<World> {
  const world = createWorld()
  const answer = (message: IncomingMessage, response: { end(text: string): void }) => {
    message.resume()
    message.once('end', () => response.end(REACHED))
  }
  const https = await world.serveHttps(answer)
  const http = await world.serveHttp(answer)
  for (const server of [https, http]) server.on('upgrade', switchProtocols)
  return world
}

function switchProtocols(message: IncomingMessage, socket: Duplex): void {
  const accept = createHash('sha1')
    .update(`${message.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  const head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
  socket.end(`${head}${REACHED}`)
}

/** The rules of a row; an allow of `*` means no list. */
export function rulesOf(config: WireRow['config']): Pick<EgressRules, 'allowed' | 'denied' | 'allowPrivate'> {
  const { allow, deny, allowPrivate } = config
  return { allowed: allow.includes('*') ? null : hosts(...allow), denied: hosts(...deny), allowPrivate }
}

/** Plays a row against a proxy on loopback; `allow` only if the host itself answered. */
export async function play(port: number, ca: string, row: WireRow): Promise<'allow' | 'deny'> {
  const client = await RawClient.connect(port)
  try {
    return (await reaches(ca, row, client)) ? 'allow' : 'deny'
  } finally {
    client.close()
  }
}

async function reaches(ca: string, row: WireRow, client: RawClient): Promise<boolean> {
  if (row.socks) return reachesBySocks(ca, row.socks, client)
  if (row.connect === undefined) return sends(client, row.raw ?? '')
  const status = await client.tunnel(row.connect)
  if (!status.startsWith('HTTP/1.1 200 ')) return false
  const named = row.connect.replace(/:\d+$/, '')
  const raw = row.raw ?? `GET / HTTP/1.1\r\nHost: ${row.host ?? named}\r\nConnection: close\r\n\r\n`
  if (row.sni === undefined) return sends(client, raw)
  const servername = row.sni ?? undefined
  try {
    const inside = await client.encrypt({
      ca,
      host: named,
      ...(servername !== undefined && { servername }),
    })
    return await sends(inside, raw)
  } catch {
    return false
  }
}

async function sends(client: RawClient, raw: string): Promise<boolean> {
  client.send(raw)
  const text = await client.receive((all) => all.includes(REACHED) || /^HTTP\/1.1 [45]\d\d /.test(all))
  return text.includes(REACHED)
}

async function reachesBySocks(ca: string, socks: NonNullable<WireRow['socks']>, client: RawClient): Promise<boolean> {
  client.send(Buffer.from([5, 1, 0]))
  await client.receive((text) => text.length >= 2)
  client.send(
    Buffer.concat([Buffer.from([5, COMMANDS[socks.cmd ?? 'connect'], 0]), socksAddress(socks), portBytes(socks.port)]),
  )
  const reply = await client.receive((text) => text.length >= 10)
  if (reply.charCodeAt(1) !== 0) return false
  const inside = await client.encrypt({ ca, servername: socks.host })
  return sends(inside, `GET / HTTP/1.1\r\nHost: ${socks.host}\r\nConnection: close\r\n\r\n`)
}

const COMMANDS = { connect: 1, bind: 2, udp: 3 } as const

function socksAddress(socks: NonNullable<WireRow['socks']>): Buffer {
  if (socks.atyp === 'ipv4') return Buffer.from([1, ...socks.host.split('.').map(Number)])
  if (socks.atyp === 'ipv6') return Buffer.concat([Buffer.from([4]), Buffer.from(socks.host, 'hex')])
  return Buffer.concat([Buffer.from([3, socks.host.length]), Buffer.from(socks.host, 'latin1')])
}

function portBytes(port: number): Buffer {
  return Buffer.from([port >> 8, port & 0xff])
}
