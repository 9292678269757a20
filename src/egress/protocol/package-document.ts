/** Reads a registry document whole, by the same rules as the command's request. */

import type { IncomingMessage } from 'node:http'
import { messageOf } from '../../system/fault.ts'
import type { RoutedRequest } from '../route/route-agent.ts'
import { onUnanswered, timeoutError } from '../route/upstream.ts'
import { decoded } from '../wire/decoding.ts'
import { http } from '../wire/http.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf } from '../wire/target.ts'
import type { PackageRequest } from './package-place.ts'
import { clearHost, type Passage } from './passage.ts'

export interface FetchedDocument {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly location: string | null
}

/** Three times the largest known document of a public registry. */
const MOST_BYTES = 96 * 1024 * 1024
/**
 * Headers of the client that are kept: its identity. Its accepted and cached formats do not apply
 * here.
 */
const KEPT: ReadonlySet<string> = new Set(['authorization', 'user-agent', 'cookie', 'x-api-key'])

export async function fetchDocument(
  passage: Passage,
  { read, rawHeaders, tunnel }: PackageRequest,
  accept: string,
): Promise<FetchedDocument | { readonly refusal: EgressDenial }> {
  const own = rawHeaders.filter((_, at) => KEPT.has(rawHeaders[at - (at % 2)]!.toLowerCase()))
  const headers = [
    'Host',
    authorityOf(read.target, read.secure ? 443 : 80),
    ...own,
    'Accept',
    accept,
    'Accept-Encoding',
    'gzip',
  ]
  const cleared = await clearHost(passage, read, 'GET', headers, tunnel)
  if ('refusal' in cleared) return cleared
  try {
    const incoming = await new Promise<IncomingMessage>(function send(resolve, reject) {
      const options: RoutedRequest = {
        agent: passage.agent,
        route: cleared.admission.route,
        secure: read.secure,
        method: 'GET',
        path: cleared.path,
        headers: [...cleared.rawHeaders],
        setHost: false,
        maxHeaderSize: passage.limits.headerBytes,
      }
      const request = http.request(options)
      request.setTimeout(passage.limits.idleMilliseconds, () => request.destroy(timeoutError()))
      // The registry closed an idle connection of the pool: try the next one.
      request.once('error', (error) => (request.reusedSocket ? send(resolve, reject) : reject(error)))
      onUnanswered(request, reject)
      request.once('response', resolve)
      request.end()
    })
    const text = await textOf(incoming)
    const { scrub } = cleared
    return {
      status: incoming.statusCode ?? 0,
      type: incoming.headers['content-type'] ?? '',
      text: scrub ? scrub.scrubText(text) : text,
      location: incoming.headers.location ?? null,
    }
  } catch (error) {
    return { refusal: { code: 'package-unreadable', message: `${authorityOf(read.target, 443)}: ${messageOf(error)}` } }
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const body = decoded(incoming, incoming.headers['content-encoding'])
  if (body === null) throw new Error('it answered in an encoding that cannot be read')
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > MOST_BYTES) {
      incoming.destroy()
      throw new Error(`its answer is larger than ${MOST_BYTES / 1024 / 1024} MB`)
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
