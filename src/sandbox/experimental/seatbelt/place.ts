/**
 * Resources of a command on macOS, because there are no namespaces: a folder, and the one port it
 * may connect to. That port lies on the machine's loopback, where every process can connect, so
 * the first request must carry the command's token.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../system/fault.ts'
import { isAlive } from '../../../system/processes.ts'
import { makeDirectories } from '../../../system/state.ts'
import { type Arrangement, SandboxFault } from '../../backend.ts'

export interface Place extends Arrangement {
  readonly listener: GuardedListener | null
}

/** A folder for temporary files and, with network, the port of the proxy. */
export async function arrangePlace({ network }: { readonly network: boolean }): Promise<Place> {
  const temporary = makeFolder()
  try {
    const token = network ? randomBytes(24).toString('base64url') : null
    const listener = token === null ? null : await openListener(token)
    return {
      temporary,
      listener,
      proxy: listener === null || token === null ? null : { port: listener.port, token },
      dispose: () => {
        listener?.close()
        rmSync(temporary, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

/**
 * Private to the user, canonical (`/private/var/…`), and named after its process, so that the
 * folder of a killed one is removed later.
 */
function makeFolder(): string {
  try {
    const base = join(realpathSync.native(tmpdir()), `cordon-${process.getuid?.() ?? 0}`)
    makeDirectories(base)
    for (const name of readdirSync(base)) {
      const pid = Number(name.split('-')[0])
      if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(base, name), { recursive: true, force: true })
    }
    return mkdtempSync(join(base, `${process.pid}-`))
  } catch (error) {
    throw new SandboxFault(
      'sandbox-mounts',
      `no folder for temporary files can be created in ${tmpdir()} (${errorCode(error)})`,
      {
        cause: error,
        remedy: 'Set TMPDIR to a folder that you can write.',
      },
    )
  }
}

/** More than any client's first head; a longer one is refused. */
const HEAD_BYTES = 32_768
const HEAD_MS = 10_000
const UNKNOWN =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="cordon"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

export interface GuardedListener {
  readonly port: number
  /** Gives the connections with the token to a server, which never listens itself. */
  readonly server: Server
  close(): void
}

/** Opens a free port on 127.0.0.1, and the same on ::1 where there is one. */
export async function openListener(token: string, wanted = 0): Promise<GuardedListener> {
  const server = createServer()
  const expected = Buffer.from(`Basic ${Buffer.from(`cordon:${token}`).toString('base64')}`)
  const take = (socket: Socket) => admit(socket, expected, server)
  const first = await listen('127.0.0.1', wanted, take)
  if (first === null) throw new SandboxFault('sandbox-network', 'no port of the loopback interface can be opened')
  const { port } = first.address() as { port: number }
  const second = await listen('::1', port, take)
  return {
    port,
    server,
    close: () => {
      for (const one of [first, second]) one?.close()
    },
  }
}

function listen(host: string, port: number, take: (socket: Socket) => void): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer(take)
    server.once('error', () => resolve(null))
    server.listen({ host, port, ...(host === '::1' && { ipv6Only: true }) }, () => resolve(server))
  })
}

/** Reads the first request's head without taking it away from the process that answers it. */
function admit(socket: Socket, expected: Buffer, server: Server): void {
  let head = Buffer.alloc(0)
  const refuse = () => {
    socket.off('data', take)
    socket.end(UNKNOWN)
    socket.resume()
  }
  const timer = setTimeout(() => socket.destroy(), HEAD_MS)
  const take = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0 && head.length < HEAD_BYTES) return
    clearTimeout(timer)
    if (end < 0 || end > HEAD_BYTES || !carries(head.toString('latin1', 0, end), expected)) return refuse()
    socket.off('data', take)
    socket.off('error', drop)
    socket.pause()
    socket.unshift(head)
    server.emit('connection', socket)
  }
  const drop = () => socket.destroy()
  socket.on('error', drop)
  socket.once('close', () => clearTimeout(timer))
  socket.on('data', take)
}

function carries(head: string, expected: Buffer): boolean {
  const fields = [...head.matchAll(/^proxy-authorization:[ \t]*([^\r\n]*?)[ \t]*$/gim)]
  const given = Buffer.from(fields.length === 1 ? fields[0]![1]! : '', 'latin1')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
