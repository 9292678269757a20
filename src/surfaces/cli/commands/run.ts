/** `cordon run`: a command in the sandbox, as transparent as a wrapper can be. */

import { resolve } from 'node:path'
import type { Decision } from '../../../policy/decision.ts'
import type { RuleRef } from '../../../policy/policy.ts'
import { agentWithoutBundle } from '../../../runtime/command/hints/agent-bundle.ts'
import { unlistedLine } from '../../../runtime/command/network/served-port.ts'
import {
  builtInBundle,
  formatPlan,
  openBackend,
  openRunner,
  PASSED_SIGNALS,
  type RunOutcome,
  type RunRequest,
  reportPlan,
  typedGrants,
} from '../../../runtime/command/open-runner.ts'
import type { RunIo } from '../../../runtime/command/run-request.ts'
import type { OneOffGrants } from '../../../runtime/command/typed/one-off.ts'
import type { TypedQuestions } from '../../../runtime/command/typed/questions.ts'
import { runTyped } from '../../../runtime/command/typed/run.ts'
import { typedText } from '../../../runtime/command/typed/words.ts'
import type { LoadedPolicy } from '../../../runtime/policy/load.ts'
import { loadWarnings } from '../../../runtime/policy/start-notes.ts'
import { machineFiles } from '../../../system/files.ts'
import { type Machine, thisMachine } from '../../../system/machine.ts'
import { monotonicMs } from '../../../system/monotonic.ts'
import { leaveStreamsAlone } from '../../terminal/passed-streams.ts'
import { isTerminalDevice, paint, resetTerminal, type Terminal, visible } from '../../terminal/terminal.ts'
import { type Arguments, parseArguments, textFlag } from '../arguments.ts'
import { type Opened, openInForce } from '../open-policy.ts'
import { type CommandContext, commandRow, EXIT, ownWords, UsageError } from '../usage.ts'

/** Runs `cordon run`. */
export async function run({ terminal, argv, endBy }: CommandContext): Promise<number> {
  const { args, command } = splitCommand(argv)
  return runCommand({ terminal, args, command, ...(endBy && { endBy }) })
}

/** What is to be run; without a command, the person's shell. */
export interface RunCall extends Pick<CommandContext, 'terminal' | 'endBy'> {
  readonly args: Arguments
  readonly command: readonly string[] | null
}

