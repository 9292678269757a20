/** Reads the first bytes of a connection without taking them. */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { helloReader } from './client-hello.ts'
import { http } from './http.ts'
import type { ProxyLimits } from './limits.ts'
import { type Target, targetOf } from './target.ts'

/** `ended`: the peer left first. `silent`: no byte in time. `stalled`: too few bytes. */
export type Peeked<T> = { readonly value: T } | 'ended' | 'silent' | 'stalled'

/** Collects bytes until `read` returns a value; all of them are unshifted for the next reader. */
export function peek<T>(socket: Duplex, read: (bytes: Buffer) => T | null, milliseconds: number): Promise<Peeked<T>> {
  return new Promise((resolve) => {
    let space: Buffer = Buffer.alloc(0)
    let length = 0
    const timer = setTimeout(() => finish(length === 0 ? 'silent' : 'stalled'), milliseconds)
    socket.on('readable', onReadable)
    socket.on('end', onEnd)
    socket.on('close', onEnd)
    socket.on('error', onEnd)

    function onReadable(): void {
      for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read()) {
        take(chunk)
      }
      if (length === 0) return
      try {
        const value = read(space.subarray(0, length))
        if (value !== null) finish({ value })
      } catch {
        // A throw here would end the whole session, not just this connection.
        finish('ended')
      }
    }

    // Doubles the buffer, so that byte-by-byte clients do not cause a copy per byte.
    function take(chunk: Buffer): void {
      if (length === 0) space = chunk
      else {
        if (length + chunk.length > space.length) {
          const grown = Buffer.allocUnsafeSlow(2 * (length + chunk.length))
          space.copy(grown, 0, 0, length)
          space = grown
        }
        chunk.copy(space, length)
      }
      length += chunk.length
    }

    function onEnd(): void {
      finish('ended')
    }

    function finish(result: Peeked<T>): void {
      clearTimeout(timer)
      socket.off('readable', onReadable)
      socket.off('end', onEnd)
      socket.off('close', onEnd)
      socket.off('error', onEnd)
      if (length > 0 && !socket.destroyed && !socket.readableEnded) socket.unshift(space.subarray(0, length))
      resolve(result)
    }
  })
}

export type Speech = 'tls' | 'http' | 'http2' | 'socks' | 'other'

const KNOWN_METHODS: ReadonlySet<string> = new Set(http.METHODS)
const LONGEST_METHOD: number = Math.max(...http.METHODS.map((method) => method.length))

/** Null while too few bytes arrived. */
export function speechOf(bytes: Buffer): Speech | null {
  const first = bytes[0]
  if (first === undefined) return null
  if (first === 0x16) return bytes.length < 2 ? null : bytes[1] === 3 ? 'tls' : 'other'
  if (first === 5 || first === 4) return 'socks'
  const text = bytes.subarray(0, LONGEST_METHOD + 1).toString('latin1')
  const token = /^[A-Z-]*/.exec(text)![0]
  if (token.length === text.length) return text.length > LONGEST_METHOD ? 'other' : null
  if (text[token.length] !== ' ') return 'other'
  if (token === 'PRI') return 'http2'
  return KNOWN_METHODS.has(token) ? 'http' : 'other'
}

/** The host below `domain` that the client names; null for none or another. No bytes are taken. */
export async function spokenTarget(
  socket: Socket,
  domain: string,
  port: number,
  { headMilliseconds, headerBytes }: Pick<ProxyLimits, 'headMilliseconds' | 'headerBytes'>,
): Promise<Target | null> {
  const hello = helloReader()
  const spoken = await peek(
    socket,
    (bytes): { readonly name: string | null } | null => {
      if (bytes[0] !== 0x16) return hostField(bytes, headerBytes)
      const reading = hello(bytes)
      return reading.state === 'more' ? null : { name: reading.state === 'hello' ? reading.hello.serverName : null }
    },
    headMilliseconds,
  )
  if (typeof spoken === 'string' || spoken.value.name === null) return null
  const target = targetOf(spoken.value.name.toLowerCase(), port)
  return !('problem' in target) && target.kind === 'name' && target.host.endsWith(`.${domain}`) ? target : null
}

/**
 * The Host of a request head, without its port; null while incomplete. The request itself is
 * checked again later.
 */
function hostField(bytes: Buffer, most: number): { readonly name: string | null } | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return bytes.length > most ? { name: null } : null
  const head = bytes.toString('latin1', 0, end + 2)
  return { name: /\r\nhost:[ \t]*([^\s:]+)(?::80)?[ \t]*\r\n/i.exec(head)?.[1] ?? null }
}
