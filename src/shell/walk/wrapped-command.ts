/**
 * Wrappers as commands: their row finds the command among their words, and it becomes a separate
 * command.
 */

import type { AssignmentFact, Span, Word } from '../facts.ts'
import { textOf } from '../words/known-word.ts'
import { Scope } from '../words/scope.ts'
import { type UnwrappedCommand, unwrap } from '../wrap/unwrap.ts'
import { standardName, type WrapperRow, wrapperRows } from '../wrap/wrappers.ts'
import { resolveDirectory } from './builtins.ts'
import { guess } from './guess.ts'
import { childScope, type Draft } from './output.ts'
import { type Invocation, look, runShell } from './shells.ts'
import type { Frame, Walk } from './walk.ts'

/** Runs an invocation in turn; the caller supplies it. */
type Invoke = (walk: Walk, call: Invocation) => 'all' | 'some'

/** Lists the commands of a wrapper, by its row; null if the row does not fit these words. */
export function runWrapper(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  row: WrapperRow,
  name: string,
  invoke: Invoke,
): 'all' | 'some' | null {
  const found = row.run === 'shell' ? null : unwrap(row, call.argv)
  if (row.run !== 'shell' && found === null) return null
  if (row.nested === true && found?.texts.length === 0 && !isWrapper(found.argv)) return null
  const imageOnly = row.image === true && found?.argv.length === 0 && found.doubts.length === 0
  const shows = row.script !== undefined && found?.idle === true
  if (row.hazard !== undefined && !imageOnly && !shows)
    draft.hazards.push({ ...row.hazard, span: call.argv[0]?.span ?? call.span })
  if (row.inspect === true) look(walk, draft, call)
  if (found === null) {
    const ran = runShell(walk, call, draft, index, standardName(name), row)
    if (ran === 'none') {
      look(walk, draft, call)
      return 'all'
    }
    draft.unwrapped = ran
    return ran
  }
  if (row.script !== undefined) {
    const ran = runScheduled(walk, call, draft, index, row, found, standardName(name))
    draft.unwrapped = ran
    return ran === 'none' ? 'all' : ran
  }
  const nothing = found.argv.length === 0 && found.texts.length === 0
  const reaches = found.wary.length > 0 && !unsets(row) && !found.idle
  if ((found.idle || nothing) && found.doubts.length === 0 && !reaches) {
    if (row.inspect !== true) look(walk, draft, call)
    if (nothing && !found.idle) for (const word of found.given) guess(walk, draft, word.text)
    if (row.otherwise === 'shell' && nothing && !found.idle)
      return some(draft, 'it runs the lines of its input as commands', call.span)
    return 'all'
  }
  let all = true
  for (const { message, word } of found.doubts) {
    all = false
    draft.hazards.push({
      code: 'wrapper-option',
      message: `${message}, so what \`${name}\` runs is not certain`,
      verdict: 'ask',
      span: word.span,
    })
  }
  for (const { option, word } of found.wary) {
    if (option === '-execdir' || option === '-okdir') continue
    if (!unsets(row)) all = false
    draft.hazards.push({
      code: 'wrapper-option',
      message: `\`${name} ${option}\` does more than run a command`,
      verdict: 'ask',
      span: word.span,
    })
  }
  all = runFound(walk, call, found, row, name, index, invoke) && all
  draft.unwrapped = all ? 'all' : 'some'
  return draft.unwrapped
}

/** True when a row takes a command out of these words. */
function isWrapper(argv: readonly Word[]): boolean {
  return wrapperRows(textOf(argv[0]) ?? '').some((row) => row.sub === undefined || unwrap(row, argv) !== null)
}

/** A smaller environment leaves the command itself in sight. */
function unsets(row: WrapperRow): boolean {
  return [...row.rows.values()].some(({ role }) => role === 'unset')
}

