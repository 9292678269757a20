/** A client of Cordon's own gateway: `cordon mcp wrap` as a child process. */

import { type ChildProcess, spawn } from 'node:child_process'
import { recordOf } from '../../system/json.ts'
import { type Handlers, type Json, RpcPeer } from '../../system/json-rpc.ts'
import { linesOf } from '../../system/lines.ts'
import { version } from '../../system/version.ts'

const MAX_LINE = 32 * 1024 * 1024

export interface GatewayClientOptions {
  /** The name of this client. */
  readonly name: string
  /** The project, and further arguments of `cordon mcp wrap`. */
  readonly root: string
  readonly words?: readonly string[]
  readonly capabilities: Json
  readonly asked: Handlers['request']
  /** Receives what the gateway prints. */
  readonly warn: (line: string) => void
}

/** One conversation with the gateway, for as long as its process runs. */
export class GatewayClient {
  readonly #options: GatewayClientOptions
  readonly #child: ChildProcess
  readonly #peer: RpcPeer

  constructor(options: GatewayClientOptions) {
    const { root, words = [], asked, warn } = options
    this.#options = options
    const args = [process.argv[1]!, 'mcp', 'wrap', '--root', root, ...words]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    const send = (message: Json) => void child.stdin.write(`${JSON.stringify(message)}\n`)
    const peer = new RpcPeer(send, { request: asked, notification: () => {} })
    this.#child = child
    this.#peer = peer
    child.stdin.on('error', () => {})
    child.once('error', (error) => peer.close(error))
    child.once('close', () => peer.close(new Error('the gateway has ended')))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line.trim() !== '') warn(line)
    })
    const listen = async () => {
      for await (const line of linesOf(child.stdout, MAX_LINE)) void peer.receive(line)
    }
    listen().catch((error) => peer.close(error))
  }

  /** Says hello, and asks for the tools of all servers. */
  async tools(signal: AbortSignal): Promise<readonly Json[]> {
    const { name, capabilities } = this.#options
    const hello = { protocolVersion: '2025-06-18', capabilities, clientInfo: { name, version } }
    await this.request('initialize', hello, signal)
    this.#peer.notify('notifications/initialized', {})
    const { tools } = recordOf(await this.request('tools/list', {}, signal))
    return Array.isArray(tools) ? tools.map(recordOf) : []
  }

  request(method: string, params: Json, signal: AbortSignal): Promise<unknown> {
    return this.#peer.request(method, params, signal)
  }

  async close(): Promise<void> {
    const child = this.#child
    child.stdin!.end()
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('close', resolve))
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    await gone
    clearTimeout(timer)
  }
}
