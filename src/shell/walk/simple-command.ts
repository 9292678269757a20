/** A simple command in the tree: its words, assignments and redirects, in the order bash expands them. */

import type { Assignment, Command, CommandArgument, Redirected, Redirection, Word as SourceWord } from 'unbash'
import type { AssignmentFact, Hazard, RedirectFact, Word } from '../facts.ts'
import { UnreadableText } from '../read/unreadable-text.ts'
import { loadsProjectCode } from '../tables/environment.ts'
import { isPlainArithmetic, printsNumber, printsTemporary } from '../words/arithmetic.ts'
import { unknownWord } from '../words/pieces.ts'
import { COUNT, INTEGER, known, noEffects, UNKNOWN, type Value } from '../words/scope.ts'
import { arithmeticDoubt, checkArithmeticWord, expandArguments, expandSingle, repeatable } from '../words/word.ts'
import { invoke } from './invoke.ts'
import { expandRedirects, type Redirects, type Stdin } from './redirect.ts'
import type { Walk } from './walk.ts'

/** Most words of one command. */
const MAX_WORDS = 2_000

/** Redirects of a program are expanded in its own process, those of a builtin in this one: what they assign is uncertain. */
function redirectsOf(walk: Walk, redirects: readonly Redirection[]): Redirects {
  if (redirects.length === 0) return { facts: [], stdin: null, certain: true }
  let result: Redirects | undefined
  const after = walk.on(walk.scope.branch(), () => {
    result = expandRedirects(redirects, walk)
  })
  walk.scope.join(after)
  return result as Redirects
}

/** Redirects of a compound command apply to all of it. */
export function walkRedirected(walk: Walk, node: Redirected): void {
  const { facts, stdin, certain } = redirectsOf(walk, node.redirects)
  walk.output.redirects.push(...facts)
  const before = certain ? null : walk.scope.branch()
  walk.framed({ ...walk.frame, stdin: stdin ?? walk.frame.stdin }, () => walk.node(node.command))
  if (before !== null) walk.scope.join(before)
}

/** Words first, then assignments, then redirects. */
export function walkSimple(walk: Walk, node: Command): void {
  walk.output.step(node.pos)
  const outer = walk.sink
  const hazards: Hazard[] = []
  walk.sink = hazards
  const argv = wordsOf(walk, node)
  if (argv.length > MAX_WORDS)
    throw new UnreadableText('too-complex', `a command has more than ${MAX_WORDS} words`, node.pos)
  const before = node.redirects.length > 0 ? walk.scope.branch() : null
  const assignments: AssignmentFact[] = []
  const bare = argv.length === 0
  const uncertain = !bare && argv.every((word) => word.splits)
  const written = node.prefix.filter((part) => part.type === 'Assignment')
  if (bare) for (const one of written) assignments.push(assign(walk, one))
  else assignments.push(...temporary(walk, written, uncertain, argv[0]?.text ?? ''))
  const { facts, stdin, certain } = redirectsOf(walk, node.redirects)
  walk.sink = outer
  emit(walk, node, argv, assignments, facts, hazards, stdin)
  if (before !== null && !certain) walk.scope.join(before)
}

function emit(
  walk: Walk,
  node: Command,
  argv: readonly Word[],
  assignments: AssignmentFact[],
  redirects: readonly RedirectFact[],
  hazards: Hazard[],
  stdin: Stdin | null,
): void {
  const frame = stdin === null ? walk.frame : { ...walk.frame, stdin }
  walk.framed(frame, () =>
    invoke(walk, { argv, assignments, redirects, hazards, span: walk.span(node), direct: true, environment: 'same' }),
  )
}

function wordsOf(walk: Walk, node: Command): Word[] {
  if (node.name === undefined) return []
  const words = [...expandArguments(node.name, walk)]
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...expandArguments(argument, walk))
    else {
      const associative = words.some((word) => /^-[a-zA-Z]*A/.test(word.text))
      words.push(assignmentWord(walk, argument, associative))
    }
  }
  return words
}

/** `export a=b`: an argument that is read as an assignment. */
function assignmentWord(
  walk: Walk,
  node: Extract<CommandArgument, { type: 'Assignment' }>,
  associative: boolean,
): Word {
  const span = walk.span(node)
  const head = `${node.name}${node.index === undefined ? '' : `[${node.index.text}]`}${node.append === true ? '+=' : '='}`
  if (node.index !== undefined) checkArithmeticWord(node.index, walk)
  if (node.value.type === 'ArrayValue') {
    elements(walk, node.value.elements, associative)
    return { ...unknownWord(node.text, 'variable', span, false), prefix: `${head}(` }
  }
  const written = node.value
  let value = unknownWord(node.text, 'variable', span, true)
  repeatable(written, walk.scope, () => {
    value = expandSingle(written, walk, true)
  })
  // As an argument the word goes through brace expansion first, and what comes out is split.
  if (written.text.includes('{')) return { ...unknownWord(node.text, 'variable', span, true), prefix: head }
  return {
    ...value,
    text: value.values?.length === 1 ? head + value.text : node.text,
    values: value.values?.map((text) => head + text) ?? null,
    prefix: head + value.prefix,
    span,
  }
}

