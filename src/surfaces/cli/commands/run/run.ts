/** `cordon run`: runs a command transparently in the sandbox. */

import { basename, dirname, resolve } from 'node:path'
import { type Confinement, confine, type Narrowing } from '../../../../confine/confinement.ts'
import { typedText } from '../../../../confine/entitlement.ts'
import { chosenBundles, NO_GRANTS, type RunGrants, runGrantRules } from '../../../../confine/run-grants.ts'
import type { TypedQuestions } from '../../../../one-off/questions.ts'
import { agentWithoutBundle, isAgentInside, runConfined, typedDenial } from '../../../../one-off/run-typed.ts'
import type { Decision } from '../../../../policy/decision.ts'
import type { RefusedStarts } from '../../../../policy/programs/table.ts'
import { withAnswers } from '../../../../project/answers.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { loadWarnings } from '../../../../project/start-notes.ts'
import { unlistedLine } from '../../../../run/network/served-port.ts'
import {
  builtInBundle,
  CommandRunner,
  formatPlan,
  openBackend,
  PASSED_SIGNALS,
  type RunIo,
  type RunOutcome,
  reportPlan,
} from '../../../../run/open-backend.ts'
import { errorCode } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { isInForeground } from '../../../../system/processes.ts'
import { monotonicMs } from '../../../../system/timing.ts'
import { leaveStreamsAlone } from '../../../terminal/passed-streams.ts'
import { isTerminalDevice, paint, resetTerminal, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, parseArguments, textFlag } from '../../arguments.ts'
import { denialText, type Opened, openInForce } from '../../open-policy.ts'
import { type CommandContext, type CommandRow, EXIT, ownWords, UsageError } from '../../usage.ts'

export async function run({ terminal, argv, row, endBy }: Omit<CommandContext, 'args'>): Promise<number> {
  const { args, command } = splitCommand(row, argv)
  return runCommand({ terminal, args, command, ...(endBy && { endBy }) })
}

/** The command to run; without one, the person's shell. */
export interface RunCall extends Pick<CommandContext, 'terminal' | 'endBy'> {
  readonly args: Arguments
  readonly command: readonly string[] | null
}

