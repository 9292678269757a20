/** The row of one program, the parser of its written form, and the roles of values. */

import type { Rule } from './use.ts'
import type { Wrap } from './wrap.ts'

/** One program or subcommand as the tables write it. */
export interface Spec {
  /**
   * Options, one line each: names, what they take, and after `#` the effect if the role is not
   * clear. `<role>` takes a value as the next word or glued, `[role]` only a glued value, `(role)`
   * a name and a value, `{role}` words up to `;` or `+`, `!role` no value. Without a role it is a
   * plain flag.
   */
  readonly options?: string
  /** Roles of the operands in order; the one with `*` repeats, anywhere. Default `auto*`. */
  readonly operands?: string
  /** Other operand roles when one of these options is given: `{ '-e -f': 'read*' }`. */
  readonly operandsWith?: Readonly<Record<string, string>>
  readonly subcommands?: Readonly<Record<string, Spec>>
  /** Spec for a subcommand that the table does not list; default: this spec without subcommands. */
  readonly otherwise?: Spec
  /** `gnu`: clusters and `--long`; `word`: `-long` (go, java, find); `keys`: `name=value` operands (dd). */
  readonly style?: 'gnu' | 'word' | 'keys'
  /**
   * False if long options cannot be shortened (Go, Rust and JavaScript programs). True if all that
   * matter are listed, so a unique prefix means that option.
   */
  readonly abbreviates?: boolean
  /** True when the first operand ends the options (git, docker run, ssh). */
  readonly stops?: boolean
  /** Options whose value is followed only by operands (`python -m`, `sh -c`). */
  readonly ends?: string
  /** True when the options before a subcommand are accepted after it too. */
  readonly everywhere?: boolean
  /** True when the first word may be a cluster without a dash (tar, ps, ar). */
  readonly bundled?: boolean
  /** A hazard of every use: its role and its effect. */
  readonly always?: readonly [Role, string]
  /** True when unknown words are harmless although an option is listed as risky. */
  readonly calm?: boolean
  /** True when unknown words are not harmless although no option is listed as risky. */
  readonly wary?: boolean
}

/** A program with all that is known about it: its row. */
export interface Program extends Spec {
  /** How it runs another program; several where that depends on the subcommand. */
  readonly wraps?: readonly Wrap[]
  /**
   * Effects outside the sandbox (P10), one line each: `effect | subcommands | options | sentence`.
   * Commas separate subcommands, `*` is any use, any one of the options counts. The most specific
   * line decides.
   */
  readonly effects?: string
  /**
   * The subcommands that know `--dry-run`, for a program that ignores options it does not know:
   * `npm publish --simulate` publishes. Without it every such option counts.
   */
  readonly dryRuns?: string
  /** For a program of a service: its effect goes by its verbs where no line fits. */
  readonly verbs?: Verbs
  /** What lines cannot say, by the words of the command. */
  readonly rules?: readonly Rules[]
  /** True when its options and files are not described, as those of a program that no row lists. */
  readonly partial?: boolean
}

/** How the verbs of a program are read; the lists of verbs that all programs share are in `effects/verbs.ts`. */
export interface Verbs {
  /** The target of a change: "a cloud service". */
  readonly at: string
  /** A pattern for the start of the first word: the verbs count only there. */
  readonly under?: string
  /** How many words can be the verb; names follow it. */
  readonly depth?: number
  /** First words that stay on this machine. */
  readonly local?: string
  /** Words that mean something else to this program. */
  readonly reads?: string
  readonly writes?: string
  readonly deletes?: string
  readonly groups?: string
  /** Options that prevent every change, besides `--dry-run` and its variants. */
  readonly dry?: string
  /** The effect without any word; local when it is not given. */
  readonly bare?: 'remote-read' | 'remote-write'
}

/** Rules by the commands they check, separated by commas. */
export type Rules = Readonly<Record<string, Rule>>

/** Programs by name; several names share a row with a space between them. */
export type ProgramTable = Readonly<Record<string, Program>>

