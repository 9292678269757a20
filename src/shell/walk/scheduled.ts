/** Schedulers as commands: the jobs that at, batch and crontab read from their input. */

import { textOf } from '../words/known-word.ts'
import type { Unwrapped } from '../wrap/unwrap.ts'
import type { WrapperRow } from '../wrap/wrappers.ts'
import type { Invocation } from './invocation.ts'
import type { Draft } from './output.ts'
import { childScope } from './start.ts'
import type { Walk } from './walk.ts'

/** The five fields of a time, or its nickname, before a job of crontab. */
const TIME = /^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+/

/** Lists the jobs that a scheduler is given. `none`: a file holds them, or it only shows or deletes some. */
export function runScheduled(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  row: WrapperRow,
  found: Unwrapped,
  name: string,
): 'all' | 'some' | 'none' {
  if (found.idle || found.fromFile) return 'none'
  const named = found.operands[0]
  if (row.script === 'crontab' && named !== undefined && textOf(named) !== '-') return 'none'
  const stdin = walk.frame.stdin
  const [word] = call.argv
  if (stdin.kind !== 'known' || word === undefined) {
    const message = `\`${name}\` runs the commands that it reads`
    draft.hazards.push({ code: 'script-from-input', message, verdict: 'ask', span: call.span })
    return 'some'
  }
  const text = row.script === 'crontab' ? jobsOf(stdin.text) : stdin.text
  walk.framed({ ...walk.frame, stdin: { kind: 'unknown' } }, () =>
    walk.text(text, word.span, { name, kind: 'shell' }, index, childScope(walk.scope, draft.cwd)),
  )
  return found.doubts.length === 0 ? 'all' : 'some'
}

/** The commands of a crontab: without times, settings and comments; what follows a `%` is input. */
function jobsOf(table: string): string {
  const lines = table.split('\n').filter((line) => TIME.test(line) && !/^\s*(?:#|\w+\s*=)/.test(line))
  return lines.map((line) => line.replace(TIME, '').replace(/(?<!\\)%.*$/, '')).join('\n')
}