function some(draft: Draft, message: string, span: Span): 'some' {
  draft.unwrapped = 'some'
  draft.hazards.push({ code: 'script-from-input', message, verdict: 'ask', span })
  return 'some'
}

/** Runs the command found in a wrapper. */
function runFound(
  walk: Walk,
  call: Invocation,
  found: UnwrappedCommand,
  row: WrapperRow,
  name: string,
  index: number,
  invoke: Invoke,
): boolean {
  const outer = walk.frame
  const own = walk.output.commands[index] as Draft
  const display = row.sub === undefined ? standardName(name) : `${standardName(name)} ${row.sub}`
  const via = { name: display, kind: 'wrapper' } as const
  const frame: Frame = {
    ...outer,
    via: [...outer.via, via],
    parent: index,
    stdin: row.input === 'append' ? { kind: 'none', likely: likelyOf(outer.stdin) } : outer.stdin,
  }
  const cwd = innerDirectory(call, found, row, own.cwd)
  let all = true
  const texts = [...found.texts]
  const commands = [found.argv, ...found.more].filter((argv) => argv.length > 0)
  if (found.joined && found.argv.length > 0) {
    const joined = joinWords(found.argv)
    // The words as written are the best guess if the text is unknown.
    if (joined === null) {
      guess(walk, own, found.argv.map((word) => word.text).join(' '))
      all = unknownText(own, display, call.span)
    } else {
      commands.length = 0
      texts.push({ ...(found.argv[0] as Word), text: joined, values: [joined] })
    }
  }
  walk.frame = frame
  for (const argv of commands) {
    const assignments = found.assignments.map(
      ({ name: variable, value }): AssignmentFact => ({
        name: variable,
        value,
        append: false,
        scope: 'command',
        span: value.span,
      }),
    )
    const hazards = assignments.flatMap((fact) => walk.environmentHazard(fact.name, fact.span, fact) ?? [])
    // Assignments of the wrapper apply to its command, too.
    const result = invoke(walk, {
      argv,
      assignments: [...call.assignments, ...assignments],
      redirects: [],
      hazards,
      span: call.span,
      direct: row.builtins === true ? 'no-functions' : false,
      cwd,
      environment: found.assignments.length > 0 ? 'other' : call.environment,
      depth: (call.depth ?? 0) + 1,
    })
    all = result === 'all' && all
  }
  walk.frame = { ...outer }
  for (const word of texts) {
    const text = textOf(word)
    if (text === null) {
      guess(walk, own, word.text)
      all = unknownText(own, display, word.span)
    } else walk.text(text, word.span, { name: display, kind: 'shell' }, index, childScope(walk.scope, cwd))
  }
  walk.frame = outer
  return all
}

const likelyOf = (stdin: Frame['stdin']): string | null | undefined =>
  stdin.kind === 'known' ? stdin.text : stdin.likely

function unknownText(draft: Draft, name: string, span: Span): false {
  draft.hazards.push({
    code: 'eval',
    message: `\`${name}\` runs text that is not known beforehand`,
    verdict: 'ask',
    span,
  })
  return false
}

function joinWords(argv: readonly Word[]): string | null {
  const texts = argv.map((word) => textOf(word))
  return texts.includes(null) ? null : texts.join(' ')
}

function innerDirectory(call: Invocation, found: UnwrappedCommand, row: WrapperRow, cwd: string | null): string | null {
  if (row.elsewhere === true || found.seen.has('-execdir') || found.seen.has('-okdir')) return null
  if (found.chdir === null) return call.cwd === undefined ? cwd : call.cwd
  const target = textOf(found.chdir)
  if (target === null) return null
  return resolveDirectory(new Scope(cwd, {}), target)
}

/** The five fields of a time, or its nickname, before a job of crontab. */
const TIME = /^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+/

/** Lists the jobs of a scheduler. `none`: a file has them, or it shows or deletes some. */
function runScheduled(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  row: WrapperRow,
  found: UnwrappedCommand,
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
