/** Ways around the reading of requests to a brokered host: bytes that are not request, TLS that is not opened, forms, signatures for elsewhere. */

import { createHash, createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { type BrokeredSecret, createBroker } from '../../../src/egress/credentials/broker.ts'
import { createBodyHold } from '../../../src/egress/wire/body-hold.ts'
import { createWorld, hosts, RawClient, type World } from '../../contract/egress/world.ts'

const HOST = 'api.example.org'
const VALUE = 'sk_realValueOfTheKey0123456789'
let world: World
afterEach(() => world.close())

function brokerFor(entry: string, more: Partial<BrokeredSecret> = {}) {
  return createBroker([{ name: 'KEY', value: VALUE, hosts: hosts(entry).map((rule) => rule.pattern), ...more }])
}

describe('a port that was granted by name carries bytes, but not to a host that a secret is for', () => {
  const THEIRS = 'Host: api.example.org\r\nAuthorization: Bearer theirs\r\n\r\n'
  const rows: readonly [note: string, bytes: string][] = [
    ['a request after an empty line, which servers skip', `\r\nGET / HTTP/1.1\r\n${THEIRS}`],
    ['a method that nobody knows', `FETCH / HTTP/1.1\r\n${THEIRS}`],
    ['a method in small letters', `get / HTTP/1.1\r\n${THEIRS}`],
    ['bytes', '\x00\x01\x02 Bearer theirs'],
  ]

  async function send(bytes: string, brokered: boolean, tls: boolean): Promise<{ seen: string; said: string }> {
    world = createWorld()
    let seen = ''
    if (tls) {
      const { createServer: createTls } = await import('node:tls')
      const server = createTls({ ...world.authority.issue(HOST) }, (socket) => {
        socket
          .on('error', () => {})
          .on('data', (chunk: Buffer) => {
            seen += chunk.toString('latin1')
            socket.end('it came')
          })
      })
      await world.serve(8443, server as unknown as ReturnType<typeof createServer>)
    } else {
      const server = createServer((socket) => {
        socket
          .on('error', () => {})
          .on('data', (chunk: Buffer) => {
            seen += chunk.toString('latin1')
            socket.end('it came')
          })
      })
      await world.serve(8443, server)
    }
    const broker = brokered ? brokerFor(`${HOST}:8443`) : null
    const { port } = await world.open({ allowed: hosts(`${HOST}:8443`) }, { broker })
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:8443`)
    const spoken = tls ? await client.encrypt({ ca: world.ca.pem, servername: HOST }) : client
    spoken.send(bytes)
    const said = await spoken.receive()
    return { seen, said }
  }

  it.each(rows.flatMap(([note, bytes]) => [false, true].map((tls) => ({ note, bytes, tls }))))(
    '$note, TLS $tls',
    async ({ bytes, tls }) => {
      const { seen, said } = await send(bytes, true, tls)
      expect(seen).toBe('')
      expect(said).toMatch(/Blocked by Cordon \((?:secret-unread|secret-foreign|malformed-request)\)/)
      // Control: the same bytes to the same port, where no secret is for the host.
      await world.close()
      expect((await send(bytes, false, tls)).said).toContain('it came')
    },
  )
})

describe('TLS that is passed on', () => {
  async function open(brokered: boolean) {
    world = createWorld()
    await world.serveHttps((_, response) => response.end('reached the host'))
    const allowed = hosts({ host: HOST, tls: 'pass' })
    const broker = brokered ? brokerFor(HOST) : null
    return world.open({ allowed }, { broker })
  }
  async function ask(port: number, servername?: string): Promise<string> {
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    try {
      const inside = await client.encrypt({ ca: world.authority.pem, ...(servername && { servername }) })
      inside.send(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
      return await inside.receive()
    } catch {
      return 'refused'
    }
  }

  it('does not go to a host that a secret is for', async () => {
    const { port } = await open(true)
    expect(await ask(port, HOST)).toBe('refused')
    expect(world.events.at(-1)).toMatchObject({ code: 'secret-unread' })
  })

  it('does not go out without a name, which would be for whomever the address serves', async () => {
    const { port } = await open(false)
    expect(await ask(port)).toBe('refused')
    expect(world.events.at(-1)).toMatchObject({ code: 'name-mismatch' })
    expect(await ask(port, HOST)).toContain('reached the host')
  })
})

describe('forms', () => {
  const form = async (body: string, type = 'application/x-www-form-urlencoded', more: Partial<BrokeredSecret> = {}) => {
    world = createWorld()
    let seen = ''
    await world.serveHttps((message, response) => {
      message.on('data', (chunk: Buffer) => {
        seen += chunk.toString()
      })
      message.on('end', () => response.end('reached the host'))
    })
    const broker = brokerFor(HOST, more)
    const { port } = await world.open({ allowed: hosts(HOST) }, { broker })
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    const inside = await client.encrypt({ ca: world.ca.pem, servername: HOST })
    const post = (text: string) =>
      inside.send(
        `POST / HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: Bearer ${broker.environment.KEY}\r\nContent-Type: ${type}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      )
    // On an existing connection, bytes leave at once.
    post('first=1')
    const first = await inside.receive((text) => text.includes('reached the host') || text.includes('403'))
    if (first.includes('403')) return { answer: first, seen }
    seen = ''
    post(body)
    const answer = await inside.receive((text) => text.includes('reached the host') || text.includes('403'))
    return { answer, seen }
  }

  it.each([['token=theirs&text=data'], ['text=data&access_token=theirs'], ['a=1&%74oken=theirs'], ['a=1;api-key=x']])(
    '%s does not go to a brokered host',
    async (body) => {
      const { answer, seen } = await form(body)
      expect(answer).toContain('secret-foreign')
      expect(seen).toBe('')
    },
  )

  const part = (head: string) => `--x\r\n${head}\r\n\r\ntheirs\r\n--x--\r\n`
  it.each([
    ['a field', 'Content-Disposition: form-data; name="token"'],
    ['a field without quotes', 'content-disposition:form-data;name=token'],
    ['a field on a folded line', 'Content-Disposition: form-data;\r\n\tname="token"'],
    ['a field in the long form', "Content-Disposition: form-data; name*=utf-8''%74oken"],
    ['a field beside a file', 'Content-Disposition: form-data; filename="a"; name="api_key"'],
    ['a field in pieces', 'Content-Disposition: form-data; name*0="tok"; name*1="en"'],
    ['a field in encoded pieces', "Content-Disposition: form-data; name*0*=utf-8''to; name*1*=ken"],
    ['a field that is folded behind its name', 'Content-Disposition: form-data; name=\r\n "token"'],
    ['a field that is folded before its value', 'Content-Disposition: form-data; name\r\n ="token"'],
    ['a field that is folded at once', 'Content-Disposition:\r\n form-data; name="token"'],
    ['a field with a backslash', 'Content-Disposition: form-data; name="to\\ken"'],
    ['the second of two names', 'Content-Disposition: form-data; name="a"; name="token"'],
    ['a name behind a quoted semicolon', 'Content-Disposition: form-data; name="a;token"'],
    ['a field with a comment in it', 'Content-Disposition: form-data; name(a)="token"'],
    ['a field without a semicolon', 'Content-Disposition: form-data name="token"'],
    ['an encoded word', 'Content-Disposition: form-data; name="=?utf-8?b?dG9rZW4=?="'],
    ['a line that ends otherwise', 'X: y\rContent-Disposition: form-data; name="token"'],
    ['a field after other heads', 'Content-Type: text/plain\r\nCONTENT-DISPOSITION : form-data; name="password"'],
  ])('%s of a form in parts does not go to a brokered host', async (_, head) => {
    const { answer, seen } = await form(part(head), 'multipart/form-data; boundary=x')
    expect(answer).toContain('secret-foreign')
    expect(seen).toBe('')
  })

  it('a form that says no type does not go there', async () => {
    const { answer, seen } = await form('token=theirs', '\r\nX-A: b')
    expect(answer).toContain('secret-foreign')
    expect(seen).toBe('')
  })

  it('a form whose other type comes second does not go there', async () => {
    const types = 'application/json\r\nContent-Type: application/x-www-form-urlencoded'
    const { answer, seen } = await form('token=theirs', types)
    expect(answer).toMatch(/secret-foreign|malformed-request/)
    expect(seen).toBe('')
  })

  it.each([['ibm037'], ['utf-16le'], ['"UTF-7"']])('a form in letters of %s does not go there', async (name) => {
    const { answer, seen } = await form(
      '\xa3\x96\x92\x85\x95\x7e\xa3',
      `application/x-www-form-urlencoded; charset=${name}`,
    )
    expect(answer).toContain('secret-unread')
    expect(seen).toBe('')
  })

  it('a form that is packed does not go there', async () => {
    const packed = gzipSync('token=theirs').toString('latin1')
    const { answer, seen } = await form(packed, 'application/x-www-form-urlencoded\r\nContent-Encoding: gzip')
    expect(answer).toContain('secret-unread')
    expect(seen).toBe('')
  })

  it.each([
    [
      'a form in parts',
      part('Content-Disposition: form-data; name="text"; filename="token"'),
      'multipart/form-data; boundary=x',
      {},
    ],
    ['fields that are none', 'text=token&page_token=2', undefined, {}],
    ['a form that says its letters', 'text=1', 'application/x-www-form-urlencoded; charset=UTF-8', {}],
    [
      'a mail in parts, with names of files as mails have them',
      'a line\r\nContent-Disposition: attachment;\r\n filename*0="token"; filename*1="key"\r\n\r\nb',
      'multipart/related; boundary=x',
      {},
    ],
    ['what was listed', 'token=mine', undefined, { passParameters: ['token'] }],
    ['what is not a form', '{"token":"of a page"}', 'application/json', {}],
  ])('control: %s', async (_, body, type, more) => {
    const { answer, seen } = await form(body, type, more)
    expect(answer).toContain('reached the host')
    expect(seen).toBe(body)
  })
})

