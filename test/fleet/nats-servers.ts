/** Real nats-server processes on loopback: one, or a cluster, each with its own folder. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export interface NatsServers {
  readonly urls: readonly string[]
  /** Ends a server as a power cut would; it comes back with `start`. */
  kill(index: number): Promise<void>
  start(index: number): Promise<void>
  /** What they read at their next start. */
  configure(authorisation: Authorisation): void
  close(): Promise<void>
}

/** The block of tokens for a server that keeps them in a folder. */
export type Authorisation = (folder: string) => string

/** Starts them and waits until each takes connections. */
export async function startNats(base: string, count: number, authorisation: Authorisation): Promise<NatsServers> {
  const ports = await freePorts(count * 2)
  const clients = ports.slice(0, count)
  const routes = ports.slice(count)
  const running: (ChildProcess | null)[] = Array(count).fill(null)
  const configure = (block: Authorisation): void => {
    for (let index = 0; index < count; index++) {
      const folder = join(base, `nats-${index}`)
      mkdirSync(folder, { recursive: true })
      const cluster = `cluster { name: c, listen: "127.0.0.1:${routes[index]}", routes: [${routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')}] }`
      writeFileSync(
        join(folder, 'nats.conf'),
        `server_name: n${index}
listen: "127.0.0.1:${clients[index]}"
jetstream { store_dir: ${JSON.stringify(join(folder, 'store'))} }
${count > 1 ? cluster : ''}
${block(join(folder, 'tokens'))}`,
      )
    }
  }
  configure(authorisation)
  const servers: NatsServers = {
    urls: clients.map((port) => `nats://127.0.0.1:${port}`),
    async kill(index) {
      const child = running[index]
      if (!child) return
      running[index] = null
      await new Promise((resolve) => {
        child.once('exit', resolve)
        child.kill('SIGKILL')
      })
    },
    async start(index) {
      const child = spawn('nats-server', ['-c', join(base, `nats-${index}`, 'nats.conf')], { stdio: 'ignore' })
      running[index] = child
      for (let tries = 0; tries < 200; tries++) {
        if (await isListening(clients[index]!)) return
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
      throw new Error('nats-server did not start')
    },
    configure,
    async close() {
      await Promise.all(running.map((_, index) => servers.kill(index)))
    },
  }
  await Promise.all(clients.map((_, index) => servers.start(index)))
  return servers
}

export async function freePorts(count: number): Promise<number[]> {
  const kept = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = kept.map((server) => (server.address() as { port: number }).port)
  await Promise.all(kept.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function isListening(port: number): Promise<boolean> {
  const { connect } = await import('node:net')
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