/** Runs it at this terminal, or for the process that owns the streams. */
export async function runCommand({ terminal, args, command: given, endBy }: RunCall): Promise<number> {
  if (given?.[0] === '') {
    terminal.err(
      `${paint(terminal, 'red', 'cordon:')} the command was not found: its name is empty [command-not-found]\n`,
    )
    return EXIT.notFound
  }
  // In the background the terminal belongs to another process: `cordon run … &` reads no keys and asks nothing.
  const isBehind = isTerminalDevice(0) && !isInForeground()
  const interactive = isTerminalDevice(0) && isTerminalDevice(1) && !isBehind
  if (given === null && !interactive)
    throw new UsageError('a shell needs a terminal; name a command to run: cordon run -- npm test')
  const inForce = () =>
    openInForce(args, terminal, {
      unsigned: async (loaded, report) => {
        const { requireSigned } = await import('../policy/sign.ts')
        return requireSigned(terminal, loaded, report, thisMachine())
      },
      programs: given?.slice(0, 1) ?? [],
    })
  let opened = await inForce()
  const asks = interactive && isTerminalDevice(2) && !args.flags.quiet && !args.flags.plan && !args.flags.observe
  if (opened && asks && given && (await isSignedAgain(terminal, args, opened, given))) opened = await inForce()
  if (!opened) return EXIT.fault
  const { machine } = opened
  const command = given ?? [personsShell(machine)]
  const answered = await withAnswers(opened.loaded, { machine, files: machineFiles, session: null, agent: null })
  const { loaded, session } = answered
  const typed = await typedGrants(loaded, args, machine, given === null)
  const granted = [typed?.all ?? NO_GRANTS, { ...NO_GRANTS, reads: await nearby(loaded, command, machine) }]
  // Without access to Cordon's own files, the agent's hook would block every prompt.
  if (isAgentInside(command, bundlesOf(loaded, granted))) granted.push({ ...NO_GRANTS, reads: ownPlaces() })
  const backend = await openBackend(loaded.sandbox, { commands: 'one', stateDir: machine.stateDir })
  const reported = new Set<string>()
  const tell = (line: string): void => {
    // A refused start is reported at once, and again with the result.
    const isKnown = [...reported].some((one) => line.endsWith(one))
    if (!isKnown && !args.flags.quiet) say(terminal, line)
    reported.add(line)
  }
  if (backend.notice) tell(backend.notice)
  const questions = asks ? await openQuestions(loaded, machine, tell) : null
  const runner = new CommandRunner(machine, machineFiles, backend, {
    ...(questions && { ask: (one) => questions.askHost(one), asksAlways: true }),
    ...(interactive && isTerminalDevice(2) && !args.flags.quiet && { onLook: lookProgress(terminal) }),
  })
  const cwd = machineFiles.canonical(machine.cwd)
  let lost: (words: readonly string[], at: string) => string | null = () => null
  /** Why a start in a shell would lose a working tree. It is said at once, because the shell goes on. */
  const lostWhere: RefusedStarts['why'] = (start) => {
    const problem = lost([basename(start.path), ...start.argv.slice(1)], start.cwd)
    if (problem !== null) tell(problem)
    return problem
  }
  const narrowing = (): readonly Narrowing[] => [
    ...granted.map((grants) => ({ kind: 'grants' as const, grants })),
    { kind: 'keys', env: machine.env },
    // A person can stop a command, so only an explicit time limit applies.
    { kind: 'time', ms: timeoutOf(args), by: '--timeout' },
    ...(given === null
      ? [{ kind: 'starts' as const, refused: { lines: ['git\tworktree\tadd'], why: lostWhere } }]
      : []),
  ]
  const confined = (): Confinement =>
    confine(loaded, { command: { words: command }, cwd, by: 'person' }, [
      { kind: 'answers', facts: session },
      ...narrowing(),
    ])
  const bundles = bundlesOf(loaded, granted)
  try {
    const io: RunIo = {
      forwardSignals: PASSED_SIGNALS,
      onNotice: tell,
      onPort: async (port) => {
        const isOpened = questions !== null && (await questions.askPort(typedText(command), port))
        if (!isOpened) tell(unlistedLine(port))
        return isOpened
      },
      ...(interactive
        ? {
            terminal: {
              input: process.stdin,
              output: process.stdout,
              ...(questions && { onRelay: (hold: () => (keys?: string) => void) => questions.holdBy(hold) }),
            },
            // Keep the person's `2> errors` redirection.
            ...(!isTerminalDevice(2) && { stderr: 'inherit' as const }),
          }
        : {
            stdin: isBehind ? ('none' as const) : ('inherit' as const),
            stdout: 'inherit' as const,
            stderr: 'inherit' as const,
          }),
    }
    if (args.flags.plan) {
      const denied = await typedDenial({ answered, machine, files: machineFiles, argv: command, cwd })
      if (denied !== null) return refuse(terminal, denied)
      const confinement = confined()
      const plan = await runner.plan(confinement, command, io)
      const report = await reportPlan(plan, backend, confinement.network.rules)
      const { skippedSecrets, skippedSecretsLine } = await import('../../../../run/tracked-secrets.ts')
      const unhidden = skippedSecrets(loaded, machine.home)
      const line = skippedSecretsLine(unhidden)
      const text = `${formatPlan(report)}${line === null ? '' : `${line}\n`}`
      terminal.out(args.flags.json ? `${JSON.stringify({ ...report, unhidden })}\n` : text)
      return EXIT.ok
    }
    leaveStreamsAlone()
    // Show policy notes once, but manifest warnings at every load. Use the terminal: `2> errors` is for the command's
    // output.
    const notes =
      interactive && isTerminalDevice(2)
        ? (await import('../../../../project/start-notes.ts')).notesToSay(loaded, machine)
        : loadWarnings(loaded)
    for (const note of notes) tell(note)
    if (given === null) tell('this shell is inside the sandbox; exit leaves it')
    const bundleless = agentWithoutBundle(command, bundles)
    if (bundleless !== null) tell(bundleless)
    if (questions) granted.push({ ...NO_GRANTS, ...(await questions.askNamed(command, confined(), runner)) })
    if (given === null || command.some((word) => word.includes('worktree'))) {
      const { lostWorktree } = await import('../../../../one-off/run-hints.ts')
      const isShown = runner.sees(confined())
      lost = (words, at) => lostWorktree({ command: words, cwd: at, machine, files: machineFiles }, isShown)
      const problem = lost(command, cwd)
      if (problem !== null) {
        say(terminal, problem)
        return EXIT.refused
      }
    }
    const result = await runConfined({
      answered,
      machine,
      files: machineFiles,
      runner,
      argv: command,
      cwd,
      narrowing: narrowing(),
      io,
      typedRules: typed ? runGrantRules(typed.own) : [],
      ...(questions && { onRecorder: (recorder) => questions.recordTo(recorder) }),
    })
    if ('denied' in result) return refuse(terminal, result.denied)
    const { outcome } = result
    const { exitCode, signal, timedOut } = outcome.result
    const failed = exitCode !== 0 && signal === null
    const run = { command, cwd, outcome, loaded, bundles, machine, files: machineFiles }
    const lines = [
      ...result.notes,
      ...(questions ? [] : outcome.result.unlisted.map(unlistedLine)),
      ...(failed ? (await import('../../../../one-off/run-hints.ts')).runHints(run) : []),
      ...(typed && isTerminalDevice(2) ? await keepLine(typed.all, opened.loaded, outcome, machine) : []),
    ]
    if (!args.flags.quiet && lines.some((line) => !reported.has(line))) resetTerminal(terminal)
    for (const line of lines) tell(line)
    // End by the command's signal, so that a surrounding loop ends as well.
    if (signal !== null && !timedOut) endBy?.(signal)
    return exitCode
  } catch (error) {
    if (errorCode(error) !== 'command-not-found') throw error
    const { explainMissing } = await import('../../../../one-off/bundle-hint.ts')
    const { hiddenWords } = await import('../../../../one-off/run-hints.ts')
    const isShown = runner.sees(confined())
    throw explainMissing(error, command, bundles, {
      path: machine.env.PATH ?? '',
      exists: (path) => machineFiles.exists(resolve(machine.cwd, path)),
      hidden: hiddenWords(command[0] ?? '', { loaded, machine, files: machineFiles, isShown }),
    })
  } finally {
    await runner.close()
  }
}

