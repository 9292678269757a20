/** The team commands of `cordon fleet`: create it, invite and revoke machines, publish its policy. */

import { resolve } from 'node:path'
import { bundleDiff } from '../../../../organisation/bundle-diff.ts'
import {
  nextBundle,
  publishedBundle,
  putBundle,
  replayBundles,
  shownBundle,
  signedBundle,
} from '../../../../organisation/draft.ts'
import { foundFleet, openTeam, type Team } from '../../../../organisation/team.ts'
import { machineFiles, requirePlainOutput } from '../../../../system/files.ts'
import { keyId } from '../../../../system/keys/signing-key.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Style, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { describeChanges } from '../../sign-view.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export type TeamVerb = 'init' | 'invite' | 'serve' | 'machines' | 'revoke' | 'nats' | 'streams' | 'diff' | 'publish'

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
  const server = serveDesk(team, team.settings.nats === null ? null : answerRelay(team.settings, machine))
  const port = numberFlag(args, 'port', 0, 65_535)
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const { port: taken } = server.address() as { port: number }
  terminal.err(`cordon: machines join at http://127.0.0.1:${taken}/ (put your TLS server in front of it)\n`)
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done())
  })
  server.close()
  server.closeAllConnections()
  return EXIT.ok
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
    await makeStreams(bus, numberFlag(args, 'replicas', 3, 5))
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
  const before = await publishedBundle(team, machine)
  const after = await nextBundle(team, resolve(machine.cwd, draft), before, machineFiles)
  await show(terminal, args, machine, before, after)
  return EXIT.ok
}

type Shown = Awaited<ReturnType<typeof nextBundle>>

async function show(
  terminal: Terminal,
  args: Arguments,
  machine: Machine,
  before: Shown | null,
  after: Shown,
): Promise<void> {
  const given = textFlag(args, 'groups')
  const groups = list(given)
  const changes = await bundleDiff(before, after, given === undefined ? null : groups)
  const files = list(textFlag(args, 'records'))
  const lines = await recordLines(files, machine)
  const replay = lines === null ? null : await replayBundles(lines, { before, after }, groups, machine, machineFiles)
  if (args.flags.json) {
    terminal.out(`${JSON.stringify({ version: after.version, changes, replay })}\n`)
    return
  }
  terminal.out(`version ${after.version}${before ? ` after ${before.version}` : ''}, `)
  terminal.out(after.expires === null ? 'without expiry\n' : `until ${after.expires}, then closes ${after.closes}\n`)
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
  const text = given.endsWith('.bundle') ? machineFiles.readText(file) : null
  const after = text === null ? await nextBundle(team, file, before, machineFiles) : shownBundle(text)
  if (after === null) throw new UsageError(`${given} is not a bundle`)
  if (before !== null && after.version <= before.version)
    throw new UsageError(`version ${after.version} cannot follow ${before.version}: create it again from its draft`)
  await show(terminal, args, machine, before, after)
  if (!args.flags.yes && !(await confirm(terminal, 'Sign and publish it? [y/N] '))) {
    terminal.err('nothing was published (--yes skips the question)\n')
    return EXIT.failed
  }
  const signed = signedBundle(team, text ?? after, before)
  const out = textFlag(args, 'out')
  if (signed.missing > 0) {
    const draft = resolve(machine.cwd, out ?? `${team.settings.fleet}-${after.version}.bundle`)
    requirePlainOutput(draft)
    machineFiles.writeText(draft, signed.text)
    terminal.out(
      `${paint(terminal, 'yellow', 'signed')} ${visible(draft)}; ${signed.missing} more of the team must sign it: cordon fleet publish ${visible(draft)}\n`,
    )
    return EXIT.ok
  }
  const place = await putBundle(team, machine, signed.text, out === undefined ? null : resolve(machine.cwd, out))
  terminal.out(`${paint(terminal, 'green', 'published')} version ${after.version} to ${visible(place)}\n`)
  return EXIT.ok
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
