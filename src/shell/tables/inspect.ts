/** Looks one simple command up in the tables: what makes it more than its name says, what it touches, what it does. */

import type { AssignmentFact, Effect, Span, Word } from '../facts.ts'
import { effectOf, strongest } from './effects/lookup.ts'
import { isUrl } from './hosts.ts'
import { guessRole, takesCommand } from './option-names.ts'
import { type Arg, argOf, isNumeric, type OptionUse, parseArgs } from './options.ts'
import { isRooted, looksLikePath } from './paths.ts'
import { findProgram, programName } from './programs/registry.ts'
import { type Role, roles } from './roles.ts'
import { findRules } from './rules/registry.ts'
import { type CompiledSpec, compileSpec, type OptionRow, type Spec } from './spec.ts'
import { Findings, type Inspection, type Place, type Use } from './use.ts'

/** One simple command whose wrappers are already taken off. */
export interface SimpleCommand {
  readonly argv: readonly Word[]
  /** Where it runs; null when that cannot be known. */
  readonly cwd: string | null
  readonly home: string
  readonly assignments: readonly AssignmentFact[]
  readonly span: Span
  /** What is known about its standard input: text of the command, something else, or nothing was redirected. */
  readonly stdin: 'known' | 'unknown' | 'none'
}

/** Words with several known values are looked at one value at a time, up to this many combinations. */
const maxCombinations = 32
const maxDepth = 4

/** Finds hazards, paths, hosts and the effect of a simple command. */
export function inspect(command: SimpleCommand): Inspection {
  const place: Place = { cwd: command.cwd, home: command.home, stdin: command.stdin }
  const found = new Findings(place)
  let effect: Effect = 'local'
  let effectNote = ''
  for (const argv of combinations(command.argv)) {
    const [own, note] = inspectWords(argv, command.span, place, found, 0)
    if (strongest(effect, own) !== effect || effectNote === '') {
      effectNote = strongest(effect, own) === own ? note : effectNote
      effect = strongest(effect, own)
    }
  }
  return { hazards: found.hazards, paths: found.paths, hosts: found.hosts, effect, effectNote }
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
): readonly [Effect, string] {
  const first = argv[0]
  if (first === undefined) return ['local', '']
  const name = argOf(first)
  const args = argv.slice(1).map((word) => argOf(word.values === null ? word : word))
  if (name.text === null || depth > maxDepth) {
    for (const arg of args) found.loose(arg)
    return ['unknown', '']
  }
  if (name.text.includes('/')) found.file(name.text, 'execute', first.span)
  const program = programName(name.text)
  const spec = findProgram(program)
  const level = descend(program, spec ?? {}, args, first.span, found)

  let override: readonly [Effect, string] | null = null
  const inner: (readonly [Effect, string])[] = []
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
    delegate: (words) => inner.push(inspectWords(words, span, place, found, depth + 1)),
    setEffect: (effect, note) => {
      override = [effect, note]
    },
  }
  reportOptions(use, spec === null)
  reportOperands(use, level.compiled)
  for (const arg of args) {
    reportDefinition(arg, use)
    // Compilers and checkers take options from `@file`; a scope (`@types/x`) is not rooted.
    if (arg.text?.startsWith('@') && isRooted(arg.text.slice(1))) found.file(arg.text.slice(1), 'read', arg.word.span)
  }
  for (const rule of findRules(level.words)) rule(use)
  const own = override ?? effectOf(use)
  return inner.reduce((best, next) => (strongest(best[0], next[0]) === best[0] ? best : next), own)
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

function reportOptions(use: Use, unknownProgram: boolean): void {
  for (const option of use.options) {
    if (option.row === null) {
      if (option.value !== null) use.found.loose(option.value)
      else looseCluster(option, use, unknownProgram)
      reportUnlisted(option, use)
      continue
    }
    if (option.row.takes === 'nothing') reportRole(option.row.role, option.row.note, null, option.name, use)
    else if (option.value !== null || option.row.role !== 'text')
      reportRole(option.row.role, option.row.note, option.value, option.name, use)
  }
}

