/** MCP over stdio: one message per line. Nothing else is written to stdout. */

import type { Readable, Writable } from 'node:stream'
import type { Json } from '../../system/json-rpc.ts'
import { linesOf } from '../../system/lines.ts'
import type { ServerOptions } from './served-project.ts'
import { McpServer } from './server.ts'

/** Serves one client until its input ends. */
export async function serveStdio(
  options: ServerOptions,
  input: Readable = process.stdin,
  output: Writable = process.stdout,
): Promise<void> {
  const server = new McpServer(lineWriter(output), options)
  try {
    for await (const line of linesOf(input)) void server.peer.receive(line)
  } finally {
    await server.close()
  }
}

export function lineWriter(output: Writable): (message: Json) => void {
  return (message) => void output.write(`${JSON.stringify(message)}\n`)
}
