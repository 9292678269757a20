/** Finds what a command does beyond the box, by the most specific row that fits. */

import { findProgram } from '../programs/registry.ts'
import type { Effect, Use } from '../use.ts'
import { cloudEffect } from './cloud.ts'

const order: readonly Effect[] = ['local', 'unknown', 'remote-read', 'remote-write', 'destructive']

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

/** The lines of a row; each word stands behind the program's name. */
function parseLine(line: string): readonly EffectRow[] {
  const [effect = '', commands = '', options = '', note = ''] = line.split('|').map((part) => part.trim())
  return commands.split(',').map((words) => ({
    words: words.trim() === '*' ? [] : words.trim().split(/\s+/),
    options: options === '' ? [] : options.split(/\s+/),
    effect: effect as Effect,
    note,
  }))
}

const rows = new Map<string, readonly EffectRow[]>()

/** The lines that a row writes, read when its program is first asked for: a command names few of them, and start-up counts. */
function rowsOf(written: string): readonly EffectRow[] {
  const known = rows.get(written)
  if (known !== undefined) return known
  const found = written
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(parseLine)
  rows.set(written, found)
  return found
}

/** The effect of a command by the tables. */
export function effectOf(use: Use): readonly [Effect, string] {
  const cloud = cloudEffect(use)
  if (cloud !== null) return cloud
  const words = [...use.words.slice(1), ...use.operands.map((arg) => arg.text)]
  // `--dry-run=false` is as good as none.
  const given = use.options.filter((option) => !/^(?:false|no|off|0)$/i.test(option.value?.text ?? ''))
  const names = new Set(given.flatMap((option) => [option.name, option.row?.name ?? option.name]))
  const fits = (row: EffectRow): boolean =>
    row.words.every((word, index) => words[index] === word) &&
    (row.options.length === 0 || row.options.some((option) => names.has(option)))
  const program = findProgram(use.program)
  const found = rowsOf(program?.effects ?? '').filter(fits)
  const best = found.reduce<EffectRow | null>(
    (chosen, row) => (chosen === null || isMoreSpecific(row, chosen) ? row : chosen),
    null,
  )
  if (best !== null) return [best.effect, best.note]
  return program === null || program.partial === true ? ['unknown', ''] : ['local', '']
}

function isMoreSpecific(row: EffectRow, other: EffectRow): boolean {
  if (row.words.length !== other.words.length) return row.words.length > other.words.length
  if (row.options.length > 0 !== other.options.length > 0) return row.options.length > 0
  return order.indexOf(row.effect) > order.indexOf(other.effect)
}
