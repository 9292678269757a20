/** `cordon learn`: runs a command without grants, and proposes the smallest manifest under which it works. */

import { resolve } from 'node:path'
import type { RecordedProposal } from '../../../../learn/from-record.ts'
import type { LearnParts, LearnResult, Proof } from '../../../../learn/learn.ts'
import type { ProposedLine } from '../../../../learn/proposal.ts'
import { withTilde } from '../../../../one-off/outside-words.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, listFlag, parseArguments, textFlag } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { denialText, openInForce } from '../../open-policy.ts'
import { type CommandContext, EXIT, ownWords, UsageError } from '../../usage.ts'

export async function run({ terminal, argv, row }: CommandContext): Promise<number> {
  const own = ownWords(row, argv)
  const args = parseArguments(row, own)
  const command = argv.slice(own.length + (argv[own.length] === '--' ? 1 : 0))
  const from = listFlag(args, 'from')
  if (from.length > 0 && command.length > 0)
    throw new UsageError('--from learns from a record: name no command with it')
  if (args.flags.unused && from.length === 0) throw new UsageError('--unused takes its calls from --from')
  if (from.length === 0 && (command[0] ?? '') === '')
    throw new UsageError('name a command to learn from: cordon learn -- npm ci')
  const timeout = textFlag(args, 'timeout')
  if (timeout !== undefined && !/^\d+(\.\d+)?$/.test(timeout)) throw new UsageError('--timeout takes seconds')
  const opened = await openInForce(args, terminal, {
    unsigned: async (loaded, report) => {
      const { requireSigned } = await import('./sign.ts')
      return requireSigned(terminal, loaded, report, thisMachine())
    },
    programs: command.slice(0, 1),
  })
  if (!opened) return EXIT.fault
  const { loaded, machine } = opened
  const manifestText = loaded.ownManifest ? machineFiles.readText(loaded.manifestPath) : null
  if (from.length > 0) return learnFrom(from, { terminal, args, loaded, machine, manifestText })
  const { learn } = await import('../../../../learn/learn.ts')
  const tell = (line: string): void => {
    if (!args.flags.quiet) terminal.err(`${paint(terminal, 'dim', 'cordon:')} ${visible(line)}\n`)
  }
  const learned = await learn({
    command,
    loaded,
    machine,
    files: machineFiles,
    manifestText,
    // A program may read the result from stdout, so the command's output goes to stderr.
    output: args.flags.json ? process.stderr : process.stdout,
    timeoutMs: timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1000,
    consent: (lines) => consent(terminal, args, lines, machine),
    report: tell,
    ...(await questionsAt(args, loaded, machine, tell)),
  })
  if ('denied' in learned) {
    terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(denialText(learned.denied))}\n`)
    return EXIT.refused
  }
  return conclude(learned, { terminal, args, loaded, machine, manifestText })
}

interface Place {
  readonly terminal: Terminal
  readonly args: Arguments
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly manifestText: string | null
}

async function questionsAt(
  args: Arguments,
  loaded: LoadedPolicy,
  machine: Machine,
  tell: (line: string) => void,
): Promise<Partial<Pick<LearnParts, 'askHost' | 'askPort'>>> {
  if (!isAtTerminal() || args.flags.json || args.flags.quiet || args.flags.try) return {}
  const { TypedQuestions } = await import('../../../../one-off/questions.ts')
  if (!TypedQuestions.areAllowed(loaded)) return {}
  const questions = new TypedQuestions({ loaded, machine, files: machineFiles, report: tell })
  return {
    askHost: (question) => questions.askHost(question),
    askPort: (port) => questions.askPort('cordon learn', port),
  }
}

function isAtTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Trying a proposal opens its grants, so a person must agree at the terminal or with `--try`. */
async function consent(
  terminal: Terminal,
  args: Arguments,
  lines: readonly ProposedLine[],
  { home }: Machine,
): Promise<boolean> {
  if (args.flags.try) return true
  if (args.flags.json || !isAtTerminal()) return false
  terminal.err(describeLines(terminal, lines, home))
  return confirm(terminal, 'Run it again with these grants, to see which are needed? [y/N] ')
}

async function conclude(learned: LearnResult, place: Place): Promise<number> {
  const { terminal, args, machine, manifestText } = place
  const { lineChanges } = await import('../../../../learn/manifest-text.ts')
  const diff = learned.text === null ? [] : lineChanges(manifestText, learned.text)
  const isGood = learned.proof !== 'untried' && learned.proof !== 'still-fails'
  if (args.flags.json) terminal.out(`${JSON.stringify({ ...learned, diff })}\n`)
  else terminal.out(describeLearned(terminal, learned, diff, machine.home))
  const exit = isGood ? EXIT.ok : EXIT.failed
  if (learned.text === null) return exit
  const out = textFlag(args, 'out')
  if (out !== undefined) {
    machineFiles.writeText(resolve(machine.cwd, out), learned.text, { exclusive: true })
    terminal.err(`${paint(terminal, 'green', 'wrote')} ${visible(out)}\n`)
    return exit
  }
  // If the trial did not succeed, do not offer to write the manifest.
  if (!isGood || args.flags.json) return exit
  return offer(learned.text, place)
}

/** Shows what the text opens, as signing does, then writes and signs it on a yes. */
async function offer(text: string, { terminal, loaded, machine }: Place): Promise<number> {
  const { loadPolicy } = await import('../../../../project/load/load.ts')
  const { judgeTrust, signProject } = await import('../../../../project/sign/trust.ts')
  const { signatureView } = await import('../../../../project/sign/signature-view.ts')
  const { describeSignature } = await import('../../sign-view.ts')
  const { MANIFEST_NAME } = await import('../../../../project/place/root.ts')
  const path = resolve(loaded.root, MANIFEST_NAME)
  const before = machineFiles.exists(path) ? machineFiles.readText(path) : null
  const proposed = {
    ...machineFiles,
    isMissing: (file: string) => file !== path && machineFiles.isMissing(file),
    exists: (file: string) => file === path || machineFiles.exists(file),
    readText: (file: string, limit?: number) => (file === path ? text : machineFiles.readText(file, limit)),
  }
  const load = (files: typeof machineFiles) =>
    loadPolicy({ machine, files, root: loaded.root, choice: { kind: 'project' } })
  const outcome = await load(proposed)
  const report = 'loaded' in outcome ? judgeTrust(outcome.loaded, machine, proposed) : null
  if (!('loaded' in outcome) || !report) throw new Fault('manifest', 'what was learned does not load as a manifest')
  terminal.out(describeSignature(terminal, signatureView(outcome.loaded, report, machine, proposed), true))
  if (!(await confirm(terminal, `Write it to ${MANIFEST_NAME} and sign it? [y/N] `))) {
    const why = process.stdin.isTTY ? '' : ': there is no terminal to ask on (--out FILE writes it for you to read)'
    terminal.err(`nothing was written${why}\n`)
    return EXIT.ok
  }
  const now = machineFiles.exists(path) ? machineFiles.readText(path) : null
  if (now !== before) throw new Fault('manifest', `${path} was changed meanwhile`, { remedy: 'Learn again.' })
  machineFiles.writeText(path, text)
  const written = await load(machineFiles)
  if (!('loaded' in written)) throw new Fault('manifest', 'what was written does not load')
  const { warning } = signProject(written.loaded, machine, new Date())
  if (warning) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(warning)}\n`)
  terminal.err(`${paint(terminal, 'green', 'written and signed')} ${visible(path)}\n`)
  return EXIT.ok
}

