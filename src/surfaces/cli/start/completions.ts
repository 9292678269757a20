/** `cordon completions`: scripts for bash, zsh and fish, from the command table. */

import { HOST_NAMES } from '../../hook/hosts/hosts.ts'
import { oneOf } from '../arguments.ts'
import { type CommandContext, type CommandRow, EXIT } from '../usage.ts'

/** Prints the script for one shell. */
export function run({
  terminal,
  commands,
  args: { words },
}: Pick<CommandContext, 'terminal' | 'commands' | 'args'>): number {
  const shell = oneOf(['bash', 'zsh', 'fish'], words[0], 'name one shell')
  terminal.out({ bash, zsh, fish }[shell](commands))
  return EXIT.ok
}

/** A command's usage with agent names inserted. */
export function usageOf({ usage }: CommandRow): string {
  return usage.replace('{agents}', HOST_NAMES.join('|'))
}

/** Words that may follow a command, from its usage: `show|test|lint`, `[list]`, agent names. */
function firstWords(row: CommandRow): readonly string[] {
  const given = usageOf(row).matchAll(
    new RegExp(`cordon ${row.name} \\[?([a-z][a-z0-9-]*(?:\\|[a-z][a-z0-9-]*)*)\\]?(?=\\s|$)`, 'g'),
  )
  return [...new Set([...given].flatMap(([, words]) => words!.split('|')))]
}

const flagNames = (row: CommandRow): string => [...row.flags.map((flag) => flag.name), '--help'].join(' ')

function bashCase(row: CommandRow): string {
  const first = firstWords(row)
  // `run` takes a program, other commands take files.
  const files = row.name === 'run' ? '-c -f' : '-f'
  const later = `COMPREPLY=($(compgen ${files} -W "${flagNames(row)}" -- "$word"))`
  if (first.length === 0) return `    ${row.name}) ${later} ;;`
  return `    ${row.name}) if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "${first.join(' ')} ${flagNames(row)}" -- "$word")); else ${later}; fi ;;`
}

function bash(commands: readonly CommandRow[]): string {
  return `_cordon() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((row) => row.name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map(bashCase).join('\n')}
  esac
}
complete -F _cordon cordon
`
}

function zshCase(row: CommandRow): string {
  const first = firstWords(row)
  const plain = (text: string) => text.replaceAll("'", '’').replaceAll(/[[\]]/g, '')
  const specs = [
    ...row.flags.map((flag) => `'${flag.name}[${plain(flag.about)}]${flag.value ? `:${flag.value}:_files` : ''}'`),
    ...(first.length > 0 ? [`'1:what:(${first.join(' ')})'`] : []),
    row.name === 'run' ? `'*:command:_command_names -e'` : `'*:file:_files'`,
  ]
  return `    ${row.name}) _arguments ${specs.join(' ')} ;;`
}

function zsh(commands: readonly CommandRow[]): string {
  return `#compdef cordon
_cordon() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map((row) => `      '${row.name}:${row.summary.replaceAll("'", '’')}'`).join('\n')}
    )
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(zshCase).join('\n')}
  esac
}
_cordon "$@"
`
}

function fish(commands: readonly CommandRow[]): string {
  const lines = commands.flatMap((row) => [
    `complete -c cordon -n __fish_use_subcommand -a ${row.name} -d '${row.summary.replaceAll("'", '’')}'`,
    ...firstWords(row).map(
      (word) =>
        `complete -c cordon -n '__fish_seen_subcommand_from ${row.name}; and test (count (commandline -opc)) -eq 2' -f -a ${word}`,
    ),
    ...row.flags.map(
      (flag) =>
        `complete -c cordon -n '__fish_seen_subcommand_from ${row.name}' -l ${flag.name.slice(2)} -d '${flag.about.replaceAll("'", '’')}'`,
    ),
  ])
  return `${lines.join('\n')}\n`
}