/** `--out /etc/x` of a program that no table lists, or that has this option only in newer versions. */
function reportUnlisted(option: OptionUse, use: Use): void {
  const at = use.args.findIndex((candidate) => candidate.word.span === option.span)
  const text = use.args[at]?.text
  if (text == null || (!option.name.startsWith('--') && text[1] !== option.name[1])) return
  const name = text.split(/[=:]/, 1)[0] ?? ''
  const role = guessRole(name)
  if (role === null) return
  const next = use.args[at + 1]
  const glued = name.length < text.length
  const value = glued ? text.slice(name.length + 1) : (next?.text ?? null)
  if (value === null || (!glued && value.startsWith('-'))) return
  const label = `${use.words.join(' ')} ${name}`
  if (role === 'write') {
    if (isRooted(value)) use.found.file(value, 'write', option.span)
  } else if (role === 'module') {
    if (isRooted(value) || (value.includes('/') && isCodeFile(value)))
      use.found.hazard('option-loads-code', `\`${label}\` loads code`, option.span)
  } else if (isRooted(value) || /[\s;|&$`]/.test(value) || takesCommand(name))
    use.found.hazard('option-runs-program', `\`${label}\` runs another program`, option.span)
}

/** `-DoutputDirectory=/x`, `DESTDIR=/x`: a setting whose name says that the place is written. */
function reportDefinition(arg: Arg, use: Use): void {
  const match = /^(?:-[DP]|[-/]p(?:roperty)?:)?([A-Za-z_][\w.-]*)=(.+)$/s.exec(arg.text ?? '')
  if (match !== null && isRooted(match[2] ?? '') && guessRole(match[1] ?? '') === 'write')
    use.found.file(match[2] ?? '', 'write', arg.word.span)
}

function isCodeFile(text: string): boolean {
  return /\.([cm]?[jt]sx?|py|rb|so|lua)$/.test(text)
}

/** `-I/usr/include`: a path glued to a short option that no table lists. */
function looseCluster(option: OptionUse, use: Use, unknownProgram: boolean): void {
  const arg = use.args.find((candidate) => candidate.word.span === option.span)
  const text = arg?.text
  if (text == null || !/^-[A-Za-z]/.test(text) || text[1] !== option.name[1]) return
  const glued = text.slice(2).replace(/^=/, '')
  if (isRooted(glued) && (unknownProgram || glued.length > 1)) use.found.file(glued, 'read', option.span)
}

function reportOperands(use: Use, compiled: CompiledSpec): void {
  const names = new Set(use.options.flatMap((option) => [option.name, option.row?.name ?? '']))
  const chosen = compiled.operandsWith.find(([needed]) => needed.some((name) => names.has(name)))
  const { head, repeat, tail } = chosen?.[1] ?? compiled.operands
  const count = use.operands.length
  use.operands.forEach((arg, index) => {
    // The fixed roles at the end only hold when there are enough words: `cp a` has no destination.
    const fromEnd = count - index
    const role =
      index < head.length
        ? head[index]
        : fromEnd <= tail.length && count > head.length + tail.length - 1
          ? tail[tail.length - fromEnd]
          : (repeat ?? 'auto')
    if (use.program === 'find' && /^[!(),]$/.test(arg.text ?? '')) return
    reportRole(role ?? 'auto', '', arg, '', use)
  })
}

/** Reports one value by its role; `option` is empty for an operand. */
function reportRole(role: Role, note: string, arg: Arg | null, option: string, use: Use): void {
  const meaning = roles[role]
  const found = use.found
  const span = arg?.word.span ?? use.options.find((candidate) => candidate.name === option)?.span ?? use.span
  const label = `${use.words.join(' ')}${option === '' ? '' : ` ${option}`}`
  const sink = arg?.text != null && meaning.access === 'write' && (arg.text === '-' || arg.text.startsWith('/dev/'))
  if (meaning.hazard !== null && !(sink && role === 'output'))
    found.hazard(meaning.hazard, `\`${label}\` ${note === '' ? meaning.says : note}`, span)
  if (arg === null) return
  if (role === 'auto') found.loose(arg)
  else if (role === 'load' || role === 'run') {
    if (arg.text !== null && looksLikePath(arg.text) && !/\s/.test(arg.text)) found.file(arg.text, 'read', span)
  } else if (role === 'url') {
    if (arg.text !== null && /^file:\/\//i.test(arg.text)) found.file(arg.text.slice('file://'.length), 'read', span)
    else found.hostOf(arg)
  } else if (role === 'remote') found.remote(arg, 'read')
  else if (role === 'host' || role === 'route') {
    if (arg.text !== null && isRooted(arg.text)) found.file(arg.text, 'read', span)
    else if (arg.text !== '' && arg.text !== '-') found.hostOf(arg)
  } else if (role === 'module') reportModule(arg, label, use)
  else if (role === 'mount') reportMount(arg, label, use)
  else if (role === 'at' || role === 'form') reportAttachment(role, arg, label, use)
  else if (role === 'meta') {
    const plain = arg.text === null && !arg.word.dynamic.includes('tilde') && arg.pattern === null
    if (!plain || /^(\/|~|\.\.)/.test(arg.prefix)) found.path(arg, 'read')
  } else if (meaning.access !== null) {
    if (arg.text !== null && isUrl(arg.text)) found.host(arg.text, span)
    else if (!isNumeric(arg)) {
      if (role === 'change') found.path(arg, 'read')
      found.path(arg, meaning.access, meaning.recursive)
    }
  }
}

/** `--reporter ./x.js`: code of one's own; `--reporter dot` is the tool's. */
function reportModule(arg: Arg, label: string, use: Use): void {
  const text = arg.text ?? arg.prefix
  if (arg.text !== null && !isRooted(text) && !isCodeFile(text)) return
  use.found.hazard('option-loads-code', `\`${label}\` loads code`, arg.word.span)
  if (arg.text !== null) use.found.file(arg.text, 'read', arg.word.span)
}

/** `-v /src:/app`, `--mount type=bind,src=/x,dst=/y`: what the machine shows to a container. */
function reportMount(arg: Arg, label: string, use: Use): void {
  if (arg.text === null) {
    if (!isRooted(arg.prefix))
      use.found.hazard(
        'widens-container',
        `\`${label}\` shows the container a place that is not known beforehand`,
        arg.word.span,
      )
    use.found.path(arg, 'write', true)
    return
  }
  const named = /(?:^|,)(?:source|src)=([^,]*)/.exec(arg.text)
  const source = named?.[1] ?? (arg.text.includes('=') ? '' : (arg.text.split(':')[0] ?? ''))
  if (source.includes('/') || source.startsWith('~') || source === '.')
    use.found.file(source, 'write', arg.word.span, { recursive: true })
}

/** `-d @file`, `-F name=@file`: a file that is sent. */
function reportAttachment(role: 'at' | 'form', arg: Arg, label: string, use: Use): void {
  const pattern = role === 'at' ? /^@(.*)$/s : /^[^=]*=[@<]([^;]*)/s
  const match = pattern.exec(arg.text ?? arg.prefix)
  const unknown = arg.text === null && arg.prefix === ''
  if (match === null && !unknown) return
  const file = match?.[1] ?? ''
  if (file === '-') return
  use.found.hazard('option-sends-file', `\`${label}\` sends a file away`, arg.word.span)
  if (arg.text !== null) use.found.file(file, 'read', arg.word.span)
  else use.found.unknownPath(arg.word, file, 'read', false)
}
