/** The node types of the parser that the analysis understands; anything else is refused. */

type Judgement = 'plain' | 'check'

/** What a node of a type means for the text that it is in. */
export interface NodeKind {
  /** Wants `bash -n` as well. */
  readonly check: boolean
  /** Dash, zsh or an older sh reads it as something else. */
  readonly bashOnly: boolean
  /** A compound command, which the flag of that name governs. */
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

/** Compound commands, which the flag of that name governs. */
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
