/** `cordon run`: a command in the sandbox, as transparent as a wrapper can be. */

import {
  builtInBundles,
  formatPlan,
  inferViolations,
  openBackend,
  openRunner,
  PASSED_SIGNALS,
  type RunOutcome,
  reportPlan,
  summarizeEgress,
  typedGrants,
} from '../../../runtime/command/open-runner.ts'
import type { LoadedPolicy } from '../../../runtime/policy/load.ts'
import { machineFiles } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import { isTerminalDevice, paint, type Terminal, visible } from '../../terminal/terminal.ts'
import { type Arguments, parseArguments, textFlag } from '../arguments.ts'
import { type Opened, openPolicy, recalled, sealedPolicy } from '../open-policy.ts'
import { type CommandContext, commandRow, EXIT, ownWords, UsageError } from '../usage.ts'

/** A search through a tree opens every hidden file in it: the first few say it all. */
const MAX_VIOLATIONS = 20

/** Runs `cordon run`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  const { args, command } = splitCommand(argv)
  if (command[0] === '') {
    terminal.err(
      `${paint(terminal, 'red', 'cordon:')} the command was not found: its name is empty [command-not-found]\n`,
    )
    return EXIT.notFound
  }
  const opened = recalled(args) ?? (await openInForce(args, terminal, command))
  if (!opened) return EXIT.fault
  const { machine } = opened
  const loaded = await withKeys(opened.loaded, machine, command)
  const backend = openBackend({ commands: 'one' })
  const timeout = textFlag(args, 'timeout')
  const runner = openRunner(loaded, machine, machineFiles, backend)
  const interactive = isTerminalDevice(0) && isTerminalDevice(1)
  try {
    const request = {
      argv: command,
      cwd: machineFiles.canonical(machine.cwd),
      ...typedGrants(loaded, machine, command),
      // A person can stop what they typed: only a limit that somebody wrote holds.
      timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1000,
      ...(interactive && { terminal: { rows: process.stdout.rows ?? 24, columns: process.stdout.columns ?? 80 } }),
    }
    if (args.flags.plan) {
      const report = await reportPlan(await runner.plan(request), backend)
      terminal.out(args.flags.json ? `${JSON.stringify(report)}\n` : formatPlan(report))
      return EXIT.ok
    }
    const outcome = await runner.run(request, {
      forwardSignals: PASSED_SIGNALS,
      onNotice: (line) => say(terminal, line),
      ...(interactive
        ? {
            terminal: { input: process.stdin, output: process.stdout },
            // `2> errors` is what the person asked for.
            ...(!isTerminalDevice(2) && { stderr: 'inherit' as const }),
          }
        : { stdin: 'inherit' as const, stdout: 'inherit' as const, stderr: 'inherit' as const }),
    })
    await tell(terminal, outcome)
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

/** The policy as it may take effect: a project's manifest signed, the registries of the bundles known; null: refused. */
async function openInForce(
  args: Arguments,
  terminal: Terminal,
  command: readonly string[],
): Promise<Opened<LoadedPolicy> | null> {
  const opened = await openPolicy(args, terminal)
  if (!opened) return null
  const { loaded, machine } = opened
  const { withRegistries } = await import('../../../runtime/policy/registry-hosts.ts')
  if (loaded.ownManifest) {
    const sealed = await sealedPolicy(opened)
    if (sealed) return sealed
    const { requireSigned } = await import('./sign.ts')
    const report = await requireSigned(terminal, loaded, machine)
    return report === false ? null : { loaded: withRegistries(loaded, report?.registries ?? {}), machine }
  }
  if (loaded.sandbox.bundles.length === 0) return opened
  const { readRegistries } = await import('../../../runtime/policy/trust.ts')
  return { loaded: withRegistries(loaded, readRegistries(loaded, machine, command.slice(0, 1))), machine }
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

async function tell(terminal: Terminal, { result, plan, findings, maskChanges, egress }: RunOutcome): Promise<void> {
  const inferred = result.stderr ? inferViolations(result.stderr.bytes.toString('utf8'), plan) : []
  const violations = new Set(
    [...result.violations, ...inferred].map(({ certainty, message }) => `${certainty}: ${message}`),
  )
  const lines = [
    ...[...violations].slice(0, MAX_VIOLATIONS),
    ...(violations.size > MAX_VIOLATIONS ? [`and ${violations.size - MAX_VIOLATIONS} more were stopped`] : []),
    ...findings.map((finding) => finding.message),
    ...maskChanges.map((change) => change.message),
    ...(await summarizeEgress(egress)),
    ...(result.timedOut ? ['stopped: the time limit was reached'] : []),
  ]
  for (const line of new Set(lines)) say(terminal, line)
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
