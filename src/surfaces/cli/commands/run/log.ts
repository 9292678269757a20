/** `cordon log`: what ran, changed, connected, and was asked and answered, by session. */

import type { AuditLine } from '../../../../report/audit-trail.ts'
import { openAuditTrail } from '../../../../report/audit-trail.ts'
import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { redacted } from '../../../terminal/redacted-terminal.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { textFlag } from '../../arguments.ts'
import { auditRow } from '../../audit-line.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const HOUR_MS = 3_600_000
const MOST_LINES = 2000
const HIDDEN: ReadonlySet<string> = new Set(['session', 'checkpoint', 'rotated', 'closed'])

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const hours = textFlag(args, 'hours') ?? '24'
  if (!/^\d{1,6}$/.test(hours)) throw new UsageError('--hours takes a number')
  const machine = thisMachine()
  const trail = openAuditTrail(machine)
  const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString()
  const lines = trail.query({ since, limit: MOST_LINES })
  const isHere = args.flags.all ? () => true : hereOf(lines, machineFiles.canonical(machine.cwd))
  const shown = lines.filter((line) => isHere(line) && !HIDDEN.has(line.type))
  if (shown.length === 0 && !args.flags.json) {
    const elsewhere = args.flags.all ? '' : '; cordon log --all shows every project'
    terminal.err(`nothing was recorded here in the last ${hours} hours${elsewhere}\n`)
    return EXIT.ok
  }
  printLines(terminal, shown, trail, args.flags.json === true, lines)
  return EXIT.ok
}

/** Lines of the record, grouped by session; `all` also has those that are not shown, and say whose a session is. */
export function printLines(
  terminal: Terminal,
  lines: readonly AuditLine[],
  trail: ReturnType<typeof openAuditTrail>,
  json: boolean,
  all: readonly AuditLine[] = lines,
): void {
  if (json) {
    for (const line of lines) terminal.out(`${JSON.stringify(line)}\n`)
    return
  }
  const known = trail.subjects(lines)
  const sessions = Map.groupBy(all, ({ session }) => session)
  for (const [session, group] of Map.groupBy(lines, (line) => line.session)) {
    terminal.out(`${heading(terminal, sessions.get(session) ?? group)}\n`)
    for (const line of group) {
      const subject = known.get(line.call)
      terminal.out(`${auditRow(terminal, line, subject === undefined ? undefined : redacted(subject))}\n`)
    }
  }
}

function hereOf(lines: readonly AuditLine[], cwd: string): (line: AuditLine) => boolean {
  const isAround = (project: unknown) =>
    typeof project === 'string' && (cwd === project || cwd.startsWith(`${project}/`) || project === '/')
  const calls = new Set(lines.filter(({ project }) => isAround(project)).map(({ call }) => call))
  const sessions = new Set(lines.filter(({ project }) => isAround(project)).map(({ session }) => session))
  return ({ call, session }) => (call === undefined ? sessions.has(session) : calls.has(call))
}

function heading(terminal: Terminal, group: readonly AuditLine[]): string {
  const count = (wanted: (line: AuditLine) => boolean) => group.filter(wanted).length
  const project = group.find((line) => typeof line.project === 'string')?.project
  const agents = new Set(group.flatMap(({ agent }) => (typeof agent === 'string' ? [agent] : [])))
  const who = [...agents].map((agent) => (agent === 'person' ? 'you' : visible(agent))).join(', ')
  const numbers = [
    [count(({ type }) => type === 'begin'), 'call'],
    [count(({ type }) => type === 'denied'), 'denial'],
    [count(({ type }) => type === 'approval'), 'answer'],
  ].flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`]))
  const parts = [who, typeof project === 'string' ? visible(project) : '', ...numbers].filter((part) => part !== '')
  return paint(terminal, 'bold', `── ${parts.join(', ')} ──`)
}