/** Runs it at this terminal, or for whoever has the streams. */
export async function runCommand({ terminal, args, command: given, endBy }: RunCall): Promise<number> {
  if (given?.[0] === '') {
    terminal.err(
      `${paint(terminal, 'red', 'cordon:')} the command was not found: its name is empty [command-not-found]\n`,
    )
    return EXIT.notFound
  }
  const interactive = isTerminalDevice(0) && isTerminalDevice(1)
  if (given === null && !interactive)
    throw new UsageError('a shell needs a terminal; name a command to run: cordon run -- npm test')
  const inForce = () =>
    openInForce(args, terminal, {
      unsigned: async (loaded, report) => {
        const { requireSigned } = await import('./sign.ts')
        return requireSigned(terminal, loaded, report, thisMachine())
      },
      programs: given?.slice(0, 1) ?? [],
    })
  let opened = await inForce()
  const asks = interactive && isTerminalDevice(2) && !args.flags.quiet && !args.flags.plan
  if (opened && asks && given && (await isSignedAgain(terminal, args, opened, given))) opened = await inForce()
  if (!opened) return EXIT.fault
  const { machine } = opened
  const command = given ?? [personsShell(machine)]
  const typed = await withTyped(opened.loaded, args, machine, given === null)
  const rules = typed.rules
  const shown = await withNearby(typed.granted, command, machine)
  let loaded = await withKeys(await briefed(shown, machine), machine, command)
  const backend = await openBackend(loaded.sandbox, { commands: 'one', stateDir: machine.stateDir })
  const told = new Set<string>()
  const tell = (line: string): void => {
    if (!told.has(line) && !args.flags.quiet) say(terminal, line)
    told.add(line)
  }
  const questions = asks ? await openQuestions(loaded, machine, tell) : null
  const open = () => {
    const runner = openRunner(
      loaded,
      machine,
      machineFiles,
      backend,
      questions ? { ask: (one) => questions.askHost(one) } : {},
    )
    if (interactive && isTerminalDevice(2) && !args.flags.quiet) runner.watchLooks(lookProgress(terminal))
    return runner
  }
  const requestOf = (): RunRequest => ({
    argv: command,
    cwd: machineFiles.canonical(machine.cwd),
    ...typedGrants(loaded, machine, command, typed.oneOff ?? {}),
    // A person can stop what they typed: only a limit that somebody wrote holds.
    timeoutMs: timeoutOf(args),
    tellsPorts: true,
    ...(questions && { asksHosts: true }),
    ...(interactive && { terminal: { rows: process.stdout.rows ?? 24, columns: process.stdout.columns ?? 80 } }),
  })
  let runner = open()
  try {
    if (args.flags.plan) {
      const request = requestOf()
      const report = await reportPlan(await runner.plan(request), backend, request.rules)
      const { skippedSecrets, skippedSecretsLine } = await import('../../../runtime/command/tracked-secrets.ts')
      const unhidden = skippedSecrets(loaded, machine.home)
      const line = skippedSecretsLine(unhidden)
      const text = `${formatPlan(report)}${line === null ? '' : `${line}\n`}`
      terminal.out(args.flags.json ? `${JSON.stringify({ ...report, unhidden })}\n` : text)
      return EXIT.ok
    }
    leaveStreamsAlone()
    // Who has read them, here or before writing a script, need not read them again; what the manifest itself is warned of is said at every load.
    // Where a person reads them: `2> errors` holds what the command says.
    const notes =
      interactive && isTerminalDevice(2)
        ? (await import('../../../runtime/policy/said-notes.ts')).notesToSay(loaded, machine)
        : loadWarnings(loaded)
    for (const note of notes) tell(note)
    const bundleless = agentWithoutBundle(command, chosenBundles(loaded))
    if (bundleless !== null) tell(bundleless)
    if (questions) {
      const agreed = await questions.askPlaces(command, requestOf(), runner)
      if (agreed) {
        loaded = agreed
        await runner.close()
        runner = open()
      }
    }
    const request = requestOf()
    const io: RunIo = {
      forwardSignals: PASSED_SIGNALS,
      onNotice: tell,
      onPort: async (port) => {
        if (questions) return questions.askPort(typedText(command), port)
        tell(unlistedLine(port))
        return false
      },
      ...(interactive
        ? {
            terminal: {
              input: process.stdin,
              output: process.stdout,
              ...(questions && { onRelay: (hold: () => () => void) => questions.holdBy(hold) }),
            },
            // `2> errors` is what the person asked for.
            ...(!isTerminalDevice(2) && { stderr: 'inherit' as const }),
          }
        : { stdin: 'inherit' as const, stdout: 'inherit' as const, stderr: 'inherit' as const }),
    }
    const result = await runTyped({
      loaded,
      machine,
      files: machineFiles,
      runner,
      request,
      io,
      typedRules: rules,
      ...(questions && { onRecorder: (recorder) => questions.recordTo(recorder) }),
    })
    if ('denied' in result) return refuse(terminal, result.denied)
    const { outcome } = result
    const { exitCode, signal, timedOut } = outcome.result
    const failed = exitCode !== 0 && signal === null
    const run = { command, cwd: request.cwd, outcome, loaded, machine, files: machineFiles }
    const lines = [
      ...result.notes,
      ...(questions ? [] : outcome.result.unlisted.map(unlistedLine)),
      ...(failed ? (await import('../../../runtime/command/hints/run-hints.ts')).runHints(run) : []),
      ...(typed.oneOff && isTerminalDevice(2) ? await keepLine(typed.oneOff, opened.loaded, outcome, machine) : []),
    ]
    if (!args.flags.quiet && lines.some((line) => !told.has(line))) resetTerminal(terminal)
    for (const line of lines) tell(line)
    // What ended the command ends this process, so that a loop around it ends as well.
    if (signal !== null && !timedOut) endBy?.(signal)
    return exitCode
  } catch (error) {
    const { explainMissing } = await import('../../../runtime/command/hints/bundle-hint.ts')
    throw explainMissing(error, command, chosenBundles(loaded), {
      path: machine.env.PATH ?? '',
      home: machine.home,
      exists: (path) => machineFiles.exists(resolve(machine.cwd, path)),
      canonical: machineFiles.canonical,
    })
  } finally {
    await runner.close()
  }
}

