/** `cordon redact`: stdin to stdout, line by line, with secrets masked. */

import { createRedactor } from '../../../../scan/redact/redact.ts'
import { parseArguments } from '../../arguments.ts'
import { type CommandContext, commandRow, EXIT } from '../../usage.ts'

/** Runs `cordon redact`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  parseArguments(commandRow('redact')!, argv)
  const stream = createRedactor().stream()
  // Not `setEncoding`: this decoder takes half the time.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of process.stdin) terminal.out(stream.push(decoder.decode(piece as Buffer, { stream: true })))
  terminal.out(stream.push(decoder.decode()) + stream.end())
  return EXIT.ok
}
