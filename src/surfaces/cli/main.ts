/** The entry of the CLI: finds the command, loads only its code, and turns what was thrown into an exit code. */

import { Fault, messageOf } from '../../system/fault.ts'
import { version } from '../../version.ts'
import { paint, processTerminal, type Terminal, visible } from './terminal.ts'
import { type CommandContext, commandRow, commands, EXIT, UsageError } from './usage.ts'

type Load = () => Promise<{ run: (context: CommandContext) => Promise<number> | number }>

/** One explicit list; each command's code is loaded when it is called, because start-up counts. */
const LOADERS: Readonly<Record<string, Load>> = {
  check: () => import('./check.ts'),
  explain: () => import('./explain.ts'),
  init: () => import('./init.ts'),
  policy: () => import('./policy.ts'),
  run: () => import('./run.ts'),
  sign: () => import('./sign.ts'),
  verify: () => import('./verify.ts'),
  tools: () => import('./tools.ts'),
  skills: () => import('./skills.ts'),
  keys: () => import('./keys.ts'),
  audit: () => import('./audit.ts'),
  grants: () => import('./grants.ts'),
  redact: () => import('./redact.ts'),
  scan: () => import('./scan.ts'),
  doctor: () => import('./doctor.ts'),
  bundles: () => import('./bundles.ts'),
  hook: () => import('./hook.ts'),
  install: () => import('./install.ts'),
  approvals: () => import('./approvals.ts'),
  import: () => import('./import.ts'),
  mcp: () => import('./mcp.ts'),
  completions: () => import('./completions.ts'),
}

/** Runs the CLI with these arguments and returns the exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const [name, ...rest] = argv
  if (name === '--version' || name === '-V') {
    terminal.out(`cordon ${version}\n`)
    return EXIT.ok
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const { help } = await import('./help.ts')
    terminal.out(help(terminal, rest[0]))
    return EXIT.ok
  }
  const load = commandRow(name) ? LOADERS[name] : undefined
  if (!load) {
    const { nearest } = await import('../../runtime/near-word.ts')
    const suggestion = nearest(
      name,
      commands.map((candidate) => candidate.name),
    )
    return complain(
      terminal,
      `there is no command "${visible(name)}"${suggestion ? `; did you mean "${suggestion}"?` : ''}`,
      'cordon --help lists the commands.',
      EXIT.usage,
    )
  }
  const end = rest.indexOf('--')
  if ((end < 0 ? rest : rest.slice(0, end)).some((word) => word === '--help' || word === '-h')) {
    const { help } = await import('./help.ts')
    terminal.out(help(terminal, name))
    return EXIT.ok
  }
  try {
    const command = await load()
    return await command.run({ terminal, argv: rest })
  } catch (error) {
    if (error instanceof UsageError)
      return complain(terminal, error.message, `cordon ${name} --help shows how.`, EXIT.usage)
    if (!(error instanceof Fault)) throw error
    const exit = exitOf(name, error)
    if (exit === EXIT.fault) {
      const { logFault } = await import('../../runtime/report-crash.ts')
      logFault(error, name)
    }
    return complain(terminal, error.message, error.remedy, exit, error.code)
  }
}

// `cordon run` keeps the codes below 125 for the command itself.
function exitOf(name: string, error: Fault): number {
  if ('exitCode' in error && typeof error.exitCode === 'number') return error.exitCode
  return name === 'run' || name === 'doctor' ? EXIT.fault : EXIT.usage
}

function complain(terminal: Terminal, message: string, remedy: string | null, exit: number, code?: string): number {
  terminal.err(`${paint(terminal, 'red', 'cordon:')} ${visible(message)}${code ? ` [${code}]` : ''}\n`)
  if (remedy) terminal.err(`  ${remedy}\n`)
  return exit
}

/** Runs the CLI for this process; true when it did what was asked, and not when it only had to complain. */
export async function runProcess(): Promise<boolean> {
  try {
    const exitCode = await main(process.argv.slice(2))
    process.exitCode = exitCode
    return exitCode !== EXIT.usage && exitCode !== EXIT.fault
  } catch (error) {
    const { reportCrash } = await import('../../runtime/report-crash.ts')
    const report = reportCrash(error, process.argv[2] ?? '')
    process.stderr.write(`cordon: internal error: ${messageOf(error)}\n`)
    process.stderr.write(
      report
        ? `  a report without keys or session content is in ${report}\n`
        : `${error instanceof Error ? error.stack : ''}\n`,
    )
    process.exitCode = EXIT.fault
    return false
  }
}
