/** One simple command: what its name resolves to, what it runs in turn, and what it does to the shell. */

import { evaluateText } from './arithmetic-text.ts'
import type { BuiltinCall } from './builtin-call.ts'
import { BUILTIN_EFFECTS, BUILTINS } from './builtins.ts'
import { resolveDirectory } from './directory.ts'
import type { AssignmentFact, Hazard, RedirectFact, Span, Word } from './facts.ts'
import type { Draft } from './output.ts'
import { Refusal } from './parse.ts'
import { noEffects, Scope, UNKNOWN } from './scope.ts'
import { runShell } from './shells.ts'
import { childScope, forget } from './start.ts'
import { assignmentHazard } from './tables/environment.ts'
import { inspect } from './tables/inspect.ts'
import { textOf, type Unwrapped, unwrap } from './unwrap.ts'
import type { Frame, Walk } from './walk.ts'
import { standardName, type WrapperRow, wrapperRows } from './wrappers.ts'

/** A simple command with its words resolved. */
export interface Invocation {
  readonly argv: readonly Word[]
  readonly assignments: AssignmentFact[]
  readonly redirects: readonly RedirectFact[]
  readonly hazards: Hazard[]
  readonly span: Span
  /** Functions and builtins of this shell can be meant (`x`), or only programs (`env x`). */
  readonly direct: boolean | 'no-functions'
  /** Directory it runs in, when a wrapper changes it. */
  readonly cwd?: string | null
  /** `other`: the environment was replaced by a wrapper. */
  readonly environment: 'same' | 'other'
  readonly depth?: number
}

/** Names that one word may stand for before they are too many to follow. */
const MAX_NAMES = 8
const MAX_WRAPPERS = 24

/** Adds the facts of a command, and of everything it is known to run. Returns whether all of that is listed. */
export function invoke(walk: Walk, call: Invocation): 'all' | 'some' {
  if ((call.depth ?? 0) > MAX_WRAPPERS)
    throw new Refusal('too-complex', 'wrappers are nested too deeply', call.span.start)
  const name = call.argv[0]
  if (name === undefined) {
    if (call.assignments.length > 0 || call.redirects.length > 0 || call.hazards.length > 0) add(walk, call, 'none')
    return 'all'
  }
  if (name.values === null || name.splits || name.values.length > MAX_NAMES || name.values.length === 0) {
    return unknownName(walk, call, name)
  }
  if (name.values.length === 1) return named(walk, call, name.values[0] ?? '')
  return severalNames(walk, call, name, name.values)
}

/** A name with several known values is as many commands, of which one runs. */
function severalNames(walk: Walk, call: Invocation, name: Word, values: readonly string[]): 'all' | 'some' {
  const start = walk.scope.branch()
  let joined: Scope | null = null
  let all = true
  for (const value of values) {
    walk.scope.take(start.branch())
    const word: Word = { ...name, text: value, values: [value], prefix: value }
    const one = {
      ...call,
      argv: [word, ...call.argv.slice(1)],
      hazards: [...call.hazards],
      assignments: [...call.assignments],
    }
    all = named(walk, one, value) === 'all' && all
    const result = walk.scope.branch()
    if (joined === null) joined = result
    else joined.join(result)
  }
  if (joined !== null) walk.scope.take(joined)
  return all ? 'all' : 'some'
}

function add(walk: Walk, call: Invocation, resolves: Draft['resolves']): Draft {
  const frame = walk.frame
  const draft: Draft = {
    argv: call.argv,
    resolves,
    assignments: call.assignments,
    redirects: call.redirects,
    cwd: call.cwd === undefined ? walk.scope.cwd : call.cwd,
    via: frame.via,
    parent: frame.parent,
    unwrapped: 'none',
    hazards: call.hazards,
    paths: [],
    hosts: [],
    effect: 'unknown',
    effectNote: '',
    background: frame.background,
    span: call.span,
  }
  if (call.argv.length > 0) draft.hazards.push(...walk.scope.ambient.values())
  walk.output.add(draft)
  return draft
}

function unknownName(walk: Walk, call: Invocation, name: Word): 'some' {
  const draft = add(walk, call, 'unknown')
  draft.unwrapped = 'some'
  const hazard: Hazard = {
    code: 'dynamic-name',
    message: `which program \`${name.text}\` is cannot be known beforehand`,
    verdict: 'ask',
    span: name.span,
  }
  draft.hazards.push(hazard)
  look(walk, draft, call)
  if (call.direct !== false) {
    // It may be `cd`, `eval` or a function as well.
    walk.output.removed.add('*')
    walk.scope.moveTo(null)
    walk.scope.doubt({ ...hazard, message: `${hazard.message}, and it may have changed this shell` })
  }
  return 'some'
}