/** Whether the command's registries had changed and the person has just signed them. */
async function isSignedAgain(
  terminal: Terminal,
  args: Arguments,
  { loaded, machine }: Opened<LoadedPolicy>,
  command: readonly string[],
): Promise<boolean> {
  if (loaded.sandbox.bundles.length === 0 || Object.keys(loaded.registries).length === 0) return false
  const { typedDrift } = await import('../../../../project/registries/drift.ts')
  const drift = typedDrift(loaded, machine, command)
  if (drift === null) return false
  const { offerRegistries } = await import('../policy/sign.ts')
  return offerRegistries(terminal, args, drift)
}

const LONG_LOOK_MS = 1000

/** One progress line for the first scan of a large tree, erased at the end. */
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

async function openQuestions(
  loaded: LoadedPolicy,
  machine: Machine,
  tell: (line: string) => void,
): Promise<TypedQuestions | null> {
  const { TypedQuestions } = await import('../../../../one-off/questions.ts')
  return TypedQuestions.areAllowed(loaded)
    ? new TypedQuestions({ loaded, machine, files: machineFiles, report: tell })
    : null
}

/** The person's shell, if the sandbox can see it. */
function personsShell({ env }: Machine): string {
  const own = env.SHELL ?? ''
  return /^\/(?:usr\/)?(?:local\/)?s?bin\//.test(own) && machineFiles.exists(own) ? own : '/bin/sh'
}

