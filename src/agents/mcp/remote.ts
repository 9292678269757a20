/** MCP servers elsewhere: reached over streamable HTTP, under the host rules of their section. */

import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { createFetchLike, type FetchLike } from '../../egress/fetch-like.ts'
import type { EgressEvent } from '../../egress/route/event.ts'
import type { EgressRules } from '../../egress/route/rules.ts'
import type { Upstream } from '../../egress/route/upstream.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import type { HostRule } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { machineUpstream } from '../../run/network/machine-upstream.ts'
import { machineResolver, type Resolver } from '../../system/dns.ts'
import { messageOf } from '../../system/fault.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import type { RemoteLogin } from './remote-login.ts'

export interface RemoteServer {
  readonly name: string
  readonly url: string
  readonly domains: readonly HostRule[]
  /** Sent with each request to the server itself. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RemoteParts {
  readonly server: RemoteServer
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly login: RemoteLogin
  readonly onEvent?: (event: EgressEvent) => void
  readonly resolver?: Resolver
  readonly upstream?: Upstream
}

export interface RemoteConnection {
  readonly send: (message: object) => void
  readonly ended: Promise<string>
  stop(): Promise<void>
}

/** As for the lines of a server that runs here. */
const MAX_MESSAGE = 8 * 1024 * 1024

/** The host of the server itself, and those of its section: an authorization server elsewhere has to be among them. */
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
  const { machine, loaded, onEvent } = parts
  return createFetchLike({
    rules: remoteRules(parts),
    resolver: parts.resolver ?? machineResolver(),
    upstream: parts.upstream ?? machineUpstream(machine, loaded.sandbox),
    messageBytes: MAX_MESSAGE,
    signal,
    ...(onEvent && { onEvent }),
  })
}

/** Connects when the first message is sent. */
export function connectRemote(parts: RemoteParts, receive: (text: string) => void): RemoteConnection {
  const { server, login } = parts
  const controller = new AbortController()
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const opening = (async () => {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      authProvider: login,
      fetch: remoteFetch(parts, controller.signal),
      requestInit: { headers: { ...server.headers } },
      redirectPolicy: 'same-origin',
    })
    transport.onmessage = (message: JSONRPCMessage) => {
      const revision = 'result' in message && isRecord(message.result) ? message.result.protocolVersion : undefined
      if (typeof revision === 'string' && /^\d{4}-\d\d-\d\d$/.test(revision)) transport.setProtocolVersion(revision)
      receive(JSON.stringify(message))
    }
    await transport.start()
    return transport
  })()
  opening.catch((error) => end(messageOf(error)))

  async function deliver(message: object): Promise<void> {
    try {
      await (await opening).send(message as JSONRPCMessage)
    } catch (error) {
      const { id, method } = message as { id?: unknown; method?: unknown }
      if (id === undefined || method === undefined || controller.signal.aborted) return
      receive(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_603, message: reasonOf(error) } }))
      // The server has forgotten the session: the next request begins another one.
      if (isRecord(error) && error.code === 404) end('its session is over')
    }
  }

  return {
    send: (message) => void deliver(message),
    ended,
    stop: async () => {
      const transport = await opening.catch(() => null)
      // A session that is over is the server's to forget; one that does not answer is not waited for.
      await Promise.race([
        transport?.terminateSession().catch(() => {}),
        new Promise((done) => setTimeout(done, 2_000)),
      ])
      controller.abort()
      await transport?.close()
      end('it was ended')
    },
  }
}

function reasonOf(error: unknown): string {
  const remedy = isRecord(error) && typeof error.remedy === 'string' ? ` ${error.remedy}` : ''
  return `${messageOf(error)}${remedy}`
}
