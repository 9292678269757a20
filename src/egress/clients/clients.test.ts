import { execFileSync, spawn } from 'node:child_process'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createSessionCa } from '../tls/certificate.ts'
import { CLIENTS, clientSettings } from './clients.ts'
import { NODE_PRELOAD } from './node-preload.ts'

const ca = createSessionCa()
const facts = { proxyHost: '127.0.0.1', proxyPort: 3128, directory: '/run/cordon', caPem: ca.pem, roots: 'ROOTS' }

describe('client settings', () => {
  it('fill every place', () => {
    const { environment, files } = clientSettings(facts)
    expect(Object.values(environment).filter((value) => /\{\w+\}|undefined/.test(value))).toEqual([])
    for (const file of files) expect(file.path.startsWith('/run/cordon/')).toBe(true)
  })

  it('name every client of the specification', () => {
    const names = CLIENTS.map((row) => row.client)
    expect(names).toEqual(
      expect.arrayContaining([
        'curl',
        'wget',
        'git',
        'npm',
        'pnpm',
        'yarn',
        'pip',
        'uv',
        'cargo',
        'go',
        'node',
        'java',
        'deno',
        'bun',
      ]),
    )
  })

  it('point only at files that are placed', () => {
    const { environment, files } = clientSettings(facts)
    const named = Object.values(environment).flatMap((value) => value.match(/\/run\/cordon\/[\w.-]+/g) ?? [])
    const placed = files.map((file) => file.path)
    expect(named.filter((path) => !placed.includes(path))).toEqual([])
  })

  it('keep loopback inside the sandbox, but for what the proxy alone reaches', () => {
    expect(clientSettings(facts).environment.NO_PROXY).toContain('127.0.0.1')
    expect(clientSettings({ ...facts, proxiedLoopback: ['::1'] }).environment.NO_PROXY).toBe(
      'localhost,.localhost,127.0.0.1',
    )
  })

  it('write scripts that their interpreters accept', () => {
    const file = (name: string) =>
      clientSettings(facts).files.find((entry) => entry.path.endsWith(name))!.content as string
    expect(() => execFileSync('bash', ['-n'], { input: file('ssh-connect') })).not.toThrow()
    expect(() => execFileSync(process.execPath, ['--check', '-'], { input: file('node-proxy.cjs') })).not.toThrow()
  })

  it.each([
    { host: 'git.example.org', asked: 'git.example.org:22' },
    { host: '2606:4700::1', asked: '[2606:4700::1]:22' },
  ])('ask the proxy for $asked when ssh wants $host', async ({ host, asked }) => {
    const script = clientSettings(facts).files.find((entry) => entry.path.endsWith('ssh-connect'))!.content as string
    const proxy = createServer()
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const heard = new Promise<string>((resolve) => {
      proxy.once('connection', (socket) => {
        let request = ''
        socket.on('data', (chunk) => {
          request += chunk.toString('latin1')
          if (!request.endsWith('\r\n\r\n')) return
          resolve(request)
          socket.end('HTTP/1.1 403 Blocked\r\n\r\nwhy\n')
        })
      })
    })
    const { port } = proxy.address() as AddressInfo
    const env = { PATH: '/usr/bin:/bin', CORDON_PROXY_HOST: '127.0.0.1', CORDON_PROXY_PORT: String(port) }
    const child = spawn('bash', ['-c', script, 'ssh-connect', host, '22'], { env, stdio: ['pipe', 'ignore', 'pipe'] })
    const reported = text(child.stderr)
    expect(await heard).toBe(`CONNECT ${asked} HTTP/1.1\r\nHost: ${asked}\r\n\r\n`)
    expect(await reported).toContain('why')
    await new Promise((resolve) => proxy.close(resolve))
  })

  it('keep the options that the command has for Node', () => {
    const { environment } = clientSettings({ ...facts, nodeOptions: '--max-old-space-size=4096' })
    expect(environment.NODE_OPTIONS).toBe('--require="/run/cordon/node-proxy.cjs" --max-old-space-size=4096')
  })
})

it('the preload of older Nodes reaches the proxy once for each request', async () => {
  const asked: string[] = []
  const proxy = createHttpServer()
  proxy.on('connect', (request, socket) => {
    asked.push(request.url!)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nreached'))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const code = `${NODE_PRELOAD.replace(/^if .*$/m, 'install()')}
    require('node:http').get('http://127.0.0.1:9/', (response) => response.pipe(process.stdout))`
  // The proxy serves requests to loopback; the connection to the proxy must not use it.
  const env = { https_proxy: `http://127.0.0.1:${port}`, no_proxy: '' }
  const child = spawn(process.execPath, ['-e', code], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  expect(await text(child.stdout)).toBe('reached')
  expect(asked).toEqual(['127.0.0.1:9'])
  await new Promise((resolve) => proxy.close(resolve))
})
