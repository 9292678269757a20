/** `cordon shell`: starts the person's shell in the sandbox. */

import { parseArguments } from '../../arguments.ts'
import { type CommandContext, commandRow } from '../../usage.ts'
import { runCommand } from './run.ts'

export async function run({ terminal, argv, endBy }: CommandContext): Promise<number> {
  const args = parseArguments(commandRow('shell')!, argv)
  return runCommand({ terminal, args, command: null, ...(endBy && { endBy }) })
}
