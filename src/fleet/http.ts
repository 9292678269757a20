/** HTTP for fleets: TLS with the machine's own certificate, a limit for time and size, and no redirects. */

import { readFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { Agent, request as tlsRequest } from 'node:https'
import { Fault } from '../system/fault.ts'
import type { FleetTls } from './settings.ts'

interface FleetRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface FleetResponse {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
}

/** Asks; rejects when no whole answer came. */
export type FleetHttp = (request: FleetRequest) => Promise<FleetResponse>

const MAX_ANSWER = 8 * 1024 * 1024
const TIMEOUT_MS = 30_000

/** HTTP with these certificates. They are read once; what cannot be read is a fault. */
export function fleetHttp(tls: FleetTls): FleetHttp {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 4,
    ...(tls.ca !== undefined && { ca: readTlsFile(tls.ca) }),
    ...(tls.cert !== undefined && { cert: readTlsFile(tls.cert) }),
    ...(tls.key !== undefined && { key: readTlsFile(tls.key) }),
  })
  return (request) => ask(request, agent)
}

function ask(
  { url, method, headers = {}, body, timeoutMs = TIMEOUT_MS, signal }: FleetRequest,
  agent: Agent,
): Promise<FleetResponse> {
  const secure = url.startsWith('https:')
  const limit = AbortSignal.timeout(timeoutMs)
  const ended = signal ? AbortSignal.any([signal, limit]) : limit
  return new Promise((resolve, reject) => {
    const options = { method, headers: { ...headers, ...lengthOf(body) }, signal: ended }
    const outgoing = secure ? tlsRequest(url, { ...options, agent }) : plainRequest(url, options)
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MAX_ANSWER) incoming.destroy(new Error(`the answer is larger than ${MAX_ANSWER} bytes`))
        else chunks.push(chunk)
      })
      incoming.on('error', reject)
      // `end` alone: a connection that is cut half-way ends in `close` without it.
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          header: (name) => incoming.headers[name]?.toString() ?? null,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
      incoming.on('close', () => reject(new Error('the connection was cut before the answer was whole')))
    })
    outgoing.end(body)
  })
}

function lengthOf(body: string | Uint8Array | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

/** A certificate or key that the settings name. */
function readTlsFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Fault('fleet-settings', `${path}, which the fleet’s settings name, cannot be read`, { cause: error })
  }
}
