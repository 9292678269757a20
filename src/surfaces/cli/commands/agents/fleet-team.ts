/** The team commands of `cordon fleet`: create it, invite and revoke machines, publish its policy. */

import { resolve } from 'node:path'
import { bundleDiff } from '../../../../organisation/bundle-diff.ts'
import type { BusHolder } from '../../../../organisation/connection.ts'
import {
  type Draft,
  type DraftStage,
  earlierBundle,
  nextBundle,
  publishedBundle,
  putBundle,
  replayBundles,
  shownBundle,
  signedBundle,
} from '../../../../organisation/draft.ts'
import {
  finalBundle,
  parseRollout,
  readRollout,
  type SignedRollout,
  signRollout,
  startRollout,
  stepRollout,
  stopRollout,
} from '../../../../organisation/rollout.ts'
import { onBus, syncPolicy } from '../../../../organisation/sync.ts'
import { foundFleet, openTeam, type Team } from '../../../../organisation/team.ts'
import { messageOf } from '../../../../system/fault.ts'
import { machineFiles, requirePlainOutput } from '../../../../system/files.ts'
import { keyId } from '../../../../system/keys/signing-key.ts'
import type { Machine } from '../../../../system/machine.ts'
import { pause } from '../../../../system/timing.ts'
import { paint, type Style, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { describeChanges } from '../../sign-view.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export const TEAM_VERBS = [
  'init',
  'invite',
  'serve',
  'machines',
  'revoke',
  'nats',
  'streams',
  'diff',
  'publish',
  'rollout',
  'rollback',
] as const
type TeamVerb = (typeof TEAM_VERBS)[number]

/** Prints keys, codes and tokens unmasked: the person asked for them. */
export async function runTeam(
  verb: TeamVerb,
  { terminal, bare }: Pick<CommandContext, 'terminal' | 'bare'>,
  args: Arguments,
  machine: Machine,
): Promise<number> {
  if (verb === 'init') return init(bare, args, machine)
  const team = openTeam(machine)
  switch (verb) {
    case 'invite':
      return invite(bare, args, team)
    case 'serve':
      return serve(terminal, args, team, machine)
    case 'machines':
      return machines(bare, args, team)
    case 'revoke':
      return revoke(terminal, args, team, machine)
    case 'nats':
      bare.out(team.natsConfiguration(Date.now(), textFlag(args, 'dir') ?? '/var/lib/nats/cordon'))
      return EXIT.ok
    case 'streams':
      return streams(terminal, args, team, machine)
    case 'diff':
      return diff(terminal, args, team, machine)
    case 'publish':
      return publish(terminal, args, team, machine)
    case 'rollout':
      return rollout(terminal, args, team, machine)
    case 'rollback':
      return rollback(terminal, args, team, machine)
  }
}

function init(terminal: Terminal, args: Arguments, machine: Machine): number {
  const fleet = args.words[1]
  if (fleet === undefined) throw new UsageError('name the fleet: cordon fleet init NAME')
  const nats = list(textFlag(args, 'nats'))
  const otlp = textFlag(args, 'otlp')
  const asks = textFlag(args, 'asks')
  const keys = list(textFlag(args, 'key'))
  const team = foundFleet(
    machine,
    {
      fleet,
      keys,
      signers: numberFlag(args, 'signers', 1, keys.length + 1),
      ...(textFlag(args, 'policy') !== undefined && { policy: textFlag(args, 'policy') }),
      ...(nats.length > 0 && { nats: { servers: nats } }),
      records: { ...(otlp !== undefined && { otlp }), ...(nats.length > 0 && { nats: true }) },
      ...(textFlag(args, 'desk') !== undefined && { desk: textFlag(args, 'desk') }),
      ...(asks !== undefined && { asks: numberFlag(args, 'asks', 60, 3600) }),
    },
    Date.now(),
  )
  terminal.out(`${paint(terminal, 'green', 'founded')} ${fleet}; its key is ${team.key.publicKey}\n`)
  return EXIT.ok
}