describe('a key of AWS', () => {
  const BUCKET = 'data.s3.eu-west-1.amazonaws.com'
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

  /** A request as an SDK signs it, with whatever scope. */
  function signed(key: string, service: string, region: string, more: readonly string[] = [], path = '/', ahead = 0) {
    const time = new Date(Date.now() + ahead).toISOString().replace(/[-:]|\.\d+/g, '')
    const day = time.slice(0, 8)
    const hash = 'UNSIGNED-PAYLOAD'
    const headers = `host:${BUCKET}\nx-amz-content-sha256:${hash}\nx-amz-date:${time}\n`
    const names = 'host;x-amz-content-sha256;x-amz-date'
    const [route = '', query = ''] = path.split('?')
    const canonical = ['GET', route, query, headers, names, hash].join('\n')
    const scope = `${day}/${region}/${service}/aws4_request`
    const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
    const derived = [day, region, service, 'aws4_request'].reduce(
      (from: Buffer | string, step) => hmac(from, step!),
      `AWS4${key}`,
    )
    const signature = hmac(derived, text).toString('hex')
    const authorization = `AWS4-HMAC-SHA256 Credential=AKIDADA/${scope}, SignedHeaders=${names}, Signature=${signature}`
    return [
      `GET ${path} HTTP/1.1`,
      `Host: ${BUCKET}`,
      `X-Amz-Date: ${time}`,
      `X-Amz-Content-Sha256: ${hash}`,
      `Authorization: ${authorization}`,
      'Connection: close',
      ...more,
      '\r\n',
    ].join('\r\n')
  }

  async function ask(make: (key: string) => string): Promise<{ answer: string; reached: number }> {
    world = createWorld()
    let reached = 0
    await world.serveHttps((_, response) => {
      reached++
      response.end('reached the host')
    })
    const broker = brokerFor(BUCKET, { signs: 'aws' })
    const { port } = await world.open({ allowed: hosts(BUCKET) }, { broker })
    const client = await RawClient.connect(port)
    await client.tunnel(`${BUCKET}:443`)
    const inside = await client.encrypt({ ca: world.ca.pem, servername: BUCKET })
    inside.send(make(broker.environment.KEY!))
    return { answer: await inside.receive(), reached }
  }

  it.each([
    ['for another service, which would take it as well', (key: string) => signed(key, 'iam', 'eu-west-1')],
    ['for another region', (key: string) => signed(key, 's3', 'us-east-1')],
    [
      'for a later time, to be used elsewhere then: a host may show what was signed',
      (key: string) => signed(key, 's3', 'eu-west-1', [], '/', 3_600_000),
    ],
    ['by another key', () => signed('theirs', 's3', 'eu-west-1')],
    [
      'with a second login beside it',
      (key: string) => signed(key, 's3', 'eu-west-1', ['Authorization: AWS4-HMAC-SHA256 x']),
    ],
    [
      'with a signature in its URL',
      (key: string) => signed(key, 's3', 'eu-west-1', [], '/?X-Amz-Credential=AKIDTHEIRS&X-Amz-Signature=0'),
    ],
    [
      'with the old kind of signature in its URL',
      () => signed('x', 's3', 'eu-west-1', [], '/?AWSAccessKeyId=A&Signature=0'),
    ],
  ])('does not sign a request %s', async (_, make) => {
    const { answer, reached } = await ask(make)
    expect(answer).toMatch(/secret-foreign|400/)
    expect(reached).toBe(0)
  })

  it('control: signs one for the service and the region of its host', async () => {
    const { answer, reached } = await ask((key) => signed(key, 's3', 'eu-west-1'))
    expect(answer).toContain('reached the host')
    expect(reached).toBe(1)
  })
})

