/** MCP over stdio: a message a line. Nothing else is ever written to stdout. */

import type { Writable } from 'node:stream'
import type { Json } from './json-rpc.ts'

/** Writes messages, each on a line of its own. */
export function lineWriter(output: Writable): (message: Json) => void {
  return (message) => void output.write(`${JSON.stringify(message)}\n`)
}
