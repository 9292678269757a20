/**
 * CONNECT parsed by hand: the usual forms, and nothing that Node's strict parser would read
 * differently.
 */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConnect } from './request-head.ts'

function read(text: string) {
  return readConnect(Buffer.from(text, 'latin1'))
}

describe('readConnect', () => {
  const usual: { name: string; text: string; url: string; rawHeaders: string[]; rest?: string }[] = [
    {
      name: 'curl',
      text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\nUser-Agent: curl/8.5.0\r\nProxy-Connection: Keep-Alive\r\n\r\n',
      url: 'a.org:443',
      rawHeaders: ['Host', 'a.org:443', 'User-Agent', 'curl/8.5.0', 'Proxy-Connection', 'Keep-Alive'],
    },
    { name: 'no headers', text: 'CONNECT a.org:443 HTTP/1.0\r\n\r\n', url: 'a.org:443', rawHeaders: [] },
    {
      name: 'an address, no space, early bytes',
      text: 'CONNECT [::1]:22 HTTP/1.1\r\nHost:[::1]:22\r\n\r\n\x16\x03\x01',
      url: '[::1]:22',
      rawHeaders: ['Host', '[::1]:22'],
      rest: '\x16\x03\x01',
    },
  ]
  it.each(usual)('reads $name', ({ text, url, rawHeaders, rest = '' }) => {
    const reading = read(text)
    expect(reading?.head).toMatchObject({ method: 'CONNECT', url, rawHeaders })
    expect(text.slice(reading!.used)).toBe(rest)
  })

  const left: { name: string; text: string }[] = [
    { name: 'another method', text: 'GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\n\r\n' },
    { name: 'half a head', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n' },
    { name: 'a bare line feed', text: 'CONNECT a.org:443 HTTP/1.1\nHost: a.org:443\n\n' },
    { name: 'a bare line feed in a value', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\nX: y\r\n\r\n' },
    { name: 'a folded line', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n folded\r\n\r\n' },
    { name: 'a space before the colon', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost : a.org:443\r\n\r\n' },
    { name: 'a space after the value', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443 \r\n\r\n' },
    { name: 'a value of nothing', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost:\r\n\r\n' },
    { name: 'a byte above ASCII', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: \xe4.org\r\n\r\n' },
    { name: 'a zero byte', text: 'CONNECT a.org:443 HTTP/1.1\r\nHost: a.org\0\r\n\r\n' },
    { name: 'two spaces', text: 'CONNECT  a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n' },
    { name: 'another version', text: 'CONNECT a.org:443 HTTP/2.0\r\nHost: a.org:443\r\n\r\n' },
    { name: 'a path', text: 'CONNECT a.org:443/x HTTP/1.1\r\nHost: a.org:443\r\n\r\n' },
    { name: 'user information', text: 'CONNECT u@a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n\r\n' },
    { name: 'more than fits', text: `CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\nX: ${'y'.repeat(4000)}\r\n\r\n` },
  ]
  it.each(left)('leaves $name to the strict parser', ({ text }) => {
    expect(read(text)).toBeNull()
  })
})

describe('against the strict parser', () => {
  let server: Server
  beforeAll(async () => {
    server = createServer({ insecureHTTPParser: false })
    server.on('connect', ({ url, httpVersion, rawHeaders }, socket, head) =>
      socket.end(JSON.stringify({ url, httpVersion, rawHeaders, head: head.toString('latin1') })),
    )
    server.on('clientError', (_, socket) => socket.end('refused'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  async function parsed(text: string): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(Buffer.from(text, 'latin1'))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8')
    })
    await once(socket, 'close')
    return answer
  }

  const piece = fc.constantFrom(
    ...[
      'CONNECT ',
      'a.org:443',
      '[::1]:22',
      ' HTTP/1.1',
      ' HTTP/1.0',
      '\r\n',
      '\r\n',
      '\r\n\r\n',
      '\n',
      '\r',
      ' ',
      '\t',
    ],
    ...['Host: a.org:443', 'Host:a.org', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'X-Y: z  w', 'X_1: "', ':'],
    ...['Upgrade: h2c', 'Connection: close', '\0', '\x7f', '\xff', 'hello', '0\r\n\r\n'],
  )
  const usual = fc.constant('CONNECT a.org:443 HTTP/1.1\r\nHost: a.org:443\r\n')
  const text = fc.tuple(fc.oneof(usual, fc.constant('')), fc.array(piece, { maxLength: 8 }))

  it('whatever is read by hand is read in the same way by it, or refused', async () => {
    let read = 0
    await fc.assert(
      fc.asyncProperty(text, async ([start, pieces]) => {
        const whole = `${start}${pieces.join('')}\r\n\r\n`
        const reading = readConnect(Buffer.from(whole, 'latin1'))
        if (reading === null) return
        read++
        const { url, httpVersion, rawHeaders } = reading.head
        const answer = await parsed(whole)
        // Two framings of a body are refused later; the parser itself refuses some of them.
        if (answer === 'refused' && /^(content-length|transfer-encoding)$/im.test(rawHeaders.join('\n'))) return
        const { head, ...same } = JSON.parse(answer) as { head: string }
        expect(same).toEqual({ url, httpVersion, rawHeaders })
        if (!/^(content-length|transfer-encoding)$/im.test(rawHeaders.join('\n')))
          expect(head).toBe(whole.slice(reading.used))
      }),
      { numRuns: 400 },
    )
    expect(read).toBeGreaterThan(20)
  })
})
