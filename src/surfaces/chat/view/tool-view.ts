/** Tool calls, results and the status line of the chat. */

import type { AgentEvent } from '../../../chat/agent.ts'
import type { AgentSession, Usage } from '../../../chat/agent-session.ts'
import { subjectOf } from '../../../chat/calls.ts'
import type { Spent } from '../../../chat/transcript.ts'
import { wrapWords } from '../../../scan/display-text.ts'
import { lineDiff } from '../../terminal/line-diff.ts'
import { diffLine } from './highlight.ts'
import { type ChatStyle, type Paint, safe } from './style.ts'

type Calling = Extract<AgentEvent, { type: 'calling' }>
type Resulting = Extract<AgentEvent, { type: 'result' }>

const MAX_DIFF = 40
const MAX_RESULT = 6
const MAX_LINE = 400

/** The lines of a new call. */
export function callLines({ call: { name, input } }: Calling, paint: Paint): string[] {
  const subject = subjectOf(name, input)
  const head = `${paint('cyan', '●')} ${paint('bold', safe(name))}${subject === '' ? '' : ` ${safe(short(subject))}`}`
  return [head, ...changeLines(name, input, paint)]
}

/** A line in rows that end at words; what follows a column of names stays in its own. */
export function hangingRows(text: string, columns: number): string[] {
  const [names = ''] = /^\S.{0,24}? {2,}(?=\S)/.exec(text) ?? []
  const indent = names.length > columns / 2 ? 0 : names.length
  const rows = wrapWords(text.slice(indent), Math.max(20, columns - indent))
  return rows.map((row, at) => (at === 0 ? text.slice(0, indent) : ' '.repeat(indent)) + row)
}

/** The lines of its result. */
export function resultLines({ call, result, text }: Resulting, paint: Paint, columns: number): string[] {
  const indent = (line: string) => `  ${line}`
  const said = (style: ChatStyle, line: string) =>
    hangingRows(safe(short(line)), columns - 3).map((row) => indent(paint(style, row)))
  if (result?.status === 'denied') return said('red', `denied: ${result.decision.reason.message}`)
  if (result?.status === 'refused') return said('yellow', `not run: ${result.refusal.message}`)
  if (result?.status === 'failed') return said('red', `failed: ${result.error.message}`)
  // The call already showed what was written.
  const quiet = result?.status === 'done' && !result.output.isError && CHANGES.has(call.name)
  const lines = quiet ? result.notes.map((note) => `[cordon] ${note}`) : text.split('\n')
  const shown = lines.slice(0, MAX_RESULT).map((line) => indent(paint('dim', safe(short(line)))))
  const left = lines.length - MAX_RESULT
  return left > 0 ? [...shown, indent(paint('dim', `… ${left} more ${left === 1 ? 'line' : 'lines'}`))] : shown
}

const CHANGES: ReadonlySet<string> = new Set(['write', 'edit', 'apply_patch'])

function changeLines(name: string, input: Readonly<Record<string, unknown>>, paint: Paint): string[] {
  const text = (key: string) => (typeof input[key] === 'string' ? (input[key] as string) : '')
  if (name === 'apply_patch') return clipped(text('patch').split('\n'), paint)
  if (name === 'write')
    return clipped(
      text('content')
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => `+${line}`),
      paint,
    )
  if (name !== 'edit') return []
  const diff = lineDiff(text('old_string').split('\n'), text('new_string').split('\n'))
  return clipped(
    diff.map(({ sign, text: line }) => sign + line),
    paint,
  )
}

function clipped(lines: readonly string[], paint: Paint): string[] {
  const shown = lines.slice(0, MAX_DIFF).map((line) => `  ${diffLine(line.slice(0, MAX_LINE), paint)}`)
  const left = lines.length - MAX_DIFF
  return left > 0 ? [...shown, `  ${paint('dim', `… ${left} more lines`)}`] : shown
}

function short(text: string): string {
  const line = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE).toWellFormed()}…` : text
  return line.split('\n')[0]! + (line.includes('\n') ? ' …' : '')
}

/** Dollars with significant places. */
export function spentText(cost: number | null): string {
  if (cost === null) return '$?'
  return `$${cost === 0 || cost >= 0.1 ? cost.toFixed(2) : cost.toPrecision(2)}`
}

function count(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`
}

/** What one turn took. */
export function turnText(before: Spent, after: Spent, milliseconds: number): string {
  const used = (of: (usage: Usage) => number) => count(of(after.usage) - of(before.usage))
  const cost = after.cost === null || before.cost === null ? null : after.cost - before.cost
  return [
    `${used(({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite)} tokens in`,
    `${used(({ output }) => output)} out`,
    spentText(cost),
    `${(milliseconds / 1000).toFixed(1)} s`,
  ].join(' · ')
}

/** The status line. */
export function statusText(agent: AgentSession, doing: string | null): string {
  const { usage, cost } = agent.agent.spent
  const { enforced, directory } = agent.session.sandbox()
  const own = directory === agent.cordon.root ? 'sandbox' : enforced ? 'own sandbox' : 'own sandbox at the first write'
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output
  return [
    ...(doing === null ? [] : [doing]),
    agent.session.agent,
    agent.session.mode,
    own,
    agent.model.name,
    `${count(tokens)} tokens, ${Math.round(agent.agent.fullness * 100)}%`,
    spentText(cost),
  ].join(' · ')
}