/** Whether registries that the command uses had changed, and the person has signed them just now. */
async function isSignedAgain(
  terminal: Terminal,
  args: Arguments,
  { loaded, machine }: Opened<LoadedPolicy>,
  command: readonly string[],
): Promise<boolean> {
  if (loaded.sandbox.bundles.length === 0 || Object.keys(loaded.registries).length === 0) return false
  const { typedDrift } = await import('../../../runtime/policy/registries/drift.ts')
  const drift = typedDrift(loaded, machine, command)
  if (drift === null) return false
  const { offerRegistries } = await import('./sign.ts')
  return offerRegistries(terminal, args, drift)
}

/** Above this a person wonders what it does. */
const LONG_LOOK_MS = 1000

/** One line about the first look through a large tree, gone when it is done. */
function lookProgress(terminal: Terminal): (folders: number | null) => void {
  const started = monotonicMs()
  let shown = false
  return (folders) => {
    if (folders === null ? !shown : monotonicMs() - started < LONG_LOOK_MS) return
    shown = folders !== null
    terminal.err(
      folders === null ? '\r\x1b[K' : `\rcordon: looking for secrets, ${folders.toLocaleString('en')} folders so far`,
    )
  }
}

function timeoutOf(args: Arguments): number {
  const timeout = textFlag(args, 'timeout')
  return timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1000
}

/** Asks at the terminal, where the manifest lets anybody be asked. */
async function openQuestions(
  loaded: LoadedPolicy,
  machine: Machine,
  tell: (line: string) => void,
): Promise<TypedQuestions | null> {
  const { TypedQuestions } = await import('../../../runtime/command/typed/questions.ts')
  return TypedQuestions.areAllowed(loaded) ? new TypedQuestions({ loaded, machine, files: machineFiles, tell }) : null
}

/** The person's own, where the sandbox shows it. */
function personsShell({ env }: Machine): string {
  const own = env.SHELL ?? ''
  return /^\/(?:usr\/)?(?:local\/)?s?bin\//.test(own) && machineFiles.exists(own) ? own : '/bin/sh'
}

/** A denial, with the rules that say so: what is denied to agents is denied to everybody in the project. */
function refuse(terminal: Terminal, { reason, rules }: Decision): number {
  const named = rules.map(({ rule, source }) => `${rule} (${source})`).join(', ')
  say(terminal, `${reason.message}${named === '' ? '' : ` ${named}`} [${reason.code}]`)
  return EXIT.refused
}

/** With what the person granted for this run; what reads that is loaded only where there is any. */
async function withTyped(
  loaded: LoadedPolicy,
  args: Arguments,
  machine: Machine,
  inShell: boolean,
): Promise<{ granted: LoadedPolicy; oneOff: OneOffGrants | null; rules: readonly RuleRef[] }> {
  if (Object.keys(args.lists).length === 0 && !inShell) return { granted: loaded, oneOff: null, rules: [] }
  const { oneOffGrants } = await import('../one-off-flags.ts')
  const { oneOffRules, withOneOff } = await import('../../../runtime/command/typed/one-off.ts')
  const typed = oneOffGrants(args, machine)
  // In a shell the person types what the bundles of the manifest are for; their keys stay outside.
  const own = inShell ? loaded.sandbox.bundles.map(({ value }) => value.tool) : []
  const oneOff = { ...typed, tools: [...new Set([...typed.tools, ...own])] }
  const granted = withOneOff(loaded, oneOff, machine)
  return { granted: await withToolRegistries(granted, loaded, machine), oneOff, rules: oneOffRules(typed) }
}