/** Learns from a record without running anything: refusals, questions and unused grants. */
async function learnFrom(from: readonly string[], place: Place): Promise<number> {
  const { terminal, args, loaded, machine } = place
  const { proposeFromRecord } = await import('../../../../learn/from-record.ts')
  const texts = from.flatMap((file) =>
    file === 'record' ? [] : machineFiles.readText(resolve(machine.cwd, file), 256 * 1024 * 1024).split('\n'),
  )
  const learned = await proposeFromRecord(texts, from.includes('record'), {
    ...place,
    loaded,
    files: machineFiles,
    onlyUnused: args.flags.unused === true,
  })
  if (args.flags.json) {
    const { lineChanges } = await import('../../../../learn/manifest-text.ts')
    const diff = learned.text === null ? [] : lineChanges(place.manifestText, learned.text)
    terminal.out(`${JSON.stringify({ ...learned, diff })}\n`)
    return EXIT.ok
  }
  terminal.out(describeUnused(terminal, learned))
  return conclude(learned, place)
}

const SAID: Readonly<Record<Proof, string>> = {
  'nothing-needed': 'It needs no grants.',
  proven: 'It works with these grants and needs each of them:',
  works: 'It works with these grants; whether it needs each of them was not tested:',
  untried: 'It seems to need these grants; they were not tested (--try does):',
  recorded: 'Recorded calls needed these grants; nothing was run:',
  'still-fails': 'It fails with these grants too, for another reason:',
}

