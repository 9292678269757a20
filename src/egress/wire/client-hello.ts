/** Reads the TLS ClientHello before a handshake: the requested name and protocols. */

export interface ClientHello {
  /** Lower-case, as sent; null without one. */
  readonly serverName: string | null
  readonly protocols: readonly string[]
  /**
   * Whether an extension encrypts the hello, or in an older draft its name: another name may be
   * hidden inside.
   */
  readonly encrypted: boolean
}

export type HelloReading =
  | { readonly state: 'more' }
  | { readonly state: 'bad'; readonly problem: string }
  /** `used`: its length in bytes, to the end of its last record. */
  | { readonly state: 'hello'; readonly hello: ClientHello; readonly used: number }

const HANDSHAKE_RECORD = 0x16
const CLIENT_HELLO = 1
const EXTENSION = { serverName: 0, alpn: 16, encryptedHello: 0xfe0d, encryptedName: 0xffce } as const
const MAX_HELLO = 64 * 1024
/** A hello is one record, or a few; each costs time. */
const MAX_RECORDS = 64
const RECORD_HEAD = 5
const MESSAGE_HEAD = 4

/** The fatal alert `unrecognized_name`: TLS clients show it as a clear refusal. */
export const UNRECOGNIZED_NAME: Buffer = Buffer.from([0x15, 3, 3, 0, 2, 2, 112])
/** The fatal alert `access_denied`. */
export const ACCESS_DENIED: Buffer = Buffer.from([0x15, 3, 3, 0, 2, 2, 49])

/**
 * Reads the first bytes of one TLS connection; the hello may span several records. Call it with all
 * bytes so far; none is checked twice.
 */
export function helloReader(): (bytes: Buffer) => HelloReading {
  const parts: Buffer[] = []
  let records = 0
  let buffered = 0
  /** The start of the first incomplete record. */
  let at = 0

  return (bytes) => {
    for (;;) {
      if (at < bytes.length && bytes[at] !== HANDSHAKE_RECORD) return bad('not a TLS handshake record')
      if (at + 1 < bytes.length && bytes[at + 1] !== 3) return bad('not a TLS version')
      if (bytes.length < at + RECORD_HEAD) return bytes.length > MAX_HELLO ? tooLong() : { state: 'more' }
      const length = bytes.readUInt16BE(at + 3)
      if (length === 0 || length > 0x4000) return bad('a TLS record of a wrong length')
      if (at + RECORD_HEAD + length > MAX_HELLO) return tooLong()
      if (parts.length === 0 && bytes.length > at + RECORD_HEAD && bytes[at + RECORD_HEAD] !== CLIENT_HELLO)
        return bad('the first TLS message is not a ClientHello')
      if (bytes.length < at + RECORD_HEAD + length) return { state: 'more' }
      if (++records > MAX_RECORDS) return bad(`a ClientHello in more than ${MAX_RECORDS} records`)
      // A copy: the buffer may move before the next call.
      parts.push(Buffer.from(bytes.subarray(at + RECORD_HEAD, at + RECORD_HEAD + length)))
      buffered += length
      at += RECORD_HEAD + length
      if (buffered < MESSAGE_HEAD) continue
      const whole = Buffer.concat(parts)
      const end = MESSAGE_HEAD + whole.readUIntBE(1, 3)
      if (end > MAX_HELLO) return tooLong()
      // The rest of the record would go to the host unread.
      if (buffered > end) return bad('a ClientHello with something behind it')
      if (buffered === end) return parseHello(whole.subarray(MESSAGE_HEAD, end), at)
    }
  }
}

function tooLong(): HelloReading {
  return bad(`a ClientHello of more than ${MAX_HELLO} bytes`)
}

function parseHello(body: Buffer, used: number): HelloReading {
  try {
    return { state: 'hello', hello: parseBody(new Cursor(body)), used }
  } catch (error) {
    if (error instanceof Malformed) return bad(error.message)
    throw error
  }
}

function parseBody(cursor: Cursor): ClientHello {
  cursor.skip(2 + 32)
  cursor.vector(1)
  cursor.vector(2)
  cursor.vector(1)
  let serverName: string | null = null
  let protocols: readonly string[] = []
  let encrypted = false
  if (cursor.done) return { serverName, protocols, encrypted }
  const extensions = new Cursor(cursor.vector(2))
  if (!cursor.done) throw new Malformed('bytes after the extensions of a ClientHello')
  const seen = new Set<number>()
  while (!extensions.done) {
    const type = extensions.number(2)
    const content = new Cursor(extensions.vector(2))
    if (seen.has(type)) throw new Malformed('a ClientHello that repeats an extension')
    seen.add(type)
    if (type === EXTENSION.serverName) serverName = parseServerName(content)
    else if (type === EXTENSION.alpn) protocols = parseProtocols(content)
    else if (type === EXTENSION.encryptedHello || type === EXTENSION.encryptedName) encrypted = true
  }
  return { serverName, protocols, encrypted }
}

function parseServerName(content: Cursor): string {
  const list = new Cursor(content.vector(2))
  if (list.number(1) !== 0) throw new Malformed('a server name that is not a host name')
  const name = list.vector(2).toString('latin1')
  if (!list.done || !content.done) throw new Malformed('more than one server name')
  if (!/^[\x21-\x7e]{1,255}$/.test(name)) throw new Malformed('a server name that is not printable ASCII')
  return name.toLowerCase()
}

function parseProtocols(content: Cursor): string[] {
  const list = new Cursor(content.vector(2))
  const protocols: string[] = []
  while (!list.done) protocols.push(list.vector(1).toString('latin1'))
  return protocols
}

class Malformed extends Error {}

class Cursor {
  readonly bytes: Buffer
  private at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  get done(): boolean {
    return this.at === this.bytes.length
  }

  skip(length: number): void {
    if (this.at + length > this.bytes.length) throw new Malformed('a ClientHello that ends too early')
    this.at += length
  }

  number(size: number): number {
    this.skip(size)
    return this.bytes.readUIntBE(this.at - size, size)
  }

  vector(size: number): Buffer {
    const length = this.number(size)
    this.skip(length)
    return this.bytes.subarray(this.at - length, this.at)
  }
}

function bad(problem: string): HelloReading {
  return { state: 'bad', problem }
}
