/** `cordon fleet`: one signed policy for many machines, and this machine as one of them. */

import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { BusHolder } from '../../../../organisation/connection.ts'
import { readFleetSettings } from '../../../../organisation/membership.ts'
import type { FleetOverview } from '../../../../organisation/overview.ts'
import { fleetView, onBus, type PolicySync, portsOf, syncPolicy } from '../../../../organisation/sync.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { pause } from '../../../../system/timing.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const MACHINE = ['status', 'sync', 'join', 'asks', 'answer', 'break-glass', 'login'] as const

export async function run({ terminal, args, bare }: CommandContext): Promise<number> {
  const { runTeam, TEAM_VERBS } = await import('./fleet-team.ts')
  const verb = oneOf([...MACHINE, ...TEAM_VERBS], args.words[0] ?? 'status', 'name an action')
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
    case 'break-glass':
    case 'login': {
      const { runBreakGlass, runLogin } = await import('./fleet-people.ts')
      return verb === 'login' ? runLogin(terminal, args, machine) : runBreakGlass({ terminal, bare }, args, machine)
    }
    default:
      return runTeam(verb, { terminal, bare }, args, machine)
  }
}

async function status(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
  const view = fleetView(machine, Date.now())
  const { ownOverview } = await import('../../../../organisation/overview.ts')
  const overview = view && (await ownOverview(machine))
  if (args.flags.json) terminal.out(`${JSON.stringify(view && { ...view, overview })}\n`)
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
    for (const { by, groups: whose, reason, until } of view.openings)
      terminal.out(
        `${paint(terminal, 'red', 'open')}     break-glass by ${visible(by.join(', '))} for ${visible(whose.join(', '))} until ${until}: ${visible(reason)}\n`,
      )
    if (overview !== null) describeOverview(terminal, overview)
  }
  return view.problem === null && !view.policy?.expired ? EXIT.ok : EXIT.failed
}

const SHOWN = 20

function describeOverview(terminal: Terminal, overview: FleetOverview | string): void {
  if (typeof overview === 'string') {
    terminal.out(`fleet    ${visible(overview)}\n`)
    return
  }
  const { machines, versions, policies, refusals, total, asks, rollout } = overview
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .toSorted((one, other) => other[1] - one[1])
      .slice(0, 5)
      .map(([name, count]) => `${visible(name)} (${count})`)
      .join(', ')
  const kinds = machines.length === 0 ? '' : `; Cordon ${list(versions)}; policy ${list(policies)}`
  terminal.out(`machines ${machines.length}${kinds}\n`)
  terminal.out(`calls    ${total.calls}, ${total.refused} refused${total.refused > 0 ? `: ${list(refusals)}` : ''}\n`)
  if (asks !== null) terminal.out(`asks     ${asks} open\n`)
  if (rollout !== null)
    terminal.out(
      `roll-out stage ${rollout.at + 1} of ${rollout.stages}, ${rollout.outcome}: ${visible(rollout.reason)}\n`,
    )
  const drifting = machines.filter(({ drift }) => drift !== null)
  for (const { id, name, drift, seen } of drifting.slice(0, SHOWN))
    terminal.out(
      `${paint(terminal, 'yellow', 'drifts')}   ${visible(name)} ${id}: ${visible(drift!)}; seen ${seen ?? 'never'}\n`,
    )
  if (drifting.length > SHOWN) terminal.out(`         and ${drifting.length - SHOWN} more (--json lists them)\n`)
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
  return onBus(settings, machine, (bus) => syncing(terminal, args, { settings, machine, bus, signal: ended.signal }))
}

interface Syncing {
  readonly settings: NonNullable<ReturnType<typeof readFleetSettings>>
  readonly machine: Machine
  /** One connection for everything, as long as it runs. */
  readonly bus: BusHolder
  readonly signal: AbortSignal
}

async function syncing(
  terminal: Terminal,
  args: Arguments,
  { settings, machine, bus, signal }: Syncing,
): Promise<number> {
  const { shipRecords } = await import('../../../../organisation/ship.ts')
  const { reportHealth } = await import('../../../../organisation/machine-health.ts')
  const { syncOpenings } = await import('../../../../organisation/break-glass.ts')
  for (;;) {
    const policy = await syncPolicy(settings, machine, Date.now(), portsOf(settings, bus))
    const opened = await syncOpenings(settings, machine, bus)
    const unheard = await reportHealth(settings, machine, bus)
    if (args.flags.json) terminal.out(`${JSON.stringify({ policy: { ...policy, policy: undefined } })}\n`)
    else if (!args.flags.follow || policy.outcome !== 'unchanged') describe(terminal, policy)
    for (const { by, until, reason } of opened)
      if (!args.flags.json)
        terminal.out(
          `${paint(terminal, 'red', 'open')}     break-glass by ${visible(by.join(', '))} until ${until}: ${visible(reason)}\n`,
        )
    if (unheard !== null && !args.flags.json) terminal.out(`health   not reported: ${visible(unheard)}\n`)
    const shipped = await shipRecords(settings, machine, signal, {}, bus)
    for (const { sink, sent, problem } of shipped) {
      if (args.flags.json) terminal.out(`${JSON.stringify({ records: { sink, sent, problem } })}\n`)
      else if (problem !== null || sent > 0 || !args.flags.follow)
        terminal.out(`records  ${sent} sent to ${sink}${problem === null ? '' : `; ${visible(problem)}`}\n`)
    }
    if (!args.flags.follow || signal.aborted) {
      const whole = ['new', 'unchanged'].includes(policy.outcome) && shipped.every((one) => one.problem === null)
      return whole ? EXIT.ok : EXIT.failed
    }
    await pause(EVERY_MS, signal)
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
  const [, url, word] = args.words
  const file = textFlag(args, 'code-file')
  if (url === undefined || (word ?? file) === undefined) throw new UsageError('say cordon fleet join URL CODE')
  const known = args.flags['if-needed'] ? fleetView(machine, Date.now()) : null
  if (known?.machine) {
    terminal.out(`this machine is in ${visible(known.fleet)} already\n`)
    return EXIT.ok
  }
  const code = word ?? machineFiles.readText(resolve(machine.cwd, file!))
  const { joinByCode } = await import('../../../../organisation/connection.ts')
  const name = textFlag(args, 'name') ?? hostname()
  const settings = await joinByCode(machine, url, code, name)
  terminal.out(`${paint(terminal, 'green', 'joined')} ${visible(settings.fleet)} as ${visible(name)}\n`)
  const policy = await syncPolicy(settings, machine)
  describe(terminal, policy)
  return ['new', 'unchanged'].includes(policy.outcome) ? EXIT.ok : EXIT.failed
}
