/** An OTLP receiver that faults by a seeded plan: errors, cuts before and after it has taken a batch, slowness, other words. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface FaultyReceiver {
  readonly url: string
  /** What was taken, as a collector writes it: one request a line, the logs only. */
  readonly taken: string[]
  /** Metrics that were taken, the latest last. */
  readonly metrics: string[]
  readonly faults: Record<string, number>
  close(): Promise<void>
}

/** A small generator, so that a failure can be run again. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const FAULTS = [
  'none',
  'none',
  'none',
  '500',
  '503',
  '429',
  'cut',
  'cut-after',
  'slow',
  'not-json',
  'half-answer',
] as const

export async function openFaultyReceiver(seed: number): Promise<FaultyReceiver> {
  const random = seeded(seed)
  const taken: string[] = []
  const metrics: string[] = []
  const faults: Record<string, number> = {}
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = gunzipSync(Buffer.concat(chunks)).toString()
    const fault = FAULTS[Math.floor(random() * FAULTS.length)]!
    faults[fault] = (faults[fault] ?? 0) + 1
    const take = (): void => {
      if (request.url === '/v1/logs') taken.push(body)
      if (request.url === '/v1/metrics') metrics.push(body)
    }
    const ok = (): void => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    switch (fault) {
      case '500':
      case '503':
        return void response.writeHead(Number(fault)).end()
      case '429':
        return void response.writeHead(429, { 'retry-after': '0' }).end()
      case 'cut':
        return void request.socket.destroy()
      case 'cut-after':
        take()
        return void request.socket.destroy()
      case 'slow':
        take()
        return void setTimeout(ok, 20)
      case 'not-json':
        take()
        return void response.writeHead(200).end('<html>gateway</html>')
      case 'half-answer':
        take()
        response.writeHead(200, { 'content-length': '100' }).write('{')
        return void setTimeout(() => request.socket.destroy(), 2)
      default:
        take()
        ok()
    }
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    metrics,
    faults,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
