/** The check of a parser's tree: every node is of a known type, and no text inside one is left unexplained. */

import { forEachChild, type ParsedScript, type SyntaxNode } from 'unbash'
import type { Hazard, ShellRejection, Span, SyntaxKind, SyntaxUse } from '../facts.ts'
import {
  hiddenBrace,
  hiddenHereDocOpener,
  hiddenInLiteral,
  hiddenOpener,
  MAX_TREE_DEPTH,
  NODE_KINDS,
} from './syntax-nodes.ts'
import { UnreadableText } from './unreadable-text.ts'

/** The contents of a trusted tree. */
interface CheckedTree {
  readonly syntax: readonly SyntaxUse[]
  readonly hazards: readonly Hazard[]
  /** One of its nodes is of a kind that bash itself is to check. */
  readonly checks: boolean
  readonly bashOnly: boolean
}

/** Visits every node once, and refuses the text when one of them cannot be trusted. */
export class TreeCheck {
  readonly #syntax: SyntaxUse[] = []
  readonly #hazards: Hazard[] = []
  readonly #source: string
  #check = false
  #bashOnly = false
  #depth = 0
  #quoted = false
  #substituted = false
  /** Inside `[[ … == pattern ]]`, the one place where bash reads extended globs by default. */
  #testPattern = false

  constructor(source: string) {
    this.#source = source
  }

  /** Returns the contents of the tree; throws an `UnreadableText`. */
  run(script: ParsedScript): CheckedTree {
    this.#visit(script)
    return { syntax: this.#syntax, hazards: this.#hazards, checks: this.#check, bashOnly: this.#bashOnly }
  }

  #span(node: { pos: number; end: number }): Span {
    return { start: node.pos, end: node.end }
  }

