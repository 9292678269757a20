/** `cordon redact`: stdin to stdout, line by line, with secrets masked. */

import { createRedactor } from '../../../../scan/redact/redact.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

export async function run(context: CommandContext): Promise<number> {
  // The words are checked where they are parsed.
  const { terminal, args: _ } = context
  const stream = createRedactor().stream()
  // `setEncoding` takes twice as long.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const piece of process.stdin) terminal.out(stream.push(decoder.decode(piece as Buffer, { stream: true })))
  terminal.out(stream.push(decoder.decode()) + stream.end())
  return EXIT.ok
}
