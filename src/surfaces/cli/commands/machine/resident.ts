/** `cordon resident`: the processes that serve hooks and commands without starting Node. */

import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { type Resident, residents, stopResident } from '../../../../system/residents.ts'
import { visible } from '../../../terminal/terminal.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

/** Runs `cordon resident status` and `cordon resident stop`. */
export function run({ terminal, args }: CommandContext): number {
  const [word = 'status'] = args.words
  if (word !== 'status' && word !== 'stop') throw new UsageError('cordon resident takes status or stop')
  const found = residents(thisMachine().env, machineFiles.canonical(process.argv[1] ?? ''))
  const isStop = word === 'stop'
  const [own, others] = [found.filter(({ isOwn }) => isOwn), found.filter(({ isOwn }) => !isOwn)]
  if (isStop) for (const resident of own) stopResident(resident)
  if (args.flags.json) terminal.out(`${JSON.stringify({ residents: found, stopped: isStop })}\n`)
  else if (found.length === 0) terminal.out('No resident process is running.\n')
  else {
    for (const resident of own) terminal.out(`${isStop ? 'stopped: ' : ''}${visible(residentLine(resident))}\n`)
    // Residents of another checkout or runtime directory are stopped from there.
    for (const resident of others) terminal.out(`of another Cordon: ${visible(residentLine(resident))}\n`)
  }
  return EXIT.ok
}

/** One resident as a row. */
export function residentLine({ pid, program, workers, bytes }: Resident): string {
  const memory = bytes === null ? '' : `, ${Math.round(bytes / 1024 / 1024)} MB`
  return `process ${pid} with ${workers} ${workers === 1 ? 'worker' : 'workers'}${memory}, for ${program[1] ?? '?'}`
}