function invite(terminal: Terminal, args: Arguments, team: Team): number {
  const role = oneOf(['machine', 'approver', 'admin'], textFlag(args, 'role') ?? 'machine', '--role takes')
  const hours = numberFlag(args, 'hours', 24, 24 * 30)
  const groups = list(textFlag(args, 'groups'))
  const code = team.invite({ role, groups, expires: Date.now() + hours * 3_600_000 })
  if (args.flags.json) terminal.out(`${JSON.stringify({ code, role, groups, hours })}\n`)
  else terminal.out(`${code}\n`)
  return EXIT.ok
}

async function serve(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const { serveDesk } = await import('../../../../organisation/connection.ts')
  const { answerRelay } = await import('../../../../organisation/answer.ts')
  const { takeSignIn } = await import('../../../../organisation/sign-in.ts')
  const { fleetOverview, prometheusText, takeHealth } = await import('../../../../organisation/overview.ts')
  const { teamKeysOf } = await import('../../../../organisation/received.ts')
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort())
  return onBus(team.settings, machine, async (bus) => {
    const server = serveDesk(team, {
      ...(team.settings.nats !== null && { relay: answerRelay(team.settings, machine) }),
      health: (text) => takeHealth(team, text, teamKeysOf(machine, team.settings), Date.now()),
      signIn: (body) => takeSignIn(team, machine, bus, body, Date.now()),
      metrics: async () => prometheusText(await fleetOverview(team, machine, bus)),
    })
    const port = numberFlag(args, 'port', 0, 65_535)
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    const { port: taken } = server.address() as { port: number }
    terminal.err(`cordon: machines join at http://127.0.0.1:${taken}/ (put your TLS server in front of it)\n`)
    let reported = ''
    while (!ended.signal.aborted) {
      // The desk knows the policy as a machine does.
      await syncPolicy(team.settings, machine)
      const state = await step(team, machine, bus).catch((error) => ({
        at: 0,
        outcome: 'unknown',
        reason: messageOf(error),
      }))
      const line = state === null ? '' : `roll-out: stage ${state.at + 1}, ${state.outcome}: ${state.reason}`
      if (line !== reported && line !== '') terminal.err(`cordon: ${visible(line)}\n`)
      reported = line
      await pause(EVERY_MS, ended.signal)
    }
    server.close()
    server.closeAllConnections()
    return EXIT.ok
  })
}

const EVERY_MS = 15_000

async function step(team: Team, machine: Machine, bus: BusHolder) {
  const { fleetOverview } = await import('../../../../organisation/overview.ts')
  if (readRollout(team)?.outcome !== 'running') return readRollout(team)
  return stepRollout(team, machine, await fleetOverview(team, machine, bus), Date.now())
}

/** Takes the step that is due, and says where the roll-out is. */
async function rollout(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const state = await onBus(team.settings, machine, (bus) => step(team, machine, bus))
  if (args.flags.json) {
    const shown = state && { ...state, texts: undefined }
    terminal.out(`${JSON.stringify(shown)}\n`)
  } else if (state === null) terminal.out('there was no roll-out\n')
  else {
    const stage = `stage ${state.at + 1} of ${state.stages.length + 1} since ${state.since}`
    terminal.out(`${paint(terminal, state.outcome === 'stopped' ? 'red' : 'green', state.outcome)}  ${stage}\n`)
    terminal.out(`${visible(state.reason)}\n`)
  }
  return state?.outcome === 'stopped' ? EXIT.failed : EXIT.ok
}

/** Ends a running roll-out with its way back, or publishes an earlier policy again. */
async function rollback(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const version = args.words[1]
  if (version === undefined && readRollout(team)?.outcome === 'running') {
    if (!(await agreed(terminal, args, 'Stop the roll-out and publish the policy before it? [y/N] ')))
      return EXIT.failed
    await stopRollout(team, machine, 'somebody rolled it back')
    terminal.out(`${paint(terminal, 'green', 'rolled back')}: the policy before the roll-out is published\n`)
    return EXIT.ok
  }
  const before = await publishedBundle(team, machine)
  const earlier =
    before && team.archived(version === undefined ? before.bundle.version : Number(version), version !== undefined)
  if (!before || earlier === null) throw new UsageError('there is no such earlier policy in the archive of this user')
  const bundle = earlierBundle(team, earlier, before.bundle, Date.now())
  return publishNext(terminal, args, team, machine, before, { bundle, stages: [] })
}

