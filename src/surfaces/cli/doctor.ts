/** `cordon doctor`: what holds on this machine, found out by running it. */

import { openBackend } from '../../runtime/open-runner.ts'
import { parseArguments } from './arguments.ts'
import { paint, type Style, visible } from './terminal.ts'
import { type CommandContext, commandRow, EXIT } from './usage.ts'

const STYLES: Readonly<Record<'enforced' | 'degraded' | 'absent', Style>> = {
  enforced: 'green',
  degraded: 'yellow',
  absent: 'red',
}

/** Runs `cordon doctor`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  const args = parseArguments(commandRow('doctor')!, argv)
  const support = await openBackend().probe()
  const holds = support.assurances.filter((assurance) => assurance.status === 'enforced').length
  const score = { holds, of: support.assurances.length }
  if (args.flags.json) {
    terminal.out(`${JSON.stringify({ ...support, score })}\n`)
    return support.usable ? EXIT.ok : EXIT.fault
  }
  for (const { name, status, detail, remedy } of support.assurances) {
    terminal.out(`${paint(terminal, STYLES[status], status.padEnd(8))}  ${visible(name)}: ${visible(detail)}\n`)
    if (status !== 'enforced' && remedy) terminal.out(`          ${visible(remedy)}\n`)
  }
  terminal.out(
    `\n${holds} of ${score.of} promises hold with ${support.backend}. ${support.usable ? 'Commands run in the sandbox here.' : 'No command runs here: there is no sandbox to run it in.'}\n`,
  )
  return support.usable ? EXIT.ok : EXIT.fault
}
