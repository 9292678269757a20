/** Servers inside that may be reached from outside: on the listed ports, on loopback, while they live, and never the other way. */

import { spawn } from 'node:child_process'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { COMPILED } from '../../compiled.ts'
import { listen } from '../../contract/egress/world.ts'
import { until } from '../../until.ts'
import { asUser, eachUser, type User } from '../../users.ts'
import type { Report, ServeRequest } from './serve-inside.ts'

const DRIVER = fileURLToPath(new URL('./serve-inside.ts', import.meta.url))

/** What every script starts with: a server that notes when it was asked, and a client that says whether it got through. */
const PRELUDE = `
import os, socket, threading, time
asked = threading.Event()
def serve(port, address='127.0.0.1', family=socket.AF_INET, text=b'inside', backlog=128):
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, port))
    server.listen(backlog)
    def work():
        while True:
            try: client, _ = server.accept()
            except OSError: return
            threading.Thread(target=lambda: answer(client, text), daemon=True).start()
    threading.Thread(target=work, daemon=True).start()
    return server
def answer(client, text):
    got = b''
    while not got.endswith(b'?'):
        more = client.recv(65536)
        if not more: break
        got += more
    client.sendall(text)
    client.close()
    asked.set()
def reaches(port, address='127.0.0.1'):
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    client.settimeout(3)
    try: client.connect((address, port))
    except OSError: return False
    client.close()
    return True
`

class Inside {
  readonly reports: Report[] = []
  readonly #child: ReturnType<typeof spawn>
  readonly #waiting = new Set<() => void>()
  #rest = ''
  #dead: string | null = null

  constructor(user: User, setup: ServeRequest) {
    const script = PRELUDE + setup.script
    const [program, ...args] = asUser(user, [process.execPath, DRIVER, JSON.stringify({ ...setup, script })])
    this.#child = spawn(program!, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, ...COMPILED },
    })
    this.#child.stdout!.on('data', (chunk: Buffer) => this.#take(chunk.toString('utf8')))
    this.#child.once('error', (error) => this.#die(error.message))
    this.#child.once('close', (code, signal) => this.#die(`it ended with ${signal ?? code}`))
  }

  #die(why: string): void {
    this.#dead = why
    for (const wake of this.#waiting) wake()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) this.reports.push(JSON.parse(line) as Report)
    for (const wake of this.#waiting) wake()
  }

  /** Waits for a report that contains this text, and returns all of it. */
  async hears(wanted: string): Promise<string> {
    for (;;) {
      const found = this.reports.find((one) => (one.kind === 'ended' ? 'ended' : one.text).includes(wanted))
      if (found) return found.kind === 'ended' ? 'ended' : found.text
      if (this.reports.some((one) => one.kind === 'ended')) throw new Error(`ended: ${JSON.stringify(this.reports)}`)
      if (this.#dead !== null) throw new Error(`${this.#dead}, and said only ${JSON.stringify(this.reports)}`)
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
      })
    }
  }

  /** Cancels the command, as Ctrl-C does. */
  async end(): Promise<Extract<Report, { kind: 'ended' }>> {
    this.#child.stdin!.end()
    await this.hears('ended')
    return this.reports.find((one) => one.kind === 'ended')!
  }
}

const running: Inside[] = []
function inside(user: User, script: string, ports: readonly number[], mediated = true): Inside {
  const started = new Inside(user, { script, ports, mediated })
  running.push(started)
  return started
}
afterEach(async () => {
  for (const one of running.splice(0)) await one.end()
})

/** Ports that are free now. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  await Promise.all(servers.map(listen))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** What a server answers; the error's code when there is not a connection. */
function ask(port: number, host = '127.0.0.1', question = 'who?'): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const socket: Socket = connect(port, host, () => socket.write(question))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('error', (error) => resolve((error as NodeJS.ErrnoException).code ?? 'error'))
    socket.on('close', () => resolve(text))
  })
}

const otherAddresses = () => [
  '127.0.0.2',
  '::1',
  ...Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((address) => !address.internal && address.scopeid === undefined)
    .map((address) => address.address),
]