function machines(terminal: Terminal, args: Arguments, team: Team): number {
  const members = team.members()
  if (args.flags.json) terminal.out(`${JSON.stringify(members)}\n`)
  for (const { machine, name, role, groups } of args.flags.json ? [] : members)
    terminal.out(`${keyId(machine)}  ${role.padEnd(8)}  ${visible(name)}  ${groups.join(', ')}  ${machine}\n`)
  return EXIT.ok
}

async function revoke(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const given = args.words[1]
  const member = team.members().find((one) => one.machine === given || keyId(one.machine) === given)
  if (!member) throw new UsageError('name a machine of the fleet by its id; cordon fleet machines lists them')
  team.revoke(member.machine, Date.now())
  terminal.out(
    `${paint(terminal, 'green', 'revoked')} ${visible(member.name)}; machines know it with the next cordon fleet publish\n`,
  )
  if (team.settings.nats === null) return EXIT.ok
  const { pushRevocations } = await import('../../../../organisation/connection.ts')
  await pushRevocations(team, machine)
  terminal.out('the NATS servers have cut it off\n')
  return EXIT.ok
}

async function streams(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const { makeStreams, openBus } = await import('../../../../organisation/connection.ts')
  const bus = await openBus(team.settings, machine)
  try {
    await makeStreams(bus, textFlag(args, 'replicas') === undefined ? null : numberFlag(args, 'replicas', 3, 5))
  } finally {
    await bus.close()
  }
  terminal.out('the bucket and the streams exist\n')
  return EXIT.ok
}

const STYLES: Readonly<Record<string, Style>> = { allow: 'yellow', ask: 'cyan', deny: 'green' }

async function diff(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const draft = args.words[1]
  if (draft === undefined) throw new UsageError('name the draft: cordon fleet diff DRAFT.json')
  const before = (await publishedBundle(team, machine))?.bundle ?? null
  await show(terminal, args, machine, before, await nextBundle(team, resolve(machine.cwd, draft), before, machineFiles))
  return EXIT.ok
}

async function show(
  terminal: Terminal,
  args: Arguments,
  machine: Machine,
  before: Draft['bundle'] | null,
  { bundle: after, stages }: Draft,
): Promise<void> {
  const given = textFlag(args, 'groups')
  const groups = list(given)
  const changes = await bundleDiff(before, after, given === undefined ? null : groups)
  const files = list(textFlag(args, 'records'))
  const lines = await recordLines(files, machine)
  const replay = lines === null ? null : await replayBundles(lines, { before, after }, groups, machine, machineFiles)
  if (args.flags.json) {
    terminal.out(`${JSON.stringify({ version: after.version, changes, stages, replay })}\n`)
    return
  }
  terminal.out(`version ${after.version}${before ? ` after ${before.version}` : ''}, `)
  terminal.out(after.expires === null ? 'without expiry\n' : `until ${after.expires}, then closes ${after.closes}\n`)
  for (const { groups: first, for: time, refusals = 5 } of stages)
    terminal.out(`first for ${visible(first.join(', '))}, for ${time}; it stops where refusals rise by ${refusals}%\n`)
  terminal.out(describeChanges(terminal, { changes, absent: [] }, 'red'))
  if (replay === null) return
  for (const { after: verdict, before: was, tool, subject, message } of replay.changed)
    terminal.out(
      `${paint(terminal, STYLES[verdict] ?? 'dim', `newly ${verdict}`)} (was ${was}) ${tool} ${visible(subject)}: ${visible(message)}\n`,
    )
  terminal.out(
    `${replay.calls} recorded calls, ${replay.changed.length} come out differently, ${replay.unknown} cannot be known (their arguments were not recorded)\n`,
  )
}