function named(walk: Walk, call: Invocation, name: string): 'all' | 'some' {
  if (call.direct === true && walk.scope.functions.has(name)) return callFunction(walk, call, name)
  if (call.direct === true) walk.scope.effects?.calls.add(name)
  const draft = add(walk, call, call.direct !== false && BUILTINS.has(name) ? 'builtin' : 'program')
  const index = walk.output.commands.length - 1
  if (name === '' || /[\s\p{Cc}]/u.test(name)) {
    draft.hazards.push({
      code: 'odd-name',
      message: 'the name of the program is empty or holds blanks',
      verdict: 'ask',
      span: call.span,
    })
  }
  if (draft.resolves === 'builtin') {
    const wrapped = name === 'command' || name === 'builtin' || name === 'exec' || name === 'jobs'
    if (!wrapped) return runBuiltin(walk, call, draft, index, name)
  }
  for (const row of wrapperRows(name)) {
    if (row.builtins === true && draft.resolves !== 'builtin') continue
    const result = runWrapper(walk, call, draft, index, row, name)
    if (result !== null) return result
  }
  look(walk, draft, call)
  return 'all'
}

/** Asks the tables about the command. */
function look(walk: Walk, draft: Draft, call: Invocation): void {
  const found = inspect({
    argv: draft.argv,
    cwd: draft.cwd,
    home: walk.home,
    assignments: draft.assignments,
    span: call.span,
    stdin: walk.frame.stdin.kind,
  })
  draft.hazards.push(...found.hazards)
  draft.paths = found.paths
  draft.hosts = found.hosts
  draft.effect = found.effect
  draft.effectNote = found.effectNote
}

function callFunction(walk: Walk, call: Invocation, name: string): 'all' | 'some' {
  if (walk.scope.functions.get(name) === 'yes') {
    const draft = add(walk, call, 'function')
    draft.effect = 'local'
    if (walk.frame.via.some((via) => via.kind === 'function' && via.name === `function ${name}`)) {
      const message = `\`${name}\` calls itself, without an end that can be seen`
      draft.hazards.push({ code: 'recursive-function', message, verdict: 'ask', span: call.span })
    }
    sufferFunction(walk, call, name)
    return 'all'
  }
  // Either the function or what the name means without it: both are listed.
  const draft = add(walk, { ...call, hazards: [...call.hazards], assignments: [...call.assignments] }, 'unknown')
  const message = `\`${name}\` is a function only if an earlier part ran`
  draft.hazards.push({ code: 'maybe-function', message, verdict: 'ask', span: call.span })
  look(walk, draft, call)
  const before = walk.scope.branch()
  const result = named(walk, { ...call, direct: 'no-functions' }, name)
  before.join(walk.scope.branch())
  walk.scope.take(before)
  sufferFunction(walk, call, name)
  return result
}

/** The effects of a function, and of the functions it calls, reach this shell. */
function sufferFunction(walk: Walk, call: Invocation, name: string): void {
  const pending = [name]
  const done = new Set<string>()
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (done.has(next)) continue
    done.add(next)
    walk.scope.effects?.calls.add(next)
    for (const effects of walk.output.functions.get(next) ?? []) {
      walk.output.step(call.span.start)
      walk.scope.suffer(effects)
      if (effects.fragile) walk.fragile()
      pending.push(...effects.calls)
    }
  }
}

function runBuiltin(walk: Walk, call: Invocation, draft: Draft, index: number, name: string): 'all' | 'some' {
  look(walk, draft, call)
  const effect = Object.hasOwn(BUILTIN_EFFECTS, name) ? BUILTIN_EFFECTS[name] : undefined
  if (effect === undefined) return 'all'
  // `HOME=/x cd` and `x=b eval …` see the assignment although the shell does not keep it.
  for (const one of call.assignments) {
    const calm = name === 'read' && one.name === 'IFS'
    if (one.scope === 'command' && !calm) walk.scope.set(one.name, UNKNOWN)
  }
  const outer = walk.sink
  walk.sink = draft.hazards
  const builtin: BuiltinCall = {
    name,
    argv: call.argv,
    scope: walk.scope,
    home: walk.home,
    span: call.span,
    hazards: draft.hazards,
    assignments: draft.assignments,
    isFunction: (candidate) => walk.output.functions.has(candidate),
    runText: (text, span) => {
      walk.sink = outer
      walk.text(text, span, { name, kind: 'shell' }, index, walk.scope)
      walk.sink = draft.hazards
    },
    hookText: (text, span) => {
      walk.output.assumes = true
      const scope = forget(walk.scope, walk.start)
      const effects = noEffects()
      scope.effects = effects
      draft.unwrapped = 'all'
      walk.text(text, span, { name, kind: 'hook' }, index, scope)
      if (effects.writes.size + effects.functions.size + effects.ambient.size === 0 && !effects.cwd) return
      const message = `\`${name}\` runs text at any time that changes this shell`
      const hazard: Hazard = { code: 'hook', message, verdict: 'ask', span }
      draft.hazards.push(hazard)
      walk.scope.doubt(hazard)
    },
    arithmetic: (text, span) => evaluateText(walk, text, span),
    assigned: (variable, span, fact) => walk.assigned(variable, span, fact),
    ran: (unwrapped) => {
      draft.unwrapped = unwrapped
    },
    defines: (defined) => walk.output.defines.add(defined),
    removed: (variable) => walk.output.removed.add(variable),
  }
  effect(builtin)
  walk.sink = outer
  return draft.unwrapped === 'some' ? 'some' : 'all'
}

