/** The node types that the analysis understands, and openers in text outside every node. */

import { forEachChild, type SyntaxNode } from 'unbash'

type Judgement = 'plain' | 'check'

/** How the check treats a type of node. */
interface NodeKind {
  /** Wants `bash -n` as well. */
  readonly check: boolean
  /** Dash, zsh or an older sh reads it as something else. */
  readonly bashOnly: boolean
  /** A compound command, governed by the flag of that name. */
  readonly compound: boolean
}

/** Every node type that the analysis understands; `check` wants `bash -n` as well. */
const NODES: Readonly<Record<string, Judgement>> = {
  Script: 'plain',
  Statement: 'plain',
  Command: 'plain',
  Pipeline: 'plain',
  AndOr: 'plain',
  Word: 'plain',
  Literal: 'plain',
  SingleQuoted: 'plain',
  DoubleQuoted: 'plain',
  SimpleExpansion: 'plain',
  ParameterExpansion: 'plain',
  Default: 'plain',
  Glob: 'plain',
  Assignment: 'plain',
  Redirect: 'plain',
  HereString: 'plain',
  FileDescriptor: 'plain',
  BraceExpansion: 'plain',
  HereDoc: 'check',
  HereDocDelimiter: 'check',
  HereDocBody: 'check',
  FileDescriptorVariable: 'check',
  AnsiCQuoted: 'check',
  LocaleString: 'check',
  CommandExpansion: 'check',
  ProcessSubstitution: 'check',
  ArithmeticExpansion: 'check',
  ArithmeticBinary: 'check',
  ArithmeticUnary: 'check',
  ArithmeticTernary: 'check',
  ArithmeticGroup: 'check',
  ArithmeticWord: 'check',
  ArithmeticCommandExpansion: 'check',
  ArithmeticCommand: 'check',
  ArithmeticFor: 'check',
  ExtendedGlob: 'check',
  ArrayValue: 'check',
  Redirected: 'check',
  If: 'check',
  Elif: 'check',
  For: 'check',
  While: 'check',
  Select: 'check',
  Case: 'check',
  CaseItem: 'check',
  Function: 'check',
  Subshell: 'check',
  BraceGroup: 'check',
  CompoundList: 'check',
  Coproc: 'check',
  Time: 'check',
  Negation: 'check',
  TestCommand: 'check',
  TestUnary: 'check',
  TestBinary: 'check',
  TestLogical: 'check',
  TestNot: 'check',
  TestGroup: 'check',
  Remove: 'check',
  Replace: 'check',
  Slice: 'check',
  CaseModification: 'check',
  Transform: 'check',
  Names: 'check',
}

/** Syntax that dash, zsh or an older sh reads as something else. */
const BASH_ONLY: ReadonlySet<string> = new Set(
  (
    'BraceExpansion AnsiCQuoted LocaleString TestCommand ArithmeticCommand ArithmeticFor ProcessSubstitution HereString ' +
    'Coproc Select Replace Slice CaseModification Transform Names ArrayValue Time ExtendedGlob FileDescriptorVariable'
  ).split(' '),
)

/** Compound commands, governed by the flag of that name. */
const COMPOUND: ReadonlySet<string> = new Set('If For ArithmeticFor While Select Case'.split(' '))

/** The kinds of all node types that the analysis understands. */
export const NODE_KINDS: ReadonlyMap<string, NodeKind> = new Map(
  Object.entries(NODES).map(([type, judgement]) => [
    type,
    { check: judgement === 'check', bashOnly: BASH_ONLY.has(type), compound: COMPOUND.has(type) },
  ]),
)

/** Deepest tree that is walked. */
export const MAX_TREE_DEPTH = 150

/** The residual scan: text that the parser took for data but that bash may still execute. */
const OPENERS = /\$\(|`|[<>]\(|\$\[|\$\{[\s|]|\$"/
const HEREDOC_OPENERS = /\$\(|`|\$\[|\$\{/

/** Nodes whose inside is analysed or checked separately. */
const SURFACED = new Set([
  'CommandExpansion',
  'ProcessSubstitution',
  'ArithmeticExpansion',
  'ArithmeticCommandExpansion',
])

/**
 * The offset of an opener (`$(`, a backtick, `<(` …) in text outside every node, or -1. Quotes
 * inside `${…}`, `$((…))` and subscripts do not always protect their content, so they are not
 * trusted.
 */
export function hiddenOpener(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!OPENERS.test(text)) return -1
  const found = OPENERS.exec(mask(text, start, node, SURFACED))
  return found === null ? -1 : start + found.index
}

/** The offset of a `{` inside `${…}` that does not open an expansion, or -1. */
export function hiddenBrace(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!text.includes('{')) return -1
  const at = mask(text, start, node, new Set([...SURFACED, 'ParameterExpansion'])).indexOf('{')
  return at === -1 ? -1 : start + at
}

/** The same for the body of an unquoted here-document, where a backslash does protect. */
export function hiddenHereDocOpener(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!HEREDOC_OPENERS.test(text)) return -1
  const masked = mask(text, start, node, new Set([...SURFACED, 'ParameterExpansion']))
  const found = HEREDOC_OPENERS.exec(masked.replace(/\\[\\$`]/g, '__'))
  return found === null ? -1 : start + found.index
}

/** The same for literal text of a word: after escapes are removed, nothing may open. */
export function hiddenInLiteral(text: string, quoted: boolean): boolean {
  if (!/[`$<>]/.test(text)) return false
  const bare = text.replace(/\\[\s\S]/g, '  ')
  return quoted ? /`|\$[\w({[@*#?!$-]/.test(bare) : /`|\$[\w({['"@*#?!$-]|[<>]\(/.test(bare)
}

function mask(text: string, start: number, node: SyntaxNode, surfaced: ReadonlySet<string>): string {
  let masked = text
  const visit = (child: SyntaxNode): void => {
    if (surfaced.has(child.type)) {
      const from = Math.max(0, child.pos - start)
      const to = Math.min(text.length, child.end - start)
      if (to > from) masked = masked.slice(0, from) + '_'.repeat(to - from) + masked.slice(to)
      return
    }
    forEachChild(child, visit)
  }
  forEachChild(node, visit)
  return masked
}
