/**
 * From spawn to the first byte through the broker, in a session that is running, against bare bubblewrap. Bare bubblewrap has no
 * network to anywhere, so its client talks to itself, or, with the host's network left in, to the same server directly.
 */

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { clientSettings } from '../src/egress/clients/clients.ts'
import { openProxy } from '../src/egress/command-proxy.ts'
import { createUpstream } from '../src/egress/route/upstream.ts'
import { createSessionCa } from '../src/egress/tls/certificate.ts'
import { createBwrapBackend } from '../src/sandbox/bwrap/backend.ts'
import { hosts, PUBLIC_ADDRESS, TestAuthority } from '../test/contract/egress/world.ts'
import { planIn } from '../test/plan-in.ts'
import { bareArguments, median, printTable } from './measure.ts'

const HOST = 'bench.example.org'
const ROUNDS = 80
const WARM_UP = 8
const TARGET = 1.3

const request = `GET http://${HOST}/ HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`

interface Row {
  readonly name: string
  readonly bare: () => Promise<number>
  readonly cordon: () => Promise<number>
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

/** Milliseconds until a program said its first byte. */
function untilFirstByte(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now()
    let first: number | null = null
    let complaint = ''
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    child.stdout.once('data', () => {
      first = performance.now() - started
    })
    child.stderr.on('data', (chunk) => {
      complaint += chunk
    })
    child.once('error', reject)
    child.once('close', () => (first === null ? reject(new Error(`nothing was said: ${complaint}`)) : resolve(first)))
  })
}

export async function benchFirstByte(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  const authority = new TestAuthority()
  const answer: RequestListener = (_, response) => response.end('x')
  const [plain, secure] = [createServer(answer), createHttps(authority.issue(HOST), answer)]
  try {
    const ports = { 80: await listen(plain), 443: await listen(secure) }
    const client = join(root, 'first-byte')
    const source = fileURLToPath(new URL('./first-byte.c', import.meta.url))
    execFileSync('cc', ['-std=gnu11', '-O2', '-static', '-o', client, source])

    // A session prepares the next layout; the first command, and one of another kind, start their own.
    const backends = { ahead: createBwrapBackend({ commands: 'many' }), own: createBwrapBackend() }
    const ca = createSessionCa()
    const resolver = { resolve: async () => [PUBLIC_ADDRESS] }
    const dialer = ({ target }: { target: { port: number } }) => ({
      host: '127.0.0.1',
      port: ports[target.port as 80 | 443],
      noDelay: true,
    })
    const upstream = createUpstream({ roots: authority.pem, dialer })
    const facts = { proxyHost: '127.0.0.1', proxyPort: 3128, directory: root, caPem: ca.pem, roots: authority.pem }
    const { environment, files } = clientSettings(facts)
    for (const { path, content, mode } of files) writeFileSync(path, content, { mode })
    writeFileSync(join(root, 'authority.pem'), authority.pem)

    const planOf = (argv: readonly string[]) =>
      planIn(root, argv, { env: { PATH: '/usr/bin:/bin', ...environment }, network: 'listener' })
    const bare = (argv: readonly string[], shareNetwork: boolean) => {
      const { program, args } = backends.own.compile(planOf(argv))
      const given = bareArguments(args, argv).filter((arg) => !shareNetwork || arg !== '--unshare-net')
      return () => untilFirstByte(program, given, { PATH: '/usr/bin:/bin' })
    }
    const cordon = (argv: readonly string[], layout: keyof typeof backends) => {
      const plan = planOf(argv)
      const rules = { command: 'bench', allowed: hosts(HOST), denied: [], allowPrivate: false }
      return async () => {
        const started = performance.now()
        let first: number | null = null
        let broker: ReturnType<typeof openProxy> | null = null
        const stdout = new Writable({
          write(_chunk, _encoding, done) {
            first ??= performance.now() - started
            done()
          },
        })
        const onListener = (listener: Server) => {
          broker = openProxy({ listener, rules, ca, upstream, resolver })
        }
        const result = await backends[layout].launch(plan, { stdout, stderr: 'capture', onListener })
        await (broker as ReturnType<typeof openProxy> | null)?.close()
        if (first === null || result.exitCode !== 0)
          throw new Error(`no byte: ${result.stderr?.bytes.toString('utf8')}`)
        return first as number
      }
    }
    const curl = (...more: string[]) => ['/usr/bin/curl', '-sS', ...more, `https://${HOST}/`]
    const small = [client, '3128', request]
    const direct = [
      '--noproxy',
      '*',
      '--cacert',
      join(root, 'authority.pem'),
      '--connect-to',
      `::127.0.0.1:${ports[443]}`,
    ]
    const toItself = bare([client, 'self', request], false)
    const toServer = bare([client, String(ports[80]), request], true)
    const curled = bare(curl(...direct), true)
    const rows: readonly Row[] = [
      { name: 'small client, HTTP; bare: to itself', bare: toItself, cordon: cordon(small, 'ahead') },
      { name: 'small client, HTTP; bare: direct, host network', bare: toServer, cordon: cordon(small, 'ahead') },
      { name: 'curl, HTTPS; bare: direct, host network', bare: curled, cordon: cordon(curl(), 'ahead') },
      { name: 'the first of these, without a prepared layout', bare: toItself, cordon: cordon(small, 'own') },
      { name: 'the last of these, without a prepared layout', bare: curled, cordon: cordon(curl(), 'own') },
    ]
    const table = [['', 'bare bwrap', 'cordon', 'ratio', 'kept']]
    for (const { name, bare: other, cordon: own } of rows) {
      const times: { bare: number; cordon: number }[] = []
      // In turns, so that a busy machine slows both alike.
      for (let round = 0; round < ROUNDS + WARM_UP; round++) {
        const pair = { bare: await other(), cordon: await own() }
        if (round >= WARM_UP) times.push(pair)
      }
      const [without, through] = [median(times.map((pair) => pair.bare)), median(times.map((pair) => pair.cordon))]
      const ratio = through / without
      const kept = ratio <= TARGET ? 'kept' : 'missed'
      table.push([name, `${without.toFixed(1)} ms`, `${through.toFixed(1)} ms`, `${ratio.toFixed(2)}x`, kept])
    }
    printTable('spawn to first proxied byte, session running', table)
    backends.ahead.release()
  } finally {
    plain.close()
    secure.close()
    rmSync(root, { recursive: true, force: true })
  }
}
