/** `cordon completions`: scripts for bash, zsh and fish, made from the command table. */

import { parseArguments } from './arguments.ts'
import { type CommandContext, type CommandRow, commandRow, commands, EXIT, UsageError } from './usage.ts'

/** Prints the script for one shell. */
export function run({ terminal, argv }: CommandContext): number {
  const { words } = parseArguments(commandRow('completions')!, argv)
  const script = { bash, zsh, fish }[words[0] ?? '']
  if (!script || words.length !== 1) throw new UsageError('name one shell: bash, zsh or fish')
  terminal.out(script())
  return EXIT.ok
}

const flagNames = (row: CommandRow): string => row.flags.map((flag) => flag.name).join(' ')

function bash(): string {
  return `_cordon() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((row) => row.name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map((row) => `    ${row.name}) COMPREPLY=($(compgen -f -W "${flagNames(row)} --help" -- "$word")) ;;`).join('\n')}
  esac
}
complete -F _cordon cordon
`
}

function zsh(): string {
  return `#compdef cordon
_cordon() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map((row) => `      '${row.name}:${row.summary.replaceAll("'", '’')}'`).join('\n')}
    )
    _describe command commands
    return
  fi
  case $words[2] in
${commands.map((row) => `    ${row.name}) _arguments ${row.flags.map((flag) => `'${flag.name}[${flag.about.replaceAll("'", '’').replaceAll(/[[\]]/g, '')}]'`).join(' ')} '*:file:_files' ;;`).join('\n')}
  esac
}
_cordon "$@"
`
}

function fish(): string {
  const lines = commands.flatMap((row) => [
    `complete -c cordon -n __fish_use_subcommand -a ${row.name} -d '${row.summary.replaceAll("'", '’')}'`,
    ...row.flags.map(
      (flag) =>
        `complete -c cordon -n '__fish_seen_subcommand_from ${row.name}' -l ${flag.name.slice(2)} -d '${flag.about.replaceAll("'", '’')}'`,
    ),
  ])
  return `${lines.join('\n')}\n`
}