describe('a host that is granted for some methods', () => {
  const METHODS = ['GET', 'POST']

  async function post(body: string, type: string, methods?: readonly string[]) {
    world = createWorld()
    let reached = ''
    await world.serveHttps((message, response) => {
      message.on('data', (chunk: Buffer) => {
        reached += chunk.toString('latin1')
      })
      message.on('error', () => {})
      message.on('end', () => response.end('reached the host'))
    })
    const { port } = await world.open({ allowed: hosts({ host: HOST, ...(methods && { methods }) }) })
    const client = await RawClient.connect(port)
    await client.tunnel(`${HOST}:443`)
    const inside = await client.encrypt({ ca: world.ca.pem, servername: HOST })
    inside.send(
      `POST / HTTP/1.1\r\nHost: ${HOST}\r\n${type}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    return { answer: await inside.receive(), reached }
  }

  const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'
  const PARTS = 'Content-Type: multipart/form-data; boundary=x\r\n'
  const JSON_TYPE = 'Content-Type: application/vnd.api+json\r\n'
  const OVERRIDES: readonly [note: string, body: string, type: string][] = [
    ['a form (Rails, Laravel, Spring)', 'a=1&_method=DELETE', FORM],
    ['an encoded name', '%5Fmethod=DELETE', FORM],
    ['capital letters', '_METHOD=DELETE', FORM],
    ['a header’s name (ASP.NET)', 'X-HTTP-Method-Override=DELETE', FORM],
    ['a form without a type (Rack)', '_method=DELETE', ''],
    ['a plain name (Graph APIs)', 'method=delete', FORM],
    ['a form in parts', '--x\r\nContent-Disposition: form-data; name="_method"\r\n\r\nDELETE\r\n--x--', PARTS],
    ['a name in pieces', '--x\r\nContent-Disposition: form-data; name*0="_met"; name*1="hod"\r\n\r\nDELETE', PARTS],
    ['JSON (Laravel)', '{"a":{},"_method":"DELETE"}', JSON_TYPE],
    ['JSON with an escape', '{"\\u005fmethod":"DELETE"}', JSON_TYPE],
    ['a packed form', gzipSync('_method=DELETE').toString('latin1'), `Content-Encoding: gzip\r\n${FORM}`],
  ]

  it.each(OVERRIDES)('takes no other one in %s', async (_, body, type) => {
    const { answer } = await post(body, type, METHODS)
    expect(answer).toContain('method-unlisted')
    // Control: where methods are not limited, it goes.
    await world.close()
    expect(await post(body, type)).toMatchObject({ answer: expect.stringContaining('reached the host'), reached: body })
  })

  it.each([
    ['a form', 'a=1&payment_method=card&method=card', FORM],
    ['a call of JSON-RPC', '{"jsonrpc":"2.0","method":"delete"}', JSON_TYPE],
    ['a value', '{"a":"_method"}', JSON_TYPE],
  ])('control: takes %s', async (_, body, type) => {
    expect((await post(body, type, METHODS)).reached).toBe(body)
  })
})

it('bodies that wait to be signed share one limit, and are released', async () => {
  world = createWorld()
  const { Readable } = await import('node:stream')
  const bodies = createBodyHold()
  const mebibytes = (count: number) =>
    Readable.from(
      (function* () {
        for (let at = 0; at < count; at++) yield Buffer.alloc(1024 * 1024)
      })(),
      { objectMode: false },
    )
  expect(await bodies.hold(mebibytes(17))).toMatchObject({ refusal: { code: 'secret-misplaced' } })
  const kept = await Promise.all(Array.from({ length: 4 }, () => bodies.hold(mebibytes(15))))
  expect(kept.every((one) => 'body' in one)).toBe(true)
  expect(await bodies.hold(mebibytes(5))).toMatchObject({ refusal: { code: 'too-many-connections' } })
  expect(bodies.bytes).toBe(60 * 1024 * 1024)
  for (const one of kept) if ('body' in one) one.body.destroy()
  await new Promise(setImmediate)
  expect(bodies.bytes).toBe(0)
  expect(await bodies.hold(mebibytes(5))).toHaveProperty('hash')
})
