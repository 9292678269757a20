/** `cordon fleet login|break-glass`: an approver signs in, and opens what the policy lets people open. */

import { resolve } from 'node:path'
import {
  onlyOpening,
  openingSeconds,
  publishOpening,
  signedOpening,
  takeOpening,
} from '../../../../organisation/break-glass.ts'
import { readFleetSettings } from '../../../../organisation/membership.ts'
import { handInSignIn } from '../../../../organisation/sign-in.ts'
import { fleetView, onBus } from '../../../../organisation/sync.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles, requirePlainOutput } from '../../../../system/files.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function runLogin(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
  const url = args.words[1]
  if (url === undefined) throw new UsageError('say where the team’s desk is: cordon fleet login URL')
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  const show = (page: string, code: string | null): void =>
    terminal.out(code === null ? `sign in at ${page}\n` : `sign in at ${page} with the code ${code}\n`)
  const way = args.flags.device ? 'device' : 'browser'
  const { name, groups, until } = await handInSignIn(settingsOf(machine), machine, url, way, show, ended.signal)
  terminal.out(
    `${paint(terminal, 'green', 'signed in')} as ${visible(name)} for machines of ${visible(groups.join(', '))} until ${until}\n`,
  )
  return EXIT.ok
}

function settingsOf(machine: Machine) {
  const settings = readFleetSettings(machine)
  if (settings === null) throw new Fault('no-fleet', 'this machine is in no fleet')
  return settings
}

export async function runBreakGlass(
  { terminal }: Pick<CommandContext, 'terminal' | 'bare'>,
  args: Arguments,
  machine: Machine,
): Promise<number> {
  const settings = settingsOf(machine)
  const [, action, file] = args.words
  const reason = textFlag(args, 'reason')
  if (action === undefined && reason === undefined) {
    const openings = fleetView(machine, Date.now())?.openings ?? []
    if (args.flags.json) terminal.out(`${JSON.stringify(openings)}\n`)
    else if (openings.length === 0) terminal.out('nothing is opened\n')
    for (const { id, by, groups, until, reason: why } of args.flags.json ? [] : openings)
      terminal.out(
        `${id}  ${visible(groups.join(', '))} until ${until}, by ${visible(by.join(', '))}: ${visible(why)}\n`,
      )
    return EXIT.ok
  }
  const given = action === undefined ? null : readOpening(action, file, machine)
  if (given !== null && oneOf(['sign', 'take'], action, 'say break-glass sign|take FILE') === 'take') {
    const begun = takeOpening(settings, machine, given, Date.now())
    if (begun.length === 0)
      throw new Fault(
        'fleet-refused',
        'that opening does not count: it is over, or too few people who may have signed it',
      )
    terminal.out(`${paint(terminal, 'yellow', 'opened')} until ${begun[0]!.until}\n`)
    return EXIT.ok
  }
  const seconds = openingSeconds(textFlag(args, 'for') ?? '')
  if (given === null && seconds === null) throw new UsageError('say for how long: --for 30m')
  const groups = (textFlag(args, 'groups') ?? '').split(',').filter((name) => name !== '')
  if (given === null && groups.length === 0) throw new UsageError('say for machines of which groups: --groups prod')
  const request = given ?? { reason: reason!, groups, seconds: seconds! }
  const { signed, counts } = signedOpening(settings, machine, request, Date.now())
  const out = textFlag(args, 'out')
  if (out !== undefined || settings.policy !== 'nats' || !counts) {
    const path = resolve(machine.cwd, out ?? file ?? `${settings.fleet}-break-glass.json`)
    requirePlainOutput(path)
    machineFiles.writeText(path, `${JSON.stringify([signed], null, 1)}\n`)
    terminal.out(`${paint(terminal, 'yellow', 'signed')} ${visible(path)}\n`)
  }
  if (!counts) terminal.out('another approver must sign it: cordon fleet break-glass sign FILE\n')
  else if (settings.policy === 'nats') {
    await onBus(settings, machine, (bus) => publishOpening(bus, machine, signed))
    terminal.out(`${paint(terminal, 'yellow', 'opened')}: machines open with their next sync, and tell everybody\n`)
  } else
    terminal.out('put it beside the policy as NAME.openings, or on a machine: cordon fleet break-glass take FILE\n')
  return EXIT.ok
}

function readOpening(action: string, file: string | undefined, machine: Machine) {
  oneOf(['sign', 'take'], action, 'say break-glass sign|take FILE')
  if (file === undefined) throw new UsageError(`name the file: cordon fleet break-glass ${action} FILE`)
  return onlyOpening(machineFiles.readText(resolve(machine.cwd, file)))
}
