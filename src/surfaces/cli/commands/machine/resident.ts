/** `cordon resident`: the process that serves hooks and commands without a start of their own. */

import { thisMachine } from '../../../../system/machine.ts'
import { type Resident, residents, stopResident } from '../../../../system/residents.ts'
import { visible } from '../../../terminal/terminal.ts'
import { parseArguments } from '../../arguments.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../../usage.ts'

/** Runs `cordon resident status` and `cordon resident stop`. */
export function run({ terminal, argv }: CommandContext): number {
  const args = parseArguments(commandRow('resident')!, argv)
  const [word = 'status'] = args.words
  if (word !== 'status' && word !== 'stop') throw new UsageError('cordon resident takes status or stop')
  const found = residents(thisMachine().env)
  if (word === 'stop') for (const resident of found) stopResident(resident)
  if (args.flags.json) terminal.out(`${JSON.stringify({ residents: found, stopped: word === 'stop' })}\n`)
  else if (found.length === 0) terminal.out('No resident process is running.\n')
  else
    for (const resident of found)
      terminal.out(`${word === 'stop' ? 'stopped: ' : ''}${visible(residentLine(resident))}\n`)
  return EXIT.ok
}

/** One resident, for a person. */
export function residentLine({ pid, program, workers, bytes }: Resident): string {
  const memory = bytes === null ? '' : `, ${Math.round(bytes / 1024 / 1024)} MB`
  return `process ${pid} with ${workers} ${workers === 1 ? 'worker' : 'workers'}${memory}, for ${program[1] ?? '?'}`
}
