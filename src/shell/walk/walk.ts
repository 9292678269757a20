/** Walks the tree in the order bash runs it, tracking the known state of the shell. */

import type { CompoundList, ParsedScript, Statement, SyntaxNode, TestExpression } from 'unbash'
import type { AssignmentFact, Hazard, Span, Via, Word } from '../facts.ts'
import { parseText } from '../read/parse.ts'
import { MAX_TREE_DEPTH } from '../read/syntax-nodes.ts'
import { decidesCharset, UnreadableText } from '../read/unreadable-text.ts'
import { assignmentHazard, environmentHazard } from '../tables/environment.ts'
import { evaluate, isPlainArithmetic, mayFail } from '../words/arithmetic.ts'
import { EVALUATED, type Scope } from '../words/scope.ts'
import { arithmeticDoubt, arithmeticHost, checkArithmeticWord, expandSingle, type WordHost } from '../words/word.ts'
import {
  walkAndOr,
  walkArithmeticFor,
  walkCase,
  walkCoproc,
  walkFor,
  walkFunction,
  walkIf,
  walkPipeline,
  walkWhile,
} from './branching.ts'
import { walkData } from './guess.ts'
import { ASSUMED, forget, type Output, Rehearsal, type Start } from './output.ts'
import type { Stdin } from './redirect.ts'
import { walkRedirected, walkSimple } from './simple-command.ts'

/** How the commands of a text come to be run. */
export interface Frame {
  readonly via: readonly Via[]
  readonly parent: number | null
  readonly background: boolean
  readonly stdin: Stdin
  /** For text inside text: where it is in the whole. */
  readonly within: Span | null
  readonly depth: number
}

const MAX_TEXT_DEPTH = 12

/** Walks one text. Nested texts get a new walk with the same output. */
export class Walk implements WordHost {
  scope: Scope
  source: string
  frame: Frame
  readonly start: Start
  output: Output
  /** Where hazards of the words at hand go. */
  sink: Hazard[]
  #depth = 0
  /** States in which bash may drop the rest of a line because an expansion failed. */
  #dropped: Scope[] = []

  constructor(source: string, scope: Scope, frame: Frame, start: Start, output: Output) {
    this.source = source
    this.scope = scope
    this.frame = frame
    this.start = start
    this.output = output
    this.sink = output.hazards
  }

  get home(): string {
    return this.start.home
  }

  span(node: { pos: number; end: number }): Span {
    return this.frame.within ?? { start: node.pos, end: node.end }
  }

  hazard(hazard: Hazard): void {
    this.sink.push(hazard)
  }

  data(text: string, span: Span): void {
    walkData(this, text, span)
  }

  /** A variable of this shell was assigned: a dangerous name casts doubt on all that follows. */
  assigned(name: string, span: Span, fact?: AssignmentFact): void {
    if (Object.hasOwn(this.start.variables, name) || ASSUMED.includes(name)) this.output.overwritten.add(name)
    this.evaluated(name, span, fact?.value ?? null)
    const hazard = this.environmentHazard(name, span, fact)
    if (hazard === null) return
    this.sink.push(hazard)
    this.scope.doubt(hazard)
  }

  /** The hazard of setting a variable, for this shell or for one command; null where it is harmless. */
  environmentHazard(name: string, span: Span, fact?: AssignmentFact): Hazard | null {
    const message = fact === undefined ? environmentHazard(name) : assignmentHazard(fact)
    if (message === null) return null
    if (decidesCharset(name)) this.output.foreignCharset = true
    return { code: 'env-changes-program', message, verdict: 'ask', span }
  }

  /** Assignments to some variables evaluate the value. */
  evaluated(name: string, span: Span, value: Word | null): void {
    if (!EVALUATED.has(name)) return
    if (value?.values?.every((text) => isPlainArithmetic(text, this.scope)) === true) return
    for (const text of value?.values ?? []) this.data(text, span)
    this.sink.push(arithmeticDoubt(`${name}=${value?.text ?? '…'}`, span))
  }