/** Reports a denial with its rules. What is denied to agents is denied to everyone in the project. */
function refuse(terminal: Terminal, decision: Decision): number {
  say(terminal, denialText(decision))
  return EXIT.refused
}

/** This run's grants, alone and with what they imply; null if there are none, to avoid loading their code. */
async function typedGrants(
  loaded: LoadedPolicy,
  args: Arguments,
  machine: Machine,
  inShell: boolean,
): Promise<{ readonly own: RunGrants; readonly all: RunGrants } | null> {
  if (Object.keys(args.lists).length === 0 && !inShell) return null
  const { oneOffGrants } = await import('../../one-off-flags.ts')
  const { requireAllGrantable } = await import('../../../../one-off/grants.ts')
  const own = oneOffGrants(args, machine)
  requireAllGrantable(own, loaded, machine)
  // The bundles' keys stay outside: in a shell, the person types them.
  const written = loaded.sandbox.bundles.map(({ value }) => value.tool)
  const all = inShell ? { ...own, tools: [...new Set([...own.tools, ...written])] } : own
  const added = own.tools.filter((tool) => !written.includes(tool))
  return {
    own,
    all: added.length === 0 ? all : { ...all, registries: await registriesOf(loaded, all, added, machine) },
  }
}

/** Registries of bundles that only this run uses. Nobody signed any, so their tools are asked now. */
async function registriesOf(
  loaded: LoadedPolicy,
  grants: RunGrants,
  added: readonly string[],
  machine: Machine,
): Promise<RunGrants['registries']> {
  const { readRegistries } = await import('../../../../project/sign/trust.ts')
  const programs = added.flatMap((tool) => builtInBundle(tool)?.programs ?? [])
  const chosen = { root: loaded.root, sandbox: { bundles: chosenBundles(loaded, [grants]) } }
  const found = Object.entries(readRegistries(chosen, machine, programs))
  return Object.fromEntries(found.filter(([tool]) => added.includes(tool)))
}

/** Suggests how to keep this run's grants in the manifest. */
async function keepLine(
  grants: RunGrants,
  { ownManifest }: LoadedPolicy,
  outcome: RunOutcome,
  { home }: Machine,
): Promise<readonly string[]> {
  if (!ownManifest) return []
  const { keptGrants } = await import('../../../../one-off/grants.ts')
  const kept = keptGrants(grants, outcome, home)
  return kept.length === 0 ? [] : [`to keep it: ${kept.map((words) => `cordon add ${words}`).join('; ')}`]
}

function ownPlaces(): readonly string[] {
  const script = machineFiles.canonical(process.argv[1] ?? '')
  return [dirname(script), machineFiles.canonical(process.execPath)]
}

/** Source files near the project that the command names, if the manifest shows any. */
async function nearby(loaded: LoadedPolicy, command: readonly string[], machine: Machine): Promise<readonly string[]> {
  if (loaded.policy.nearby.length === 0 || !command.slice(1).some((word) => word.includes('/'))) return []
  const { nearbyWords } = await import('../../../../one-off/grants.ts')
  return nearbyWords(loaded, command, machine, machineFiles)
}

/** Words from the first one that is not Cordon's belong to the command. */
function splitCommand(
  row: CommandRow,
  argv: readonly string[],
): { args: Arguments; command: readonly string[] | null } {
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

const bundlesOf = (loaded: LoadedPolicy, granted: readonly RunGrants[]) =>
  chosenBundles(loaded, granted).map(({ value }) => value)

function say(terminal: Terminal, line: string): void {
  terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(line)}\n`)
}
