/**
 * A connection to a database with a brokered password: only its protocol may pass, and the proxy
 * performs the login.
 */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Login, LoginProtocol } from '../credentials/broker.ts'
import { type LoginCall, LoginRefused, type LoginWire } from '../logins/login-wire.ts'
import { postgres } from '../logins/postgres.ts'
import { redis } from '../logins/redis.ts'
import type { Admission } from '../route/gate.ts'
import { isLoopback } from '../route/rules.ts'
import { upstreamRefusal } from '../route/upstream.ts'
import type { SessionCa } from '../tls/certificate.ts'
import { join } from '../wire/join.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf } from '../wire/target.ts'
import { type Passage, recordAllowed, recordRefused, startRecord } from './passage.ts'

const WIRES: Readonly<Record<LoginProtocol, LoginWire>> = { postgres, redis }

/** Serves one connection to such a database. */
export async function carryLogin(
  passage: Passage,
  ca: SessionCa,
  socket: Socket,
  { route }: Admission,
  login: Login,
): Promise<void> {
  const { target } = route
  const record = startRecord(passage, { kind: 'tunnel', target, method: 'LOGIN' })
  const wire = WIRES[login.protocol]
  let client: Duplex = socket
  let host: Socket | null = null
  const timer = setTimeout(() => socket.destroy(), passage.limits.headMilliseconds)
  socket.once('close', () => host?.destroy())
  const call: LoginCall = {
    client: socket,
    login,
    subject: authorityOf(target, null),
    encryptClient: async (protocols = []) => {
      client = await encrypted(socket, ca, target.host, protocols)
      return client
    },
    dial: async (secure) => {
      const dialled = passage.agent.dial(route, secure, [])
      host = dialled
      await connected(dialled, secure ? 'secureConnect' : 'connect')
      return dialled
    },
    encryptHost: async (plain) => {
      const tls = passage.agent.encrypt(plain, route)
      await connected(tls, 'secureConnect')
      return tls
    },
    isPrivate: (to) => to instanceof TLSSocket || (route.parent === undefined && isLoopback(to.remoteAddress ?? '')),
  }
  try {
    const created = await wire.logIn(call)
    clearTimeout(timer)
    if (created === null) return
    const address = created.host.remoteAddress ?? null
    const ways = { down: login.scrub(wire.readHead), ...(created.words && { up: created.words }) }
    const refused =
      created.words &&
      new Promise<EgressDenial>((resolve) => created.words!.once('error', (error) => resolve(refusalOf(error))))
    void refused?.then((refusal) => end(client, wire, refusal))
    const bytes = await join(created.client, created.host, passage.limits.idleMilliseconds, ways)
    const refusal = await Promise.race([refused, null])
    if (refusal) recordRefused(passage, record, refusal, bytes)
    else recordAllowed(passage, record, { ...bytes, address, secrets: created.used() ? [login.name] : [] })
  } catch (error) {
    clearTimeout(timer)
    const refusal = error instanceof LoginRefused ? error.refusal : upstreamRefusal(error, target)
    recordRefused(passage, record, refusal)
    end(client, wire, refusal)
    ;(host as Socket | null)?.destroy()
  }
}

function refusalOf(error: Error): EgressDenial {
  return error instanceof LoginRefused ? error.refusal : { code: 'upstream-protocol', message: error.message }
}

function end(client: Duplex, wire: LoginWire, refusal: EgressDenial): void {
  if (client.destroyed || !client.writable) client.destroy()
  else client.end(wire.failure(refusal))
}

function encrypted(socket: Socket, ca: SessionCa, host: string, protocols: readonly string[]): Promise<Duplex> {
  const tls = new TLSSocket(socket, {
    isServer: true,
    secureContext: ca.contextFor(host),
    ...(protocols.length > 0 && { ALPNProtocols: [...protocols] }),
  })
  return new Promise((resolve, reject) => {
    const broken = () => reject(new LoginRefused('client-tls', 'the client aborted the TLS handshake'))
    tls.on('error', broken)
    tls.once('_tlsError', broken)
    tls.once('close', broken)
    tls.once('secure', () => resolve(tls))
  })
}

function connected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    // The handler stays: a later error closes the connection, which is noticed.
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
  })
}
