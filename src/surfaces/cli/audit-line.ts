/** A line of the audit log for people: time, action, decision and result. */

import { reasonWords } from '../../policy/reason.ts'
import type { AuditLine } from '../../report/audit-trail.ts'
import { paint, type Style, type Terminal, visible } from '../terminal/terminal.ts'

const TOOL = 10
const MAX_NAMES = 5

/** One row for a line, with untrusted text escaped. `subject` names the tool if the line does not. */
export function auditRow(terminal: Terminal, line: AuditLine, subject?: string): string {
  const { mark, style, what, said } = sentenceOf(subject === undefined ? line : { subject, ...line })
  const time = paint(terminal, 'dim', clockOf(line.time))
  return `${time} ${paint(terminal, style, mark)} ${visible(what).padEnd(TOOL)} ${visible(said)}`.trimEnd()
}

interface Sentence {
  readonly mark: string
  readonly style: Style
  readonly what: string
  readonly said: string
}

function sentenceOf(line: AuditLine): Sentence {
  switch (line.type) {
    case 'session':
      return {
        mark: '─',
        style: 'dim',
        what: 'session',
        said: list([text(line.session), by(line.by), text(line.project)]),
      }
    case 'begin':
      return { mark: '▸', style: 'cyan', what: text(line.tool), said: list([subjectOf(line), decided(line)]) }
    case 'denied':
      return {
        mark: '✗',
        style: 'red',
        what: text(line.tool),
        said: list([subjectOf(line), `DENIED: ${decided(line)}`]),
      }
    case 'end':
    case 'background': {
      const ok = line.outcome === undefined || line.outcome === 'ok'
      return { mark: ok ? '✓' : '✗', style: ok ? 'green' : 'yellow', what: '', said: ended(line) }
    }
    case 'approval': {
      const yes = line.approved === true
      const scope = line.scope === undefined ? 'once' : text(line.scope)
      const answer = yes ? `yes, ${scope}` : `no (${text(line.refusal)})`
      const said = list([text(line.subject), `${answer}, by ${text(line.approver)}`])
      return { mark: '?', style: yes ? 'green' : 'yellow', what: 'answer', said }
    }
    case 'review': {
      const who = text(line.model) || text(line.reviewer)
      const why = text(line.reason)
      const said = list([text(line.subject), `${text(line.answer)}, by ${who}`, why, `worst case: ${text(line.bound)}`])
      return { mark: '?', style: line.answer === 'yes' ? 'green' : 'yellow', what: 'review', said }
    }
    case 'checkpoint':
      return { mark: '·', style: 'dim', what: 'signed', said: 'up to here' }
    default: {
      const known = new Set(['v', 'seq', 'time', 'session', 'type', 'prev', 'call'])
      const fields = Object.entries(line).filter(([name]) => !known.has(name) && !name.endsWith('_hash'))
      const said = fields.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
      return { mark: '·', style: 'dim', what: line.type, said: said.join(', ') }
    }
  }
}

const subjectOf = ({ subject, summary }: AuditLine): string => text(subject) || text(summary)

function decided({ decision, agent }: AuditLine): string {
  const { verdict, reason, message, rules, approver, reads, flows } = (decision ?? {}) as {
    readonly [name: string]: unknown
  }
  const why = text(message) || reasonWords(text(reason))
  const [rule] = Array.isArray(rules) ? rules : []
  if (approver === 'typed' && verdict !== 'deny') return 'typed by you'
  const who = approver === 'host' ? 'its host asks' : ''
  const asked = verdict === 'ask' && who === '' ? 'asks' : ''
  const labels = names(reads).length > 0 ? `reads: ${names(reads).join(', ')}` : ''
  return list([who, asked, why, text(rule), labels, names(flows).join(', '), agent === 'person' ? '' : by(agent)])
}

function ended(line: AuditLine): string {
  const { outcome, exit_code, signal, duration_ms, error, changes, violations, refused_hosts, quarantine } = line
  const programs = (line.host_programs ?? {}) as { readonly [host: string]: unknown }
  const named = (host: string): string => {
    const own = names(Object.hasOwn(programs, host) ? programs[host] : [])
    return own.length === 0 ? host : `${host} (${own.join(', ')})`
  }
  const reached = names(line.hosts).map(named)
  const exit = typeof exit_code === 'number' && exit_code !== 0 ? ` (exit ${exit_code})` : ''
  const killed = typeof signal === 'string' ? ` by ${signal}` : ''
  const took = typeof duration_ms === 'number' ? ` after ${seconds(duration_ms)}` : ''
  const stopped = [
    ...records(violations).map(({ kind, subject }) =>
      kind === 'host' ? `host ${named(text(subject))}` : `${text(kind)} ${text(subject)}`,
    ),
    ...names(refused_hosts).map((host) => `host ${named(host)}`),
    ...records(quarantine).flatMap(({ path, action }) => (action === 'told' ? [] : [`change of ${text(path)}`])),
  ]
  const review = records(quarantine).flatMap(({ path, action }) => (action === 'told' ? [text(path)] : []))
  return list([
    `${text(outcome) || 'ended'}${exit}${killed}${took}`,
    text(error),
    started(line),
    reached.length === 0 ? '' : `reached: ${capped(reached)}`,
    stopped.length === 0 ? '' : `stopped: ${capped([...new Set(stopped)])}`,
    review.length === 0 ? '' : `to review: ${capped([...new Set(review)])}`,
    changed(changes),
  ])
}

function started({ programs, programs_left_out }: AuditLine): string {
  const all = records(programs)
  const own = new Set(all.flatMap(({ name, by: starter }) => (starter === undefined ? [] : [text(name)])))
  const count = all.length + (typeof programs_left_out === 'number' ? programs_left_out : 0)
  return own.size === 0 ? '' : `ran ${count} programs: ${capped([...own])}`
}

function changed(value: unknown): string {
  const { made: created, changed: other, removed, undo } = (value ?? {}) as { readonly [name: string]: unknown }
  const counts = [
    [created, 'created'],
    [other, 'changed'],
    [removed, 'removed'],
  ].flatMap(([count, word]) => (typeof count === 'number' && count > 0 ? [`${count} ${text(word)}`] : []))
  if (counts.length === 0) return ''
  return `files: ${counts.join(', ')}${typeof undo === 'string' ? ` (cordon undo ${undo})` : ''}`
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
const by = (value: unknown): string => (typeof value === 'string' ? `by ${value === 'person' ? 'you' : value}` : '')
const list = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('; ')
const names = (value: unknown): string[] => (Array.isArray(value) ? value.map(text) : [])
const capped = (all: readonly string[]): string =>
  all.length <= MAX_NAMES ? all.join(', ') : `${all.slice(0, MAX_NAMES).join(', ')} and ${all.length - MAX_NAMES} more`

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

/** Local time; text that is not a time stays unchanged. */
function clockOf(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return visible(time)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