  #refuse(code: ShellRejection['code'], message: string, position: number): never {
    throw new UnreadableText(code, message, position)
  }

  #uses(kind: SyntaxKind, node: { pos: number; end: number }): void {
    this.#syntax.push({ kind, span: this.#span(node) })
  }

  #hazard(code: string, message: string, verdict: 'ask' | 'deny', node: { pos: number; end: number }): void {
    this.#hazards.push({ code, message, verdict, span: this.#span(node) })
  }

  readonly #visit = (node: SyntaxNode): void => {
    const kind = NODE_KINDS.get(node.type)
    if (kind === undefined) {
      this.#refuse('unsupported-syntax', `the syntax \`${node.type}\` is not supported`, node.pos)
    }
    if (kind.check) this.#check = true
    if (kind.bashOnly) this.#bashOnly = true
    if (kind.compound) this.#uses('compound', node)
    if (++this.#depth > MAX_TREE_DEPTH) this.#refuse('too-complex', 'the command is nested too deeply', node.pos)
    if (node.type === 'Script') this.#script(node)
    else if (node.type === 'DoubleQuoted') this.#inQuotes(node)
    else if (node.type === 'LocaleString')
      this.#refuse(
        'unsupported-syntax',
        'bash translates `$"…"` and expands the translation again; write "…"',
        node.pos,
      )
    else if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') this.#substitution(node)
    else if (node.type === 'TestBinary') this.#testBinary(node)
    else {
      this.#look(node)
      forEachChild(node, this.#visit)
    }
    this.#depth--
  }

  #script(script: ParsedScript): void {
    const error = script.errors?.[0]
    if (error !== undefined) this.#refuse('syntax', `bash would not accept this: ${error.message}`, error.pos)
    this.#list(script)
    forEachChild(script, this.#visit)
  }

  #list(list: { pos: number; end: number; commands: readonly { end: number }[] }): void {
    const last = list.commands.at(-1)
    if (list.commands.length > 1) this.#uses('compound', list)
    else if (last !== undefined && /^\s*;(?![;&])/.test(this.#source.slice(last.end, last.end + 8)))
      this.#uses('compound', list)
  }

  #inQuotes(node: SyntaxNode): void {
    const outer = this.#quoted
    this.#quoted = true
    forEachChild(node, this.#visit)
    this.#quoted = outer
  }

  #substitution(node: Extract<SyntaxNode, { type: 'CommandExpansion' | 'ProcessSubstitution' }>): void {
    this.#uses('command_substitution', node)
    if (node.script === undefined) this.#refuse('syntax', 'a substitution could not be read', node.pos)
    this.#backquoted(node)
    this.#closed(node, node.text.startsWith('`') ? '`' : node.text.startsWith('${') ? '}' : ')')
    if (node.text.startsWith('${')) {
      this.#refuse('unsupported-syntax', `\`\${ …; }\` runs commands in this shell; write $(…)`, node.pos)
    }
    // Bash leaves the word out, so that the next one takes its place.
    if (node.type === 'ProcessSubstitution' && node.script.commands.length === 0)
      this.#refuse('unsupported-syntax', 'a process substitution is empty', node.pos)
    const quoted = this.#quoted
    const substituted = this.#substituted
    this.#quoted = false
    this.#substituted = true
    forEachChild(node, this.#visit)
    this.#quoted = quoted
    this.#substituted = substituted
  }

  /** Bash reads quotes and backslashes between backquotes twice. */
  #backquoted(node: { text: string; pos: number }): void {
    if (!node.text.startsWith('`') || !/["'\\]/.test(node.text)) return
    this.#refuse('unsupported-syntax', 'backquotes contain a quote or a backslash; write $(…) instead', node.pos)
  }

  /** In a here-document the parser lets an expansion run to the end; bash fails there, and drops the rest of the line. */
  #closed(node: { text: string; pos: number }, closer: string): void {
    if (!node.text.endsWith(closer)) this.#refuse('syntax', `\`${node.text.slice(0, 3)}\` is not closed`, node.pos)
  }

  #testBinary(node: Extract<SyntaxNode, { type: 'TestBinary' }>): void {
    this.#visit(node.left)
    const outer = this.#testPattern
    this.#testPattern = ['=', '==', '!='].includes(node.operator)
    this.#visit(node.right)
    this.#testPattern = outer
  }

  #look(node: SyntaxNode): void {
    switch (node.type) {
      case 'Statement':
        if (node.background === true) this.#uses('background', node)
        return
      case 'Command':
        this.#separated(node)
        return
      case 'CompoundList':
        this.#list(node)
        return
      case 'AndOr':
        this.#uses('compound', node)
        return
      case 'Pipeline':
        if (node.commands.length > 1) this.#uses('pipes', node)
        this.#timed(node)
        if (node.operators.includes('|&')) this.#bashOnly = true
        return
      case 'Coproc':
        this.#uses('background', node)
        // Bash expands the name, so that `coproc $(rm q) { :; }` runs rm.
        if (node.name !== undefined && !/^[A-Za-z_]\w*$/.test(node.name.text))
          this.#refuse('unsupported-syntax', 'the name of a coprocess is not a plain word', node.name.pos)
        return
      case 'CaseItem':
        if (node.terminator !== undefined) this.#uses('case_terminator', node)
        if (node.terminator !== undefined && node.terminator !== ';;') this.#bashOnly = true
        return
      case 'Function':
        if (/^function\b/.test(this.#source.slice(node.pos, node.pos + 9))) this.#bashOnly = true
        return
      case 'Word':
        if (node.parts === undefined) this.#literal(node, false)
        else if (node.parts.some((part) => part.type === 'ProcessSubstitution')) this.#alone(node)
        return
      case 'Literal':
        this.#literal(node, this.#quoted)
        return
      case 'SimpleExpansion':
        this.#uses('parameter_expansion', node)
        return
      case 'ParameterExpansion':
        this.#parameter(node)
        return
      case 'ArithmeticExpansion':
        this.#uses('parameter_expansion', node)
        if (node.expression === undefined && node.text.replace(/[$()[\]\s]/g, '') !== '') {
          this.#refuse('unsupported-syntax', 'the arithmetic could not be read', node.pos)
        }
        this.#region(node, node.pos + (node.text.startsWith('$[') ? 2 : 3), node.end)
        this.#closed(node, node.text.startsWith('$[') ? ']' : '))')
        return
      case 'ArithmeticCommandExpansion':
        this.#uses('command_substitution', node)
        this.#backquoted(node)
        return
      case 'ArithmeticCommand':
        if (node.expression === undefined && node.body.trim() !== '') {
          this.#refuse('unsupported-syntax', 'the arithmetic could not be read', node.pos)
        }
        this.#region(node, node.pos, node.end)
        if (node.body.includes('$')) this.#uses('parameter_expansion', node)
        return
      case 'ArithmeticFor':
        this.#region(node, node.pos, node.body.pos)
        if (this.#source.slice(node.pos, node.body.pos).includes('$')) this.#uses('parameter_expansion', node)
        return
      case 'Assignment':
        if (node.append === true) this.#bashOnly = true
        if (node.value.type === 'Word' && node.value.text.startsWith('(')) {
          this.#refuse('unsupported-syntax', 'an array is followed by more text without a blank', node.value.pos)
        }
        if (node.value.type === 'ArrayValue' && !/^[\s;&|)<>`]?$/.test(this.#source[node.end] ?? '')) {
          this.#refuse('unsupported-syntax', 'an array is followed by more text without a blank', node.end)
        }
        if (node.index !== undefined) {
          this.#check = true
          this.#bashOnly = true
          this.#region(node.index, node.index.pos, node.index.end)
        }
        return
      case 'Glob':
      case 'BraceExpansion':
        this.#region(node, node.pos, node.end)
        return
      case 'ExtendedGlob':
        if (!this.#testPattern) {
          this.#refuse('unsupported-syntax', 'extended globs are off in bash by default', node.pos)
        }
        this.#region(node, node.pos + 2, node.end)
        return
      case 'Redirect':
        if (node.target === undefined) this.#refuse('syntax', 'a redirect has no target', node.pos)
        // Bash reads `>&-` as a token: in `>&-rm q` the command is rm.
        if (/^[<>]&$/.test(node.operator) && /^-./s.test(node.target.text)) {
          this.#refuse(
            'unsupported-syntax',
            'a descriptor is closed right before a word; put a blank between',
            node.pos,
          )
        }
        if (node.operator === '&>' || node.operator === '&>>') this.#bashOnly = true
        if (node.operator === '>&' && !/^(\d+-?|-)$/.test(node.target.text)) this.#bashOnly = true
        return
      case 'FileDescriptor':
        // Bash takes a number that does not fit an int for an argument.
        if (node.value > 0x7fffffff)
          this.#refuse('unsupported-syntax', 'the number of a descriptor is too large', node.pos)
        return
      case 'FileDescriptorVariable':
        if (!/^\w+$/.test(node.name)) {
          this.#refuse('unsupported-syntax', 'a subscript in the variable of a descriptor is evaluated', node.pos)
        }
        return
      case 'HereString':
        if (node.target === undefined) this.#refuse('syntax', 'a here-string has no text', node.pos)
        return
      case 'HereDoc':
        this.#hereDoc(node)
        return
      case 'TestUnary':
        if (this.#source.slice(node.pos, node.end).includes('`')) this.#region(node, node.pos, node.end)
        return
      default:
    }
  }

  /**
   * Inside `$(…)` bash does not know `time` as a keyword while it looks for the end, so that in `$(time case x in x) …` the
   * first `)` ends the substitution.
   */
  #timed(node: Extract<SyntaxNode, { type: 'Pipeline' }>): void {
    const time = node.prefixes.find((prefix) => prefix.type === 'Time')
    if (time === undefined || !this.#substituted || node.commands[0]?.type === 'Command') return
    this.#refuse('unsupported-syntax', '`time` before a compound command inside a substitution', time.pos)
  }

  /** Two words without a blank between them are one to bash: the parser has cut it where bash does not. */
  #separated(node: Extract<SyntaxNode, { type: 'Command' }>): void {
    let end = -1
    const look = (part: SyntaxNode): void => {
      const redirects = part.type !== 'Word' && part.type !== 'Assignment'
      if (part.pos === end && !redirects) {
        this.#refuse('unsupported-syntax', 'a word here cannot be read with certainty; quote it', part.pos)
      }
      end = part.end
    }
    for (const part of node.prefix) look(part)
    if (node.name !== undefined) look(node.name)
    for (const part of node.suffix) look(part)
  }

  /** The parser cuts a word at `<(…)`; bash does not. */
  #alone(node: { pos: number; end: number }): void {
    const around = (this.#source[node.pos - 1] ?? ' ') + (this.#source[node.end] ?? ' ')
    if (!/^[\s;&|(<>`][\s;&|)<>`]$/.test(around) || this.#source[node.pos - 2] === '\\') {
      this.#refuse('unsupported-syntax', 'a process substitution must be a separate word', node.pos)
    }
  }

  #literal(node: { text: string; pos: number }, quoted: boolean): void {
    if (hiddenInLiteral(node.text, quoted)) {
      this.#refuse('unsupported-syntax', 'an expansion here could not be read with certainty', node.pos)
    }
    if (!quoted && /[()]/.test(node.text.replace(/\\[\s\S]/g, ''))) this.#check = true
  }

  #region(node: SyntaxNode, start: number, end: number): void {
    const at = hiddenOpener(this.#source, start, end, node)
    if (at !== -1) {
      this.#refuse('unsupported-syntax', 'text inside an expansion could run a command; write it another way', at)
    }
  }

  #parameter(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>): void {
    this.#uses('parameter_expansion', node)
    if (node.operation !== undefined && node.operation.type !== 'Default') this.#check = true
    if (node.prefix !== undefined || node.index !== undefined) {
      this.#check = true
      if (node.prefix === '!' || node.index !== undefined) this.#bashOnly = true
    }
    this.#closed(node, '}')
    this.#region(node, node.pos + 2, node.end)
    this.#innerBrace(node)
    this.#wellFormed(node)
    if (node.operation === undefined || node.operation.type !== 'Transform') {
      if (node.prefix === '!' && node.operation?.type !== 'Names' && !isListIndex(node.index?.text)) {
        this.#hazard('transform', `\`${node.text}\` reads a variable whose name is data`, 'ask', node)
      }
      return
    }
    const letter = node.operation.operand.text
    if (letter === 'P' || !/^[UuLQEKAak]$/.test(letter)) {
      this.#hazard('prompt-transform', `\`${node.text}\` runs commands that are in the variable's text`, 'deny', node)
    } else if (letter === 'E') this.#hazard('transform', `\`${node.text}\` decodes text that is data`, 'ask', node)
  }

  /** Bash finds a bad substitution only when it runs, and then drops the rest of the line. */
  #wellFormed(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>): void {
    const named = /^[A-Za-z_]\w*$/.test(node.parameter)
    const assigns = node.operation?.type === 'Default' && node.operation.operator.endsWith('=')
    const bad =
      (!named && !/^(?:\d+|[@*#?$!-])$/.test(node.parameter)) ||
      (!named && (assigns || node.index !== undefined)) ||
      (node.prefix === '#' && node.operation !== undefined)
    if (bad) this.#refuse('syntax', `bash would not accept this: \`${node.text}\` is a bad substitution`, node.pos)
  }

  /** Bash ends `${x-{a}` at the first `}`; the parser pairs braces. */
  #innerBrace(node: Extract<SyntaxNode, { type: 'ParameterExpansion' }>): void {
    const at = hiddenBrace(this.#source, node.pos + 2, node.end, node)
    if (at !== -1)
      this.#refuse('unsupported-syntax', 'a brace inside a parameter expansion cannot be read with certainty', at)
  }

  #hereDoc(node: Extract<SyntaxNode, { type: 'HereDoc' }>): void {
    const delimiter = node.delimiter
    if (delimiter === undefined || delimiter.text.includes('\n') || delimiter.value === '') {
      this.#refuse('unsupported-syntax', 'the end word of a here-document is empty or spans lines', node.pos)
    }
    if (node.closing === undefined) {
      this.#refuse('syntax', `the here-document is not closed: no line \`${delimiter.value}\``, node.pos)
    }
    if (/[$`(]/.test(delimiter.text)) {
      this.#refuse('unsupported-syntax', 'the end word of a here-document contains an expansion', node.pos)
    }
    if (delimiter.quoted) return
    const at = hiddenHereDocOpener(this.#source, node.body.pos, node.body.end, node.body)
    if (at !== -1) {
      this.#refuse('unsupported-syntax', 'text in the here-document could run a command; quote its end word', at)
    }
  }
}

function isListIndex(index: string | undefined): boolean {
  return index === '@' || index === '*'
}
