/** `cordon audit`: lists what was asked, decided and done, and verifies the audit log. */

import { resolve } from 'node:path'
import {
  fleetRecords,
  knownTeam,
  type ReceivedRecord,
  readReceived,
  verifyReceived,
} from '../../../../organisation/received.ts'
import { openKeys } from '../../../../project/sign/keys.ts'
import {
  type AuditLine,
  type AuditQuery,
  type AuditTrail,
  EVENT_TYPES,
  openAuditTrail,
} from '../../../../report/audit-trail.ts'
import { machineFiles, requirePlainOutput } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { redacted } from '../../../terminal/redacted-terminal.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { auditRow } from '../../audit-line.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const verb = oneOf(['tail', 'query', 'verify', 'report'], args.words[0], 'name an action')
  const machine = thisMachine()
  const trail = openAuditTrail(machine)
  if (verb === 'verify' && args.flags.from !== undefined) return verifyFrom(terminal, args, machine)
  const session = textFlag(args, 'session')
  // An empty selection must not count as verified.
  if (session !== undefined && !trail.sessions().includes(session))
    throw new UsageError(`there is no record of a session ${session}; cordon audit verify lists those there are`)
  return { tail, query, verify, report }[verb](terminal, args, trail)
}

async function tail(terminal: Terminal, args: Arguments, trail: AuditTrail): Promise<number> {
  const session = textFlag(args, 'session') ?? trail.newest()
  if (session === null) {
    terminal.err('nothing was recorded yet\n')
    return EXIT.ok
  }
  if (!args.flags.follow) {
    showAll(terminal, args, trail, trail.query({ session, limit: 20 }))
    return EXIT.ok
  }
  const ended = new AbortController()
  process.once('SIGINT', () => ended.abort())
  for await (const line of trail.follow(session, 20, ended.signal)) terminal.out(show(terminal, args, line))
  return EXIT.ok
}

async function query(terminal: Terminal, args: Arguments, trail: AuditTrail): Promise<number> {
  if (args.flags.ocsf) {
    const { ocsfLines } = await import('../../../../report/audit-trail.ts')
    for (const line of ocsfLines(trail.query(queryOf(args)))) terminal.out(`${line}\n`)
    return EXIT.ok
  }
  showAll(terminal, args, trail, trail.query(queryOf(args)))
  return EXIT.ok
}

function verify(terminal: Terminal, args: Arguments, trail: AuditTrail): number {
  const result = trail.verify(textFlag(args, 'session'))
  if (args.flags.json) terminal.out(`${JSON.stringify(result)}\n`)
  else {
    for (const session of result.sessions) {
      const state =
        session.damage.length === 0
          ? paint(terminal, 'green', session.unsigned + session.unacknowledged === 0 ? 'whole' : 'no damage')
          : paint(terminal, 'red', 'DAMAGED')
      terminal.out(
        `${state}  ${visible(session.session)}  ${counted(session.lines, 'line')}, signed up to ${session.signedUpTo}${session.project === null ? '' : `  ${visible(session.project)}`}\n`,
      )
      for (const { kind, file, line, message } of session.damage) {
        terminal.out(`  ${kind} at ${visible(file)}:${line}: ${visible(message)}\n`)
      }
    }
    terminal.out(summary(result.sessions))
  }
  return result.ok ? EXIT.ok : EXIT.failed
}

function summary(sessions: ReturnType<AuditTrail['verify']>['sessions']): string {
  if (sessions.length === 0) return 'nothing was recorded yet\n'
  const sum = (count: (session: (typeof sessions)[number]) => number): number =>
    sessions.reduce((total, session) => total + count(session), 0)
  const damaged = sum(({ damage }) => (damage.length === 0 ? 0 : 1))
  const unsigned = sum((session) => session.unsigned)
  const open = sum((session) => session.unacknowledged)
  const state = damaged > 0 ? `${damaged} DAMAGED` : unsigned + open === 0 ? 'all whole' : 'no damage found'
  const end =
    open === 0 ? '' : `; ${counted(open, 'line')} not acknowledged: Cordon was killed there, or somebody wrote it`
  const all = sum(({ lines }) => lines)
  return `${counted(sessions.length, 'session')}, ${counted(all, 'line')}: ${state}; ${unsigned} not signed yet${unsigned === 0 ? '' : ', so any program that runs as you could have changed them'}${end}\n`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function report(terminal: Terminal, args: Arguments, trail: AuditTrail): number {
  const out = textFlag(args, 'out')
  const text = trail.report(queryOf(args), new Date(), args.flags.json ? 'json' : 'page')
  if (args.flags.json && out === undefined) {
    terminal.out(`${text}\n`)
    return EXIT.ok
  }
  const file = resolve(out ?? 'cordon-audit.html')
  // An output file that the person named must not exist. Our default may be replaced, but never a device or a link.
  if (out === undefined) requirePlainOutput(file)
  machineFiles.writeText(file, text, { mode: 0o600, exclusive: out !== undefined })
  terminal.out(`${file}\n`)
  return EXIT.ok
}

function queryOf(args: Arguments): AuditQuery {
  const names = ['session', 'type', 'tool', 'agent', 'verdict', 'host', 'file', 'text'] as const
  const fields = names.flatMap((name) => {
    const value = textFlag(args, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const limit = textFlag(args, 'limit')
  if (limit !== undefined && !/^\d+$/.test(limit)) throw new UsageError('--limit takes a number')
  const verdict = textFlag(args, 'verdict')
  if (verdict !== undefined) oneOf(['allow', 'ask', 'deny'], verdict, '--verdict takes')
  const type = textFlag(args, 'type')
  if (type !== undefined) oneOf(EVENT_TYPES, type, '--type takes')
  return {
    ...Object.fromEntries(fields),
    ...timeFlag(args, 'since'),
    ...timeFlag(args, 'until'),
    ...(limit !== undefined && { limit: Number(limit) }),
  }
}

/** A time in the format of the record, so that both compare as text. */
function timeFlag(args: Arguments, name: 'since' | 'until'): Partial<AuditQuery> {
  const text = textFlag(args, name)
  if (text === undefined) return {}
  const time = new Date(text)
  if (!/^\d{4}-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError(`--${name} takes a time such as 2026-07-25 or 2026-07-25T14:00:00Z, not “${text}”`)
  return { [name]: time.toISOString() }
}

function showAll(terminal: Terminal, args: Arguments, trail: AuditTrail, lines: readonly AuditLine[]): void {
  const known = args.flags.json ? new Map<unknown, string>() : trail.subjects(lines)
  for (const line of lines) {
    const subject = known.get(line.call)
    // Lines of the record were masked on writing; lines of other files were not.
    terminal.out(show(terminal, args, line, subject === undefined ? undefined : redacted(subject)))
  }
  const isMute = ({ type, call, subject }: AuditLine) =>
    (type === 'begin' || type === 'denied') && subject === undefined && !known.has(call)
  if (!args.flags.json && lines.some(isMute))
    terminal.err('arguments are not in the record; [audit] arguments = true in cordon.toml puts them there, masked\n')
}

function show(terminal: Terminal, args: Arguments, line: AuditLine, subject?: string): string {
  return args.flags.json ? `${JSON.stringify(line)}\n` : `${auditRow(terminal, line, subject)}\n`
}

/** Verifies files that a receiver wrote, or the records in the fleet's NATS servers. */
async function verifyFrom(terminal: Terminal, args: Arguments, machine: Machine): Promise<number> {
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
