/**
 * MCP over streamable HTTP, on loopback: requires a token, rejects foreign origins and host names, one session per
 * handshake.
 */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { requireKind, requireText, wrong } from '../../call/given.ts'
import { isRecord } from '../../system/json.ts'
import { ERROR, errorObject, isId, type Json, RpcError } from '../../system/json-rpc.ts'
import { loopbackRefusal } from '../loopback/loopback-guard.ts'
import { headerProblem, isStateless, postStateless } from './http-stateless.ts'
import { REVISIONS, unsupported } from './revision.ts'
import { ServedProject, type ServerOptions } from './served-project.ts'
import { McpServer } from './server.ts'

export interface HttpServer {
  readonly url: string
  readonly token: string
  close(): Promise<void>
}

interface Client {
  readonly server: McpServer
  readonly streams: Set<ServerResponse>
  readonly answers: Map<string | number, ServerResponse>
  used: number
}

const MAX_BODY = 64 * 1024 * 1024
const MAX_CLIENTS = 200
/** A client silent for this long is gone. */
const IDLE_MS = 30 * 60_000

/** A token that nobody guesses. */
export const TOKEN: RegExp = /^[\w.~+/=-]{32,512}$/

/** Starts the server on 127.0.0.1; port 0 picks a free one, and the default token is random. */
export async function serveHttp(
  options: ServerOptions,
  port: number,
  token: string = randomBytes(32).toString('base64url'),
): Promise<HttpServer> {
  requireKind('the port of serveHttp', port, 'number')
  if (!TOKEN.test(requireText('the token of serveHttp', token)))
    throw wrong('the token of serveHttp can be guessed', 'Expected: 32 to 512 letters, digits and -._~+/=.')
  const clients = new Map<string, Client>()
  const stateless = new ServedProject(options, true)
  const running = new Set<ServerResponse>()
  const http = createServer((request, response) => {
    void handle(request, response, { options, clients, stateless, running, token, http }).catch((error: unknown) => {
      if (!response.headersSent) refuse(response, 500, error instanceof Error ? error.message : String(error))
      else response.end()
    })
  })
  http.headersTimeout = 10_000
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, '127.0.0.1', resolve)
  })
  const reaper = setInterval(() => reap(clients), 60_000).unref()
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    token,
    close: async () => {
      clearInterval(reaper)
      for (const client of clients.values()) await client.server.close()
      clients.clear()
      await stateless.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

interface Around {
  readonly options: ServerOptions
  readonly clients: Map<string, Client>
  readonly stateless: ServedProject
  readonly running: Set<ServerResponse>
  readonly token: string
  readonly http: Server
}

async function handle(request: IncomingMessage, response: ServerResponse, around: Around): Promise<void> {
  const refusal = refusalOf(request, around)
  if (refusal) return refuse(response, refusal.status, refusal.why)
  const revision = request.headers['mcp-protocol-version']
  if (typeof revision === 'string' && !REVISIONS.includes(revision)) return fail(response, 400, unsupported(revision))
  const id = request.headers['mcp-session-id']
  const client = typeof id === 'string' ? around.clients.get(id) : undefined
  if (request.method === 'POST') return post(request, response, around, client, id !== undefined)
  if (!client) return refuse(response, id === undefined ? 400 : 404, 'there is no such session')
  client.used = Date.now()
  if (request.method === 'GET') return void openStream(response, client)
  if (request.method !== 'DELETE') return refuse(response, 405, 'use POST, GET or DELETE')
  around.clients.delete(id as string)
  await client.server.close()
  for (const stream of client.streams) stream.end()
  response.writeHead(204).end()
}

function refusalOf(request: IncomingMessage, { token, http }: Around): { status: number; why: string } | null {
  const refusal = loopbackRefusal(request, (http.address() as AddressInfo).port, token)
  if (refusal) return refusal
  return request.url === '/mcp' ? null : { status: 404, why: 'the address is /mcp' }
}

async function post(
  request: IncomingMessage,
  response: ServerResponse,
  around: Around,
  known: Client | undefined,
  named: boolean,
): Promise<void> {
  const message = await readMessage(request)
  if (message === 'too-large') return refuse(response, 413, `a body has at most ${MAX_BODY} bytes`)
  if (message === null) return refuse(response, 400, 'the body is not one JSON object')
  if (isStateless(request, message)) {
    const problem = headerProblem(request, message)
    if (problem) return fail(response, 400, problem, message.id)
    if (around.running.size >= MAX_CLIENTS) return refuse(response, 503, 'too many requests')
    around.running.add(response)
    try {
      return await postStateless(message, response, around)
    } finally {
      around.running.delete(response)
    }
  }
  const { id: requestId } = message
  if (typeof message.method === 'string' && requestId !== undefined && !isId(requestId))
    return fail(response, 400, new RpcError(ERROR.request, '"id" must be a text or a whole number'))
  const isInitialize = message.method === 'initialize'
  if (!known && (named || !isInitialize)) return refuse(response, named ? 404 : 400, 'there is no such session')
  const id = known ? null : randomBytes(24).toString('base64url')
  if (!known && around.clients.size >= MAX_CLIENTS) return refuse(response, 503, 'too many clients')
  const client = known ?? newClient(around.options)
  client.used = Date.now()
  if (typeof message.method !== 'string' || !isId(requestId)) {
    await client.server.peer.accept(message)
    response.writeHead(202).end()
    return
  }
  // A second request with a running id would take over the first one's stream.
  if (client.answers.has(requestId)) return refuse(response, 400, 'a request with this id is running')
  if (id !== null) {
    around.clients.set(id, client)
    response.setHeader('mcp-session-id', id)
  }
  openStream(response, client)
  client.answers.set(requestId, response)
  response.on('close', () => {
    // Hanging up cancels.
    if (!response.writableFinished)
      void client.server.peer.accept({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  })
  await client.server.peer.accept(message)
  client.answers.delete(requestId)
  response.end()
}

function newClient(options: ServerOptions): Client {
  const streams = new Set<ServerResponse>()
  const answers = new Map<string | number, ServerResponse>()
  const server = new McpServer((message) => {
    const { id, method } = message
    const own = method === undefined && (typeof id === 'string' || typeof id === 'number') ? answers.get(id) : undefined
    const stream = own ?? [...streams].at(-1)
    stream?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  }, options)
  return { server, streams, answers, used: Date.now() }
}

function openStream(response: ServerResponse, client: Client): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.flushHeaders()
  client.streams.add(response)
  response.on('close', () => client.streams.delete(response))
}

async function readMessage(request: IncomingMessage): Promise<Json | 'too-large' | null> {
  const chunks: Buffer[] = []
  let size = 0
  // Do not read the rest of an oversized body; keep the connection until the refusal is sent.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BODY) return 'too-large'
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function refuse(response: ServerResponse, status: number, why: string): void {
  fail(response, status, new RpcError(-32000, why))
}

function fail(response: ServerResponse, status: number, error: RpcError, id: unknown = null): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: isId(id) ? id : null, error: errorObject(error) })
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}

function reap(clients: Map<string, Client>): void {
  for (const [id, client] of clients) {
    if (client.streams.size > 0 || Date.now() - client.used < IDLE_MS) continue
    clients.delete(id)
    void client.server.close()
  }
}