eachUser(describe)('a server inside, as $name', (user) => {
  it('is reached on its listed port, on 127.0.0.1, and nowhere else', async () => {
    const [listed, unlisted] = await freePorts(2)
    const script = `serve(${unlisted}); serve(${listed}, '0.0.0.0'); time.sleep(600)`
    const command = inside(user, script, [listed!])
    expect(await command.hears('serving')).toContain(`http://127.0.0.1:${listed}`)
    expect(await ask(listed!)).toBe('inside')
    expect(await ask(unlisted!)).toBe('ECONNREFUSED')
    for (const address of otherAddresses()) expect(await ask(listed!, address), address).not.toBe('inside')
    expect(command.reports.filter((one) => one.kind === 'notice')).toHaveLength(1)
  })

  it.each([
    { mediated: true, note: 'which is heard' },
    { mediated: false, note: 'which is looked for' },
  ])('is there only while it listens, $note, and only while its command lives', async ({ mediated }) => {
    const [port, control] = await freePorts(2)
    const script = `
server = serve(${port}); asked.wait(); asked.clear()
server.shutdown(socket.SHUT_RDWR); server.close()
serve(${control}); print('closed'); asked.wait()
serve(${port}); print('again'); time.sleep(600)`
    const command = inside(user, script, [port!, control!], mediated)
    await command.hears('serving')
    expect(await ask(port!)).toBe('inside')
    await command.hears('closed')
    await until('the port gives ECONNREFUSED', async () => (await ask(port!)) === 'ECONNREFUSED')
    await command.hears(`:${control}`)
    expect(await ask(control!)).toBe('inside')
    await command.hears('again')
    await until('the port gives inside', async () => (await ask(port!)) === 'inside')
    const open = connect(port!, '127.0.0.1')
    await new Promise((resolve) => open.once('connect', resolve))
    const cut = new Promise((resolve) => open.once('close', resolve).on('error', () => {}))
    await command.end()
    await cut
    expect(await ask(port!)).toBe('ECONNREFUSED')
  })

  it.each([
    { address: '::1', note: 'as Node binds "localhost"' },
    { address: '::', note: 'both families' },
    { address: '::ffff:127.0.0.1', note: 'as Java binds 127.0.0.1' },
  ])('is found on $address too, $note', async ({ address }) => {
    const [port] = await freePorts(1)
    const command = inside(user, `serve(${port}, '${address}', socket.AF_INET6); time.sleep(600)`, [port!])
    await command.hears('serving')
    expect(await ask(port!)).toBe('inside')
  })

  it('leaves a port that the host uses alone, says so, and reaches nothing of the host by it', async () => {
    const outside = createServer((socket) => socket.on('error', () => {}).end('outside'))
    await listen(outside)
    const { port } = outside.address() as { port: number }
    try {
      const script = `
print('before', reaches(${port}))
serve(${port}); print('after', reaches(${port})); time.sleep(600)`
      const command = inside(user, script, [port])
      expect(await command.hears('before')).toBe('before False')
      expect(await command.hears('not served')).toMatch(/another program of this machine has the port/)
      expect(await ask(port)).toBe('outside')
    } finally {
      outside.close()
    }
  })

  it('does not open one sandbox to another', async () => {
    const [port] = await freePorts(1)
    const server = inside(user, `serve(${port}); time.sleep(600)`, [port!])
    await server.hears('serving')
    const other = inside(user, `print('reached', reaches(${port}), reaches(${port}, '127.0.0.2')); time.sleep(600)`, [])
    expect(await other.hears('reached')).toBe('reached False False')
  })

  it('gives the command no channel: no socket, and none of its init', async () => {
    const [port] = await freePorts(1)
    const script = `
import ctypes
serve(${port}); time.sleep(0.5)
call = ctypes.CDLL(None).syscall
pidfd = call(434, 1, 0)
taken = [fd for fd in range(3, 20) if call(438, pidfd, fd, 0) >= 0]
def shows(fd):
    try: return os.readlink(f'/proc/1/fd/{fd}')
    except OSError: return None
shown = [fd for fd in range(3, 20) if shows(fd)]
links = [os.readlink('/proc/self/fd/' + fd) for fd in os.listdir('/proc/self/fd') if int(fd) > 2 and os.path.exists('/proc/self/fd/' + fd)]
print('init', pidfd >= 0, taken, shown, 'sockets', len([link for link in links if link.startswith('socket:')]))
time.sleep(600)`
    const command = inside(user, script, [port!])
    await command.hears('serving')
    // The one socket is the server that the script itself opened.
    expect(await command.hears('init')).toMatch(/^init (True|False) \[\] \[\] sockets 1$/)
  })

  it('carries much, both ways, from many at once', async () => {
    const [port] = await freePorts(1)
    const command = inside(user, `serve(${port}, text=b'x' * 5_000_000); time.sleep(600)`, [port!])
    await command.hears('serving')
    const question = `${'q'.repeat(2_000_000)}?`
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port!, '127.0.0.1', question)))
    expect(answers.map((answer) => answer.length)).toEqual(Array(20).fill(5_000_000))
    expect((await command.end()).connections).toBe(20)
  })

  it('that takes no connection keeps nobody waiting, and not its own end', async () => {
    const [port] = await freePorts(1)
    const script = `
server = socket.socket(); server.bind(('127.0.0.1', ${port})); server.listen(0)
mediated = []
for _ in range(8):
    client = socket.socket(); client.setblocking(False)
    try: client.connect(('127.0.0.1', ${port}))
    except OSError: pass
    mediated.append(client)
print('full'); time.sleep(600)`
    const command = inside(user, script, [port!])
    await command.hears('full')
    await command.hears('serving')
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(port!)))
    expect(answers).toEqual(Array(10).fill('ECONNRESET'))
    expect((await command.end()).exitCode).toBe(137)
  })

  it('of a thread that has its own descriptors is found, and the other of the same number is not touched', async () => {
    const [port, other] = await freePorts(2)
    const script = `
import ctypes
def apart():
    assert ctypes.CDLL(None).unshare(0x400) == 0
    own = socket.socket(); own.bind(('127.0.0.1', ${port}))
    os.dup2(own.fileno(), 50)
    ctypes.CDLL(None).listen(50, 8)
    print('apart'); time.sleep(600)
first = socket.socket(); first.bind(('127.0.0.1', ${other})); os.dup2(first.fileno(), 50)
threading.Thread(target=apart, daemon=True).start()
time.sleep(600)`
    const command = inside(user, script, [port!, other!])
    await command.hears('apart')
    expect(await command.hears('serving')).toContain(`:${port}`)
    expect(await ask(other!)).toBe('ECONNREFUSED')
  })

  it('is not looked for while nothing happens', async () => {
    const [port] = await freePorts(1)
    const script = `
def woken(): return sum(int(line.split()[1]) for line in open('/proc/1/status') if 'ctxt_switches' in line)
serve(${port}); time.sleep(0.5)
began, before = time.monotonic(), woken()
time.sleep(1.5)
print('woken', woken() - before, 'in', time.monotonic() - began); time.sleep(600)`
    const command = inside(user, script, [port!])
    await command.hears('serving')
    const [, count, , seconds] = (await command.hears('woken')).split(' ')
    // Once a second it looks whether the layout is full of processes; for servers it would be ten times.
    expect(Number(count)).toBeLessThan(3 * Number(seconds) + 3)
  })

  it('that comes and goes is one once', async () => {
    const [port] = await freePorts(1)
    const script = `
for _ in range(3):
    server = serve(${port}); time.sleep(0.25)
    server.shutdown(socket.SHUT_RDWR); server.close(); time.sleep(0.25)
serve(${port}); print('done'); time.sleep(600)`
    const command = inside(user, script, [port!])
    await command.hears('done')
    await command.hears('serving')
    await until('the port gives inside', async () => (await ask(port!)) === 'inside')
    expect(command.reports.filter((one) => one.kind === 'notice')).toHaveLength(1)
  })
})
