/**
 * The known state of a shell at a point of the text: variables, working directory, functions, and
 * doubts.
 */

import type { Hazard, Word } from '../facts.ts'

/** The value of a variable: a finite set, some integer, or anything. */
export interface Value {
  readonly values: readonly string[] | null
  /** True when every possible value is a plain decimal number, so that arithmetic may read it. */
  readonly integer: boolean
  /** A number or nothing: arithmetic may read it, but as a word it may vanish. */
  readonly count?: boolean
  /** Unknown, but one of the names that this pattern matches, or the pattern itself. */
  readonly pattern?: string
}

export const UNKNOWN: Value = { values: null, integer: false }
export const INTEGER: Value = { values: null, integer: true }

/** The output of a counting command. */
export const COUNT: Value = { values: null, integer: false, count: true }

/** True when arithmetic reads the value without evaluating text. */
export function isNumeric(value: Value): boolean {
  return value.integer || value.count === true
}

/** Largest set of values that is followed. */
export const MAX_VALUES = 24
/** Longest value that is followed; longer ones could double with every assignment. */
const MAX_VALUE_LENGTH = 8192

/** Variables that bash sets, reads or protects: an assignment does not decide their value. */
const SELF_WILLED = new Set(
  (
    '_ RANDOM SRANDOM SECONDS LINENO BASHPID BASH_COMMAND BASH_SUBSHELL BASH_ARGV0 EPOCHSECONDS EPOCHREALTIME FUNCNAME ' +
    'GROUPS DIRSTACK HISTCMD PIPESTATUS BASH_SOURCE BASH_LINENO BASH_ARGC BASH_ARGV BASHOPTS SHELLOPTS UID EUID PPID ' +
    'BASH_VERSINFO BASH_ALIASES BASH_CMDS COMP_WORDBREAKS OPTIND OPTARG OPTERR PWD OLDPWD REPLY BASH_REMATCH COPROC ' +
    'MAPFILE SHLVL LINES COLUMNS'
  ).split(' '),
)

/** Variables that cannot be assigned. */
const READONLY = new Set('UID EUID PPID BASHOPTS SHELLOPTS BASH_VERSINFO'.split(' '))

/** Variables whose value bash evaluates as arithmetic on assignment. */
export const EVALUATED: ReadonlySet<string> = new Set(
  'SECONDS RANDOM SRANDOM LINENO HISTCMD BASHPID EPOCHSECONDS EPOCHREALTIME BASH_SUBSHELL BASH_ARGC OPTIND FUNCNEST'.split(
    ' ',
  ),
)

/** Variables that always contain digits unless the text assigns them. */
const COUNTERS = new Set('RANDOM SRANDOM SECONDS LINENO BASHPID EPOCHSECONDS UID EUID PPID'.split(' '))

/** A known value; too many or too long ones count as unknown. */
export function known(values: readonly string[]): Value {
  const unique = values.length > 1 ? [...new Set(values)] : values
  if (unique.length === 0 || unique.length > MAX_VALUES) return UNKNOWN
  if (unique.some((value) => value.length > MAX_VALUE_LENGTH)) return UNKNOWN
  return { values: unique, integer: unique.every((value) => /^-?(?:0|[1-9]\d{0,17})$/.test(value)) }
}

/** The name of a file that a pattern matches: `for f in src/*.ts`. */
export function matchedName(pattern: string): Value {
  return { values: null, integer: false, pattern }
}

/** Either of two values. */
export function either(a: Value, b: Value): Value {
  if (a === b || (a.pattern !== undefined && a.pattern === b.pattern)) return a
  if (a.values !== null && b.values !== null) return known([...a.values, ...b.values])
  if (a.integer && b.integer) return INTEGER
  return isNumeric(a) && isNumeric(b) ? COUNT : UNKNOWN
}

/** What running a piece of text may do to the shell that runs it. */
export interface Effects {
  /** Names written, and whether every write stores an integer. */
  readonly writes: Map<string, boolean>
  readonly functions: Set<string>
  /** Names with an attribute, or readonly: later assignments do not simply store the value. */
  readonly protects: Set<string>
  readonly ambient: Map<string, Hazard>
  /** Names of commands run: functions among them their own have effects. */
  readonly calls: Set<string>
  cwd: boolean
  positional: boolean
  /** An expansion in it may fail, after which bash drops the rest of the calling line. */
  fragile: boolean
}

