/** Reads and writes messages of PostgreSQL's protocol 3, up to the end of a login. PURE. */

const SSL_REQUEST = 80_877_103
const GSS_REQUEST = 80_877_104
const CANCEL_REQUEST = 80_877_102
const PROTOCOL_3 = 3
/** The server's limit. */
const LONGEST_START = 10_000
const LONGEST_MESSAGE = 64 * 1024

/** Reads the first eight bytes of the first message; `rest` bytes follow. */
export function readStart(
  head: Buffer,
): { readonly kind: 'ssl' | 'gss' | 'cancel' | 'start'; readonly rest: number } | null {
  const length = head.readUInt32BE(0)
  const code = head.readUInt32BE(4)
  if (length < 8 || length > LONGEST_START) return null
  const rest = length - 8
  if (code === SSL_REQUEST || code === GSS_REQUEST)
    return rest === 0 ? { kind: code === SSL_REQUEST ? 'ssl' : 'gss', rest } : null
  if (code === CANCEL_REQUEST) return { kind: 'cancel', rest }
  return code >>> 16 === PROTOCOL_3 ? { kind: 'start', rest } : null
}

/**
 * The head of a later message: its kind, and the bytes that follow; null if it belongs to no login.
 */
export function readHead(head: Buffer): { readonly kind: string; readonly rest: number } | null {
  const length = head.readUInt32BE(1)
  return length < 4 || length > LONGEST_MESSAGE ? null : { kind: String.fromCharCode(head[0]!), rest: length - 4 }
}

/** The head of any message that a server sends. */
export function messageHead(head: Buffer): { readonly head: number; readonly payload: number } | null {
  if (head.length < HEAD) return null
  const length = head.readUInt32BE(1)
  if (length < 4) throw new Error('not a message of PostgreSQL')
  return { head: HEAD, payload: length - 4 }
}

export const HEAD = 5
export const START_HEAD = 8

/** The authentication that a server requests. */
export type Authentication =
  | { readonly kind: 'nothing' | 'password' }
  | { readonly kind: 'md5'; readonly salt: Buffer }
  | { readonly kind: 'scram' }
  | { readonly kind: 'scram-more' | 'scram-end'; readonly said: string }
  | { readonly kind: 'other' }

/** Parses the content of an Authentication message. */
export function readAuthentication(body: Buffer): Authentication {
  switch (body.length < 4 ? -1 : body.readUInt32BE(0)) {
    case 0:
      return { kind: 'nothing' }
    case 3:
      return { kind: 'password' }
    case 5:
      return body.length === 8 ? { kind: 'md5', salt: body.subarray(4) } : { kind: 'other' }
    case 10:
      return body.toString('latin1', 4).split('\0').includes('SCRAM-SHA-256') ? { kind: 'scram' } : { kind: 'other' }
    case 11:
      return { kind: 'scram-more', said: body.toString('latin1', 4) }
    case 12:
      return { kind: 'scram-end', said: body.toString('latin1', 4) }
    default:
      return { kind: 'other' }
  }
}

/** The user in a start message, after its first eight bytes. */
export function userOf(rest: Buffer): string {
  const words = rest.toString('utf8').split('\0')
  const at = words.findIndex((word, index) => index % 2 === 0 && word === 'user')
  return at < 0 ? '' : (words[at + 1] ?? '')
}

export function message(kind: string, body: Buffer | string): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body
  const head = Buffer.alloc(HEAD)
  head.write(kind, 'latin1')
  head.writeUInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

/** Requests the password in clear text: it stays on this machine, and is the placeholder. */
export const ASK_PASSWORD: Buffer = message('R', Buffer.from([0, 0, 0, 3]))
export const WANT_TLS: Buffer = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

export function saslStart(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(text))
  return message('p', Buffer.concat([Buffer.from('SCRAM-SHA-256\0'), length, Buffer.from(text)]))
}

/** A fatal error, as clients show it. */
export function failure(code: string, text: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${code}\0M${text.replaceAll('\0', '?')}\0\0`)
}
