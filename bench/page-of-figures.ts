/** docs/reference/bench.md, written from the tables of one run. */

import type { Table } from './measure.ts'
import { PARTS } from './parts.ts'

export interface Measured {
  readonly name: string
  /** The machine's load when the part began. */
  readonly load: number
  /** How long the part took. */
  readonly seconds: number
  readonly tables: readonly Table[]
}

const WIDTH = 100

export function writePage(parts: readonly Measured[], machine: string, date: string): string {
  const intro = fill(
    `Every measured figure is on this page. \`npm run bench -- --write\` wrote it on ${date}, in one run on ${machine}. All sides of a table run in turns, so that load slows them alike: read the ratios, not the absolute times. \`npm run bench -- --compare REV\` measures another revision in turns with this one. Peers are installed into \`.cache/peers\`. The floor is what a perfect implementation would take.`,
  )
  const sections = parts.map(({ name, load, seconds, tables }) => {
    const { title, about } = PARTS[name]!
    const how = fill(
      `\`npm run bench -- ${name}\`, in ${seconds.toFixed(0)} s at a load of ${load.toFixed(1)}. ${about}`,
    )
    return [`## ${title}`, how, ...tables.map(markdown)].join('\n\n')
  })
  return `${['# Benchmarks', intro, ...sections].join('\n\n')}\n`
}

function markdown({ title, rows }: Table): string {
  const [header = [], ...lines] = rows
  const line = (cells: readonly string[]): string =>
    `| ${header.map((_, index) => (cells[index] ?? '').replaceAll('|', '\\|')).join(' | ')} |`
  return [`${title}:`, '', line(header), `|${'---|'.repeat(header.length)}`, ...lines.map(line)].join('\n')
}

export function fill(text: string, indent = ''): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length > WIDTH) lines.push(indent + word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.join('\n')
}