export function noEffects(): Effects {
  return {
    writes: new Map(),
    functions: new Set(),
    protects: new Set(),
    ambient: new Map(),
    calls: new Set(),
    cwd: false,
    positional: false,
    fragile: false,
  }
}

/** Whether a name is a function here. */
type Definition = 'yes' | 'maybe'

/** The names that a shell knows. */
interface Names {
  readonly vars: Map<string, Value>
  readonly readonly: Set<string>
  /** Names that are certainly associative arrays, whose subscripts are text and not arithmetic. */
  readonly associative: Set<string>
  readonly functions: Map<string, Definition>
  readonly ambient: Map<string, Hazard>
}

function copyOf(names: Names | null): Names {
  return {
    vars: new Map(names?.vars),
    readonly: new Set(names?.readonly),
    associative: new Set(names?.associative),
    functions: new Map(names?.functions),
    ambient: new Map(names?.ambient),
  }
}

/** The state of one shell. Subshells work on a copy; branches on copies that are joined. */
export class Scope {
  cwd: string | null
  /** Where the shell still is if its last `cd` failed; null when that cannot be, or would have ended it. */
  fallback: string | null = null
  /** Whether any shell of the text changes its directory, and the names of integers; shared. */
  journey: { moved: boolean; readonly integers: Set<string> }
  /** Directories below the current one on the stack of pushd; null when unknown. */
  stack: readonly string[] | null = []
  positional: readonly Word[] | null = null
  /** The shell has certainly ended here (`exit`): a branch that ends does not count when branches meet. */
  ended = false
  /** Inside a function, where `local` works. */
  inFunction = false
  /** `set -a`: every assignment is exported. */
  exportsAll = false
  /** Where changes are noted while a loop or function body is checked. */
  effects: Effects | null = null
  /** Shared with branches until one of them writes: most never do. */
  #names: Names
  #shared: boolean
  readonly #initial: Readonly<Record<string, string>>

  constructor(cwd: string | null, initial: Readonly<Record<string, string>>, from: Scope | null = null) {
    this.cwd = cwd
    this.#initial = initial
    this.journey = from?.journey ?? { moved: false, integers: new Set() }
    this.#names = from === null ? copyOf(null) : from.#names
    this.#shared = from !== null
    if (from !== null) from.#shared = true
  }

  get functions(): ReadonlyMap<string, Definition> {
    return this.#names.functions
  }

  /** Doubts about everything that follows: a changed PATH, a sourced file, an odd shell option. */
  get ambient(): ReadonlyMap<string, Hazard> {
    return this.#names.ambient
  }

  /** The names to write to. */
  #own(): Names {
    if (this.#shared) this.#names = copyOf(this.#names)
    this.#shared = false
    return this.#names
  }

