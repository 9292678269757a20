/** A WebSocket upgrade: judged as a request, and connected once both sides have switched. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { cleanAnswer, cleanHead, isPackedInTransfer, PACKING_OFFERS, UNREADABLE } from '../credentials/scrub.ts'
import { websocketHead } from '../credentials/scrub-frames.ts'
import { timeoutError, upstreamRefusal } from '../route/upstream.ts'
import { metered } from '../route/usage.ts'
import { http } from '../wire/http.ts'
import { join } from '../wire/join.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { hasBody, headerValues, readRequest, upstreamHeaders } from '../wire/request-head.ts'
import { headOf, outgoing } from './exchange.ts'
import {
  type Cleared,
  clearRequest,
  closeSoon,
  type Passage,
  recordAllowed,
  recordRefused,
  refuseSocket,
  startRecord,
  type Tunnel,
} from './passage.ts'

/** Whether WebSocket is the only requested protocol. */
export function isWebSocket(message: IncomingMessage): boolean {
  const values = headerValues(message.rawHeaders, 'upgrade')
  return values.length === 1 && values[0]!.trim().toLowerCase() === 'websocket'
}

export async function upgrade(
  passage: Passage,
  message: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  tunnel: Tunnel | null,
): Promise<void> {
  socket.on('error', () => socket.destroy())
  const facts = headOf(message)
  const read = readRequest(facts, tunnel)
  const target = 'refusal' in read ? (tunnel?.target ?? null) : read.target
  const path = 'refusal' in read ? null : read.path.replace(/\?.*$/s, '')
  const record = startRecord(passage, { kind: 'websocket', target, method: facts.method, path })
  const refuse = (refusal: EgressDenial) => {
    recordRefused(passage, record, refusal)
    refuseSocket(passage, socket, refusal, target, message.headers.accept)
  }
  if ('refusal' in read) return refuse(read.refusal)
  if (!isWebSocket(message) || facts.method !== 'GET' || hasBody(facts)) {
    return refuse({ code: 'upgrade-unknown', message: 'only an upgrade to WebSocket by GET is passed on' })
  }
  const headers = [...upstreamHeaders(facts, read), 'Connection', 'Upgrade', 'Upgrade', 'websocket']
  const cleared = await clearRequest(passage, read, facts.method, headers, tunnel)
  if ('refusal' in cleared) return refuse(cleared.refusal)
  if ('answer' in cleared)
    return refuse({ code: 'upgrade-unknown', message: 'a package registry does not speak WebSocket' })
  if (socket.destroyed) return

  const given = cleared.scrub
  const offered = given ? withoutOffers(cleared.rawHeaders) : [...cleared.rawHeaders]
  const request = http.request({ ...outgoing(passage, facts, read, cleared), headers: offered })
  const abandon = () => request.destroy()
  socket.once('close', abandon)
  request.setTimeout(passage.limits.idleMilliseconds, () => request.destroy(timeoutError()))
  request.on('error', (error) => {
    if (!socket.destroyed) refuse(upstreamRefusal(error, read.target))
  })
  request.once('response', (incoming) => {
    socket.off('close', abandon)
    const down = answerPlainly(socket, incoming, cleared)
    down.then((bytes) => recordAllowed(passage, record, { down: bytes, secrets: cleared.used }))
  })
  request.once('upgrade', (incoming, host, early) => {
    socket.off('close', abandon)
    if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') {
      host.destroy()
      return refuse({ code: 'upstream-protocol', message: 'the host switched to another protocol than WebSocket' })
    }
    if (given && incoming.headers['sec-websocket-extensions'] !== undefined) {
      host.destroy()
      return refuse(UNREADABLE)
    }
    const { rawHeaders } = cleanHead(passage.broker, incoming)
    socket.write(
      headBytes('HTTP/1.1 101 Switching Protocols', ['Connection', 'Upgrade', 'Upgrade', 'websocket', ...rawHeaders]),
    )
    if (early.length > 0) host.unshift(early)
    if (head.length > 0) socket.unshift(head)
    const address = host.remoteAddress ?? null
    // Frames declare their length, so an echoed secret is overwritten, not replaced.
    join(socket, host, passage.limits.idleMilliseconds, {
      down: given?.scrubFrames(websocketHead),
      up: cleared.budget === null ? undefined : metered(cleared.budget, () => host.destroy()),
    }).then((bytes) => recordAllowed(passage, record, { ...bytes, address, secrets: cleared.used }))
  })
  request.end()
}

/** A host that does not switch answers like any request; the connection ends with it. */
function answerPlainly(socket: Duplex, incoming: IncomingMessage, cleared: Cleared): Promise<number> {
  let bytes = 0
  const answer = cleanAnswer(cleared, incoming.statusCode!, incoming.headers, incoming)
  if (answer !== null) {
    const head = cleanHead(cleared.scrub, incoming, answer)
    socket.write(headBytes(`HTTP/1.1 ${answer.status} ${head.statusText}`, [...head.rawHeaders, 'Connection', 'close']))
  }
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  incoming.on('error', () => socket.destroy())
  if (answer === null || isPackedInTransfer(incoming)) socket.destroy()
  else
    answer.body
      .on('error', () => socket.destroy())
      .once('end', () => closeSoon(socket))
      .pipe(socket)
  socket.once('close', () => incoming.destroy())
  return new Promise((resolve) => incoming.once('close', () => resolve(bytes)))
}

/** The headers without offers of compressed frames. */
function withoutOffers(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, at) => !PACKING_OFFERS.has(rawHeaders[at - (at % 2)]!.toLowerCase()))
}

function headBytes(line: string, rawHeaders: readonly string[]): Buffer {
  let text = `${line}\r\n`
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`
  return Buffer.from(`${text}\r\n`, 'latin1')
}
