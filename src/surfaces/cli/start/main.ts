/** The entry of the CLI: loads the command, runs it, and turns errors into exit codes. */

import { Fault, faultExit, messageOf } from '../../../system/fault.ts'
import { trace } from '../../../system/timing.ts'
import { version } from '../../../system/version.ts'
import { paint, processTerminal, type Terminal, visible, visibleLines } from '../../terminal/terminal.ts'
import { type CommandContext, EXIT, ownWords, UsageError } from '../usage.ts'
import { crashCode } from './crash-code.ts'
import { firstCommand } from './first-commands.ts'

/** Runs the CLI with these arguments and returns the exit code. */
export async function main(
  argv: readonly string[],
  bare: Terminal = processTerminal(),
  { endBy, untouched }: Pick<CommandContext, 'endBy' | 'untouched'> = {},
): Promise<number> {
  // Without a command, show the project's status.
  const [given, ...rest] = argv[0] === '--json' ? ['status', ...argv] : argv
  const name = given ?? 'status'
  const isVersion = name === '--version' || name === '-V' || name === '-v' || name === 'version'
  const extra = isVersion ? rest.find((word) => word !== '--json') : undefined
  if (isVersion && extra === undefined) {
    bare.out(rest.includes('--json') ? `${JSON.stringify({ version })}\n` : `cordon ${version}\n`)
    return EXIT.ok
  }
  const { redactedTerminal } = await import('../../terminal/redacted-terminal.ts')
  const first = firstCommand(name)
  const table = first ? null : await import('./commands.ts')
  const row = first ?? table!.commandRow(name)
  const terminal = redactedTerminal(bare, row?.verbatim === true)
  if (extra !== undefined) return unknownCommand(terminal, `version ${extra}`, rest.includes('--json'))
  if (name === '--help' || name === '-h' || name === 'help') {
    const json = rest.includes('--json')
    const about = rest.find((word) => word !== '--json')
    const { commandRow, commands } = table!
    const asked = about === undefined ? null : commandRow(about)
    if (about !== undefined && !asked) return unknownCommand(terminal, about, json)
    if (json) {
      terminal.out(`${JSON.stringify(asked ?? { version, commands })}\n`)
      return EXIT.ok
    }
    const { help } = await import('./help.ts')
    terminal.out(help(terminal, about))
    return EXIT.ok
  }
  if (!row) return unknownCommand(terminal, name, rest.includes('--json'))
  const own = ownWords(row, rest)
  if (own.some((word) => word === '--help' || word === '-h'))
    return main(['help', name, ...own.filter((word) => word === '--json')], bare)
  try {
    const [command, { parseArguments }] = await Promise.all([row.load(), import('../arguments.ts')])
    trace(`loaded ${name}`)
    const ends = { ...(endBy && { endBy }), ...(untouched && { untouched }) }
    const wraps = row.flags.some((flag) => flag.name === '--json' && flag.wraps)
    const json = own.includes('--json') ? (await import('./json-terminal.ts')).jsonTerminal(terminal, wraps) : null
    const exit = await command.run({
      ...{ terminal: json?.terminal ?? terminal, argv: rest, bare, row, commands: table?.commands ?? [], ...ends },
      get args() {
        return parseArguments(row, rest)
      },
    })
    json?.end(exit)
    trace(`done with ${name}`)
    if (given === undefined) terminal.out('\ncordon --help lists the commands\n')
    return exit
  } catch (error) {
    const json = own.some((word) => word === '--json' || word.startsWith('--json='))
    if (error instanceof UsageError) {
      const remedy = `cordon ${name} --help shows how.`
      return complain(terminal, { message: error.message, remedy, code: 'usage' }, EXIT.usage, json)
    }
    if (!(error instanceof Fault)) throw error
    const exit = exitOf(name, rest, error)
    if (exit === EXIT.fault) {
      const { logFault } = await import('../../../report/crash.ts')
      logFault(error, name)
    }
    return complain(terminal, error, exit, json)
  }
}

async function unknownCommand(terminal: Terminal, name: string, json: boolean): Promise<number> {
  const [{ nearest }, { commands }] = await Promise.all([
    import('../../../project/near-word.ts'),
    import('./commands.ts'),
  ])
  const suggestion = nearest(name, [...commands.map((row) => row.name), '--help', '--version'])
  const message = `there is no command "${name}"${suggestion ? `; did you mean "${suggestion}"?` : ''}`
  return complain(terminal, { message, remedy: 'cordon --help lists the commands.', code: 'usage' }, EXIT.usage, json)
}

// `cordon run` leaves codes below 125 to the command; to a host, only 2 blocks.
function exitOf(name: string, [first]: readonly string[], { code }: Fault): number {
  const exit = faultExit(code)
  const runs = name === 'run' || name === 'shell' || (name === 'hook' && first === 'run')
  if (name === 'hook' && !runs) return EXIT.usage
  return exit === EXIT.usage && (runs || name === 'doctor') ? EXIT.fault : exit
}

function complain(
  terminal: Terminal,
  { message, remedy, code }: { message: string; remedy: string | null; code: string },
  exit: number,
  json: boolean,
): number {
  if (json) terminal.out(`${JSON.stringify({ error: message, code, remedy })}\n`)
  terminal.err(
    `${paint(terminal, 'red', 'cordon:')} ${code === 'manifest' ? visibleLines(message) : visible(message)}${code === 'usage' ? '' : ` [${code}]`}\n`,
  )
  if (remedy) terminal.err(`  ${visible(remedy)}\n`)
  return exit
}

/** How this process ends. */
export interface ProcessEnd {
  /** False if an error was reported after work started. */
  readonly known: boolean
  /** The signal that ended its command. */
  readonly signal: NodeJS.Signals | null
}

/** Runs the CLI for this process. `remember` writes the code cache if the process outlives its command. */
export async function runProcess(remember: () => void = () => {}): Promise<ProcessEnd> {
  try {
    const [, , command, word, ...rest] = process.argv
    if (command === 'resident' && word === 'serve') {
      const { serve } = await import('./serve.ts')
      await serve(runProcess, remember, rest)
    }
    let signal: NodeJS.Signals | null = null
    let untouched = false
    const exitCode = await main(process.argv.slice(2), processTerminal(), {
      endBy: (name) => {
        signal ??= name
      },
      untouched: () => {
        untouched = true
      },
    })
    process.exitCode = exitCode
    return { known: untouched || (exitCode !== EXIT.usage && exitCode !== EXIT.fault), signal }
  } catch (error) {
    process.exitCode = crashCode(process.argv)
    await tellCrash(error)
    return { known: false, signal: null }
  }
}

/** Reports a crash and the file with details, also for errors in timers and promises. */
export async function tellCrash(error: unknown): Promise<void> {
  const [{ isHangUp }, { redacted }] = await Promise.all([
    import('../../terminal/hang-up.ts'),
    import('../../terminal/redacted-terminal.ts'),
  ])
  if (isHangUp(error)) return
  const say = (text: string): void => {
    try {
      processTerminal().err(redacted(text))
    } catch {
      // The exit code still reports it.
    }
  }
  say(`cordon: internal error: ${messageOf(error)}\n`)
  const report = await crashReport(error)
  say(
    report
      ? `  a report without keys or session content is in ${report}\n`
      : `${error instanceof Error ? error.stack : ''}\n`,
  )
}

/** The cause of the crash may also prevent the report. */
async function crashReport(error: unknown): Promise<string | null> {
  try {
    const { reportCrash } = await import('../../../report/crash.ts')
    return reportCrash(error, process.argv[2] ?? '')
  } catch {
    return null
  }
}
