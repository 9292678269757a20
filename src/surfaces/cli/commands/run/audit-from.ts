/** `cordon audit verify --from`: verifies records that machines shipped. */

import { resolve } from 'node:path'
import {
  fleetRecords,
  knownTeam,
  type ReceivedRecord,
  readReceived,
  verifyReceived,
} from '../../../../organisation/received.ts'
import { openKeys } from '../../../../project/sign/keys.ts'
import { machineFiles } from '../../../../system/files.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, textFlag } from '../../arguments.ts'
import { EXIT, UsageError } from '../../usage.ts'

/** Verifies files that a receiver wrote, or the records in the fleet's NATS servers. */
export async function verifyFrom(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
  const places = textFlag(args, 'from')!.split(',')
  const received: ReceivedRecord[] = []
  for (const place of places)
    received.push(...(place === 'nats' ? await fleetRecords(machine) : readReceived(read(place, machine))))
  if (received.length === 0) throw new UsageError(`there are no shipped records in ${places.join(', ')}`)
  const { own, trusted } = openKeys(machine).list()
  const given = (textFlag(args, 'key') ?? '').split(',').filter((key) => key !== '')
  const keys = [...(own === null ? [] : [own]), ...trusted.map(({ key }) => key), ...given]
  const result = verifyReceived(received, keys, knownTeam(machine, given))
  if (args.flags.json) terminal.out(`${JSON.stringify(result)}\n`)
  for (const session of args.flags.json ? [] : result.sessions) {
    const state = session.damage.length === 0 ? paint(terminal, 'green', 'whole') : paint(terminal, 'red', 'DAMAGED')
    terminal.out(
      `${state}  ${visible(session.machine)}  ${visible(session.session)}  ${session.lines} lines, signed up to ${session.signedUpTo}\n`,
    )
    for (const { kind, line, message } of session.damage)
      terminal.out(`  ${kind} at line ${line}: ${visible(message)}\n`)
  }
  const isUnknown = result.sessions.some(({ damage }) => damage.some(({ kind }) => kind === 'unknown-key'))
  if (!args.flags.json && isUnknown)
    terminal.out(
      'Name the key of the team that enrolled the machines, or the keys that `cordon keys` prints on each: --key KEY,KEY.\n',
    )
  if (!args.flags.json)
    terminal.out(`${result.records} records, ${result.repeated} came more than once and count once\n`)
  return result.ok ? EXIT.ok : EXIT.failed
}

function read(place: string, machine: Machine): string {
  return machineFiles.readText(resolve(machine.cwd, place), 1024 ** 3)
}
