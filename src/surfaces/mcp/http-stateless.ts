/**
 * The stateless revision over HTTP: one request per POST, answered in the response, with headers that repeat the body.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { attempt } from '../../system/fault.ts'
import { isRecord } from '../../system/json.ts'
import { ERROR, isId, type Json, RpcError } from '../../system/json-rpc.ts'
import { META, readEnvelope, STATELESS_REVISION } from './revision.ts'
import type { ServedProject, ServerOptions } from './served-project.ts'
import { McpServer } from './server.ts'

/** Shared by the requests of clients without a session. */
export interface StatelessPlace {
  readonly options: ServerOptions
  readonly stateless: ServedProject
}

const NAMED: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' }

const ALIVE_MS = 15_000

/** HTTP statuses of errors in the request itself; other errors are normal answers. */
const STATUS: Readonly<Record<number, number>> = {
  [ERROR.request]: 400,
  [ERROR.method]: 404,
  [ERROR.headers]: 400,
  [ERROR.capability]: 400,
  [ERROR.revision]: 400,
}

/** True for a message of the stateless revision, by its body, or else by its header. */
export function isStateless(request: IncomingMessage, { params, method }: Json): boolean {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : {}
  if (META.revision in meta) return true
  return method !== 'initialize' && request.headers['mcp-protocol-version'] === STATELESS_REVISION
}

/** Why headers and body disagree, or the body is not a request of this revision; null if valid. */
export function headerProblem({ headers }: IncomingMessage, message: Json): RpcError | null {
  const { method, params = {} } = message
  if (typeof method !== 'string')
    return new RpcError(ERROR.request, 'responses are not accepted: send the request again')
  if (!isRecord(params)) return new RpcError(ERROR.params, '"params" must be an object')
  // The revision does not define headers of notifications.
  if (message.id === undefined) return null
  try {
    if (!readEnvelope(params)) return new RpcError(ERROR.params, `"_meta" needs "${META.revision}"`)
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
  const meta = params._meta as Json
  const named = NAMED[method]
  return (
    mismatch('MCP-Protocol-Version', headers['mcp-protocol-version'], meta[META.revision]) ??
    mismatch('Mcp-Method', headers['mcp-method'], method) ??
    (named ? mismatch('Mcp-Name', headers['mcp-name'], params[named]) : null)
  )
}

function mismatch(name: string, header: string | string[] | undefined, body: unknown): RpcError | null {
  const found = typeof header === 'string' ? decoded(header.trim()) : null
  if (found !== null && found === body) return null
  return new RpcError(ERROR.headers, `the header ${name} must say what the body says`)
}

/** A value beyond plain header text comes in base64. */
function decoded(text: string): string | null {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(text)
  if (!encoded) return text
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded[1]!)) return null
  return attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded[1]!, 'base64')), null)
}

/** Answers one request. Hanging up cancels it. */
export async function postStateless(message: Json, response: ServerResponse, place: StatelessPlace): Promise<void> {
  if (!isId(message.id)) {
    response.writeHead(202).end()
    return
  }
  const params = message.params as Json
  const streams = message.method === 'subscriptions/listen' || (params._meta as Json).progressToken !== undefined
  const server = new McpServer(
    (sent) => (streams ? event(response, sent) : answer(response, sent)),
    place.options,
    place.stateless,
  )
  response.on('close', () => void server.close())
  if (streams) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    response.flushHeaders()
  }
  // An empty line keeps a quiet stream alive.
  const alive = streams ? setInterval(() => response.write(':\n\n'), ALIVE_MS).unref() : null
  await server.peer.accept(message)
  if (alive) clearInterval(alive)
  response.end()
}

function event(response: ServerResponse, message: Json): void {
  if (!response.writableEnded) response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
}

function answer(response: ServerResponse, message: Json): void {
  if (response.headersSent || message.method !== undefined) return
  const { code } = isRecord(message.error) ? message.error : {}
  const status = typeof code === 'number' ? (STATUS[code] ?? 200) : 200
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(message))
}