  /** A copy for a branch of the same shell. */
  branch(): Scope {
    const copy = new Scope(this.cwd, this.#initial, this)
    copy.fallback = this.fallback
    copy.stack = this.stack
    copy.positional = this.positional
    copy.ended = this.ended
    copy.exportsAll = this.exportsAll
    copy.inFunction = this.inFunction
    copy.effects = this.effects
    return copy
  }

  /** A copy for a subshell: nothing it does reaches this one. */
  subshell(): Scope {
    const copy = this.branch()
    copy.effects = null
    copy.ended = false
    return copy
  }

  /** A scope without knowledge: the body of a function, called from anywhere. */
  forgotten(initial: Readonly<Record<string, string>>): Scope {
    const copy = new Scope(null, initial, this)
    copy.stack = null
    copy.#names = { ...copyOf(null), functions: new Map(this.functions), ambient: new Map(this.ambient) }
    copy.#shared = false
    return copy
  }

  get(name: string): Value {
    const value = this.#names.vars.get(name)
    if (value !== undefined) return value
    if (COUNTERS.has(name)) return INTEGER
    const start = Object.hasOwn(this.#initial, name) ? this.#initial[name] : undefined
    return start === undefined ? UNKNOWN : known([start])
  }

  /** True when the text has not touched the variable. */
  untouched(name: string): boolean {
    return !this.#names.vars.has(name)
  }

  set(name: string, value: Value): void {
    this.note(name, value.integer)
    this.#write(name, SELF_WILLED.has(name) || this.#names.readonly.has(name) ? UNKNOWN : value)
  }

  #write(name: string, value: Value): void {
    this.#own().vars.set(name, value)
  }

  /** The variable may be set, or keep its value. */
  maybeSet(name: string, value: Value): void {
    const before = this.get(name)
    this.set(name, value)
    this.#write(name, either(before, this.get(name)))
  }

  protect(name: string): void {
    this.#own().readonly.add(name)
    this.effects?.protects.add(name)
  }

  /** The variable has just become an associative array; one that the text touched before may be an ordinary one. */
  markAssociative(name: string): void {
    if (!SELF_WILLED.has(name)) this.#own().associative.add(name)
  }

  /** The variable may be something else from here on; without a name any may. */
  dropAssociative(name?: string): void {
    if (this.#names.associative.size === 0) return
    if (name === undefined) this.#own().associative.clear()
    else this.#own().associative.delete(name)
  }

  isAssociative(name: string): boolean {
    return this.#names.associative.has(name)
  }

  /** True when an assignment to the variable may be refused. */
  isProtected(name: string): boolean {
    return this.#names.readonly.has(name) || READONLY.has(name)
  }

  note(name: string, integer: boolean): void {
    const writes = this.effects?.writes
    if (writes !== undefined) writes.set(name, integer && (writes.get(name) ?? true))
  }

  doubt(hazard: Hazard): void {
    const key = `${hazard.code} ${hazard.message}`
    this.#own().ambient.set(key, hazard)
    this.effects?.ambient.set(key, hazard)
  }

  define(name: string, defined: Definition): void {
    this.#own().functions.set(name, defined)
    this.effects?.functions.add(name)
  }

  moveTo(directory: string | null): void {
    this.fallback ??= this.cwd
    this.cwd = directory
    this.journey.moved = true
    this.set('PWD', UNKNOWN)
    this.set('OLDPWD', UNKNOWN)
    if (this.effects !== null) this.effects.cwd = true
  }

  setPositional(words: readonly Word[] | null): void {
    this.positional = words
    if (this.effects !== null) this.effects.positional = true
  }

  /** True when unquoted values split at blanks and nowhere else. */
  get splitsAtBlanks(): boolean {
    return this.untouched('IFS')
  }

  /** Makes this scope the meeting of two branches. */
  join(other: Scope): void {
    if (other.ended) return
    if (this.ended) {
      this.take(other)
      return
    }
    if (this.cwd !== other.cwd) this.cwd = null
    this.fallback ??= other.fallback
    if (!sameList(this.stack, other.stack)) this.stack = null
    if (this.positional !== other.positional) this.positional = null
    this.exportsAll ||= other.exportsAll
    if (this.#names === other.#names) return
    const { vars, readonly, associative, functions, ambient } = this.#own()
    for (const name of new Set([...vars.keys(), ...other.#names.vars.keys()])) {
      vars.set(name, either(this.get(name), other.get(name)))
    }
    for (const name of other.#names.readonly) readonly.add(name)
    for (const name of associative) if (!other.isAssociative(name)) associative.delete(name)
    for (const [name, defined] of functions) {
      if (other.functions.get(name) !== defined) functions.set(name, 'maybe')
    }
    for (const name of other.functions.keys()) if (!functions.has(name)) functions.set(name, 'maybe')
    for (const [key, hazard] of other.ambient) ambient.set(key, hazard)
  }

  /** Becomes the other scope. */
  take(other: Scope): void {
    this.cwd = other.cwd
    this.fallback = other.fallback
    this.stack = other.stack
    this.positional = other.positional
    this.ended = other.ended
    this.exportsAll = other.exportsAll
    this.#names = other.#names
    this.#shared = true
    other.#shared = true
  }

  /** The text with these effects may run here, any number of times. */
  suffer(effects: Effects): void {
    for (const [name, integer] of effects.writes) this.maybeSet(name, integer ? INTEGER : UNKNOWN)
    for (const name of effects.functions) {
      if (this.functions.get(name) !== 'yes') this.define(name, 'maybe')
    }
    for (const name of effects.writes.keys()) this.dropAssociative(name)
    for (const name of effects.protects) this.protect(name)
    for (const hazard of effects.ambient.values()) this.doubt(hazard)
    if (effects.cwd) {
      this.moveTo(null)
      this.stack = null
    }
    if (effects.positional) this.setPositional(null)
  }
}

function sameList(a: readonly string[] | null, b: readonly string[] | null): boolean {
  if (a === null || b === null) return a === b
  return a.length === b.length && a.every((item, index) => item === b[index])
}