async function recordLines(files: readonly string[], machine: Machine): Promise<readonly string[] | null> {
  if (files.length === 0) return null
  const { shippedLines } = await import('../../../../organisation/received.ts')
  return files.flatMap((file) => shippedLines(machineFiles.readText(resolve(machine.cwd, file), 1024 ** 3)))
}

async function publish(terminal: Terminal, args: Arguments, team: Team, machine: Machine): Promise<number> {
  const given = args.words[1]
  if (given === undefined) throw new UsageError('name the draft: cordon fleet publish DRAFT.json')
  const file = resolve(machine.cwd, given)
  const before = await publishedBundle(team, machine)
  const text = /\.(?:bundle|rollout)$/.test(given) ? machineFiles.readText(file) : null
  const signed = text === null ? null : (parseRollout(text) ?? text)
  const next = signed === null ? await nextBundle(team, file, before?.bundle ?? null, machineFiles) : shown(signed)
  if (next === null) throw new UsageError(`${given} is not a bundle`)
  const { version } = next.bundle
  if (before !== null && version <= before.bundle.version)
    throw new UsageError(`version ${version} cannot follow ${before.bundle.version}: create it again from its draft`)
  return publishNext(terminal, args, team, machine, before, next, signed)
}

/** What somebody else has signed, as their draft was. */
function shown(signed: string | SignedRollout): Draft | null {
  const bundle = typeof signed === 'string' ? shownBundle(signed) : finalBundle(signed)
  return bundle && { bundle, stages: typeof signed === 'string' ? [] : (signed.stages as readonly DraftStage[]) }
}

/** Shows what changes, asks, signs, and publishes where enough have signed. */
async function publishNext(
  terminal: Terminal,
  args: Arguments,
  team: Team,
  machine: Machine,
  before: Awaited<ReturnType<typeof publishedBundle>>,
  next: Draft,
  signed: string | SignedRollout | null = null,
): Promise<number> {
  await show(terminal, args, machine, before?.bundle ?? null, next)
  if (!(await agreed(terminal, args, 'Sign and publish it? [y/N] '))) return EXIT.failed
  const { bundle, stages } = next
  const out = textFlag(args, 'out')
  const staged = stages.length > 0 && typeof signed !== 'string'
  const whole = staged ? signRollout(team, before, bundle, stages, signed?.texts ?? null) : null
  const { text, missing } = whole
    ? { text: `${JSON.stringify(whole.rollout, null, 1)}\n`, missing: whole.missing }
    : signedBundle(team, typeof signed === 'string' ? signed : bundle, before)
  if (missing > 0) {
    const name = `${team.settings.fleet}-${bundle.version}.${staged ? 'rollout' : 'bundle'}`
    const draft = resolve(machine.cwd, out ?? name)
    requirePlainOutput(draft)
    machineFiles.writeText(draft, text)
    terminal.out(
      `${paint(terminal, 'yellow', 'signed')} ${visible(draft)}; ${missing} more of the team must sign it: cordon fleet publish ${visible(draft)}\n`,
    )
    return EXIT.ok
  }
  const place = whole
    ? await startRollout(team, machine, whole.rollout, Date.now())
    : await putBundle(team, machine, text, out === undefined ? null : resolve(machine.cwd, out))
  terminal.out(`${paint(terminal, 'green', 'published')} version ${bundle.version} to ${visible(place)}\n`)
  if (whole) terminal.out('its next stages follow while cordon fleet serve runs, or with cordon fleet rollout\n')
  return EXIT.ok
}

async function agreed(terminal: Terminal, args: Arguments, question: string): Promise<boolean> {
  if (args.flags.yes || (await confirm(terminal, question))) return true
  terminal.err('nothing was published (--yes skips the question)\n')
  return false
}

function list(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter((part) => part !== '')
}

function numberFlag(args: Arguments, name: string, fallback: number, most: number): number {
  const text = textFlag(args, name)
  if (text === undefined) return fallback
  if (!/^\d+$/.test(text) || Number(text) > most) throw new UsageError(`--${name} takes a number up to ${most}`)
  return Number(text)
}