export interface OptionRow {
  /** The name that rules and effects ask for: the short one where there is one. */
  readonly name: string
  readonly takes: 'nothing' | 'value' | 'glued' | 'pair' | 'command'
  readonly role: Role
  readonly note: string
}

export interface CompiledSpec {
  readonly spec: Spec
  readonly rows: ReadonlyMap<string, OptionRow>
  readonly longNames: readonly string[]
  readonly operands: OperandRoles
  readonly operandsWith: readonly (readonly [readonly string[], OperandRoles])[]
  readonly risky: boolean
}

/** Roles before, in and after the repeated one. */
interface OperandRoles {
  readonly head: readonly Role[]
  readonly repeat: Role | null
  readonly tail: readonly Role[]
}

const takesOf = { '<': 'value', '[': 'glued', '(': 'pair', '{': 'command', '!': 'nothing' } as const

/** The rows of one line: a long name directly after a short one is its other spelling. */
function parseRow(line: string): readonly (readonly [name: string, row: OptionRow])[] {
  const hash = line.indexOf(' # ')
  const words = (hash < 0 ? line : line.slice(0, hash)).trim().split(/\s+/)
  const last = words.at(-1) ?? ''
  const takes = takesOf[last[0] as keyof typeof takesOf]
  const names = takes === undefined ? words : words.slice(0, -1)
  const role = takes === undefined ? 'text' : (last.replace(/[<>[\](){}!]/g, '') as Role)
  const note = hash < 0 ? '' : line.slice(hash + 3).trim()
  return names.map((name, index) => {
    const before = names[index - 1]
    const spelled = name.startsWith('--') && before !== undefined && !before.startsWith('--') ? before : name
    return [name, { name: spelled, takes: takes ?? 'nothing', role, note }]
  })
}

function parseOperands(text: string): OperandRoles {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const star = words.findIndex((word) => word.endsWith('*'))
  const role = (word: string): Role => word.replace('*', '') as Role
  if (star < 0) return { head: words.map(role), repeat: null, tail: [] }
  return {
    head: words.slice(0, star).map(role),
    repeat: role(words[star] ?? 'auto'),
    tail: words.slice(star + 1).map(role),
  }
}

const noRows: ReadonlyMap<string, OptionRow> = new Map()
const compiledSpecs = new WeakMap<Spec, Map<ReadonlyMap<string, OptionRow>, CompiledSpec>>()

/** The rows of a spec; `inherited` are options accepted from an outer level. The same spec is read only once. */
export function compileSpec(spec: Spec, inherited: ReadonlyMap<string, OptionRow> = noRows): CompiledSpec {
  const known = compiledSpecs.get(spec) ?? new Map<ReadonlyMap<string, OptionRow>, CompiledSpec>()
  compiledSpecs.set(spec, known)
  const compiled = known.get(inherited) ?? readSpec(spec, inherited)
  known.set(inherited, compiled)
  return compiled
}

function readSpec(spec: Spec, inherited: ReadonlyMap<string, OptionRow>): CompiledSpec {
  const rows = new Map(inherited)
  for (const line of (spec.options ?? '').split('\n')) {
    if (line.trim() === '') continue
    for (const [name, row] of parseRow(line)) rows.set(name, row)
  }
  const operands = parseOperands(spec.operands ?? 'auto*')
  const withOptions = Object.entries(spec.operandsWith ?? {})
  const listed = [...rows.values()].some((row) => isRisky(row.role))
  return {
    spec,
    rows,
    longNames: [...rows.keys()].filter((name) => name.startsWith('--')),
    operands,
    operandsWith: withOptions.map(([names, text]) => [names.split(' '), parseOperands(text)] as const),
    risky: spec.calm !== true && (spec.wary === true || listed || spec.always !== undefined),
  }
}

