/** Remote MCP servers over streamable HTTP or SSE, under the host rules of their section. */

import { setTimeout as delay } from 'node:timers/promises'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { createFetchLike, type FetchLike } from '../../egress/fetch-like.ts'
import type { EgressEvent } from '../../egress/route/event.ts'
import type { EgressRules } from '../../egress/route/rules.ts'
import type { Upstream } from '../../egress/route/upstream.ts'
import { matchesHost, parseHostPattern } from '../../hosts/pattern.ts'
import type { HostRule } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { machineUpstream } from '../../run/network/machine-upstream.ts'
import { machineResolver, type Resolver } from '../../system/dns.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import { isRecord, recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import type { RemoteLogin } from './remote-login.ts'

export type { EgressEvent } from '../../egress/route/event.ts'

export interface RemoteServer {
  readonly name: string
  readonly url: string
  readonly domains: readonly HostRule[]
  /** Sent with each request to the server itself. */
  readonly headers: Readonly<Record<string, string>>
  /** It uses the older transport; absent: try it if the newer one fails. */
  readonly isSse?: boolean
}

export interface RemoteParts {
  readonly server: RemoteServer
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly login: RemoteLogin
  readonly onEvent?: (event: EgressEvent) => void
  readonly resolver?: Resolver
  readonly upstream?: Upstream
  readonly clock?: { now(): number; wait(ms: number, signal: AbortSignal): Promise<void> }
}

export interface RemoteConnection {
  readonly send: (message: object) => void
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/** The limit of a local server's lines. */
const MAX_MESSAGE = 8 * 1024 * 1024

/** The hosts of the server and its section, which must include a separate authorization server. */
export function remoteRules({
  server,
  loaded,
  machine,
}: Pick<RemoteParts, 'server' | 'loaded' | 'machine'>): EgressRules {
  const { http, commands } = loaded.policy
  const parsed = parseHostPattern(new URL(server.url).host, null)
  const own: HostRule[] =
    'pattern' in parsed ? [{ pattern: parsed.pattern, rule: 'url', source: `MCP server ${server.name}` }] : []
  return {
    command: `MCP server ${server.name}`,
    allowed: [...own, ...server.domains],
    denied: [...http.denied, ...commands.deniedDomains],
    allowPrivate: http.allowPrivate,
    opensNamedLoopback: http.privateClosed !== true,
    ownAddresses: machine.ownAddresses(),
    ...(http.specialRanges && { specialRanges: http.specialRanges }),
    ...(http.suffixes && { suffixes: http.suffixes }),
  }
}

export function remoteFetch(parts: RemoteParts, signal: AbortSignal): FetchLike {
  const { machine, loaded, server, onEvent } = parts
  const within = createFetchLike({
    rules: remoteRules(parts),
    resolver: parts.resolver ?? machineResolver(),
    upstream: parts.upstream ?? machineUpstream(machine, loaded.sandbox),
    messageBytes: MAX_MESSAGE,
    signal,
    ...(onEvent && { onEvent }),
  })
  const { origin } = new URL(server.url)
  const owned = Object.entries(server.headers)
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    // A separate authorization server must not get the client's credentials for this one.
    if (new URL(url).origin === origin) for (const [name, value] of owned) headers.set(name, value)
    const response = await within(url, { ...init, headers })
    if (response.ok && AUTHORIZATION_METADATA.test(new URL(url).pathname)) await requireIssuer(url, response.clone())
    return response
  }
}

const AUTHORIZATION_METADATA = /\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/

/** Metadata of another issuer would redirect the login there (RFC 8414, 3.3). */
async function requireIssuer(url: string | URL, response: Response): Promise<void> {
  const { issuer } = recordOf(await response.json().catch(() => null))
  if (typeof issuer !== 'string' || URL.parse(issuer)?.origin === new URL(url).origin) return
  throw new Fault('login-needed', `${new URL(url).host} says that it is ${issuer}`, {
    remedy: 'Do not log in there.',
  })
}

/** Why the browser may not open an address, or null: another page could imitate the login. */
export function foreignLogin(
  parts: Pick<RemoteParts, 'server' | 'loaded' | 'machine'>,
  { hostname, port, protocol }: URL,
): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
  if (remoteRules(parts).allowed?.some(({ pattern }) => matchesHost(pattern, host, number))) return null
  return `the login would be at ${hostname}, which is neither the server's host nor in its domains`
}

type Transport = Pick<StreamableHTTPClientTransport, 'start' | 'close' | 'onmessage' | 'onerror'> & {
  send(message: JSONRPCMessage, options?: { onresumptiontoken?: (token: string) => void }): Promise<void>
  setProtocolVersion(version: string): void
  terminateSession?(): Promise<void>
}

/** The shortest time between reconnects, even if a server requests an immediate one. */
const REOPEN_MS = 1_000
const CLOCK: NonNullable<RemoteParts['clock']> = {
  now: () => performance.now(),
  wait: (ms, signal) => delay(ms, undefined, { signal }),
}