function describeLearned(terminal: Terminal, learned: LearnResult, diff: readonly string[], home: string): string {
  const { lines, dropped, withheld, warnings, ports, proof, runs } = learned
  const dim = (text: string) => paint(terminal, 'dim', visible(text))
  const said = proof === 'untried' && lines.length === 0 ? 'It failed, but not for lack of a grant.' : SAID[proof]
  const rows = [
    ...warnings.map((warning) => `${paint(terminal, 'red', '!')} ${visible(warning)}`),
    paint(terminal, 'bold', said),
    ...lines.flatMap((line) => lineRows(terminal, line, home)),
    ...dropped.map((line) => dim(`  works without ${line.kind} ${withTilde(line.value, home)}`)),
    ...withheld.slice(0, MOST).map(({ subject, why }) => dim(`  not proposed: ${subject} (${why})`)),
    ...(withheld.length > MOST ? [dim(`  not proposed: ${withheld.length - MOST} more`)] : []),
    ...ports.map((port) => dim(`  it listens on ${port}; cordon add port ${port} opens that to this machine`)),
    ...(diff.length > 0 ? [paint(terminal, 'bold', 'In cordon.toml:')] : []),
    ...diff.map((row) => `  ${paint(terminal, row.startsWith('+') ? 'green' : 'red', visible(row))}`),
    ...(runs > 1 ? [dim(`${runs} runs; the changes of the trials were undone`)] : []),
  ]
  return `${rows.join('\n')}\n`
}

const MOST = 20

function describeLines(terminal: Terminal, lines: readonly ProposedLine[], home: string): string {
  return `${lines.flatMap((line) => lineRows(terminal, line, home)).join('\n')}\n`
}

function lineRows(terminal: Terminal, { kind, value, wrapper, why, evidence }: ProposedLine, home: string): string[] {
  const name = kind === 'read' || kind === 'write' ? withTilde(value, home) : value
  const through = wrapper === undefined ? '' : ` (through ${wrapper})`
  return [
    `  ${paint(terminal, 'yellow', '+')} ${kind} ${visible(`${name}${through}`)}`,
    `      ${paint(terminal, 'dim', visible(`${why}; ${evidence.join('; ')}`))}`,
  ]
}

function describeUnused(terminal: Terminal, { calls, unknown, unused }: RecordedProposal): string {
  const rows = [
    `${calls} recorded calls${unknown > 0 ? `, ${unknown} without their arguments and from before the manifest was signed: which commands they used cannot be known` : ''}`,
    ...unused.map(
      ({ kind, value, source }) =>
        `  ${paint(terminal, 'yellow', '-')} ${kind} ${visible(value)} ${paint(terminal, 'dim', `never used (${visible(source)})`)}`,
    ),
  ]
  return `${rows.join('\n')}\n`
}
