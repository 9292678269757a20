/** Identifies a connection's protocol by its first bytes. */

import { http } from './http.ts'

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
