/** `cordon shell`: starts the person's shell in the sandbox. */

import type { CommandContext } from '../../usage.ts'
import { runCommand } from './run.ts'

export async function run({ terminal, args, endBy }: CommandContext): Promise<number> {
  return runCommand({ terminal, args, command: null, ...(endBy && { endBy }) })
}
