/** `cordon redact`: stdin to stdout, line by line, with secrets masked. */

import { createRedactor } from '../../scan/redact.ts'
import { parseArguments } from './arguments.ts'
import { type CommandContext, commandRow, EXIT } from './usage.ts'

/** Runs `cordon redact`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  parseArguments(commandRow('redact')!, argv)
  const stream = createRedactor().stream()
  process.stdin.setEncoding('utf8')
  for await (const piece of process.stdin) terminal.out(stream.push(String(piece)))
  terminal.out(stream.end())
  return EXIT.ok
}
