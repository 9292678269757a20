/**
 * A brokered secret is not recovered from an honest host that sends back what it is asked to: the same text goes on in the same pieces
 * before the same pauses, and for the same work, whether it begins like the secret or the secret is quite another one.
 */

import { PassThrough, type Readable, Transform } from 'node:stream'
import { setImmediate as settle } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Broker, createBroker, type LoginProtocol } from '../../../src/egress/credentials/broker.ts'
import { scrubbedBody } from '../../../src/egress/credentials/scrub.ts'
import { websocketHead } from '../../../src/egress/credentials/scrub-frames.ts'
import { secretForms } from '../../../src/egress/credentials/secret-forms.ts'
import { createSearch } from '../../../src/egress/credentials/secret-search.ts'
import { postgres } from '../../../src/egress/logins/postgres.ts'
import { redis } from '../../../src/egress/logins/redis.ts'
import { hosts } from '../../contract/egress/world.ts'

// No host is quiet here, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const VALUE = 'qSecret/Val+ue "x"=99'
/** As long, and with another character at each place: what is right for one of them is wrong for the other. */
const OTHER = '8HfpTgu.Izo~vr?00-$y^'
const HOST = 'api.example.org'

function brokerFor(value: string, login?: LoginProtocol): Broker {
  const patterns = hosts(`${HOST}:5432`).map((rule) => rule.pattern)
  return createBroker([{ name: 'KEY', value, hosts: patterns, ...(login && { login }) }])
}

function scrubLogin(value: string, login: LoginProtocol): Transform {
  const wire = { postgres, redis }[login]
  return brokerFor(value, login).loginFor({ host: HOST, port: 5432, kind: 'name' })!.scrub(wire.readHead)
}

function scrubHttp(value: string, type: string, more: Record<string, string> = {}): Opened {
  const input = new PassThrough()
  return { input, output: scrubbedBody(brokerFor(value), input, { 'content-type': type, ...more })! }
}

const one = (stream: Transform) => ({ input: stream, output: stream })
const sized = (head: (size: number) => readonly number[]) => (text: string) =>
  Buffer.concat([Buffer.from(head(text.length)), Buffer.from(text)])
const plain = (text: string) => Buffer.from(text)
const envelope = sized((size) => [0, 0, 0, size >> 8, size & 255])

/** The head of an event of AWS without headers. */
function eventHead(size: number): readonly number[] {
  const lengths = [0, 0, (size + 12) >> 8, (size + 12) & 255, 0, 0, 0, 0]
  const sum = crc32(Buffer.from(lengths))
  return [...lengths, sum >>> 24, (sum >> 16) & 255, (sum >> 8) & 255, sum & 255]
}

interface Opened {
  readonly input: Transform
  readonly output: Readable
}

interface Way {
  readonly name: string
  /** What the host writes into, and what goes on to the command, where this is the secret. */
  open(value: string): Opened
  /** The text as this protocol has it. */
  write(text: string): Buffer
}

const LOGINS: Readonly<Record<LoginProtocol, (text: string) => Buffer>> = {
  postgres: sized((size) => [0x44, 0, 0, (size + 4) >> 8, (size + 4) & 255]),
  redis: (text) => Buffer.from(`$${text.length}\r\n${text}\r\n`),
}

const WAYS: readonly Way[] = [
  { name: 'a body of text', open: (value) => scrubHttp(value, 'text/plain'), write: plain },
  {
    name: 'a body of JSON',
    open: (value) => scrubHttp(value, 'application/json'),
    write: (text) => plain(`{"a":"${text}"}`),
  },
  {
    name: 'a body of events',
    open: (value) => scrubHttp(value, 'text/event-stream'),
    write: (text) => plain(`data: ${text}\n\n`),
  },
  {
    name: 'a large body',
    open: (value) => scrubHttp(value, 'text/plain', { 'content-length': '2000000' }),
    write: plain,
  },
  { name: 'gRPC', open: (value) => scrubHttp(value, 'application/grpc+proto'), write: envelope },
  { name: 'Connect', open: (value) => scrubHttp(value, 'application/connect+json'), write: envelope },
  {
    name: 'an event stream of AWS',
    open: (value) => scrubHttp(value, 'application/vnd.amazon.eventstream'),
    write: sized(eventHead),
  },
  {
    name: 'WebSocket',
    open: (value) => one(brokerFor(value).scrubFrames(websocketHead)),
    write: sized((size) => [0x81, 126, size >> 8, size & 255]),
  },
  {
    name: 'WebSocket, in fragments',
    open: (value) => one(brokerFor(value).scrubFrames(websocketHead)),
    write: sized((size) => [0x01, 126, size >> 8, size & 255]),
  },
  ...Object.entries(LOGINS).map(
    ([login, write]): Way => ({ name: login, open: (value) => one(scrubLogin(value, login as LoginProtocol)), write }),
  ),
]

