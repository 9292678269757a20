/** Broken openings of connections, by seed: ClientHello, HTTP/2 frames, CONNECT and SOCKS, each mostly right and then bent. */

import { clientHello } from '../attacks/network/hello.ts'

export type Dice = (sides: number) => number

/** The same numbers for the same seed. */
export function dice(seed: number): Dice {
  let state = (seed * 2654435761) >>> 0
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return (state >>> 8) % sides
  }
}

export const GRANTED = 'api.example.org'
const NAMES: readonly string[] = [
  GRANTED,
  'evil.com',
  'API.example.org',
  `${GRANTED}.`,
  'x',
  '',
  '127.0.0.1',
  'a'.repeat(300),
]

export type Kind = 'hello' | 'http2' | 'connect' | 'socks'
export const KINDS: readonly Kind[] = ['hello', 'http2', 'connect', 'socks']

/** Pieces to send one after the other; those of `hello` and `http2` go into a tunnel to the granted host. */
export function opening(kind: Kind, roll: Dice): Buffer[] {
  const whole = makers[kind](roll)
  return pieces(bent(whole, roll), roll)
}

const pick = <T>(roll: Dice, items: readonly T[]): T => items[roll(items.length)]!

const makers: Readonly<Record<Kind, (roll: Dice) => Buffer>> = {
  hello: (roll) => {
    const names = roll(4) === 0 ? [pick(roll, NAMES), pick(roll, NAMES)] : [pick(roll, NAMES)]
    const hello = clientHello({
      serverNames: names,
      encrypted: roll(5) === 0,
      protocols: pick(roll, [['h2'], ['http/1.1'], ['h2', 'http/1.1'], Array.from({ length: roll(400) }, () => 'p')]),
      ...(roll(6) === 0 && { repeated: pick(roll, NAMES) }),
    })
    return roll(3) === 0 ? inRecords(hello, 1 + roll(40)) : hello
  },
  http2: (roll) => {
    const frames = Array.from({ length: 1 + roll(12) }, () => frame(roll))
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings, ...frames])
  },
  connect: (roll) => {
    const authority = `${pick(roll, NAMES)}:${pick(roll, ['443', '80', '22', '0', '99999', 'x', ''])}`
    const host = roll(3) === 0 ? `${pick(roll, NAMES)}:443` : authority
    const lines = [`CONNECT ${authority} HTTP/1.${pick(roll, ['1', '0', '2', ''])}`, `Host: ${host}`]
    if (roll(4) === 0)
      lines.push(pick(roll, ['Content-Length: 5', 'Transfer-Encoding: chunked', 'Host: evil.com', ' folded', 'X: \0']))
    return Buffer.from(`${lines.join(pick(roll, ['\r\n', '\r\n', '\n']))}\r\n\r\n`, 'latin1')
  },
  socks: (roll) => {
    const name = pick(roll, NAMES).slice(0, 255)
    const port = Buffer.from([1, pick(roll, [0xbb, 80, 22])])
    if (roll(2) === 0) {
      const user = Buffer.from('user\0')
      const address = roll(2) === 0 ? Buffer.from([0, 0, 0, 1]) : Buffer.from([127, 64, 0, 1 + roll(3)])
      return Buffer.concat([Buffer.from([4, 1 + roll(2)]), port, address, user, Buffer.from(`${name}\0`, 'latin1')])
    }
    const greeting = Buffer.from(
      pick(roll, [
        [5, 1, 0],
        [5, 2, 0, 2],
        [5, 0],
        [5, 1, 2],
        [5, 255],
      ]),
    )
    const command = Buffer.from([5, 1 + roll(4), 0])
    const address = pick(roll, [
      Buffer.concat([Buffer.from([3, name.length]), Buffer.from(name, 'latin1')]),
      Buffer.from([1, 127, 0, 0, 1]),
      Buffer.concat([Buffer.from([4]), Buffer.alloc(16, roll(256))]),
      Buffer.from([9, 1]),
    ])
    return Buffer.concat([greeting, command, address, port])
  },
}

function frame(roll: Dice): Buffer {
  const payload = Buffer.from(Array.from({ length: roll(64) }, () => roll(256)))
  const head = Buffer.alloc(9)
  head.writeUIntBE(roll(8) === 0 ? roll(0x1000000) : payload.length, 0, 3)
  head[3] = roll(12)
  head[4] = roll(256)
  head.writeUInt32BE(roll(4) === 0 ? roll(0x7fffffff) : roll(8), 5)
  return Buffer.concat([head, payload])
}

/** A hello cut into records of so many bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

function bent(whole: Buffer, roll: Dice): Buffer {
  const copy = Buffer.from(whole)
  for (let count = roll(4); count > 0 && copy.length > 0; count--) copy[roll(copy.length)] = roll(256)
  const fate = roll(8)
  if (fate === 0) return copy.subarray(0, roll(copy.length + 1))
  if (fate === 1) return Buffer.concat([copy, copy])
  if (fate === 2) return Buffer.concat([copy, Buffer.alloc(roll(70_000), roll(256))])
  return copy
}

function pieces(bytes: Buffer, roll: Dice): Buffer[] {
  if (roll(3) > 0) return [bytes]
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + roll(parts.length > 50 ? 5_000 : 40)
    parts.push(bytes.subarray(at, at + size))
    at += size
  }
  return parts
}
