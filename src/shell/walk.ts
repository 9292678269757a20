/** The walk through the tree in the order bash runs it, with what is known about the shell at every point. */

import type {
  AndOr,
  ArithmeticFor,
  Case,
  Command,
  CompoundList,
  Coproc,
  For,
  Function as FunctionNode,
  If,
  ParsedScript,
  Pipeline,
  Redirected,
  Redirection,
  Select,
  Statement,
  SyntaxNode,
  While,
} from 'unbash'
import { evaluate, isPlainArithmetic, mayFail } from './arithmetic.ts'
import { assign, assignmentWord, temporary } from './assign.ts'
import { walkTest } from './conditions.ts'
import type { AssignmentFact, Hazard, RedirectFact, Span, Via, Word } from './facts.ts'
import { invoke } from './invoke.ts'
import { type Output, Rehearsal } from './output.ts'
import { MAX_TREE_DEPTH, parseText, Refusal } from './parse.ts'
import { expandRedirects, type Redirects, type Stdin } from './redirect.ts'
import { EVALUATED, known, noEffects, type Scope, UNKNOWN } from './scope.ts'
import { ASSUMED, forget, type Start } from './start.ts'
import { assignmentHazard, environmentHazard } from './tables/environment.ts'
import { arithmeticDoubt, arithmeticHost, expandArguments, expandSingle, type WordHost } from './word.ts'

/** How the commands of a text come to be run. */
export interface Frame {
  readonly via: readonly Via[]
  readonly parent: number | null
  readonly background: boolean
  readonly stdin: Stdin
  /** For text inside text: where it stands in the whole. */
  readonly within: Span | null
  readonly depth: number
}

const MAX_TEXT_DEPTH = 12
/** Most words of one command. */
const MAX_WORDS = 2_000