  script(script: ParsedScript): void {
    script.commands.forEach((statement, index) => {
      this.#statement(statement)
      const next = script.commands[index + 1]
      if (this.#dropped.length === 0 || next === undefined) return
      const between = this.source.slice(statement.end, next.pos)
      if (!between.includes('\n')) return
      this.#meetDropped()
      // After a line continuation the line goes on, unless the backslash is in a comment.
      if (between.replaceAll('\\\n', '').includes('\n')) this.#dropped = []
    })
    this.#meetDropped()
  }

  #meetDropped(): void {
    for (const state of this.#dropped) this.scope.join(state.branch())
  }

  fragile(): void {
    // One state represents all: what any of them leaves open, it leaves open.
    const [all] = this.#dropped
    if (all === undefined) this.#dropped.push(this.scope.branch())
    else all.join(this.scope.branch())
    if (this.scope.effects !== null) this.scope.effects.fragile = true
  }

  /** Analyses text that a command runs: in this shell (`eval`), or in a new one (`sh -c`). */
  text(text: string, span: Span, via: Via, parent: number | null, scope: Scope): { bashOnly: boolean } {
    this.output.nest(text, span.start)
    const frame = {
      ...this.frame,
      via: [...this.frame.via, via],
      parent,
      within: this.frame.within ?? span,
      depth: this.frame.depth + 1,
    }
    if (frame.depth > MAX_TEXT_DEPTH)
      throw new UnreadableText('too-complex', 'text is run inside text too often', span.start)
    const parsed = parseText(text)
    if ('code' in parsed) {
      throw new UnreadableText(
        parsed.code,
        `the text that \`${via.name}\` runs is refused: ${parsed.message}`,
        span.start,
      )
    }
    const walk = new Walk(text, scope, frame, this.start, this.output)
    for (const hazard of parsed.hazards) walk.output.hazards.push({ ...hazard, span: frame.within })
    for (const use of parsed.syntax) walk.output.syntax.push({ ...use, span: frame.within })
    walk.script(parsed.script)
    return parsed
  }

  substitution(node: { text: string; script: ParsedScript | undefined; pos: number; end: number }): void {
    if (node.script === undefined) throw new UnreadableText('syntax', 'a substitution could not be read', node.pos)
    const name = node.text.startsWith('<(') ? '<(…)' : node.text.startsWith('>(') ? '>(…)' : '$(…)'
    const frame = {
      ...this.frame,
      via: [...this.frame.via, { name, kind: 'substitution' } as const],
      stdin: name === '>(…)' ? ({ kind: 'unknown' } as const) : this.frame.stdin,
    }
    const walk = new Walk(this.source, this.scope.subshell(), frame, this.start, this.output)
    walk.#depth = this.#depth + 1
    walk.script(node.script)
  }

  #statement(node: Statement): void {
    if (++this.#depth > MAX_TREE_DEPTH)
      throw new UnreadableText('too-complex', 'the command is nested too deeply', node.pos)
    if (node.background === true) {
      const frame = { ...this.frame, background: true }
      this.apart(frame, () => this.node(node.command))
    } else this.node(node.command)
    this.#depth--
  }

  /** Runs something in a subshell with another frame. */
  apart(frame: Frame, run: () => void): void {
    const outer = this.scope
    this.scope = outer.subshell()
    this.sealed(() => this.framed(frame, run))
    this.scope = outer
  }

  /** Runs something with separate dropped lines. */
  sealed(run: () => void): void {
    const dropped = this.#dropped
    this.#dropped = []
    run()
    this.#dropped = dropped
  }

  framed(frame: Frame, run: () => void): void {
    const outer = this.frame
    this.frame = frame
    run()
    this.frame = outer
  }

  /** Runs something on another scope. */
  on(scope: Scope, run: () => void): Scope {
    const outer = this.scope
    this.scope = scope
    run()
    this.scope = outer
    return scope
  }

  list(list: CompoundList): void {
    for (const statement of list.commands) this.#statement(statement)
  }

  node(node: SyntaxNode): void {
    switch (node.type) {
      case 'Command':
        walkSimple(this, node)
        return
      case 'Pipeline':
        walkPipeline(this, node)
        return
      case 'AndOr':
        walkAndOr(this, node)
        return
      case 'Redirected':
        walkRedirected(this, node)
        return
      case 'Subshell':
        this.apart(this.frame, () => this.list(node.body))
        return
      case 'BraceGroup':
        this.list(node.body)
        return
      case 'If':
        walkIf(this, node)
        return
      case 'While':
        walkWhile(this, node)
        return
      case 'For':
      case 'Select':
        walkFor(this, node)
        return
      case 'ArithmeticFor':
        walkArithmeticFor(this, node)
        return
      case 'Case':
        walkCase(this, node)
        return
      case 'Function':
        walkFunction(this, node)
        return
      case 'Coproc':
        walkCoproc(this, node)
        return
      case 'TestCommand':
        walkTest(node.expression, this)
        return
      case 'ArithmeticCommand':
        if (node.expression !== undefined) evaluate(node.expression, arithmeticHost(this), !mayFail(node.body))
        return
      default:
        throw new UnreadableText('unsupported-syntax', `the syntax \`${node.type}\` is not supported here`, node.pos)
    }
  }

  unknownScope(): Scope {
    this.output.assumes = true
    const unknown = forget(this.scope, this.start)
    unknown.inFunction = this.scope.inFunction
    return unknown
  }

  /** Walks without keeping the findings. */
  rehearse(run: () => void): void {
    const { output, sink } = this
    this.output = new Rehearsal(output)
    this.sink = []
    this.sealed(run)
    this.output = output
    this.sink = sink
  }
}

/** Walks the operands of a test in order. */
function walkTest(node: TestExpression, host: WordHost): void {
  switch (node.type) {
    case 'TestLogical':
      for (const operand of node.operands) walkTest(operand, host)
      return
    case 'TestNot':
      walkTest(node.operand, host)
      return
    case 'TestGroup':
      walkTest(node.expression, host)
      return
    case 'TestUnary': {
      const word = expandSingle(node.operand, host)
      const named = node.operator === '-v' || node.operator === '-R'
      if (named && !(word.values?.every((value) => /^\w*$/.test(value)) ?? false)) {
        for (const text of word.values ?? []) host.data(text, host.span(node.operand))
        host.hazard(arithmeticDoubt(node.operand.text, host.span(node.operand)))
      }
      return
    }
    case 'TestBinary':
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
        checkArithmeticWord(node.left, host)
        checkArithmeticWord(node.right, host)
      } else {
        expandSingle(node.left, host)
        expandSingle(node.right, host)
      }
  }
}
