/** `cordon fleet`: one signed policy for many machines, and this machine as one of them. */

import { hostname } from 'node:os'
import { readFleetSettings } from '../../../../organisation/membership.ts'
import { fleetView, type PolicySync, syncPolicy } from '../../../../organisation/sync.ts'
import { Fault } from '../../../../system/fault.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { pause } from '../../../../system/timing.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const MACHINE = ['status', 'sync', 'join', 'asks', 'answer'] as const
const TEAM = ['init', 'invite', 'serve', 'machines', 'revoke', 'nats', 'streams', 'diff', 'publish'] as const

export async function run({ terminal, args, bare }: CommandContext): Promise<number> {
  const verb = oneOf([...MACHINE, ...TEAM], args.words[0] ?? 'status', 'name an action')
  const machine = thisMachine()
  switch (verb) {
    case 'status':
      return status(terminal, args, machine)
    case 'sync':
      return sync(terminal, args, machine)
    case 'join':
      return join(terminal, args, machine)
    case 'asks':
    case 'answer': {
      const { runAsks } = await import('./fleet-asks.ts')
      return runAsks(verb, terminal, args, machine)
    }
    default: {
      const { runTeam } = await import('./fleet-team.ts')
      return runTeam(verb, { terminal, bare }, args, machine)
    }
  }
}

function status(terminal: Terminal, args: Arguments, machine: Machine): number {
  const view = fleetView(machine, Date.now())
  if (args.flags.json) terminal.out(`${JSON.stringify(view)}\n`)
  if (view === null) {
    if (!args.flags.json) terminal.out('this machine is in no fleet\n')
    return EXIT.ok
  }
  if (!args.flags.json) {
    const { name, role, groups, policy, problem, checked } = view
    const who = name === null ? 'not enrolled' : `${visible(name)} (${role}; groups: ${groups.join(', ') || 'none'})`
    terminal.out(`fleet    ${visible(view.fleet)}, ${who}\n`)
    terminal.out(
      policy === null
        ? 'policy   none\n'
        : `policy   version ${policy.version} of ${policy.issued}, ${policy.signers} signatures, ${expiry(policy)}\n`,
    )
    terminal.out(`checked  ${checked ?? 'never'}\n`)
    if (problem)
      terminal.out(
        `${paint(terminal, 'red', 'problem')}  ${visible(problem.message)} [${problem.code}] ${problem.time}\n`,
      )
  }
  return view.problem === null && !view.policy?.expired ? EXIT.ok : EXIT.failed
}

function expiry(policy: {
  readonly expires: string | null
  readonly expired: boolean
  readonly closes: string
}): string {
  if (policy.expires === null) return 'applies until there is a newer one'
  return policy.expired
    ? `EXPIRED at ${policy.expires}: closes ${policy.closes}`
    : `applies until ${policy.expires}, then closes ${policy.closes}`
}

async function sync(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
  const settings = readFleetSettings(machine)
  if (settings === null) throw new Fault('no-fleet', 'this machine is in no fleet')
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  const { shipRecords } = await import('../../../../organisation/ship.ts')
  for (;;) {
    const policy = await syncPolicy(settings, machine)
    if (args.flags.json) terminal.out(`${JSON.stringify({ policy: { ...policy, policy: undefined } })}\n`)
    else if (!args.flags.follow || policy.outcome !== 'unchanged') describe(terminal, policy)
    const shipped = await shipRecords(settings, machine, ended.signal)
    for (const { sink, sent, problem } of shipped) {
      if (args.flags.json) terminal.out(`${JSON.stringify({ records: { sink, sent, problem } })}\n`)
      else if (problem !== null || sent > 0 || !args.flags.follow)
        terminal.out(`records  ${sent} sent to ${sink}${problem === null ? '' : `; ${visible(problem)}`}\n`)
    }
    if (!args.flags.follow || ended.signal.aborted) {
      const whole = ['new', 'unchanged'].includes(policy.outcome) && shipped.every((one) => one.problem === null)
      return whole ? EXIT.ok : EXIT.failed
    }
    await pause(EVERY_MS, ended.signal)
  }
}

const EVERY_MS = 15_000

function describe(terminal: Terminal, policy: PolicySync): void {
  if ('message' in policy)
    terminal.out(
      `${paint(terminal, 'red', policy.outcome)}  ${visible(policy.message)} [${policy.code}]; the last good one applies\n`,
    )
  else if (policy.outcome === 'unchanged') terminal.out('policy   unchanged\n')
  else terminal.out(`policy   version ${policy.policy?.bundle.version} is now in force\n`)
}

async function join(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
  const [, url, code] = args.words
  if (url === undefined || code === undefined) throw new UsageError('say cordon fleet join URL CODE')
  const { joinByCode } = await import('../../../../organisation/connection.ts')
  const name = textFlag(args, 'name') ?? hostname()
  const settings = await joinByCode(machine, url, code, name)
  terminal.out(`${paint(terminal, 'green', 'joined')} ${visible(settings.fleet)} as ${visible(name)}\n`)
  const policy = await syncPolicy(settings, machine)
  describe(terminal, policy)
  return ['new', 'unchanged'].includes(policy.outcome) ? EXIT.ok : EXIT.failed
}