function runWrapper(
  walk: Walk,
  call: Invocation,
  draft: Draft,
  index: number,
  row: WrapperRow,
  name: string,
): 'all' | 'some' | null {
  const found = row.run === 'shell' ? null : unwrap(row, call.argv)
  if (row.run !== 'shell' && found === null) return null
  if (row.nested === true && !isWrapper(found?.argv ?? [])) return null
  const imageOnly = row.image === true && found?.argv.length === 0 && found.doubts.length === 0
  if (row.hazard !== undefined && !imageOnly)
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
  const nothing = found.argv.length === 0 && found.texts.length === 0
  if ((found.idle || nothing) && found.doubts.length === 0) {
    if (row.inspect !== true) look(walk, draft, call)
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
    // A smaller environment leaves the command itself in sight.
    if (row.unsets === undefined) all = false
    draft.hazards.push({
      code: 'wrapper-option',
      message: `\`${name} ${option}\` does more than run a command`,
      verdict: 'ask',
      span: word.span,
    })
  }
  all = runFound(walk, call, found, row, name, index) && all
  draft.unwrapped = all ? 'all' : 'some'
  return draft.unwrapped
}

/** True when a row takes a command out of these words. */
function isWrapper(argv: readonly Word[]): boolean {
  return wrapperRows(textOf(argv[0]) ?? '').some((row) => row.sub === undefined || unwrap(row, argv) !== null)
}

function some(draft: Draft, message: string, span: Span): 'some' {
  draft.unwrapped = 'some'
  draft.hazards.push({ code: 'script-from-input', message, verdict: 'ask', span })
  return 'some'
}

/** Runs what a wrapper was found to run. */
function runFound(
  walk: Walk,
  call: Invocation,
  found: Unwrapped,
  row: WrapperRow,
  name: string,
  index: number,
): boolean {
  const outer = walk.frame
  const own = walk.output.commands[index] as Draft
  const display = row.sub === undefined ? standardName(name) : `${standardName(name)} ${row.sub.join(' ')}`
  const via = { name: display, kind: 'wrapper' } as const
  const frame: Frame = {
    ...outer,
    via: [...outer.via, via],
    parent: index,
    stdin: row.input === 'append' ? { kind: 'none' } : outer.stdin,
  }
  const cwd = innerDirectory(call, found, row, own.cwd)
  let all = true
  const texts = [...found.texts]
  const commands = [found.argv, ...found.more].filter((argv) => argv.length > 0)
  if (found.joined && found.argv.length > 0) {
    const joined = joinWords(found.argv)
    // The words as they stand are the best guess when the text is not known.
    if (joined === null) all = unknownText(own, display, call.span)
    else {
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
    const hazards = assignments.flatMap(environmentHazards)
    // The wrapper's own assignments hold for what it runs, too.
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
    if (text === null) all = unknownText(own, display, word.span)
    else walk.text(text, word.span, { name: display, kind: 'shell' }, index, childScope(walk.scope, cwd))
  }
  walk.frame = outer
  return all
}

function environmentHazards(assignment: AssignmentFact): Hazard[] {
  const message = assignmentHazard(assignment)
  return message === null ? [] : [{ code: 'env-changes-program', message, verdict: 'ask', span: assignment.span }]
}

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

function innerDirectory(call: Invocation, found: Unwrapped, row: WrapperRow, cwd: string | null): string | null {
  if (row.elsewhere === true || found.seen.has('-execdir') || found.seen.has('-okdir')) return null
  if (found.chdir === null) return call.cwd === undefined ? cwd : call.cwd
  const target = textOf(found.chdir)
  if (target === null) return null
  return resolveDirectory(new Scope(cwd, {}), target)
}
