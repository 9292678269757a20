/** `cordon quarantine`: lists, shows and restores changes that would run code on this machine. */

import { spawnSync } from 'node:child_process'
import {
  listQuarantine,
  type QuarantinedFile,
  readable,
  requirePlace,
  restoreQuarantined,
} from '../../../../run/quarantine.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { oneOf } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export function run({ terminal, args }: CommandContext): number {
  const [given = 'list', id] = args.words
  const verb = oneOf(['list', 'diff', 'restore'], given, 'name an action')
  const all = listQuarantine(thisMachine().stateDir)
  if (verb === 'list') {
    if (args.flags.json) terminal.out(`${JSON.stringify(all)}\n`)
    else if (all.length === 0) terminal.out('nothing is in the quarantine\n')
    for (const entry of args.flags.json ? [] : all)
      terminal.out(
        `${paint(terminal, 'cyan', entry.id)}  ${visible(entry.path)}  ${visible(entry.reason)}  ${entry.time}\n`,
      )
    return EXIT.ok
  }
  const entry = named(all, id)
  if (verb === 'diff') {
    readable(entry)
    requirePlace(entry)
    const words = ['-ruN', '--no-dereference', '--', entry.path, entry.kept]
    const compared = spawnSync('diff', words, { encoding: 'utf8' })
    terminal.out(compared.stdout.split('\n').map(visible).join('\n'))
    return EXIT.ok
  }
  restoreQuarantined(entry, args.flags.force === true)
  terminal.out(`restored ${visible(entry.path)}\n`)
  return EXIT.ok
}

function named(all: readonly QuarantinedFile[], id: string | undefined): QuarantinedFile {
  const entry = all.find((candidate) => candidate.id === id)
  if (entry === undefined) throw new UsageError(`name an entry of cordon quarantine${id ? `; there is no ${id}` : ''}`)
  return entry
}