/** With the registries of bundles that only this run has: nobody signed any for those, so their tools are asked now. */
async function withToolRegistries(
  granted: LoadedPolicy,
  loaded: LoadedPolicy,
  machine: Machine,
): Promise<LoadedPolicy> {
  const known = new Set(loaded.sandbox.bundles.map(({ value }) => value.tool))
  const added = chosenBundles(granted).flatMap(({ tool }) => (known.has(tool) ? [] : [tool]))
  if (added.length === 0) return granted
  const { readRegistries } = await import('../../../runtime/policy/sign/trust.ts')
  const { withRegistries } = await import('../../../runtime/policy/registries/hosts.ts')
  const programs = added.flatMap((tool) => builtInBundle(tool)?.programs ?? [])
  const found = Object.entries(readRegistries(granted, machine, programs)).filter(([tool]) => added.includes(tool))
  const registries = Object.fromEntries(found)
  return { ...withRegistries(granted, registries), registries: { ...granted.registries, ...registries } }
}

/** The last line: how to keep what was granted for this run, where there is a manifest to keep it in. */
async function keepLine(
  oneOff: OneOffGrants,
  { ownManifest }: LoadedPolicy,
  outcome: RunOutcome,
  { home }: Machine,
): Promise<readonly string[]> {
  if (!ownManifest) return []
  const { keptGrants } = await import('../../../runtime/command/typed/one-off.ts')
  const kept = keptGrants(oneOff, outcome, home)
  return kept.length === 0 ? [] : [`to keep it: ${kept.map((words) => `cordon add ${words}`).join('; ')}`]
}

/** With what the command names of the source near the project, where the manifest shows any. */
async function withNearby(loaded: LoadedPolicy, command: readonly string[], machine: Machine): Promise<LoadedPolicy> {
  if (loaded.policy.nearby.length === 0 || !command.slice(1).some((word) => word.includes('/'))) return loaded
  const { withNearbyWords } = await import('../../../runtime/command/typed/nearby-words.ts')
  return withNearbyWords(loaded, command, machine, machineFiles)
}

/** With the discovery brief, where there is one. */
async function briefed(loaded: LoadedPolicy, machine: Machine): Promise<LoadedPolicy> {
  if (loaded.session.discoveryBrief === null) return loaded
  const { withBrief } = await import('../../../runtime/command/typed/call.ts')
  return withBrief(loaded, machine, machineFiles)
}

/** With the keys of the person that the command's bundles broker; those exist only where bundles do. */
async function withKeys(loaded: LoadedPolicy, machine: Machine, command: readonly string[]): Promise<LoadedPolicy> {
  const chosen = new Set(loaded.sandbox.bundles.map(({ value }) => value.tool))
  if (chosen.size === 0) return loaded
  if (![...chosen].some((tool) => builtInBundle(tool)?.secrets.length)) return loaded
  const { withBundleSecrets } = await import('../../../runtime/command/network/bundle-secrets.ts')
  return withBundleSecrets(loaded, machine, command)
}

/** Everything from the first word that is not ours belongs to the command. */
function splitCommand(argv: readonly string[]): { args: Arguments; command: readonly string[] | null } {
  const row = commandRow('run')!
  const own = ownWords(row, argv)
  const args = parseArguments(row, own)
  const command = argv.slice(own.length + (argv[own.length] === '--' ? 1 : 0))
  if (command.length === 0 && !args.flags.interactive)
    throw new UsageError('name a command to run: cordon run -- npm test')
  if (args.flags.interactive && !(isTerminalDevice(0) && isTerminalDevice(1)))
    throw new UsageError('-i needs a terminal, and there is none here')
  const timeout = textFlag(args, 'timeout')
  if (timeout !== undefined && !/^\d+(\.\d+)?$/.test(timeout)) throw new UsageError('--timeout takes seconds')
  if (args.flags.json && !args.flags.plan)
    throw new UsageError('--json goes with --plan: what is run has its own output')
  return { args, command: command.length === 0 ? null : command }
}

const chosenBundles = ({ sandbox }: LoadedPolicy) => sandbox.bundles.map(({ value }) => value)

function say(terminal: Terminal, line: string): void {
  terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(line)}\n`)
}
