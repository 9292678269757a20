/** A host of the test internet that speaks all that clients do: HTTP/1 and 2, events, WebSocket, bodies of any length, gRPC. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { createRequire } from 'node:module'
import type { Server } from 'node:net'
import { join } from 'node:path'
import type { World } from '../contract/egress/world.ts'

/** Where `scripts/test-clients.ts` installs. */
export const CACHE: string = process.env.CORDON_TEST_CLIENTS ?? join(import.meta.dirname, '../../.cache/clients')
const library = createRequire(join(CACHE, 'package.json'))

const PIECE = Buffer.alloc(1024 * 1024, 'x')

/** Opens it on 443 and 80, and gRPC on 8443. */
export async function openOrigin(world: World): Promise<() => void> {
  const waiting: ServerResponse[] = []
  const answer = (message: IncomingMessage, response: ServerResponse) => serve(message, response, waiting)
  const server: Http2SecureServer = createSecureServer({
    ...world.authority.issue('default.test'),
    SNICallback: world.authority.contexts(),
    allowHTTP1: true,
  })
  server.on('request', answer as never)
  await world.serve(443, server as unknown as Server)
  await world.serveHttp(answer)
  const { WebSocketServer } = library('ws')
  const sockets = new WebSocketServer({ server })
  sockets.on(
    'connection',
    (socket: {
      on: (name: string, then: (data: Buffer, binary: boolean) => void) => void
      send: (data: Buffer, how: object) => void
    }) => {
      socket.on('message', (data, binary) => socket.send(data, { binary }))
    },
  )
  const grpc = library('@grpc/grpc-js')
  const calls = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 })
  const identity = (bytes: Buffer) => bytes
  const shape = {
    requestSerialize: identity,
    requestDeserialize: identity,
    responseSerialize: identity,
    responseDeserialize: identity,
  }
  calls.addService(
    {
      Echo: { path: '/test.Test/Echo', requestStream: false, responseStream: false, ...shape },
      Count: { path: '/test.Test/Count', requestStream: false, responseStream: true, ...shape },
    },
    {
      Echo: (call: { request: Buffer }, done: (error: null, answer: Buffer) => void) => done(null, call.request),
      Count: (call: { write: (bytes: Buffer) => void; end: () => void }) => {
        for (let at = 0; at < 5; at++) call.write(Buffer.from(`count ${at}`))
        call.end()
      },
    },
  )
  const { key, cert } = world.authority.issue('grpc.example.org')
  const credentials = grpc.ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) },
  ])
  const port = await new Promise<number>((resolve, reject) =>
    calls.bindAsync('127.0.0.1:0', credentials, (error: Error | null, own: number) =>
      error ? reject(error) : resolve(own),
    ),
  )
  world.route(8443, port)
  return () => {
    sockets.close()
    calls.forceShutdown()
  }
}

function serve(message: IncomingMessage, response: ServerResponse, waiting: ServerResponse[]): void {
  const url = new URL(message.url!, 'http://x')
  response.on('error', () => {})
  let received = 0
  message.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  if (url.pathname === '/hello') return void response.end('hello from the host\n')
  if (url.pathname === '/upload') return void message.once('end', () => response.end(`uploaded ${received}\n`))
  if (url.pathname === '/down') return void send(response, Number(url.searchParams.get('bytes')))
  if (url.pathname === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
    return void waiting.push(response)
  }
  if (url.pathname === '/go-on') {
    for (const one of waiting.splice(0)) one.end('data: two\n\n')
    return void response.end('went on\n')
  }
  response.writeHead(404).end(`nothing at ${url.pathname}\n`)
}

function send(response: ServerResponse, bytes: number): void {
  let left = bytes
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes })
  const more = () => {
    while (left > 0) {
      const piece = PIECE.subarray(0, Math.min(left, PIECE.length))
      left -= piece.length
      if (!response.write(piece)) return void response.once('drain', more)
    }
    response.end()
  }
  more()
}
