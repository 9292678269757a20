/** `cordon fleet asks|answer`: lists questions of the fleet's machines and signs answers. */

import { answerAsk, type WaitingAsk, waitingAsks } from '../../../../organisation/answer.ts'
import { openBus } from '../../../../organisation/connection.ts'
import { type FleetSettings, readFleetSettings } from '../../../../organisation/membership.ts'
import { askText } from '../../../../session/cordon.ts'
import { Fault } from '../../../../system/fault.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { EXIT, UsageError } from '../../usage.ts'

/** Lists questions, or answers one. */
export async function runAsks(
  verb: 'asks' | 'answer',
  terminal: Terminal,
  args: Arguments,
  machine: Machine,
): Promise<number> {
  const settings = readFleetSettings(machine)
  if (settings === null) throw new Fault('no-fleet', 'this machine is in no fleet')
  const [, id, given] = args.words
  const verdict = verb === 'answer' ? oneOf(['yes', 'no'], given, 'say cordon fleet answer ID yes|no') : null
  const bus = await openBus(settings, machine)
  try {
    if (verb === 'asks' && args.flags.follow) return await follow(terminal, settings, machine, bus)
    const waiting = await waitingAsks(settings, machine, bus)
    if (verdict === null) {
      if (args.flags.json) terminal.out(`${JSON.stringify(waiting.map(({ signed: _, ...shown }) => shown))}\n`)
      else if (waiting.length === 0) terminal.out('no question is waiting for you\n')
      for (const one of args.flags.json ? [] : waiting) terminal.out(describe(terminal, one))
      return EXIT.ok
    }
    const found = waiting.find(({ ask }) => ask.id === id)
    if (!found) throw new UsageError(`there is no question “${id}”; cordon fleet asks lists them`)
    terminal.out(describe(terminal, found))
    await answerAsk(settings, machine, bus, found, verdict, textFlag(args, 'message') ?? null)
    const more = verdict === 'yes' && found.missing > 1 ? `; ${found.missing - 1} more must say yes` : ''
    terminal.out(`answered ${verdict}${more}\n`)
    return EXIT.ok
  } finally {
    await bus.close()
  }
}

/** Until it is stopped, shows the fleet's questions wherever this machine's own questions are shown. */
async function follow(
  terminal: Terminal,
  settings: FleetSettings,
  machine: Machine,
  bus: Awaited<ReturnType<typeof openBus>>,
): Promise<number> {
  const { followAsks } = await import('../../../../organisation/answer.ts')
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  terminal.err('cordon: asks of the fleet come to cordon ui and cordon approvals as long as this runs\n')
  await followAsks(settings, machine, bus, ended.signal, (waiting, outcome) =>
    terminal.out(`${describe(terminal, waiting)}        ${visible(outcome)}\n`),
  )
  return EXIT.ok
}

function describe(terminal: Terminal, { ask, view, enrolment, people, missing }: WaitingAsk): string {
  const needed = people > 1 ? `  (${missing} of ${people} people still to say yes)` : ''
  const [title, ...rows] = askText(view, { whole: true }).split('\n')
  const until = paint(terminal, 'dim', `${visible(ask.project)}, until ${visible(ask.deadline)}`)
  return `${paint(terminal, 'cyan', ask.id)}  ${visible(enrolment.name)}: ${title}${needed}
${rows.map((row) => `        ${row}\n`).join('')}        ${until}
`
}
