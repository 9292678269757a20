import { connect } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type GuardedListener, openListener } from './place.ts'

let listener: GuardedListener
beforeEach(async () => {
  listener = await openListener('right-token')
  listener.server.on('connection', (socket) => {
    socket.once('data', (bytes) => socket.end(`passed on ${bytes.length}`))
    socket.resume()
  })
})
afterEach(() => listener.close())

const basic = (token: string) => `Proxy-Authorization: Basic ${Buffer.from(`cordon:${token}`).toString('base64')}\r\n`

/** The answer to bytes that arrive in pieces. */
function answer(...pieces: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(listener.port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    const send = (index: number) => {
      if (index < pieces.length) socket.write(pieces[index]!, () => setImmediate(send, index + 1))
    }
    send(0)
  })
}

const line = 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n'

it('passes on, whole, what carries the token', async () => {
  const head = `${line}${basic('right-token')}\r\n`
  expect(await answer(head)).toBe(`passed on ${head.length}`)
  expect(await answer(head.slice(0, 40), head.slice(40))).toBe(`passed on ${head.length}`)
})

it.each([
  { head: line, note: 'no token' },
  { head: `${line}${basic('wrong-token')}`, note: 'another token' },
  { head: `${line}${basic('right-token')}${basic('right-token')}`, note: 'two of them' },
  { head: `${line}X: 1\r\nX-Proxy-Authorization: Basic cmlnaHQtdG9rZW4=\r\n`, note: 'another header' },
  { head: `${line}${'X: y\r\n'.repeat(6000)}${basic('right-token')}`, note: 'a head without an end' },
])('refuses $note', async ({ head }) => {
  expect(await answer(`${head}\r\n`)).toMatch(/^HTTP\/1\.1 407 /)
})

it('refuses what is not a request at all', async () => {
  expect(await answer(`\u0005\u0001\u0000${'x'.repeat(40_000)}`)).toMatch(/^HTTP\/1\.1 407 /)
})