/** What comes out after each piece that goes in: the lengths of the pieces, in order. */
async function trace({ open }: Way, value: string, pieces: readonly Buffer[]): Promise<number[][]> {
  const { input, output } = open(value)
  let came: number[] = []
  output.on('data', (chunk: Buffer) => came.push(chunk.length))
  const traced: number[][] = []
  for (const piece of [...pieces, null]) {
    if (piece === null) input.end()
    else input.write(piece)
    await settle()
    await settle()
    traced.push(came)
    came = []
  }
  return traced
}

/** Beginnings of the secret in every form. */
const GUESSES: readonly string[] = [
  ...secretForms(VALUE, 'x').map(({ bytes }) => bytes.toString('latin1')),
  encodeURIComponent(VALUE),
  JSON.stringify(VALUE).slice(1, -1),
].flatMap((form) => [1, 2, 3, 5, 8, 13, form.length - 1].map((length) => form.slice(0, length)))

/** The ways in which a server may pause: behind the guess in a message, behind the message, and behind each of its bytes. */
function pauses(way: Way, guess: string): Buffer[][] {
  const whole = way.write(`${'x'.repeat(700)}.${guess}${'~'.repeat(40)}`)
  const end = whole.lastIndexOf(guess) + guess.length
  const alone = way.write(guess)
  return [
    [whole.subarray(0, end), whole.subarray(end)],
    [whole.subarray(0, end - guess.length), whole.subarray(end - guess.length, end), whole.subarray(end)],
    [alone, way.write('the end')],
    Array.from(alone, (byte) => Buffer.of(byte)),
  ]
}

describe('what comes before a pause is the same for every guess', () => {
  it.each(WAYS)('$name', async (way) => {
    for (const guess of GUESSES) {
      for (const pieces of pauses(way, guess))
        expect(await trace(way, VALUE, pieces)).toEqual(await trace(way, OTHER, pieces))
    }
  })

  it('control: a scrubber that delays what could begin the secret shows which guess is right', async () => {
    const holding = (value: string) => {
      let kept = Buffer.alloc(0)
      return one(
        new Transform({
          transform(chunk: Buffer, _encoding, done) {
            const bytes = Buffer.concat([kept, chunk])
            let wait = Math.min(value.length - 1, bytes.length)
            while (wait > 0 && bytes.toString('latin1', bytes.length - wait) !== value.slice(0, wait)) wait--
            kept = bytes.subarray(bytes.length - wait)
            done(null, bytes.subarray(0, bytes.length - wait))
          },
          flush(done) {
            done(null, kept)
          },
        }),
      )
    }
    const way: Way = { name: 'holding', open: holding, write: plain }
    for (let length = 1; length < VALUE.length; length++) {
      const [pieces = []] = pauses(way, VALUE.slice(0, length))
      const [[right = 0] = [], [wrong = 0] = []] = [
        await trace(way, VALUE, pieces),
        await trace(way, OTHER, pieces),
      ].map(([first]) => first)
      expect(wrong - right).toBe(length)
    }
  })
})

describe('what is whole waits for nothing', () => {
  it.each(WAYS.filter(({ name }) => /events|postgres|redis/.test(name)))('$name', async (way) => {
    const message = way.write('a message that is whole')
    expect((await trace(way, VALUE, [message, message])).slice(0, 2)).toEqual([[message.length], [message.length]])
  })

  it('and a text without line ends is behind by little, whatever it is', async () => {
    const text = Buffer.from('word '.repeat(200))
    const [came = []] = await trace(WAYS[0]!, VALUE, [text])
    expect(text.length - came[0]!).toBeLessThan(2 * VALUE.length + 30)
  })
})

describe('the work is the same for every guess', () => {
  function comparisons(text: string): number {
    let count = 0
    const search = createSearch([secretForms(VALUE, 'x')], (a, b) => {
      count++
      return a.equals(b)
    })
    search(Buffer.from(text))
    return count
  }

  it('nothing is compared with a secret but what has the hash of all of it', () => {
    for (const guess of GUESSES) expect(comparisons(`${guess} `.repeat(200))).toBe(0)
  })

  it('control: the secret itself is', () => {
    expect(comparisons(`${VALUE} `.repeat(3))).toBe(3)
  })
})
