/** Writes docs/try.svg, a short film of a terminal, from what `cordon try --yes` really prints: `node scripts/film.ts`. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pieces, widthOf, wrap } from '../src/scan/display-text.ts'

process.chdir(resolve(import.meta.dirname, '..'))

const COLUMNS = 96
const ROWS = 30
const CELL = 7.8
const LINE = 17
/** Seconds that a line takes to come, and the last picture stays. */
const BEAT = 0.22
const STAY = 5

interface Run {
  readonly text: string
  readonly colour: string
  readonly bold: boolean
}

const COLOURS: Readonly<Record<string, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#79c0ff',
  39: '#c9d1d9',
}
const PLAIN = '#c9d1d9'
const DIM = '#8b949e'

/** Times, durations and names of calls differ from run to run, and a picture of each would be a change of it. */
function steady(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-01-01 12:00:00')
    .replace(/after \d+ ms/g, 'after 40 ms')
    .replace(/\d{8}-\d{6}-\d{3}-[a-z0-9]+/g, '20260101-120000-000-x')
    .replace(/\b(?:run-|s)[0-9a-z]{16,}/g, 'run-0123456789abcdef')
}

/** A line with its escapes as runs of one colour, in rows that fit. */
function rowsOf(line: string): Run[][] {
  const runs: Run[] = []
  let colour = PLAIN
  let bold = false
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of the program.
  for (const [, code, text] of line.matchAll(/(?:\u001b\[(\d+)m)?([^\u001b]*)/g)) {
    if (code === '1') bold = true
    else if (code === '22') [bold, colour] = [false, PLAIN]
    else if (code === '2') colour = DIM
    else if (code !== undefined) colour = COLOURS[code] ?? colour
    if (text) runs.push({ text, colour, bold })
  }
  const rows: Run[][] = [[]]
  let used = 0
  for (const run of runs) {
    for (const [index, part] of wrap(pieces(run.text), COLUMNS).entries()) {
      const text = part.map((piece) => piece.text).join('')
      if (index > 0 || used + widthOf(text) > COLUMNS) {
        rows.push([])
        used = 0
      }
      rows.at(-1)!.push({ ...run, text })
      used += widthOf(text)
    }
  }
  return rows
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function textOf(row: readonly Run[], y: number): string {
  const spans = row.map(
    ({ text, colour, bold }) => `<tspan fill="${colour}"${bold ? ' font-weight="bold"' : ''}>${escaped(text)}</tspan>`,
  )
  return `<text x="14" y="${y}" xml:space="preserve">${spans.join('')}</text>`
}

const run = spawnSync('node', ['dist/cordon.cjs', 'try', '--yes'], {
  encoding: 'utf8',
  env: { ...process.env, FORCE_COLOR: '1' },
})
if (run.status !== 0) throw new Error(`cordon try failed:\n${run.stdout}${run.stderr}`)
const lines = [`\u001b[2m$\u001b[22m ./cordon try`, ...steady(run.stdout).trimEnd().split('\n')]
const rows = lines.flatMap(rowsOf)

const total = rows.length * BEAT + STAY
const percent = (seconds: number): string => `${((seconds / total) * 100).toFixed(2)}%`
// The window moves up by a row whenever there are more than fit.
const moves = rows.map((_, index) => {
  const up = Math.max(0, index + 1 - ROWS) * LINE
  return `${percent(index * BEAT)},${percent((index + 1) * BEAT - 0.01)}{transform:translateY(-${up}px)}`
})
const last = Math.max(0, rows.length - ROWS) * LINE
const shown = rows.map((row, index) => {
  const at = percent(index * BEAT)
  const style = `@keyframes r${index}{0%,${at}{opacity:0}${percent(index * BEAT + 0.01)},100%{opacity:1}}`
  return {
    style,
    text: `<g style="animation:r${index} ${total.toFixed(1)}s infinite">${textOf(row, (index + 1) * LINE)}</g>`,
  }
})
const [width, height] = [Math.ceil(COLUMNS * CELL + 28), ROWS * LINE + 30]
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13" role="img" aria-label="cordon try at a terminal">
<style>@keyframes up{${moves.join('')}100%{transform:translateY(-${last}px)}}${shown.map(({ style }) => style).join('')}@media(prefers-reduced-motion:reduce){g{animation:none!important}}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<svg y="10" width="100%" height="${ROWS * LINE + 8}"><title>cordon try at a terminal</title><g style="animation:up ${total.toFixed(1)}s infinite step-end">
${shown.map(({ text }) => text).join('\n')}
</g></svg>
</svg>
`
writeFileSync('docs/try.svg', svg)
process.stdout.write(`docs/try.svg: ${rows.length} rows, ${total.toFixed(0)} s, ${svg.length} bytes\n`)
