/** `cordon run`: a command in the sandbox, as transparent as a wrapper can be. */

import { parseHostPattern } from '../../../hosts/pattern.ts'
import type { Decision } from '../../../policy/decision.ts'
import type { HostRule } from '../../../policy/policy.ts'
import {
  builtInBundles,
  formatPlan,
  openBackend,
  openRunner,
  PASSED_SIGNALS,
  reportPlan,
  typedGrants,
} from '../../../runtime/command/open-runner.ts'
import { runTyped } from '../../../runtime/command/run-typed.ts'
import type { LoadedPolicy } from '../../../runtime/policy/load.ts'
import { loadWarnings, startNotes } from '../../../runtime/policy/start-notes.ts'
import { machineFiles } from '../../../system/files.ts'
import { type Machine, thisMachine } from '../../../system/machine.ts'
import { leaveStreamsAlone } from '../../terminal/passed-streams.ts'
import { isTerminalDevice, paint, resetTerminal, type Terminal, visible } from '../../terminal/terminal.ts'
import { type Arguments, parseArguments, textFlag } from '../arguments.ts'
import { openInForce } from '../open-policy.ts'
import { type CommandContext, commandRow, EXIT, ownWords, UsageError } from '../usage.ts'

/** Runs `cordon run`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  const { args, command } = splitCommand(argv)
  if (command[0] === '') {
    terminal.err(
      `${paint(terminal, 'red', 'cordon:')} the command was not found: its name is empty [command-not-found]\n`,
    )
    return EXIT.notFound
  }
  const opened = await openInForce(args, terminal, {
    unsigned: async (loaded, report) => {
      const { requireSigned } = await import('./sign.ts')
      return requireSigned(terminal, loaded, report, thisMachine())
    },
    programs: command.slice(0, 1),
  })
  if (!opened) return EXIT.fault
  const { machine } = opened
  const loaded = await withKeys(await briefed(opened.loaded, machine), machine, command)
  const backend = openBackend({ commands: 'one' })
  const timeout = textFlag(args, 'timeout')
  const runner = openRunner(loaded, machine, machineFiles, backend)
  const interactive = isTerminalDevice(0) && isTerminalDevice(1)
  try {
    const request = {
      argv: command,
      cwd: machineFiles.canonical(machine.cwd),
      ...typedGrants(loaded, machine, command, typedHosts(textFlag(args, 'allow-host'))),
      // A person can stop what they typed: only a limit that somebody wrote holds.
      timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1000,
      ...(interactive && { terminal: { rows: process.stdout.rows ?? 24, columns: process.stdout.columns ?? 80 } }),
    }
    if (args.flags.plan) {
      const report = await reportPlan(await runner.plan(request), backend, request.rules)
      terminal.out(args.flags.json ? `${JSON.stringify(report)}\n` : formatPlan(report))
      return EXIT.ok
    }
    leaveStreamsAlone()
    const told = new Set<string>()
    const tell = (line: string): void => {
      if (!told.has(line)) say(terminal, line)
      told.add(line)
    }
    // Who runs it in a script has read them before; what the manifest itself is warned of is said at every load.
    // Where a person reads them: `2> errors` holds what the command says.
    for (const note of interactive && isTerminalDevice(2) ? startNotes(loaded) : loadWarnings(loaded)) tell(note)
    const io = {
      forwardSignals: PASSED_SIGNALS,
      onNotice: tell,
      ...(interactive
        ? {
            terminal: { input: process.stdin, output: process.stdout },
            // `2> errors` is what the person asked for.
            ...(!isTerminalDevice(2) && { stderr: 'inherit' as const }),
          }
        : { stdin: 'inherit' as const, stdout: 'inherit' as const, stderr: 'inherit' as const }),
    }
    const result = await runTyped({ loaded, machine, files: machineFiles, runner, request, io })
    if ('denied' in result) return refuse(terminal, result.denied)
    const { outcome, notes } = result
    if (notes.some((note) => !told.has(note))) resetTerminal(terminal)
    for (const note of notes) tell(note)
    if (outcome.result.exitCode !== 0 && outcome.plan.network.kind === 'none')
      await hintAtBundle(terminal, command, loaded)
    return outcome.result.exitCode
  } catch (error) {
    const { explainMissing } = await import('../../../runtime/command/bundle-hint.ts')
    throw explainMissing(error, command, chosenBundles(loaded))
  } finally {
    await runner.close()
  }
}

/** A denial, with the rules that say so: what is denied to agents is denied to everybody in the project. */
function refuse(terminal: Terminal, { reason, rules }: Decision): number {
  const named = rules.map(({ rule, source }) => `${rule} (${source})`).join(', ')
  say(terminal, `${reason.message}${named === '' ? '' : ` ${named}`} [${reason.code}]`)
  return EXIT.refused
}

/** With the discovery brief, where there is one. */
async function briefed(loaded: LoadedPolicy, machine: Machine): Promise<LoadedPolicy> {
  if (loaded.session.discoveryBrief === null) return loaded
  const { withBrief } = await import('../../../runtime/command/typed-call.ts')
  return withBrief(loaded, machine, machineFiles)
}

/** With the keys of the person that the command's bundles broker; those exist only where bundles do. */
async function withKeys(loaded: LoadedPolicy, machine: Machine, command: readonly string[]): Promise<LoadedPolicy> {
  const chosen = new Set(loaded.sandbox.bundles.map(({ value }) => value.tool))
  if (chosen.size === 0) return loaded
  if (!builtInBundles().some(({ tool, secrets }) => secrets.length > 0 && chosen.has(tool))) return loaded
  const { withBundleSecrets } = await import('../../../runtime/command/bundle-secrets.ts')
  return withBundleSecrets(loaded, machine, command)
}

/** Everything from the first word that is not ours belongs to the command. */
function splitCommand(argv: readonly string[]): { args: Arguments; command: readonly string[] } {
  const row = commandRow('run')!
  const own = ownWords(row, argv)
  const args = parseArguments(row, own)
  const command = argv.slice(own.length + (argv[own.length] === '--' ? 1 : 0))
  if (command.length === 0) throw new UsageError('name a command to run: cordon run -- npm test')
  const timeout = textFlag(args, 'timeout')
  if (timeout !== undefined && !/^\d+(\.\d+)?$/.test(timeout)) throw new UsageError('--timeout takes seconds')
  if (args.flags.json && !args.flags.plan)
    throw new UsageError('--json goes with --plan: what is run has its own output')
  return { args, command }
}

/** `--allow-host`: plain names, which the person typed for this one run. */
function typedHosts(text: string | undefined): HostRule[] {
  return (text?.split(',') ?? []).map((name) => {
    const parsed = parseHostPattern(name.trim(), null)
    if ('pattern' in parsed && !parsed.pattern.wildcard)
      return { pattern: parsed.pattern, rule: '--allow-host', source: 'command line' }
    throw new UsageError(`--allow-host takes hosts such as api.example.org or db.example.org:5432, not “${name}”`)
  })
}

const chosenBundles = ({ sandbox }: LoadedPolicy) => sandbox.bundles.map(({ value }) => value)

async function hintAtBundle(terminal: Terminal, command: readonly string[], loaded: LoadedPolicy): Promise<void> {
  const { explainOffline } = await import('../../../runtime/command/bundle-hint.ts')
  const line = explainOffline(command, chosenBundles(loaded))
  if (line !== null) say(terminal, line)
}

function say(terminal: Terminal, line: string): void {
  terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(line)}\n`)
}
