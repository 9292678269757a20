/** SOCKS5, 4 and 4a as a state machine over bytes, without sockets: the request, and the reply. */

export type SocksReading =
  | { readonly state: 'more' }
  /** The greeting is complete: send `reply`, and continue after `used` bytes. */
  | { readonly state: 'greeted'; readonly reply: Buffer; readonly used: number }
  | {
      readonly state: 'request'
      readonly version: 4 | 5
      readonly host: string
      readonly port: number
      readonly used: number
    }
  /** Send `reply` and close. */
  | {
      readonly state: 'refused'
      readonly reply: Buffer
      readonly code: 'socks-command' | 'socks-malformed'
      readonly problem: string
    }

/** Reply codes of RFC 1928, section 6. */
export const SOCKS_REPLY = {
  granted: 0,
  failure: 1,
  notAllowed: 2,
  unreachable: 4,
  commandUnsupported: 7,
  addressUnsupported: 8,
} as const

const VERSION = 5
const NO_AUTHENTICATION = 0
const NO_METHOD = 0xff
const CONNECT = 1
const COMMANDS: Readonly<Record<number, string>> = { 2: 'BIND', 3: 'UDP ASSOCIATE' }

/** A reply with an empty bound address. */
export function socksReply(code: number): Buffer {
  return Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
}

export const SOCKS4_GRANTED: Buffer = Buffer.from([0, 0x5a, 0, 0, 0, 0, 0, 0])
export const SOCKS4_REFUSED: Buffer = Buffer.from([0, 0x5b, 0, 0, 0, 0, 0, 0])
/** For a user's name, and for the host's in 4a. */
const LONGEST_TEXT = 255

/**
 * Version 4 has everything in one message: command, port, address, user name, and in 4a the host
 * name after an address of 0.0.0.x.
 */
function readSocks4(bytes: Buffer): SocksReading {
  if (bytes.length < 9) return { state: 'more' }
  const refused = (code: 'socks-command' | 'socks-malformed', problem: string): SocksReading => ({
    state: 'refused',
    reply: SOCKS4_REFUSED,
    code,
    problem,
  })
  if (bytes[1] !== CONNECT) return refused('socks-command', 'SOCKS4 BIND is not offered; only CONNECT is')
  const userEnd = bytes.indexOf(0, 8)
  if (userEnd < 0 || userEnd > 8 + LONGEST_TEXT) {
    return bytes.length > 8 + LONGEST_TEXT
      ? refused('socks-malformed', 'a user name without an end')
      : { state: 'more' }
  }
  const port = bytes.readUInt16BE(2)
  const address = bytes.subarray(4, 8)
  const named = address[0] === 0 && address[1] === 0 && address[2] === 0 && address[3] !== 0
  if (!named) return { state: 'request', version: 4, host: address.join('.'), port, used: userEnd + 1 }
  const nameEnd = bytes.indexOf(0, userEnd + 1)
  if (nameEnd < 0 || nameEnd > userEnd + 1 + LONGEST_TEXT) {
    const tooLong = bytes.length > userEnd + 1 + LONGEST_TEXT
    return tooLong ? refused('socks-malformed', 'a host name without an end') : { state: 'more' }
  }
  const host = bytes.toString('latin1', userEnd + 1, nameEnd)
  return { state: 'request', version: 4, host, port, used: nameEnd + 1 }
}

/** The greeting of version 5, or the whole request of version 4. */
export function readGreeting(bytes: Buffer): SocksReading {
  if (bytes[0] === 4) return readSocks4(bytes)
  if (bytes.length < 2 || bytes.length < 2 + bytes[1]!) return { state: 'more' }
  const used = 2 + bytes[1]!
  if (bytes.subarray(2, used).includes(NO_AUTHENTICATION)) {
    return { state: 'greeted', reply: Buffer.from([VERSION, NO_AUTHENTICATION]), used }
  }
  const problem = 'the client insists on a SOCKS authentication method; only "none" is offered'
  return { state: 'refused', reply: Buffer.from([VERSION, NO_METHOD]), code: 'socks-malformed', problem }
}

/** The host as in a URL: IPv6 in brackets. */
export function readRequest(bytes: Buffer): SocksReading {
  if (bytes.length < 5) return { state: 'more' }
  if (bytes[0] !== VERSION || bytes[2] !== 0) return malformed('not a SOCKS5 request')
  if (bytes[1] !== CONNECT) {
    const problem = `SOCKS ${COMMANDS[bytes[1]!] ?? `command ${bytes[1]}`} is not offered; only CONNECT is`
    return { state: 'refused', reply: socksReply(SOCKS_REPLY.commandUnsupported), code: 'socks-command', problem }
  }
  const type = bytes[3]!
  const size = type === 1 ? 4 : type === 4 ? 16 : type === 3 ? bytes[4]! : 0
  if (size === 0) {
    return {
      state: 'refused',
      reply: socksReply(SOCKS_REPLY.addressUnsupported),
      code: 'socks-malformed',
      problem: `SOCKS address type ${type} is unknown or empty`,
    }
  }
  const start = type === 3 ? 5 : 4
  if (bytes.length < start + size + 2) return { state: 'more' }
  const address = bytes.subarray(start, start + size)
  const port = bytes.readUInt16BE(start + size)
  return { state: 'request', version: 5, host: hostText(type, address), port, used: start + size + 2 }
}

function hostText(type: number, address: Buffer): string {
  if (type === 3) return address.toString('latin1')
  if (type === 1) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => address.readUInt16BE(index * 2).toString(16))
  return `[${groups.join(':')}]`
}

function malformed(problem: string): SocksReading {
  return { state: 'refused', reply: socksReply(SOCKS_REPLY.failure), code: 'socks-malformed', problem }
}