/** The role of a value. The tables name it in `<…>`, `[…]` and `!…`. */
export type Role =
  | 'text' // a pattern, a message, a number: nothing that opens a file
  | 'auto' // a file if it looks like one
  | 'read' // a file that is read
  | 'tree' // a directory that is read with everything below it
  | 'meta' // a file that is only listed, counted or tested
  | 'write' // a file that the program is known to write: its ordinary work
  | 'change' // a file that is read and written again, or under another name
  | 'grow' // a directory written with everything below it
  | 'output' // a file written by a program that otherwise only reads
  | 'run' // a program or a command line
  | 'module' // code when it is written as a path; a well-known package by its name
  | 'load' // code: a plugin, a module, a script
  | 'config' // configuration from elsewhere, which can name programs
  | 'list' // a file that lists further files, options or addresses
  | 'send' // a file that is sent away
  | 'at' // text, or a file to send when it starts with `@`
  | 'form' // name=text, or name=@file
  | 'url' // an address
  | 'host' // a machine's name
  | 'route' // sends or takes data another way: a proxy, a mirror, a socket
  | 'way' // a named way to another machine: a context, a profile
  | 'mount' // source:target of a container
  | 'remote' // an address or a local directory (git, rsync, scp)
  | 'skip' // switches a check off
  | 'system' // changes the machine or the account rather than the project
  | 'widen' // opens a container to the machine
  | 'code' // program text of an interpreter
  // Options of wrappers, which `wrap/unwrap.ts` reads.
  | 'idle' // with it no command is run
  | 'wary' // reaches further than running the command
  | 'shell' // text that a shell runs
  | 'split' // split into words in front of the command
  | 'mark' // the placeholder for arguments from input
  | 'chdir' // the directory that the command runs in
  | 'unset' // a variable taken out of the environment
  | 'script' // the file with the commands

/** How a role is reported. */
interface RoleMeaning {
  readonly access: 'read' | 'write' | null
  readonly recursive: boolean
  /** Code of the hazard that using it raises; null when the path alone decides. */
  readonly hazard: string | null
  /** Completes "`program option` …". */
  readonly says: string
}

const harmless: RoleMeaning = { access: null, recursive: false, hazard: null, says: '' }

export const roles: Readonly<Record<Role, RoleMeaning>> = {
  text: harmless,
  auto: harmless,
  read: { ...harmless, access: 'read' },
  tree: { ...harmless, access: 'read', recursive: true },
  meta: { ...harmless, access: 'read' },
  write: { ...harmless, access: 'write' },
  change: { ...harmless, access: 'write' },
  grow: { ...harmless, access: 'write', recursive: true },
  output: { access: 'write', recursive: false, hazard: 'option-writes-file', says: 'writes a file' },
  run: { ...harmless, hazard: 'option-runs-program', says: 'runs another program' },
  load: { ...harmless, hazard: 'option-loads-code', says: 'loads code' },
  config: {
    access: 'read',
    recursive: false,
    hazard: 'option-reads-config',
    says: 'takes its configuration from elsewhere',
  },
  list: {
    access: 'read',
    recursive: false,
    hazard: 'option-reads-list',
    says: 'takes file names or options from a file',
  },
  send: { access: 'read', recursive: false, hazard: 'option-sends-file', says: 'sends a file away' },
  at: harmless,
  form: harmless,
  module: harmless,
  url: harmless,
  host: harmless,
  mount: harmless,
  route: { ...harmless, hazard: 'option-changes-route', says: 'sends or fetches data by another way' },
  remote: harmless,
  way: { ...harmless, hazard: 'option-changes-route', says: 'works on another machine' },
  skip: { ...harmless, hazard: 'option-skips-checks', says: 'switches a check off' },
  system: { ...harmless, hazard: 'changes-system', says: 'changes the machine or the account' },
  widen: { ...harmless, hazard: 'widens-container', says: 'opens the container to the machine' },
  code: { ...harmless, hazard: 'interpreter-code', says: 'runs text as code' },
  idle: harmless,
  wary: harmless,
  shell: harmless,
  split: harmless,
  mark: harmless,
  chdir: harmless,
  unset: harmless,
  script: harmless,
}

/** Roles whose values can do harm alone: a program with one must not get unknown words. */
function isRisky(role: Role): boolean {
  return roles[role].hazard !== null || role === 'at' || role === 'form' || role === 'module'
}
