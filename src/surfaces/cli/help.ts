/** Help texts, made from the command table. */

import { paint, type Terminal } from './terminal.ts'
import { type CommandRow, commandRow, commands } from './usage.ts'

/** Help for one command, or for all. */
export function help(terminal: Terminal, name?: string): string {
  const row = name === undefined ? null : commandRow(name)
  return row ? commandHelp(terminal, row) : overview(terminal)
}

function overview(terminal: Terminal): string {
  const width = Math.max(...commands.map((row) => row.name.length))
  const rows = commands.map((row) => `  ${paint(terminal, 'cyan', row.name.padEnd(width))}  ${row.summary}`)
  return `${paint(terminal, 'bold', 'cordon')}: the permission and sandbox layer between an AI agent and your machine

Usage: cordon COMMAND [OPTIONS]

${rows.join('\n')}

cordon COMMAND --help tells more about one. Exit codes: 0 done or allow, 2 usage or load error, 3 ask, 4 deny,
125 Cordon's own fault, 126 denied or refused, 127 not found. With --json an error is JSON on stdout too. Colours are
for terminals only; NO_COLOR leaves them away, FORCE_COLOR or CLICOLOR_FORCE asks for them.
`
}

function commandHelp(terminal: Terminal, row: CommandRow): string {
  const names = row.flags.map((flag) => (flag.value ? `${flag.name} ${flag.value}` : flag.name))
  const width = Math.max(0, ...names.map((name) => name.length))
  const flags = row.flags.map((flag, index) => `  ${names[index]!.padEnd(width)}  ${flag.about}`)
  return `${row.summary}

Usage:
  ${row.usage}
${flags.length > 0 ? `\n${paint(terminal, 'bold', 'Options')}\n${flags.join('\n')}\n` : ''}
${row.details}
`
}
