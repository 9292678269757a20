/** Looks up one simple command in the tables: its hazards, its paths, its effect. */

import type { AssignmentFact, ChangeKind, Effect, Span, Word } from '../facts.ts'
import { commandsIn, commandsOfCode } from '../tables/embedded.ts'
import { namesProgram } from '../tables/environment.ts'
import { type Arg, argOf, type OptionUse, parseArgs } from '../tables/options.ts'
import { isRooted } from '../tables/places.ts'
import { findProgram, programName } from '../tables/programs/registry.ts'
import { guessRole, reportDefinition, reportOperands, reportOptions } from '../tables/report.ts'
import { type CompiledSpec, compileSpec, type OptionRow, type Rules, roles, type Spec } from '../tables/spec.ts'
import { Findings, type Inspection, type Place, type Rule, type Use } from '../tables/use.ts'
import { effectOf, onlyShowsHelp, strongest } from './effect.ts'

/** One simple command without its wrappers. */
interface SimpleCommand {
  readonly argv: readonly Word[]
  /** Where it runs; null when that cannot be known. */
  readonly cwd: string | null
  /** Where it runs instead if a `cd` before it failed; null when that cannot be. */
  readonly fallback?: string | null
  readonly home: string
  /** Directories whose files are kept. */
  readonly roots?: readonly string[]
  readonly assignments: readonly AssignmentFact[]
  readonly span: Span
  /** Standard input: text of the command, something else, or not redirected. */
  readonly stdin: 'known' | 'unknown' | 'none'
  /** Its text, when that is known. */
  readonly input?: string | null
}

/** Words with several known values are checked one value at a time, up to this many combinations. */
const maxCombinations = 32
const maxDepth = 4

/** Finds hazards, paths, hosts and the effect of a simple command. */
export function inspect(command: SimpleCommand): Inspection {
  const { cwd, home, roots = [], stdin, fallback = null, input = null, assignments } = command
  const place: Place = { cwd, home, roots, stdin, fallback, input, assignments }
  const found = new Findings(place)
  let effect: Effect = 'local'
  let effectNote = ''
  let kind: ChangeKind | null | undefined
  for (const argv of combinations(command.argv)) {
    const [own, note, ownKind = null] = inspectWords(argv, command.span, place, found, 0)
    kind = kind === undefined || JSON.stringify(kind) === JSON.stringify(ownKind) ? ownKind : null
    if (strongest(effect, own) !== effect || effectNote === '') {
      effectNote = strongest(effect, own) === own ? note : effectNote
      effect = strongest(effect, own)
    }
  }
  return {
    hazards: found.hazards,
    paths: found.paths,
    hosts: found.hosts,
    effect,
    effectNote,
    kind: effect === 'remote-write' ? (kind ?? null) : null,
    delegates: found.delegates,
  }
}

function combinations(argv: readonly Word[]): readonly (readonly Word[])[] {
  let rows: Word[][] = [[]]
  for (const word of argv) {
    const values = knownValues(word)
    if (values === null || rows.length * values.length > maxCombinations) {
      const unknown = values === null ? word : asUnknown(word)
      for (const row of rows) row.push(unknown)
    } else if (values.length === 1) for (const row of rows) row.push(word)
    else rows = rows.flatMap((row) => values.map((value) => [...row, { ...word, values: [value] }]))
  }
  return rows
}

