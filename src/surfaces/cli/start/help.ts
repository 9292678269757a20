/** Help texts from the command table, as wide as the terminal. */

import { paint, type Terminal } from '../../terminal/terminal.ts'
import type { CommandRow } from '../usage.ts'
import { commandRow, commands } from './commands.ts'
import { usageOf } from './completions.ts'

/** Longer lines are hard to read on any terminal. */
const WIDEST = 120
const NARROWEST = 24

const CLOSING = `cordon COMMAND --help explains one. Exit codes: 0 done or allow, 2 usage or load error, 3 ask, 4 deny, \
125 Cordon's own fault, 126 denied or refused, 127 not found. With --json an error is JSON on stdout too. Colours are for \
terminals only; NO_COLOR disables them, FORCE_COLOR or CLICOLOR_FORCE enables them.`

/** Help for one command, or for all. */
export function help(terminal: Terminal, name?: string): string {
  const row = name === undefined ? null : commandRow(name)
  return row ? commandHelp(terminal, row) : overview(terminal)
}

function overview(terminal: Terminal): string {
  return `${wrapped(terminal, 'cordon: the permission and sandbox layer between an AI agent and your machine')}

Usage: cordon COMMAND [OPTIONS]

${columns(
  terminal,
  commands.map((row) => [row.name, row.summary]),
)}

${wrapped(terminal, CLOSING)}
`
}

function commandHelp(terminal: Terminal, row: CommandRow): string {
  const flags = row.flags.map((flag) => [flag.value ? `${flag.name} ${flag.value}` : flag.name, flag.about] as const)
  return `${wrapped(terminal, row.summary)}

Usage:
  ${usageOf(row)}
${flags.length > 0 ? `\n${paint(terminal, 'bold', 'Options')}\n${columns(terminal, flags)}\n` : ''}
${wrapped(terminal, row.details)}
`
}

function columns(terminal: Terminal, rows: readonly (readonly [name: string, about: string])[]): string {
  const indent = Math.max(...rows.map(([name]) => name.length)) + 4
  return rows
    .map(([name, about]) => {
      const lines = wrapped(terminal, about, indent)
        .split('\n')
        .join(`\n${' '.repeat(indent)}`)
      return `  ${paint(terminal, 'cyan', name)}${' '.repeat(indent - 2 - name.length)}${lines}`
    })
    .join('\n')
}

function wrapped({ width }: Terminal, text: string, indent = 0): string {
  const space = Math.max(Math.min(width, WIDEST) - indent, NARROWEST)
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > space) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.join('\n')
}
