/** The conformance suite speaks HTTP, and servers and the gateway stdio: its own program for each session, message by message. */

import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

export interface Bridged {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** The label of the gateway: its names and addresses are the suite's with this before them. */
  readonly label: string | null
}

type Message = Record<string, unknown> & { params?: Record<string, unknown>; result?: Record<string, unknown> }

export async function openBridge(bridged: Bridged): Promise<{ url: string; close(): Promise<void> }> {
  const sessions = new Map<string, { http: StreamableHTTPServerTransport }>()
  // Also those of requests that were refused, which began no session: their programs would go on.
  const opened: StdioClientTransport[] = []
  const front: Server = createServer(async (incoming, outgoing) => {
    try {
      const { port } = front.address() as AddressInfo
      const known = sessions.get(String(incoming.headers['mcp-session-id']))
      const { http } = known ?? (await open(bridged, { sessions, opened }, port))
      await http.handleRequest(incoming, outgoing)
    } catch {
      outgoing.destroy()
    }
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(front.address() as AddressInfo).port}/mcp`,
    close: async () => {
      await Promise.all([
        ...[...sessions.values()].map(({ http }) => http.close()),
        ...opened.map((stdio) => stdio.close()),
      ])
      front.close()
      front.closeAllConnections()
    },
  }
}

async function open(
  { command, args, env, cwd, label }: Bridged,
  {
    sessions,
    opened,
  }: {
    readonly sessions: Map<string, { http: StreamableHTTPServerTransport }>
    readonly opened: StdioClientTransport[]
  },
  port: number,
) {
  const stdio = new StdioClientTransport({ command, args: [...args], env: { ...env }, cwd, stderr: 'ignore' })
  opened.push(stdio)
  const hosts = ['localhost', '127.0.0.1'].map((host) => `${host}:${port}`)
  const http = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, { http }),
    enableDnsRebindingProtection: true,
    allowedHosts: hosts,
    allowedOrigins: hosts.map((host) => `http://${host}`),
  })
  const calls: (string | number)[] = []
  http.onmessage = (message) => {
    const { method, id } = message as { method?: string; id?: string | number }
    if (method === 'tools/call' && id !== undefined) calls.push(id)
    stdio.send(inward(message as Message, label) as unknown as JSONRPCMessage).catch(() => {})
  }
  stdio.onmessage = (message) => {
    const { method, id, result } = message as { method?: string; id?: string | number; result?: object }
    const reported = message as Message
    // Cordon's own questions are for the person running the suite, and are answered here.
    if (label !== null && method === 'elicitation/create' && isOwnQuestion(reported))
      return void stdio.send({ jsonrpc: '2.0', id: id!, result: { action: 'accept', content: yes(reported) } })
    if (result !== undefined && calls.includes(id!)) calls.splice(calls.indexOf(id!), 1)
    const related = method === undefined ? undefined : calls.at(-1)
    const how = related === undefined ? {} : { relatedRequestId: related }
    // The process that asked has ended, so nobody waits for the answer.
    http.send(outward(reported, label) as unknown as JSONRPCMessage, how).catch(() => {})
  }
  await stdio.start()
  await http.start()
  return { http }
}

/** A question of Cordon's: a choice of answers, which no server's of the suite is called. */
function isOwnQuestion({ params }: Message): boolean {
  const schema = params?.requestedSchema as { properties?: Record<string, unknown> } | undefined
  return schema?.properties?.answer !== undefined
}

function yes({ params }: Message): Record<string, string> {
  const schema = params!.requestedSchema as { properties: { answer: { oneOf?: { const: string }[]; enum?: string[] } } }
  const { answer } = schema.properties
  return { answer: answer.enum?.[0] ?? answer.oneOf![0]!.const }
}

/** The suite's names as the gateway has them. */
function inward(message: Message, label: string | null): Message {
  const { params } = message
  if (label === null || params === undefined) return message
  const renamed: Record<string, unknown> = { ...params }
  if (typeof params.name === 'string' && message.method !== 'initialize') renamed.name = `${label}__${params.name}`
  if (typeof params.uri === 'string') renamed.uri = `cordon://${label}/${params.uri}`
  const ref = params.ref as { name?: string; uri?: string } | undefined
  if (ref?.name) renamed.ref = { ...ref, name: `${label}__${ref.name}` }
  return { ...message, params: renamed }
}

/** And back. */
function outward(message: Message, label: string | null): Message {
  if (label === null) return message
  const plain = JSON.stringify(message).replaceAll(`"${label}__`, '"').replaceAll(`cordon://${label}/`, '')
  return JSON.parse(plain)
}