/** Time to read the last event after a stream's end. */
const READ_MS = 100
/** An older server's answers to the first message of the newer transport. */
const OLDER: ReadonlySet<unknown> = new Set([400, 404, 405])

/** Connects with the first message: over streamable HTTP, or over SSE if the server knows only that. */
export function connectRemote(parts: RemoteParts, receive: (text: string) => void): RemoteConnection {
  const { server, login, clock = CLOCK } = parts
  const controller = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  /** Unanswered requests, and whether the server can resume a broken stream. */
  const waiting = new Map<unknown, { resumable: boolean }>()
  const url = new URL(server.url)
  const within = remoteFetch(parts, controller.signal)
  let current: Promise<Transport> | null = null
  let opened = Number.NEGATIVE_INFINITY
  void ended.then(() => controller.abort())

  const answer = (text: string, id: unknown): void => {
    waiting.delete(id)
    receive(text)
  }
  const fail = (id: unknown, reason: string): void =>
    answer(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_603, message: reason } }), id)

  /** Detects what the transport misses: a stream without the answer, and a failed resume. */
  const watched: FetchLike = async (address, init = {}) => {
    const reads = (init.method ?? 'GET') === 'GET' && new Headers(init.headers).get('accept') === 'text/event-stream'
    if (reads) {
      const pause = opened + REOPEN_MS - clock.now()
      opened = clock.now() + Math.max(0, pause)
      if (pause > 0) await clock.wait(pause, controller.signal)
    }
    const response = await within(address, init)
    if (reads && !response.ok && new Headers(init.headers).has('last-event-id')) end('it did not resume its stream')
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    if (reads || !isStream || response.body === null || typeof init.body !== 'string') return response
    const { id } = recordOf(JSON.parse(init.body))
    const over = (): void => {
      const missing = (): void => {
        if (waiting.get(id)?.resumable === false) fail(id, `${server.name} ended its stream without an answer`)
      }
      setTimeout(missing, READ_MS).unref()
    }
    return new Response(response.body.pipeThrough(new TransformStream({ flush: over })), response)
  }

  async function open(isSse: boolean): Promise<Transport> {
    const options = { authProvider: login, fetch: watched, redirectPolicy: 'same-origin' as const }
    const transport: Transport = isSse
      ? new (await import('@modelcontextprotocol/sdk/client/sse.js')).SSEClientTransport(url, options)
      : new (await import('@modelcontextprotocol/sdk/client/streamableHttp.js')).StreamableHTTPClientTransport(
          url,
          options,
        )
    transport.onmessage = (message: JSONRPCMessage) => {
      const revision = 'result' in message && isRecord(message.result) ? message.result.protocolVersion : undefined
      if (typeof revision === 'string' && /^\d{4}-\d\d-\d\d$/.test(revision)) transport.setProtocolVersion(revision)
      answer(JSON.stringify(message), 'id' in message && !('method' in message) ? message.id : undefined)
    }
    await transport.start()
    // Unresumed requests are lost: reconnect, so that none waits for ever.
    transport.onerror = (error) => {
      if (isSse || /reconnection attempts/.test(error.message)) end(`its stream was lost (${error.message})`)
    }
    return transport
  }

  async function deliver(message: object): Promise<void> {
    const { id, method } = message as { id?: unknown; method?: unknown }
    const isRequest = id !== undefined && method !== undefined
    const state = { resumable: false }
    if (isRequest) waiting.set(id, state)
    const onresumptiontoken = (): void => {
      state.resumable = true
    }
    try {
      current ??= open(server.isSse === true)
      const transport = await current
      try {
        await transport.send(message as JSONRPCMessage, { onresumptiontoken })
      } catch (error) {
        if (method !== 'initialize' || server.isSse === true || !isRecord(error) || !OLDER.has(error.code)) throw error
        await transport.close()
        current = open(true)
        await (await current).send(message as JSONRPCMessage)
      }
    } catch (error) {
      if (!isRequest || controller.signal.aborted) return
      fail(id, reasonOf(error))
      // The server forgot the session: the next request starts another one.
      if (isRecord(error) && error.code === 404) end('its session is over')
    }
  }

  return {
    send: (message) => void deliver(message),
    ended,
    stop: async () => {
      const transport = await current?.catch(() => null)
      // Ask the server to end the session, but do not wait for one that does not answer.
      await Promise.race([
        transport?.terminateSession?.().catch(() => {}),
        new Promise((done) => setTimeout(done, 2_000)),
      ])
      controller.abort()
      await transport?.close()
      end('')
    },
  }
}

export function reasonOf(error: unknown): string {
  const remedy = isRecord(error) && typeof error.remedy === 'string' ? `. ${error.remedy}` : ''
  return `${messageOf(error)}${remedy}`
}
