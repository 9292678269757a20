/** Pipelines, lists, conditions, loops and functions: which states of the shell can follow. */

import type {
  AndOr,
  ArithmeticFor,
  Case,
  Coproc,
  For,
  Function as FunctionNode,
  If,
  Pipeline,
  Select,
  SyntaxNode,
  While,
} from 'unbash'
import type { Hazard, Via, Word } from '../facts.ts'
import { evaluate, mayFail } from '../words/arithmetic.ts'
import { known, matchedName, noEffects, type Scope, UNKNOWN, type Value } from '../words/scope.ts'
import { arithmeticHost, expandArguments, expandSingle } from '../words/word.ts'
import { filtered, printed } from './guess.ts'
import { type Draft, Rehearsal } from './output.ts'
import type { Walk } from './walk.ts'

/** Every part of a pipeline runs in its own shell; a single command runs in this one. */
export function walkPipeline(walk: Walk, node: Pipeline): void {
  const negated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1
  if (node.commands.length === 1) {
    const before = walk.scope.cwd
    walk.node(node.commands[0] as SyntaxNode)
    if (negated && walk.scope.cwd !== before) walk.scope.moveTo(null)
    return
  }
  if (node.operators.includes('|&')) {
    const { cwd } = walk.scope
    walk.output.redirects.push({
      operator: '|&',
      target: null,
      access: null,
      kind: 'stream',
      cwd,
      span: walk.span(node),
    })
  }
  let likely: string | null | undefined
  node.commands.forEach((command, index) => {
    const frame = index === 0 ? walk.frame : { ...walk.frame, stdin: { kind: 'unknown', likely } as const }
    const before = walk.output.commands.length
    walk.apart(frame, () => walk.node(command))
    likely = likelyOutput(walk, walk.output.commands.slice(before), likely, index === 0)
  })
}

/**
 * The output of a pipeline part: null if a printed text was changed in an unknown way, undefined if
 * nothing was printed.
 */
function likelyOutput(
  walk: Walk,
  commands: readonly Draft[],
  input: string | null | undefined,
  first: boolean,
): string | null | undefined {
  const [command] = commands
  if (command === undefined || commands.length > 1) return undefined
  if (first) {
    const { input: given } = walk.output
    return printed(command.argv) ?? (given === null ? undefined : (filtered(given, command.argv) ?? undefined))
  }
  return input == null ? input : filtered(input, command.argv)
}

/** Follows success and failure apart, so that `cd x && y` runs y in x and `cd x || y` does not. */
export function walkAndOr(walk: Walk, node: AndOr): void {
  const before = walk.scope.cwd
  walk.node(node.commands[0] as SyntaxNode)
  let succeeded = landed(walk.scope)
  let failed = walk.scope.branch()
  failed.ended ||= cannotFail(walk, node.commands[0] as SyntaxNode)
  let moved = walk.scope.cwd !== before
  node.operators.forEach((operator, index) => {
    const command = node.commands[index + 1] as SyntaxNode
    const from = operator === '&&' ? succeeded : failed
    const other = operator === '&&' ? failed : succeeded
    const run = operator === '&&' ? landed(from) : from.branch()
    if (operator === '||' && moved) run.moveTo(null)
    const cwd = run.cwd
    walk.on(run, () => walk.node(command))
    moved = run.cwd !== cwd || moved
    const either = run.branch()
    const certain = cannotFail(walk, command)
    if (operator === '&&') {
      succeeded = landed(run)
      if (certain) failed = other
      else {
        either.join(other)
        failed = either
      }
    } else {
      failed = run
      failed.ended ||= certain
      either.join(other)
      succeeded = either
    }
  })
  succeeded.join(failed)
  walk.scope.take(succeeded)
}

/** The state after a success: a `cd` in it did not fail. */
function landed(scope: Scope): Scope {
  const copy = scope.branch()
  copy.fallback = null
  return copy
}

