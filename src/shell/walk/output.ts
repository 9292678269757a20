/** The findings of the walk so far, its remaining budget, and the state at the start. */

import type {
  AssignmentFact,
  ChangeKind,
  CommandFact,
  Effect,
  Hazard,
  HostUse,
  PathUse,
  RedirectFact,
  Span,
  SyntaxUse,
  Via,
  Word,
} from '../facts.ts'
import { UnreadableText } from '../read/unreadable-text.ts'
import { type Effects, Scope, UNKNOWN } from '../words/scope.ts'

/** A command fact under construction. */
export interface Draft {
  readonly argv: readonly Word[]
  resolves: CommandFact['resolves']
  readonly assignments: AssignmentFact[]
  readonly redirects: readonly RedirectFact[]
  readonly cwd: string | null
  readonly via: readonly Via[]
  readonly parent: number | null
  unwrapped: CommandFact['unwrapped']
  readonly hazards: Hazard[]
  paths: readonly PathUse[]
  hosts: readonly HostUse[]
  effect: Effect
  effectNote: string
  kind?: ChangeKind | null
  delegates?: readonly (readonly Word[])[]
  readonly background: boolean
  readonly span: Span
}

/** Most simple commands in one text. */
const MAX_COMMANDS = 800
/** Most characters of texts inside texts (`sh -c`, `eval`): each is parsed anew. */
const MAX_NESTED = 48_000
const MAX_NESTED_TEXTS = 200

/** Everything one analysis collects. */
export class Output {
  commands: Draft[] = []
  redirects: RedirectFact[] = []
  hazards: Hazard[] = []
  readonly defines: Set<string> = new Set()
  /** What each function may do to the shell that calls it, for every definition seen. */
  readonly functions: Map<string, Effects[]> = new Map()
  /** Variables of the start that the text changes, which function bodies must not rely on. */
  readonly overwritten: Set<string> = new Set()
  /** Syntax of texts inside the text. */
  syntax: SyntaxUse[] = []
  /** Names that something may have taken away, `*` for any: if one is a function, no function is certain to be one. */
  readonly removed: Set<string> = new Set()
  /** True once a body was checked as if it could run at any time. */
  assumes = false
  /** True once bash may read characters otherwise than they are read here. */
  foreignCharset = false
  /** True once a trap was set. */
  hooked = false
  /** The input of the last command, if the text contains it. */
  input: string | null = null
  #steps = 0
  #nested = 0
  #texts = 0

  /** Counts one command; every command of a text that is checked several times counts again. */
  step(position: number): void {
    if (++this.#steps > MAX_COMMANDS * 4)
      throw new UnreadableText('too-complex', 'the command does too many things', position)
  }

  add(draft: Draft): number {
    if (this.commands.length >= MAX_COMMANDS) {
      throw new UnreadableText('too-complex', 'the command consists of too many commands', draft.span.start)
    }
    return this.commands.push(draft) - 1
  }

  /** Counts a text inside the text. */
  nest(text: string, position: number): void {
    this.#nested += text.length
    if (this.#nested > MAX_NESTED || ++this.#texts > MAX_NESTED_TEXTS) {
      throw new UnreadableText('too-complex', 'too much text is run inside the text', position)
    }
  }
}

/** An output that is thrown away, with the same limits. */
export class Rehearsal extends Output {
  readonly #real: Output
  override readonly functions: Map<string, Effects[]>
  override readonly overwritten: Set<string>
  override readonly removed: Set<string>

  constructor(real: Output) {
    super()
    this.#real = real
    this.functions = new Map(real.functions)
    this.overwritten = real.overwritten
    this.removed = real.removed
  }

  override step(position: number): void {
    this.#real.step(position)
  }

  override nest(text: string, position: number): void {
    this.#real.nest(text, position)
  }
}

/** Values at the start of every shell, and the home directory. */
export interface Start {
  readonly home: string
  readonly roots: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** What function bodies may assume: the same, or nothing if the text changes them. */
  readonly inFunctions: Readonly<Record<string, string>>
  /** The text may remove functions, so a function name may mean the program again. */
  readonly functionsVanish: boolean
  /** No shell of the text ever changes its directory, so that a body runs where it is written. */
  readonly staysPut: boolean
}

/** Variables that the analysis relies on without naming them. */
export const ASSUMED: readonly string[] = ['HOME', 'IFS', 'CDPATH']

/** A scope valid at any time: for function bodies, hooks and the first pass over loops. */
export function forget(scope: Scope, start: Start): Scope {
  const unknown = scope.forgotten(start.inFunctions)
  // A cd may come before the call.
  if (start.staysPut) unknown.cwd = scope.cwd
  else for (const name of ['PWD', 'OLDPWD']) unknown.set(name, UNKNOWN)
  if (start.inFunctions !== start.variables) for (const name of ASSUMED) unknown.set(name, UNKNOWN)
  return unknown
}

/** The scope of a shell started by a command: the same directory, an environment that is only partly known. */
export function childScope(parent: Scope, cwd: string | null): Scope {
  const scope = new Scope(cwd, {})
  scope.journey = parent.journey
  scope.positional = null
  if (!parent.untouched('HOME')) scope.set('HOME', UNKNOWN)
  if (!parent.untouched('CDPATH')) scope.set('CDPATH', UNKNOWN)
  for (const hazard of parent.ambient.values()) scope.doubt(hazard)
  return scope
}
