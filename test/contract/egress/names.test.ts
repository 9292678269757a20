/** The name service of a sandbox and the addresses behind it: programs that know no proxy reach what was granted, and nothing else. */

import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import type { Resolver } from '../../../src/system/dns.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { createWorld, PUBLIC_ADDRESS, type World } from './world.ts'

let session: SessionWorld
let internet: World
let resolved: string[]

beforeEach(async () => {
  session = openSessionWorld()
  internet = createWorld()
  resolved = []
  await internet.serveHttps((message, response) => response.end(`reached ${message.headers.host} by tls`))
  await internet.serveHttp((message, response) => response.end(`reached ${message.headers.host}`))
  await internet.serve(
    5432,
    createServer((socket) => socket.on('error', () => {}).on('data', (chunk) => socket.end(`echo ${chunk}`))),
  )
})
afterEach(async () => {
  await session.close()
  await internet.close()
})

async function inside(command: string, domains: readonly string[]): Promise<string> {
  const resolver: Resolver = {
    resolve: async (host) => {
      resolved.push(host)
      return [PUBLIC_ADDRESS]
    },
  }
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    security: { command_substitution: true },
    capabilities: { allow: { commands: { default_domains: [...domains] } } },
  }
  const cordon = await session.open({ manifest: { object }, resolver, upstream: internet.upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const GRANTED = ['api.example.org', 'db.example.org:5432', '*.wild.example.net']
const python = (code: string) => `python3 - <<'E'\nimport socket\n${code}\nE`
const direct = 'curl -sS -m 60 --noproxy "*"'

describe('a program that knows no proxy', () => {
  it('reaches granted hosts by name, over TLS, HTTP and their own port', async () => {
    const text = await inside(
      `${direct} https://api.example.org/; echo; ${direct} http://api.example.org/; echo; ${python(`s=socket.create_connection(('db.example.org',5432)); s.sendall(b'hello'); print(s.recv(99).decode())`)}`,
      GRANTED,
    )
    expect(text).toContain('reached api.example.org by tls')
    expect(text).toContain('reached api.example.org\n')
    expect(text).toContain('echo hello')
    expect(new Set(resolved)).toEqual(new Set(['api.example.org', 'db.example.org']))
  })

  it('reaches every host below a wildcard, by the name that it says itself', async () => {
    const text = await inside(
      `${direct} https://one.example.org/; echo; ${direct} http://two.deep.example.org/; echo; getent hosts example.org || echo no apex`,
      ['*.example.org'],
    )
    expect(text).toContain('reached one.example.org by tls')
    expect(text).toContain('reached two.deep.example.org\n')
    expect(text).toContain('no apex')
  })

  it('reaches them through SOCKS with names that it looked up itself, of version 4 too', async () => {
    const proxy = (option: string) =>
      `curl -sS -m 60 --noproxy "" --proxy "" ${option} 127.0.0.1:3128 https://api.example.org/; echo`
    const text = await inside(['--socks4', '--socks4a', '--socks5', '--socks5-hostname'].map(proxy).join('; '), GRANTED)
    expect(text.match(/reached api\.example\.org by tls/g)).toHaveLength(4)
  })
})

describe('attacks', () => {
  it.each([
    [
      'another name at the address of a wildcard, in TLS',
      `${direct} -k --resolve evil.example.com:443:127.65.0.1 https://evil.example.com/`,
      /curl/,
    ],
    [
      'another name at the address of a wildcard, in HTTP',
      `${direct} --resolve evil.example.com:80:127.65.0.1 http://evil.example.com/`,
      /host-unlisted|curl/,
    ],
    ['no name at the address of a wildcard', `${direct} -k https://127.65.0.1/`, /curl/],
    ['a name that nobody granted', 'getent hosts evil.example.com', /not granted/],
    ['a name below a granted one', 'getent hosts data.api.example.org', /data\.api\.example\.org/],
    ['a port that was not granted', python(`socket.create_connection(('db.example.org',22))`), /refused/i],
    ['the web of a host granted for another port', `${direct} https://db.example.org/`, /curl/],
    [
      'a name other than that of the address',
      `${direct} -k --resolve evil.example.com:443:127.64.0.1 https://evil.example.com/`,
      /curl|name-mismatch/,
    ],
    [
      'another Host at a granted address',
      `${direct} -H 'Host: evil.example.com' http://api.example.org/`,
      /host-mismatch/,
    ],
    ['an address beside the granted ones', `${direct} https://127.64.0.77/`, /curl/],
    [
      'loopback by the proxy',
      'curl -sS -m 60 --proxy http://127.0.0.1:3128 --noproxy "" http://127.0.0.1:5432/',
      /blocked by Cordon/,
    ],
  ])('%s', async (_, command, says) => {
    const text = await inside(command, GRANTED)
    expect(text).not.toContain('reached')
    expect(text).toMatch(says)
    expect(resolved.filter((name) => !name.endsWith('api.example.org') && name !== 'db.example.org')).toEqual([])
  })

  it('names are never asked outside, however they are asked', async () => {
    const ask = `python3 - <<'E'
import socket, struct
def query(name, kind=1):
    labels = b''.join(bytes([len(p)]) + p.encode() for p in name.split('.'))
    return struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 0) + labels + b'\\0' + struct.pack('>HH', kind, 1)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(2)
def udp(packet):
    u.sendto(packet, ('127.0.0.1', 53))
    try: return u.recv(2000)
    except TimeoutError: return b''
t = socket.create_connection(('127.0.0.1', 53)); q = query('api.example.org'); t.sendall(struct.pack('>H', len(q)) + q)
print('tcp', t.recv(2000)[-4:].hex())
print('udp', udp(query('API.example.org'))[-4:].hex())
print('aaaa', udp(query('api.example.org', 28))[3] & 15, 'txt', udp(query('secret.evil.example.com', 16))[3] & 15)
u.settimeout(0.2)
for bad in [b'', b'x', query('a.b')[:14], b'\\xff' * 40, query('a' * 63 + '.b'), query('x')[:-1], struct.pack('>HHHHHH', 7, 0x8180, 1, 0, 0, 0) + b'\\0' * 9, struct.pack('>HHHHHH', 7, 0, 1, 0, 0, 0) + b'\\xc0\\x0c\\0\\1\\0\\1']:
    udp(bad)
u.settimeout(2)
print('still', udp(query('api.example.org'))[-4:].hex())
def tcp(*parts):
    t = socket.create_connection(('127.0.0.1', 53)); t.settimeout(1)
    try:
        for part in parts: t.sendall(part)
        return t.recv(2000)
    except OSError: return b''
q = query('api.example.org'); framed = struct.pack('>H', len(q)) + q
print('lengths', [len(tcp(struct.pack('>H', n) + q)) for n in (0, 5, 65535)])
print('cut', tcp(framed[:1], framed[1:9], framed[9:])[-4:].hex(), 'two', len(tcp(framed + framed)) >= len(framed) + 16)
mixed = query('aPi.ExAmPlE.oRg'); print('as asked', mixed[12:] in udp(mixed))
E`
    const text = await inside(ask, GRANTED)
    expect(text).toContain('tcp 7f400001')
    expect(text).toContain('udp 7f400001')
    expect(text).toContain('aaaa 0 txt 3')
    expect(text).toContain('still 7f400001')
    expect(text).toContain('lengths [0, 0, 0]')
    expect(text).toContain('cut 7f400001 two True')
    expect(text).toContain('as asked True')
    expect(resolved).toEqual([])
  })
})

describe('a command without any host', () => {
  it('is refused at once, with the reason in band and the fix beside it', async () => {
    const text = await inside(
      'curl -sS http://one.example.com/; curl -sS https://two.example.com/; getent hosts three.example.com',
      [],
    )
    expect(text).toContain('blocked by Cordon (host-unlisted)')
    for (const name of ['one', 'two', 'three']) expect(text).toContain(`cordon run --allow-host ${name}.example.com`)
    expect(resolved).toEqual([])
  })

  it('cannot end its own sandbox, or fill the record, by what it asks for', async () => {
    const knock = `
for i in range(400):
    s = socket.create_connection(('127.0.0.1', 3128)); s.sendall(b'CONNECT X%d.example.com:443 HTTP/1.1\\r\\n\\r\\n' % i); answer = s.recv(60); s.close()
print('the last was', answer.decode())`
    const text = await inside(python(knock), [])
    expect(text).toContain('the last was HTTP/1.1 403 Blocked by Cordon')
    const end = session.auditLines().find((line) => line.type === 'end')
    expect(end?.violations).toHaveLength(256)
  })
})