/** Walks one text. Texts inside it get a walk of their own with the same output. */
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

  /** A variable of this shell was assigned: a dangerous name casts doubt on all that follows. */
  assigned(name: string, span: Span, fact?: AssignmentFact): void {
    if (Object.hasOwn(this.start.variables, name) || ASSUMED.includes(name)) this.output.overwritten.add(name)
    this.evaluated(name, span, fact?.value ?? null)
    const message = fact === undefined ? environmentHazard(name) : assignmentHazard(fact)
    if (message === null) return
    const hazard: Hazard = { code: 'env-changes-program', message, verdict: 'ask', span }
    this.sink.push(hazard)
    this.scope.doubt(hazard)
  }

  /** Some variables evaluate what they are given. */
  evaluated(name: string, span: Span, value: Word | null): void {
    if (!EVALUATED.has(name)) return
    if (value?.values?.every((text) => isPlainArithmetic(text, this.scope)) === true) return
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
      // After a line continuation the line goes on, unless the backslash stands in a comment.
      if (between.replaceAll('\\\n', '').includes('\n')) this.#dropped = []
    })
    this.#meetDropped()
  }

  #meetDropped(): void {
    for (const state of this.#dropped) this.scope.join(state.branch())
  }

  fragile(): void {
    // One state stands for all: what any of them leaves open, it leaves open.
    const [all] = this.#dropped
    if (all === undefined) this.#dropped.push(this.scope.branch())
    else all.join(this.scope.branch())
    if (this.scope.effects !== null) this.scope.effects.fragile = true
  }

  /** Analyses text that a command runs: in this shell (`eval`), or in one of its own (`sh -c`). */
  text(text: string, span: Span, via: Via, parent: number | null, scope: Scope): { bashOnly: boolean } {
    this.output.nest(text, span.start)
    const frame = {
      ...this.frame,
      via: [...this.frame.via, via],
      parent,
      within: this.frame.within ?? span,
      depth: this.frame.depth + 1,
    }
    if (frame.depth > MAX_TEXT_DEPTH) throw new Refusal('too-complex', 'text is run inside text too often', span.start)
    const parsed = parseText(text)
    if ('code' in parsed) {
      throw new Refusal(parsed.code, `the text that \`${via.name}\` runs is refused: ${parsed.message}`, span.start)
    }
    const walk = new Walk(text, scope, frame, this.start, this.output)
    for (const hazard of parsed.hazards) walk.output.hazards.push({ ...hazard, span: frame.within })
    for (const use of parsed.syntax) walk.output.syntax.push({ ...use, span: frame.within })
    walk.script(parsed.script)
    return parsed
  }

  substitution(node: { text: string; script: ParsedScript | undefined; pos: number; end: number }): void {
    if (node.script === undefined) throw new Refusal('syntax', 'a substitution could not be read', node.pos)
    const name = node.text.startsWith('<(') ? '<(…)' : node.text.startsWith('>(') ? '>(…)' : '$(…)'
    const inner = node.script.source
    const frame = {
      ...this.frame,
      via: [...this.frame.via, { name, kind: 'substitution' } as const],
      stdin: name === '>(…)' ? ({ kind: 'unknown' } as const) : this.frame.stdin,
      within: inner === undefined ? this.frame.within : this.span(node),
    }
    const walk = new Walk(inner ?? this.source, this.scope.subshell(), frame, this.start, this.output)
    walk.#depth = this.#depth + 1
    walk.script(node.script)
  }

  #statement(node: Statement): void {
    if (++this.#depth > MAX_TREE_DEPTH) throw new Refusal('too-complex', 'the command is nested too deeply', node.pos)
    if (node.background === true) {
      const frame = { ...this.frame, background: true }
      this.#apart(frame, () => this.#node(node.command))
    } else this.#node(node.command)
    this.#depth--
  }

  /** Runs something in a subshell with another frame. */
  #apart(frame: Frame, run: () => void): void {
    const outer = this.scope
    const dropped = this.#dropped
    this.scope = outer.subshell()
    this.#dropped = []
    this.#framed(frame, run)
    this.scope = outer
    this.#dropped = dropped
  }

  #framed(frame: Frame, run: () => void): void {
    const outer = this.frame
    this.frame = frame
    run()
    this.frame = outer
  }

  /** Runs something on another scope. */
  #on(scope: Scope, run: () => void): Scope {
    const outer = this.scope
    this.scope = scope
    run()
    this.scope = outer
    return scope
  }

  #list(list: CompoundList): void {
    for (const statement of list.commands) this.#statement(statement)
  }

  #node(node: SyntaxNode): void {
    switch (node.type) {
      case 'Command':
        this.#simple(node)
        return
      case 'Pipeline':
        this.#pipeline(node)
        return
      case 'AndOr':
        this.#andOr(node)
        return
      case 'Redirected':
        this.#redirected(node)
        return
      case 'Subshell':
        this.#apart(this.frame, () => this.#list(node.body))
        return
      case 'BraceGroup':
        this.#list(node.body)
        return
      case 'If':
        this.#if(node)
        return
      case 'While':
        this.#while(node)
        return
      case 'For':
      case 'Select':
        this.#for(node)
        return
      case 'ArithmeticFor':
        this.#arithmeticFor(node)
        return
      case 'Case':
        this.#case(node)
        return
      case 'Function':
        this.#function(node)
        return
      case 'Coproc':
        this.#coproc(node)
        return
      case 'TestCommand':
        walkTest(node.expression, this)
        return
      case 'ArithmeticCommand':
        if (node.expression !== undefined) evaluate(node.expression, arithmeticHost(this), !mayFail(node.body))
        return
      default:
        throw new Refusal('unsupported-syntax', `the syntax \`${node.type}\` is not supported here`, node.pos)
    }
  }

  #pipeline(node: Pipeline): void {
    const negated = node.prefixes.filter((prefix) => prefix.type === 'Negation').length % 2 === 1
    if (node.commands.length === 1) {
      const before = this.scope.cwd
      this.#node(node.commands[0] as SyntaxNode)
      if (negated && this.scope.cwd !== before) this.scope.moveTo(null)
      return
    }
    node.commands.forEach((command, index) => {
      const frame = index === 0 ? this.frame : { ...this.frame, stdin: { kind: 'unknown' } as const }
      this.#apart(frame, () => this.#node(command))
    })
  }

  /** Follows success and failure apart, so that `cd x && y` runs y in x and `cd x || y` does not. */
  #andOr(node: AndOr): void {
    const before = this.scope.cwd
    this.#node(node.commands[0] as SyntaxNode)
    let succeeded = this.scope.branch()
    let failed = this.scope.branch()
    failed.ended ||= this.#cannotFail(node.commands[0] as SyntaxNode)
    let moved = this.scope.cwd !== before
    node.operators.forEach((operator, index) => {
      const command = node.commands[index + 1] as SyntaxNode
      const from = operator === '&&' ? succeeded : failed
      const other = operator === '&&' ? failed : succeeded
      const run = from.branch()
      if (operator === '||' && moved) run.moveTo(null)
      const cwd = run.cwd
      this.#on(run, () => this.#node(command))
      moved = run.cwd !== cwd || moved
      const either = run.branch()
      const certain = this.#cannotFail(command)
      if (operator === '&&') {
        succeeded = run
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
    this.scope.take(succeeded)
  }

  /** A plain assignment succeeds, so that `x=/a && cd "$x"` is as good as `cd /a`. */
  #cannotFail(node: SyntaxNode): boolean {
    if (node.type !== 'Command' || node.name !== undefined || node.redirects.length > 0) return false
    return !/\$\(|`|[<>]\(/.test(this.source.slice(node.pos, node.end))
  }

  /** Redirects of a program are expanded in its own process, those of a builtin in this one: what they assign is uncertain. */
  #redirects(redirects: readonly Redirection[]): Redirects {
    if (redirects.length === 0) return { facts: [], stdin: null, certain: true }
    let result: Redirects | undefined
    const after = this.#on(this.scope.branch(), () => {
      result = expandRedirects(redirects, this)
    })
    this.scope.join(after)
    return result as Redirects
  }

  #redirected(node: Redirected): void {
    const { facts, stdin, certain } = this.#redirects(node.redirects)
    this.output.redirects.push(...facts)
    const before = certain ? null : this.scope.branch()
    this.#framed({ ...this.frame, stdin: stdin ?? this.frame.stdin }, () => this.#node(node.command))
    if (before !== null) this.scope.join(before)
  }

  #if(node: If): void {
    const results: Scope[] = []
    for (const part of [node, ...node.elif]) {
      const before = this.scope.cwd
      this.#list(part.clause)
      results.push(this.#on(this.scope.branch(), () => this.#list(part.then)))
      if (this.scope.cwd !== before) this.scope.moveTo(null)
    }
    if (node.else !== undefined) this.#list(node.else)
    for (const result of results) this.scope.join(result)
  }

  #while(node: While): void {
    this.#loop(() => {
      this.#list(node.clause)
      this.#list(node.body)
    })
  }

  #for(node: For | Select): void {
    const words = node.wordlist?.flatMap((word) => expandArguments(word, this))
    const certain = words?.every((word) => word.values !== null && !word.splits) === true
    const values = certain ? (words?.flatMap((word) => word.values ?? []) ?? []) : []
    const value = node.type === 'For' && values.length > 0 ? known(values) : UNKNOWN
    const name = node.name.value
    this.#loop(() => {
      this.scope.set(name, value)
      if (node.type === 'Select') this.scope.set('REPLY', UNKNOWN)
      this.assigned(name, this.span(node.name))
      this.#list(node.body)
    })
  }

  #arithmeticFor(node: ArithmeticFor): void {
    const certain = !mayFail(this.source.slice(node.pos, node.body.pos))
    const host = (): ReturnType<typeof arithmeticHost> => arithmeticHost(this)
    if (node.initialize !== undefined) evaluate(node.initialize, host(), certain)
    this.#loop(() => {
      if (node.test !== undefined) evaluate(node.test, host(), certain)
      this.#list(node.body)
      if (node.update !== undefined) evaluate(node.update, host(), certain)
    })
  }

  /** A body that runs any number of times: first seen from a state in which nothing is known, to learn what it changes. */
  #loop(body: () => void): void {
    if (this.scope.effects !== null && this.output instanceof Rehearsal) {
      const unknown = this.#unknownScope()
      unknown.effects = this.scope.effects
      this.#on(unknown, body)
      this.scope.suffer(this.scope.effects)
      return
    }
    const effects = noEffects()
    const unknown = this.#unknownScope()
    unknown.effects = effects
    this.#rehearse(() => this.#on(unknown, body))
    this.scope.suffer(effects)
    const once = this.#on(this.scope.branch(), body)
    this.scope.join(once)
  }

  #unknownScope(): Scope {
    this.output.assumes = true
    const unknown = forget(this.scope, this.start)
    unknown.inFunction = this.scope.inFunction
    return unknown
  }

  /** Walks without keeping what is found. */
  #rehearse(run: () => void): void {
    const { output, sink } = this
    const dropped = this.#dropped
    this.#dropped = []
    this.output = new Rehearsal(output)
    this.sink = []
    run()
    this.output = output
    this.sink = sink
    this.#dropped = dropped
  }

  #case(node: Case): void {
    expandSingle(node.word, this)
    const start = this.scope.branch()
    let fallen: Scope | null = null
    for (const item of node.items) {
      for (const pattern of item.pattern) expandSingle(pattern, this)
      const branch = start.branch()
      if (fallen !== null) branch.join(fallen)
      this.#on(branch, () => this.#list(item.body))
      this.scope.join(branch)
      fallen = item.terminator === ';&' || item.terminator === ';;&' ? branch.branch() : null
    }
  }

  #function(node: FunctionNode): void {
    const name = node.name.value
    const effects = noEffects()
    const body = this.#unknownScope()
    const defined = this.start.functionsVanish ? 'maybe' : 'yes'
    body.define(name, defined)
    body.effects = effects
    body.inFunction = true
    this.output.defines.add(name)
    const bodies = this.output.functions.get(name) ?? []
    bodies.push(effects)
    this.output.functions.set(name, bodies)
    if (name === 'command_not_found_handle') {
      const span = this.span(node)
      const hazard: Hazard = {
        code: 'hook',
        message: `\`${name}\` runs for every unknown command`,
        verdict: 'ask',
        span,
      }
      this.sink.push(hazard)
      this.scope.doubt(hazard)
    }
    const via: Via = { name: `function ${name}`, kind: 'function' }
    const frame = { ...this.frame, via: [...this.frame.via, via], stdin: { kind: 'unknown' } as const }
    const dropped = this.#dropped
    this.#dropped = []
    this.#framed(frame, () => this.#on(body, () => this.#node(node.body)))
    this.#dropped = dropped
    this.scope.define(name, defined)
  }

  #coproc(node: Coproc): void {
    const name = node.name?.value ?? 'COPROC'
    const frame = { ...this.frame, background: true, stdin: { kind: 'unknown' } as const }
    this.#apart(frame, () => this.#node(node.body))
    for (const written of [name, `${name}_PID`]) {
      this.scope.set(written, UNKNOWN)
      this.assigned(written, this.span(node))
    }
  }

  #simple(node: Command): void {
    this.output.step(node.pos)
    const outer = this.sink
    const hazards: Hazard[] = []
    this.sink = hazards
    const argv = this.#words(node)
    if (argv.length > MAX_WORDS)
      throw new Refusal('too-complex', `a command has more than ${MAX_WORDS} words`, node.pos)
    const before = node.redirects.length > 0 ? this.scope.branch() : null
    const assignments: AssignmentFact[] = []
    const bare = argv.length === 0
    const uncertain = !bare && argv.every((word) => word.splits)
    const written = node.prefix.filter((part) => part.type === 'Assignment')
    if (bare) for (const one of written) assignments.push(assign(this, one))
    else assignments.push(...temporary(this, written, uncertain, argv[0]?.text ?? ''))
    const { facts, stdin, certain } = this.#redirects(node.redirects)
    this.sink = outer
    this.#emit(node, argv, assignments, facts, hazards, stdin)
    if (before !== null && !certain) this.scope.join(before)
  }

  #emit(
    node: Command,
    argv: readonly Word[],
    assignments: AssignmentFact[],
    redirects: readonly RedirectFact[],
    hazards: Hazard[],
    stdin: Stdin | null,
  ): void {
    const frame = stdin === null ? this.frame : { ...this.frame, stdin }
    this.#framed(frame, () =>
      invoke(this, { argv, assignments, redirects, hazards, span: this.span(node), direct: true, environment: 'same' }),
    )
  }

  #words(node: Command): Word[] {
    if (node.name === undefined) return []
    const words = [...expandArguments(node.name, this)]
    for (const argument of node.args) {
      if (argument.type === 'Word') words.push(...expandArguments(argument, this))
      else {
        const associative = words.some((word) => /^-[a-zA-Z]*A/.test(word.text))
        words.push(assignmentWord(this, argument, associative))
      }
    }
    return words
  }
}