/** The values a word can take as exactly one argument each; null when that is not certain. */
function knownValues(word: Word): readonly string[] | null {
  if (word.values === null || word.values.length === 0) return null
  if (word.splits && word.values.some((value) => value === '' || /[\s*?[]/.test(value))) return null
  return word.values
}

function asUnknown(word: Word): Word {
  const dynamic = word.dynamic.length > 0 ? word.dynamic : (['variable'] as const)
  return { ...word, values: null, dynamic, prefix: word.values === null ? word.prefix : commonPrefix(word.values) }
}

function commonPrefix(values: readonly string[]): string {
  let prefix = values[0] ?? ''
  for (const value of values) while (!value.startsWith(prefix)) prefix = prefix.slice(0, -1)
  return prefix
}

function inspectWords(
  argv: readonly Word[],
  span: Span,
  place: Place,
  found: Findings,
  depth: number,
): readonly [effect: Effect, note: string, kind?: ChangeKind | null] {
  const first = argv[0]
  if (first === undefined) return ['local', '']
  const name = argOf(first)
  const args = argv.slice(1).map(argOf)
  if (name.text === null || depth > maxDepth) {
    for (const arg of args) found.loose(arg)
    return ['unknown', '']
  }
  if (name.text.includes('/')) found.file(name.text, 'execute', first.span)
  const program = programName(name.text)
  const spec = findProgram(program)
  const level = descend(program, spec ?? {}, args, first.span, found)

  let override: readonly [Effect, string] | null = null
  let kind: ChangeKind | null = null
  const inner: (readonly [Effect, string, (ChangeKind | null)?])[] = []
  const use: Use = {
    program,
    words: level.words,
    options: level.options,
    operands: level.operands,
    beforeDashes: level.beforeDashes,
    args,
    argv,
    place,
    span,
    found,
    delegate: (words) => {
      found.delegates.push(words)
      inner.push(inspectWords(words, span, place, found, depth + 1))
    },
    delegateTexts: (commands) => {
      for (const words of commands)
        inner.push(
          inspectWords(
            words.map((text) => ({
              ...first,
              text,
              values: [text],
              prefix: text,
              dynamic: [],
              pattern: null,
              splits: false,
            })),
            span,
            place,
            new Findings(place),
            depth + 1,
          ),
        )
    },
    setKind: (words, sending) => {
      kind = { words, sending: sending ?? null }
    },
    setEffect: (effect, note) => {
      override = [effect, note]
    },
  }
  reportOptions(use, spec === null || spec.partial === true)
  reportOperands(use, level.compiled)
  for (const arg of args) {
    reportDefinition(arg, use)
    // Compilers and checkers take options from `@file`; a scope (`@types/x`) is not rooted.
    if (arg.text?.startsWith('@') && isRooted(arg.text.slice(1))) found.file(arg.text.slice(1), 'read', arg.word.span)
  }
  for (const rule of findRules(spec?.rules ?? [], level.words)) rule(use)
  if (depth < 2) use.delegateTexts(textsOf(use))
  const own: readonly [Effect, string] = onlyShowsHelp(use) ? ['local', ''] : (override ?? effectOf(use))
  // What else runs in it is of no kind that was named.
  const only = inner.every(([effect]) => effect === 'local' || effect === 'unknown')
  const strongestOf = inner.reduce<readonly [Effect, string, (ChangeKind | null)?]>(
    (best, next) => (strongest(best[0], next[0]) === best[0] ? best : next),
    own,
  )
  return only && own[0] === 'remote-write' ? [own[0], own[1], kind] : strongestOf
}

/** Commands in the values of options and variables that name a program, and in inline code. */
function textsOf({ options, place }: Use): readonly (readonly string[])[] {
  if (options.length === 0 && place.assignments.length === 0) return []
  const values = options.flatMap(({ name, row, value }) => {
    if (value?.text == null) return []
    if (row?.role === 'code') return commandsOfCode(value.text)
    const runs = row === null ? guessRole(name) === 'run' : row.role === 'run'
    return runs ? commandsIn(value.text.replace(/^(?:exec|cmd|command)=/, '')) : []
  })
  const variables = place.assignments.flatMap(({ name, value }) =>
    value?.values?.length === 1 && namesProgram(name) ? commandsIn(value.values[0] ?? '') : [],
  )
  return [...values, ...variables].filter(([name]) => name !== undefined && !name.startsWith('-'))
}

interface Level {
  readonly words: readonly string[]
  readonly options: readonly OptionUse[]
  readonly operands: readonly Arg[]
  readonly beforeDashes: number
  readonly compiled: CompiledSpec
}

/** Follows the subcommands as far as the table knows them. */
function descend(program: string, spec: Spec, args: readonly Arg[], span: Span, found: Findings): Level {
  const words = [program]
  const options: OptionUse[] = []
  let current = spec
  let rest = args
  let inherited: ReadonlyMap<string, OptionRow> | undefined
  let everywhere = spec.everywhere ?? false
  for (;;) {
    const compiled = compileSpec(current, inherited)
    const groups = current.subcommands !== undefined
    const parsed = parseArgs(rest, compiled, groups || current.stops === true)
    const sub = parsed.operands[0]
    const next = groups ? lookUp(current, sub) : undefined
    reportUnclear(words.join(' '), compiled, parsed.unclear, found)
    if (next !== undefined && sub?.text != null) {
      options.push(...parsed.options)
      words.push(sub.text)
      rest = rest.slice(parsed.next)
      everywhere = next.everywhere ?? everywhere
      inherited = everywhere ? compiled.rows : undefined
      current = next
      continue
    }
    reportAlways(words, current, span, found)
    if (groups) {
      const whole = parseArgs(rest, compiled, false)
      reportUnclear(words.join(' '), compiled, whole.unclear, found)
      options.push(...whole.options)
      return { words, options, operands: whole.operands, beforeDashes: whole.beforeDashes, compiled }
    }
    options.push(...parsed.options)
    const operands = [...parsed.operands, ...rest.slice(parsed.next)]
    return { words, options, operands, beforeDashes: parsed.beforeDashes, compiled }
  }
}

function lookUp(spec: Spec, sub: Arg | undefined): Spec | undefined {
  if (sub?.text == null) return undefined
  return Object.hasOwn(spec.subcommands ?? {}, sub.text) ? spec.subcommands?.[sub.text] : spec.otherwise
}

function reportAlways(words: readonly string[], spec: Spec, span: Span, found: Findings): void {
  if (spec.always === undefined) return
  const [role, note] = spec.always
  found.hazard(roles[role].hazard ?? 'option-runs-program', `\`${words.join(' ')}\` ${note}`, span)
}

function reportUnclear(name: string, compiled: CompiledSpec, unclear: readonly Arg[], found: Findings): void {
  if (!compiled.risky && compiled.spec.subcommands === undefined) return
  if (compiled.spec.calm === true) return
  for (const arg of unclear) {
    const glob = arg.word.dynamic.every((kind) => kind === 'glob') && arg.word.dynamic.length > 0
    const message = glob
      ? `\`${arg.word.text}\` can match a file whose name is an option of \`${name}\`; write \`./${arg.word.text}\``
      : `\`${arg.word.text}\` is not known beforehand and could be an option of \`${name}\``
    found.hazard(glob ? 'glob-could-be-option' : 'dynamic-argument', message, arg.word.span)
  }
}

const read = new WeakMap<Rules, ReadonlyMap<string, readonly Rule[]>>()

/** The rules by single keys; a table is read once. */
function byWords(rules: Rules): ReadonlyMap<string, readonly Rule[]> {
  const known = read.get(rules)
  if (known !== undefined) return known
  const found = new Map<string, readonly Rule[]>()
  for (const [keys, rule] of Object.entries(rules))
    for (const key of keys.split(',').map((one) => one.trim())) found.set(key, [...(found.get(key) ?? []), rule])
  read.set(rules, found)
  return found
}

/** Rules of the program and of every subcommand that was followed: `git`, `git remote`, `git remote add`. */
function findRules(tables: readonly Rules[], words: readonly string[]): readonly Rule[] {
  const found: Rule[] = []
  let key = ''
  for (const word of words) {
    key = key === '' ? word : `${key} ${word}`
    for (const rules of tables) found.push(...(byWords(rules).get(key) ?? []))
  }
  return found
}
