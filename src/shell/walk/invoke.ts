/**
 * One simple command: the meaning of its name, the commands it runs, and its effect on the shell.
 */

import type { Hazard, Word } from '../facts.ts'
import { UnreadableText } from '../read/unreadable-text.ts'
import { noEffects, type Scope, UNKNOWN } from '../words/scope.ts'
import { wrapperRows } from '../wrap/wrappers.ts'
import type { BuiltinCall } from './builtin-call.ts'
import { BUILTINS } from './builtin-names.ts'
import { BUILTIN_EFFECTS } from './builtins.ts'
import { evaluateText, guess, guessMentioned } from './guess.ts'
import { type Draft, forget } from './output.ts'
import { add, type Invocation, look } from './shells.ts'
import type { Walk } from './walk.ts'
import { runWrapper } from './wrapped-command.ts'

/** The most names that one word may have. */
const MAX_NAMES = 8
const MAX_WRAPPERS = 24

/** Adds the facts of a command, and of everything it is known to run. Returns whether all of that is listed. */
export function invoke(walk: Walk, call: Invocation): 'all' | 'some' {
  if ((call.depth ?? 0) > MAX_WRAPPERS)
    throw new UnreadableText('too-complex', 'wrappers are nested too deeply', call.span.start)
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

/** A name with several known values becomes that many commands, of which one runs. */
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
  guess(walk, draft, call.argv.map((word) => (/\s/.test(word.text) ? `'${word.text}'` : word.text)).join(' '))
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
      message: 'the name of the program is empty or contains blanks',
      verdict: 'ask',
      span: call.span,
    })
  }
  if (draft.resolves === 'builtin') {
    const wrapped = name === 'command' || name === 'builtin' || name === 'exec' || name === 'jobs'
    if (!wrapped) {
      const result = runBuiltin(walk, call, draft, index, name)
      guessMentioned(walk, draft)
      return result
    }
  }
  for (const row of wrapperRows(name)) {
    // `find -exec command rm` runs the program of that name, which does the same.
    if (row.builtins === true && draft.resolves !== 'builtin' && name !== 'command') continue
    const result = runWrapper(walk, call, draft, index, row, name, invoke)
    if (result === null) continue
    guessMentioned(walk, draft)
    return result
  }
  look(walk, draft, call)
  return 'all'
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
  // Either the function or the program of that name: both are listed.
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
    input: walk.frame.stdin.kind === 'known' ? walk.frame.stdin.text : null,
    hazards: draft.hazards,
    assignments: draft.assignments,
    isFunction: (candidate) => walk.output.functions.has(candidate),
    runText: (text, span, from) => {
      walk.sink = outer
      const frame = from === 'words' ? walk.frame : { ...walk.frame, stdin: { kind: 'unknown' } as const }
      walk.framed(frame, () => walk.text(text, span, { name, kind: 'shell' }, index, walk.scope))
      walk.sink = draft.hazards
    },
    hookText: (text, span) => {
      walk.output.assumes = true
      walk.output.hooked = true
      const scope = forget(walk.scope, walk.start)
      const effects = noEffects()
      scope.effects = effects
      draft.unwrapped = 'all'
      walk.text(text, span, { name, kind: 'hook' }, index, scope)
      if (effects.writes.size + effects.functions.size + effects.ambient.size === 0 && !effects.cwd) return
      if (effects.cwd) walk.scope.moveTo(null)
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
