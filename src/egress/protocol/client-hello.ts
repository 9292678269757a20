/** The TLS ClientHello, read before any handshake: which name the client asks for and which protocols it speaks. */

export interface ClientHello {
  /** Lower-case, as sent; null when the client named none. */
  readonly serverName: string | null
  readonly protocols: readonly string[]
  /** True with an `encrypted_client_hello` extension: a further name may be hidden inside. */
  readonly encrypted: boolean
}

export type HelloReading =
  | { readonly state: 'more' }
  | { readonly state: 'bad'; readonly problem: string }
  | { readonly state: 'hello'; readonly hello: ClientHello }

const HANDSHAKE_RECORD = 0x16
const CLIENT_HELLO = 1
const EXTENSION = { serverName: 0, alpn: 16, encryptedHello: 0xfe0d } as const
const MAX_HELLO = 64 * 1024

/** The fatal alert `unrecognized_name`: a TLS client shows it as a clean refusal. */
export const UNRECOGNIZED_NAME: Buffer = Buffer.from([0x15, 3, 3, 0, 2, 2, 112])
/** The fatal alert `access_denied`. */
export const ACCESS_DENIED: Buffer = Buffer.from([0x15, 3, 3, 0, 2, 2, 49])

/** Reads the first bytes of a TLS connection; the hello may be spread over several records. */
export function readClientHello(bytes: Buffer): HelloReading {
  const parts: Buffer[] = []
  let held = 0
  for (let at = 0; ; ) {
    if (bytes.length > MAX_HELLO) return bad(`a ClientHello of more than ${MAX_HELLO} bytes`)
    if (at < bytes.length && bytes[at] !== HANDSHAKE_RECORD) return bad('not a TLS handshake record')
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return bad('not a TLS version')
    if (bytes.length < at + 5) return { state: 'more' }
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > 0x4000) return bad('a TLS record of a wrong length')
    const content = bytes.subarray(at + 5, at + 5 + length)
    parts.push(content)
    held += content.length
    const whole = Buffer.concat(parts)
    if (whole.length > 0 && whole[0] !== CLIENT_HELLO) return bad('the first TLS message is not a ClientHello')
    if (held >= 4 && held >= 4 + whole.readUIntBE(1, 3))
      return parseHello(whole.subarray(4, 4 + whole.readUIntBE(1, 3)))
    if (content.length < length) return { state: 'more' }
    at += 5 + length
  }
}

function parseHello(body: Buffer): HelloReading {
  try {
    return { state: 'hello', hello: parseBody(new Cursor(body)) }
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
    else if (type === EXTENSION.encryptedHello) encrypted = true
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
