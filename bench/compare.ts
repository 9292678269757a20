/** Compares the tables of two trees, figure by figure. */

import { median, type Table } from './measure.ts'

interface Figure {
  readonly title: string
  readonly name: string
  readonly unit: string
  readonly values: number[]
}

/** Figures of these columns follow from others. */
const DERIVED = /goal|target|ratio|relative|floor/i

/** For each table the figures that both sides have, as medians of their runs, and their ratio. */
export function compareTables(before: readonly Table[][], after: readonly Table[][]): Table[] {
  const old = figures(before)
  const rows = new Map<string, string[][]>()
  for (const [key, { title, name, unit, values }] of figures(after)) {
    const earlier = old.get(key)
    if (earlier === undefined) continue
    const [was, is] = [median(earlier.values), median(values)]
    if (!rows.has(title)) rows.set(title, [['', 'before', 'after', 'ratio']])
    rows.get(title)!.push([name, `${was}${unit}`, `${is}${unit}`, (is / was).toFixed(2)])
  }
  return Array.from(rows, ([title, table]) => ({ title, rows: table }))
}

function figures(runs: readonly Table[][]): Map<string, Figure> {
  const found = new Map<string, Figure>()
  for (const { title, rows } of runs.flat()) {
    const [header = [], ...lines] = rows
    for (const [label = '', ...cells] of lines)
      for (const [index, cell] of cells.entries()) {
        const column = header[index + 1] ?? ''
        const [, number, unit] = /^([\d,]+(?:\.\d+)?)(\D*)$/.exec(cell) ?? []
        if (number === undefined || DERIVED.test(column)) continue
        const name = [label, column].filter((word) => word !== '').join(', ')
        const key = JSON.stringify([title, name])
        if (!found.has(key)) found.set(key, { title, name, unit: unit ?? '', values: [] })
        found.get(key)!.values.push(Number(number.replaceAll(',', '')))
      }
  }
  return found
}
