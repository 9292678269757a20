/** Real clients, unmodified, inside a real sandbox, by the settings that Cordon gives them or by names alone. */

import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { createWorld, type World } from '../contract/egress/world.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'
import { CACHE, openOrigin } from './origin.ts'

const NODE = process.execPath
const KEY = 'sk_realValueOfTheKey0123456789'
const ORIGIN = 'https://api.example.org'
const GO = process.env.CORDON_TEST_GO ?? 'go'
const WITHOUT =
  'env -u http_proxy -u https_proxy -u all_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u grpc_proxy -u GRPC_PROXY -u NODE_USE_ENV_PROXY'

let session: SessionWorld
let internet: World
let close: () => void

beforeAll(async () => {
  session = openSessionWorld()
  internet = createWorld()
  close = await openOrigin(internet)
})
afterAll(async () => {
  close()
  await session.close()
  await internet.close()
})

async function inside(command: string, brokered = false): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    security: { command_substitution: true },
    limits: { command_timeout: 280, max_output_bytes: 100_000 },
    capabilities: {
      allow: {
        read: { paths: ['**', `${CACHE}/**`, `${dirname(dirname(NODE))}/**`] },
        commands: { default_domains: ['api.example.org', 'grpc.example.org:8443'] },
      },
    },
    ...(brokered && {
      secrets: [{ name: 'API_KEY', source: 'env:API_KEY', hosts: ['api.example.org', 'grpc.example.org:8443'] }],
    }),
  }
  const machine = { ...session.machine, env: { ...session.machine.env, API_KEY: KEY } }
  const { resolver, upstream } = internet
  const cordon = await session.open({ manifest: { object }, machine, resolver, upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const node = (code: string) => {
  session.file('client.cjs', code)
  return `NODE_PATH=${CACHE}/node_modules ${NODE} client.cjs`
}
const python = (code: string) => {
  session.file('client.py', code)
  return `PYTHONPATH=${CACHE}/python /usr/bin/python3 client.py`
}

const WS = `
const WebSocket = require('ws')
const socket = new WebSocket('wss://api.example.org/chat')
const large = 'y'.repeat(3_000_000)
let got = 0
socket.on('open', () => { socket.send('hello'); socket.send(large); })
socket.on('message', (data) => { got += data.length; if (got === 3_000_005) { console.log('echoed', got); socket.close() } })
socket.on('error', (error) => console.log('failed', error.message))`
const GRPC = `
const grpc = require('@grpc/grpc-js')
const fs = require('fs')
const client = new grpc.Client('grpc.example.org:8443', grpc.credentials.createSsl(fs.readFileSync(process.env.SSL_CERT_FILE)), { 'grpc.max_receive_message_length': -1 })
const same = (bytes) => bytes
const big = Buffer.alloc(3_000_000, 'g')
client.makeUnaryRequest('/test.Test/Echo', same, same, big, (error, answer) => {
  console.log(error ? 'failed ' + error.message : 'echoed ' + answer.length)
  const counted = client.makeServerStreamRequest('/test.Test/Count', same, same, Buffer.from('x'))
  counted.on('data', (piece) => console.log(String(piece)))
  counted.on('error', (error) => console.log('failed', error.message))
  counted.on('end', () => client.close())
})`
const JAVA = `import java.net.*; import java.net.http.*;
class Fetch { public static void main(String[] a) throws Exception {
  var request = HttpRequest.newBuilder(URI.create("${ORIGIN}/hello")).build();
  System.out.print("client " + HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
} }`
const EVENTS = `
fetch('${ORIGIN}/events').then(async (answer) => {
  const reader = answer.body.getReader()
  console.log('first', Buffer.from((await reader.read()).value).toString().trim())
  console.log((await (await fetch('${ORIGIN}/go-on')).text()).trim())
  console.log('then', Buffer.from((await reader.read()).value).toString().trim())
})`

interface Row {
  readonly client: string
  readonly command: () => string
  readonly expect: RegExp
}

const HELLO = /hello from the host/
const rows: readonly Row[] = [
  { client: 'curl', command: () => `curl -sS ${ORIGIN}/hello`, expect: HELLO },
  { client: 'curl -0', command: () => `curl -sS -0 ${ORIGIN}/hello`, expect: HELLO },
  { client: 'curl h2', command: () => `curl -sS --http2 ${ORIGIN}/hello`, expect: HELLO },
  { client: 'curl h2 by name', command: () => `curl -sS --noproxy '*' --http2 ${ORIGIN}/hello`, expect: HELLO },
  { client: 'wget', command: () => `wget -qO- ${ORIGIN}/hello`, expect: HELLO },
  { client: 'wget by name', command: () => `wget --no-proxy -qO- ${ORIGIN}/hello`, expect: HELLO },
  {
    client: 'node fetch and https',
    command: () =>
      node(
        `fetch('${ORIGIN}/hello').then(async (r) => console.log(await r.text(), await new Promise((done) => require('https').get('${ORIGIN}/hello', (m) => m.on('data', (d) => done('get ' + d))))))`,
      ),
    expect: /hello from the host\s+get hello/,
  },
  {
    client: 'undici.request, which knows no proxy',
    command: () =>
      node(
        `const { request } = require('undici'); request('${ORIGIN}/hello').then(async (r) => console.log(await r.body.text()))`,
      ),
    expect: HELLO,
  },
  {
    client: 'axios',
    command: () =>
      node(
        `require('axios').get('${ORIGIN}/hello').then((r) => console.log(r.data), (e) => console.log('failed', e.message))`,
      ),
    expect: HELLO,
  },
  { client: 'ws', command: () => node(WS), expect: /echoed 3000005/ },
  {
    client: 'ws by name',
    command: () => `${WITHOUT} ${node(WS)}`,
    expect: /echoed 3000005/,
  },
  { client: 'server-sent events', command: () => node(EVENTS), expect: /first data: one\s+went on\s+then data: two/ },
  { client: 'grpc-js', command: () => node(GRPC), expect: /echoed 3000000\s+count 0[\s\S]*count 4/ },
  {
    client: 'grpc-js by name',
    command: () => `${WITHOUT} ${node(GRPC)}`,
    expect: /echoed 3000000\s+count 0[\s\S]*count 4/,
  },
  {
    client: 'requests',
    command: () => python(`import requests; print(requests.get('${ORIGIN}/hello').text)`),
    expect: HELLO,
  },
  { client: 'httpx', command: () => python(`import httpx; print(httpx.get('${ORIGIN}/hello').text)`), expect: HELLO },
  {
    client: 'aiohttp, which reads no proxy unless asked to',
    command: () =>
      python(`import aiohttp, asyncio
async def main():
  async with aiohttp.ClientSession() as session:
    async with session.get('${ORIGIN}/hello') as answer: print(await answer.text())
    async with session.ws_connect('${ORIGIN}/chat') as ws:
      await ws.send_str('hello'); print('echoed', (await ws.receive()).data)
asyncio.run(main())`),
    expect: /hello from the host\s+echoed (?:b')?hello/,
  },
  {
    client: 'java',
    command: () => {
      session.file('Fetch.java', JAVA)
      return 'java Fetch.java'
    },
    expect: /client hello/,
  },
  {
    client: 'go',
    command: () => {
      session.file('probe/go.mod', 'module probe\n')
      session.file(
        'probe/main.go',
        `package main
import ("fmt"; "io"; "net/http")
func main() { r, e := http.Get("${ORIGIN}/hello"); if e != nil { fmt.Println(e); return }; b, _ := io.ReadAll(r.Body); fmt.Print(string(b)) }`,
      )
      return `cd probe && GOFLAGS=-mod=mod GOPATH=/tmp/go GOCACHE=/tmp/gocache CGO_ENABLED=0 ${GO} run .`
    },
    expect: HELLO,
  },
]

describe.each([{ brokered: false }, { brokered: true }])('clients inside, brokered $brokered', ({ brokered }) => {
  for (const { client, command, expect: expected } of rows) {
    it(client, async () => expect(await inside(command(), brokered)).toMatch(expected))
  }
})

const SIZES: readonly [name: string, bytes: number][] = [
  ['3 MB', 3_000_000],
  ['64 MB', 64_000_000],
  ['1 GB', 1_000_000_000],
]

describe.each([{ brokered: false }, { brokered: true }])('bodies, brokered $brokered', ({ brokered }) => {
  it.each(SIZES)('%s down and up', async (_, bytes) => {
    const text = await inside(
      `curl -sS -o /dev/null -w 'got %{size_download}\\n' '${ORIGIN}/down?bytes=${bytes}'; head -c ${bytes} /dev/zero | curl -sS -T - ${ORIGIN}/upload`,
      brokered,
    )
    expect(text).toContain(`got ${bytes}`)
    expect(text).toContain(`uploaded ${bytes}`)
  })

  it.each(SIZES)('%s down and up by HTTP/2', async (_, bytes) => {
    const code = `
const { connect } = require('http2')
const session = connect('${ORIGIN}', { ca: require('fs').readFileSync(process.env.SSL_CERT_FILE) })
session.on('error', (error) => console.log('failed', error.message))
const down = session.request({ ':path': '/down?bytes=${bytes}' })
let got = 0
down.on('data', (piece) => { got += piece.length })
down.on('close', () => {
  console.log('got', got, 'code', down.rstCode)
  const up = session.request({ ':path': '/upload', ':method': 'POST' })
  up.on('data', (piece) => console.log(String(piece)))
  up.on('close', () => session.close())
  const piece = Buffer.alloc(1_000_000, 'u')
  let left = ${bytes}
  const more = () => { while (left > 0) { left -= piece.length; if (!up.write(piece)) return up.once('drain', more) } up.end() }
  more()
})`
    const text = await inside(node(code), brokered)
    expect(text).toContain(`got ${bytes} code 0`)
    expect(text).toContain(`uploaded ${bytes}`)
  })
})