/** A plain assignment succeeds, so that `x=/a && cd "$x"` is as good as `cd /a`. */
function cannotFail(walk: Walk, node: SyntaxNode): boolean {
  if (node.type !== 'Command' || node.name !== undefined || node.redirects.length > 0) return false
  return !/\$\(|`|[<>]\(/.test(walk.source.slice(node.pos, node.end))
}

/** Each branch starts from what its condition leaves. */
export function walkIf(walk: Walk, node: If): void {
  const results: Scope[] = []
  for (const part of [node, ...node.elif]) {
    const before = walk.scope.cwd
    walk.list(part.clause)
    results.push(walk.on(landed(walk.scope), () => walk.list(part.then)))
    if (walk.scope.cwd !== before) walk.scope.moveTo(null)
  }
  if (node.else !== undefined) walk.list(node.else)
  for (const result of results) walk.scope.join(result)
}

/** The condition is part of the repetition. */
export function walkWhile(walk: Walk, node: While): void {
  loop(walk, () => {
    walk.list(node.clause)
    walk.list(node.body)
  })
}

/** `for` and `select`: the variable takes the words in turn. */
export function walkFor(walk: Walk, node: For | Select): void {
  const words = node.wordlist?.flatMap((word) => expandArguments(word, walk))
  const certain = words?.every((word) => word.values !== null && !word.splits) === true
  const values = certain ? (words?.flatMap((word) => word.values ?? []) ?? []) : []
  const value = node.type !== 'For' ? UNKNOWN : values.length > 0 ? known(values) : loopValue(words ?? [])
  const name = node.name.value
  loop(walk, () => {
    if (walk.scope.journey.integers.has(name)) for (const text of values) walk.data(text, walk.span(node.name))
    walk.scope.set(name, value)
    if (node.type === 'Select') walk.scope.set('REPLY', UNKNOWN)
    walk.assigned(name, walk.span(node.name))
    walk.list(node.body)
  })
}

/** A loop over one pattern: every value is a name that it matches. */
function loopValue(words: readonly Word[]): Value {
  const [only, ...more] = words
  const glob = only !== undefined && more.length === 0 && only.dynamic.every((kind) => kind === 'glob')
  return glob && only.pattern !== null && only.pattern !== '' ? matchedName(only.pattern) : UNKNOWN
}

export function walkArithmeticFor(walk: Walk, node: ArithmeticFor): void {
  const certain = !mayFail(walk.source.slice(node.pos, node.body.pos))
  const host = (): ReturnType<typeof arithmeticHost> => arithmeticHost(walk)
  if (node.initialize !== undefined) evaluate(node.initialize, host(), certain)
  loop(walk, () => {
    if (node.test !== undefined) evaluate(node.test, host(), certain)
    walk.list(node.body)
    if (node.update !== undefined) evaluate(node.update, host(), certain)
  })
}

/** A body that may repeat: walked first from an unknown state, to learn what it changes. */
function loop(walk: Walk, body: () => void): void {
  if (walk.scope.effects !== null && walk.output instanceof Rehearsal) {
    const unknown = walk.unknownScope()
    unknown.effects = walk.scope.effects
    walk.on(unknown, body)
    walk.scope.suffer(walk.scope.effects)
    return
  }
  const effects = noEffects()
  const unknown = walk.unknownScope()
  unknown.effects = effects
  walk.rehearse(() => walk.on(unknown, body))
  walk.scope.suffer(effects)
  const once = walk.on(walk.scope.branch(), body)
  walk.scope.join(once)
}

/** Every item may be the one that runs, or run on into the next. */
export function walkCase(walk: Walk, node: Case): void {
  expandSingle(node.word, walk)
  const start = walk.scope.branch()
  let fallen: Scope | null = null
  for (const item of node.items) {
    for (const pattern of item.pattern) expandSingle(pattern, walk)
    const branch = start.branch()
    if (fallen !== null) branch.join(fallen)
    walk.on(branch, () => walk.list(item.body))
    walk.scope.join(branch)
    fallen = item.terminator === ';&' || item.terminator === ';;&' ? branch.branch() : null
  }
}

/** The body is walked from an unknown state: any later line may call it. */
export function walkFunction(walk: Walk, node: FunctionNode): void {
  const name = node.name.value
  const effects = noEffects()
  const body = walk.unknownScope()
  const defined = walk.start.functionsVanish ? 'maybe' : 'yes'
  body.define(name, defined)
  body.effects = effects
  body.inFunction = true
  walk.output.defines.add(name)
  const bodies = walk.output.functions.get(name) ?? []
  bodies.push(effects)
  walk.output.functions.set(name, bodies)
  if (name === 'command_not_found_handle') {
    const span = walk.span(node)
    const hazard: Hazard = {
      code: 'hook',
      message: `\`${name}\` runs for every unknown command`,
      verdict: 'ask',
      span,
    }
    walk.sink.push(hazard)
    walk.scope.doubt(hazard)
  }
  const via: Via = { name: `function ${name}`, kind: 'function' }
  const frame = { ...walk.frame, via: [...walk.frame.via, via], stdin: { kind: 'unknown' } as const }
  walk.sealed(() => walk.framed(frame, () => walk.on(body, () => walk.node(node.body))))
  walk.scope.define(name, defined)
}

/** A coprocess runs apart, and leaves two variables behind. */
export function walkCoproc(walk: Walk, node: Coproc): void {
  const name = node.name?.value ?? 'COPROC'
  const frame = { ...walk.frame, background: true, stdin: { kind: 'unknown' } as const }
  walk.apart(frame, () => walk.node(node.body))
  for (const written of [name, `${name}_PID`]) {
    walk.scope.set(written, UNKNOWN)
    walk.assigned(written, walk.span(node))
  }
}