function elements(walk: Walk, list: readonly SourceWord[], associative: boolean): void {
  for (const element of list) {
    const index = /^\[([^\]]*)\]\+?=/.exec(element.text)?.[1]
    expandArguments(element, walk)
    if (index === undefined || isPlainArithmetic(index, walk.scope)) continue
    // The keys of an associative array are text.
    if (associative && /^[\w .-]*$|^(["'])[\w .-]*\1$/.test(index)) continue
    walk.hazard(arithmeticDoubt(index, walk.span(element)))
  }
}

/** An assignment of this shell. */
function assign(walk: Walk, node: Assignment): AssignmentFact {
  const span = walk.span(node)
  if (node.index !== undefined && walk.scope.isAssociative(node.name)) expandSingle(node.index, walk)
  else if (node.index !== undefined) checkArithmeticWord(node.index, walk)
  let value: Value = UNKNOWN
  let word: Word | null = null
  if (node.value.type === 'ArrayValue') elements(walk, node.value.elements, false)
  else {
    word = expandSingle(node.value, walk, true)
    if (node.index === undefined)
      value = valueOfAssignment(walk, word, node.value, node.append === true ? walk.scope.get(node.name) : null)
  }
  if (walk.scope.isProtected(node.name)) walk.fragile()
  const scope = walk.scope.exportsAll ? 'export' : 'shell'
  const fact: AssignmentFact = { name: node.name, value: word, append: node.append === true, scope, span }
  if (walk.scope.journey.integers.has(node.name)) for (const text of word?.values ?? []) walk.data(text, span)
  walk.scope.set(node.name, value)
  walk.assigned(node.name, span, fact)
  return fact
}

function valueOfAssignment(walk: Walk, word: Word, written: SourceWord, appended: Value | null): Value {
  if (word.values === null) return appended === null ? numberOf(walk, written) : UNKNOWN
  if (appended === null) return known(word.values)
  if (appended.values === null) return UNKNOWN
  const added = word.values
  return known(appended.values.flatMap((before) => added.map((after) => before + after)))
}

/** The value of a word of one expansion: a number, a number or nothing, or a temporary file. */
function numberOf(walk: Walk, word: SourceWord): Value {
  const [outer, more] = word.parts ?? []
  const [inner, others] = outer?.type === 'DoubleQuoted' ? outer.parts : [outer]
  if (more !== undefined || others !== undefined || inner === undefined) return UNKNOWN
  if (inner.type === 'ArithmeticExpansion') return INTEGER
  if (inner.type === 'CommandExpansion') {
    if (printsTemporary(inner.script, walk.scope)) return { ...UNKNOWN, pattern: '/tmp/tmp.*' }
    return printsNumber(inner.script, walk.scope) ? COUNT : UNKNOWN
  }
  const counts =
    inner.type === 'SimpleExpansion'
      ? /^\$[#?$]$/.test(inner.text)
      : inner.type === 'ParameterExpansion' && inner.prefix === '#' && inner.operation === undefined
  return counts ? INTEGER : UNKNOWN
}

/** Assignments for one command. When the command's words may vanish, they stay in the shell instead. */
function temporary(walk: Walk, nodes: readonly Assignment[], uncertain: boolean, command: string): AssignmentFact[] {
  if (nodes.length === 0) return []
  const outer = walk.scope
  const inner = outer.branch()
  const effects = noEffects()
  inner.effects = effects
  const facts = nodes.map((node): AssignmentFact => {
    const span = walk.span(node)
    let value: Word | null = null
    walk.scope = inner
    if (node.index !== undefined) checkArithmeticWord(node.index, walk)
    if (node.value.type === 'ArrayValue') elements(walk, node.value.elements, false)
    else value = expandSingle(node.value, walk, true)
    inner.set(node.name, UNKNOWN)
    walk.scope = outer
    const fact: AssignmentFact = { name: node.name, value, append: node.append === true, scope: 'command', span }
    walk.evaluated(node.name, span, value)
    const hazard = walk.environmentHazard(node.name, span, fact)
    // `IFS= read` is how lines are read: it concerns that one command.
    const calm = (command === 'read' && node.name === 'IFS') || loadsProjectCode(fact, command ?? '')
    if (hazard !== null && !calm) walk.sink.push(hazard)
    return fact
  })
  // Expansions in the values may assign other variables, in this shell or in the command's own process.
  for (const [name, integer] of effects.writes) {
    if (nodes.some((node) => node.name === name)) continue
    outer.maybeSet(name, integer ? INTEGER : UNKNOWN)
  }
  for (const node of nodes) {
    if (!uncertain) continue
    outer.maybeSet(node.name, UNKNOWN)
    walk.assigned(node.name, walk.span(node))
  }
  return facts
}
