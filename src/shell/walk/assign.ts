/** Assignments as bash's grammar knows them: `a=b`, `a=b cmd`, `export a=b`. */

import type { Assignment, CommandArgument, Word as SourceWord } from 'unbash'
import type { AssignmentFact, Word } from '../facts.ts'
import { loadsProjectCode } from '../tables/environment.ts'
import { isPlainArithmetic, printsNumber, printsTemporary } from '../words/arithmetic.ts'
import { unknownWord } from '../words/pieces.ts'
import { COUNT, INTEGER, known, noEffects, UNKNOWN, type Value } from '../words/scope.ts'
import { arithmeticDoubt, checkArithmeticWord, expandArguments, expandSingle, repeatable } from '../words/word.ts'
import type { Walk } from './walk.ts'

/** `export a=b`: an argument that is read as an assignment. */
export function assignmentWord(
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
export function assign(walk: Walk, node: Assignment): AssignmentFact {
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
export function temporary(
  walk: Walk,
  nodes: readonly Assignment[],
  uncertain: boolean,
  command: string,
): AssignmentFact[] {
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
