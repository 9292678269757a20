/** Finds what a command does beyond the box, by the most specific row that fits. */

import { findProgram } from '../tables/programs/registry.ts'
import type { Program } from '../tables/spec.ts'
import type { Effect, Use } from '../tables/use.ts'
import { isDryRun, verbEffect } from './verbs.ts'

const order: readonly Effect[] = ['local', 'unknown', 'remote-read', 'loss', 'remote-write', 'destructive']

/** The effect that needs more care. */
export function strongest(one: Effect, other: Effect): Effect {
  return order.indexOf(other) > order.indexOf(one) ? other : one
}

interface EffectRow {
  readonly words: readonly string[]
  readonly options: readonly string[]
  readonly effect: Effect
  readonly note: string
}

/** The lines of a row; each word is behind the program's name. */
function parseLine(line: string): readonly EffectRow[] {
  const [effect = '', commands = '', options = '', note = ''] = line.split('|').map((part) => part.trim())
  return commands.split(',').map((words) => ({
    words: words.trim() === '*' ? [] : words.trim().split(/\s+/),
    options: options === '' ? [] : options.split(/\s+/),
    effect: effect as Effect,
    note,
  }))
}

/** The lines of a row by their first word; those that hold for every subcommand have none. */
interface EffectIndex {
  readonly first: ReadonlyMap<string, readonly EffectRow[]>
  readonly any: readonly EffectRow[]
}

const indexes = new Map<string, EffectIndex>()

/** The lines that a row writes, read when its program is first asked for: a command names few of them, and start-up counts. */
function indexOf(written: string): EffectIndex {
  const known = indexes.get(written)
  if (known !== undefined) return known
  const rows = written
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(parseLine)
  const first = Map.groupBy(
    rows.filter(({ words }) => words.length > 0),
    ({ words }) => words[0] ?? '',
  )
  const index = { first, any: rows.filter(({ words }) => words.length === 0) }
  indexes.set(written, index)
  return index
}

/** The most specific line that fits the command; null when none does. */
function lineOf(use: Use, program: Program | null): EffectRow | null {
  const { first, any } = indexOf(program?.effects ?? '')
  const deeper = use.words.length - 1
  const wordAt = (index: number): string | null | undefined =>
    index < deeper ? use.words[index + 1] : use.operands[index - deeper]?.text
  let names: GivenNames | null = null
  let best: EffectRow | null = null
  const consider = (row: EffectRow): void => {
    if (best !== null && !isMoreSpecific(row, best)) return
    if (!row.words.every((word, index) => wordAt(index) === word)) return
    if (row.options.length > 0) {
      names ??= givenNames(use, program)
      const { full, shortened } = names
      if (!row.options.some((option) => full.has(option) || (asks(row.effect) && isShortened(option, shortened))))
        return
    }
    best = row
  }
  for (const row of first.get(wordAt(0) ?? '') ?? []) consider(row)
  for (const row of any) consider(row)
  return best
}

interface GivenNames {
  readonly full: ReadonlySet<string>
  readonly shortened: readonly string[]
}

function givenNames(use: Use, program: Program | null): GivenNames {
  // `--dry-run=false` is as good as none.
  const given = use.options.filter((option) => !/^(?:false|no|none|off|0)$/i.test(option.value?.text ?? ''))
  return {
    full: new Set(given.flatMap((option) => [option.name, option.row?.name ?? option.name])),
    shortened: program?.abbreviates === false ? [] : given.map(({ name }) => name).filter((name) => /^--./.test(name)),
  }
}

/** The effect of a command by the tables. */
export function effectOf(use: Use): readonly [Effect, string] {
  const program = findProgram(use.program)
  const best = lineOf(use, program)
  if (best !== null && asks(best.effect) && best.effect !== 'loss' && isDryRun(use)) return ['remote-read', best.note]
  if (best !== null) return [best.effect, best.note]
  const byVerb = program?.verbs === undefined ? null : verbEffect(use, program.verbs)
  if (byVerb !== null) return byVerb
  return program === null || program.partial === true ? ['unknown', ''] : ['local', '']
}

const asks = (effect: Effect): boolean => effect === 'loss' || effect === 'remote-write' || effect === 'destructive'

/** `--har` is `--hard` to most programs; an option that makes a command milder must be written out. */
function isShortened(option: string, given: readonly string[]): boolean {
  return option.startsWith('--') && given.some((name) => name.length > 2 && option.startsWith(name))
}

/**
 * `--help` and `--version`, `-h` and `-V` alone: programs answer and end before they do anything else. Behind an option that may take it as its
 * value (`gh pr create --title --help`), or among the words of another command, it counts as nothing.
 */
export function onlyTells(use: Use): boolean {
  // Alone, with nothing to work on: `ssh -V`, `ansible -h`.
  if (use.args.length === 1 && /^-[hV]$/.test(use.args[0]?.text ?? '')) return true
  // `--version` asks for it only in the first place: `cargo yank --version 1` names one.
  const at = use.args.findIndex(
    ({ text }, index) =>
      text === '--help' || text === '-help' || (index === 0 && (text === '--version' || text === '-version')),
  )
  if (at < 0) return false
  const dashes = use.args.findIndex(({ text }) => text === '--')
  const told = use.args[at]?.text ?? null
  if (told === null || (dashes >= 0 && dashes < at) || use.operands.some((arg) => arg === use.args[at])) return false
  if (!told.startsWith('--') && findProgram(use.program)?.style !== 'word') return false
  const before = use.args[at - 1]
  if (before === undefined || (before.text !== null && !/^[-+]/.test(before.text))) return true
  const option = use.options.find(({ span }) => span === before.word.span)
  return option?.row?.takes === 'nothing' || (before.text?.includes('=') ?? false)
}

function isMoreSpecific(row: EffectRow, other: EffectRow): boolean {
  if (row.words.length !== other.words.length) return row.words.length > other.words.length
  if (row.options.length > 0 !== other.options.length > 0) return row.options.length > 0
  return order.indexOf(row.effect) > order.indexOf(other.effect)
}
