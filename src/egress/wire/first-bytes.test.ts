import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { helloReader } from './client-hello.ts'
import { speechOf } from './peek.ts'
import { readGreeting, readRequest } from './socks.ts'

describe('first bytes', () => {
  const rows: { bytes: string; speech: string | null; note: string }[] = [
    { bytes: '\x16\x03\x01', speech: 'tls', note: 'a handshake record' },
    { bytes: '\x16', speech: null, note: 'too little to tell' },
    { bytes: '\x16\x09', speech: 'other', note: 'not a TLS version' },
    { bytes: '\x05\x01\x00', speech: 'socks', note: 'SOCKS5' },
    { bytes: '\x04\x01', speech: 'socks', note: 'SOCKS4' },
    { bytes: 'GET / HTTP/1.1', speech: 'http', note: 'a request' },
    { bytes: 'CONNECT a:1', speech: 'http', note: 'a tunnel' },
    { bytes: 'GE', speech: null, note: 'may become one' },
    { bytes: 'GETX', speech: null, note: 'still may' },
    { bytes: 'GET\t/', speech: 'other', note: 'a tab is not a space' },
    { bytes: 'get / HTTP/1.1', speech: 'other', note: 'methods have a case' },
    { bytes: 'EHLO me', speech: 'other', note: 'no method' },
    { bytes: 'PRI * HTTP/2.0', speech: 'http2', note: 'the preface' },
    { bytes: 'SSH-2.0-OpenSSH', speech: 'other', note: 'ssh' },
    { bytes: 'A'.repeat(40), speech: 'other', note: 'longer than any method' },
    { bytes: '', speech: null, note: 'nothing' },
  ]
  it.each(rows)('$note', ({ bytes, speech }) => expect(speechOf(Buffer.from(bytes, 'latin1'))).toBe(speech))

  it('never turn into something else when more comes', () => {
    const texts = fc.constantFrom(...rows.map((row) => Buffer.from(row.bytes, 'latin1')))
    fc.assert(
      fc.property(texts, fc.uint8Array({ maxLength: 40 }), (start, more) => {
        const early = speechOf(start)
        if (early !== null) expect(speechOf(Buffer.concat([start, more]))).toBe(early)
      }),
    )
  })
})

describe('parsers of bytes', () => {
  it('never throw, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const buffer = Buffer.from(bytes)
        const tls = Buffer.concat([Buffer.from([0x16, 3, 1, 0, buffer.length & 255, 1, 0, 0]), buffer])
        for (const input of [buffer, tls]) {
          expect(['more', 'bad', 'hello']).toContain(helloReader()(input).state)
          expect(['more', 'greeted', 'refused']).toContain(readGreeting(input).state)
          expect(['more', 'request', 'refused']).toContain(readRequest(input).state)
        }
      }),
    )
  })
})
