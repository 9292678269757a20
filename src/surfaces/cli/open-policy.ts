/** Opens the policy of a command, and prints its problems. */

import { resolve } from 'node:path'
import type { Decision } from '../../policy/decision.ts'
import type { LoadedManifest, LoadedPolicy, ManifestChoice } from '../../project/load/load.ts'
import { type OpenRequest, openPolicy } from '../../project/open.ts'
import { confirmRoot } from '../../project/place/root.ts'
import type { Problem } from '../../project/problems.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { type Machine, thisMachine } from '../../system/machine.ts'
import { paint, type Terminal, visible } from '../terminal/terminal.ts'
import { type Arguments, textFlag } from './arguments.ts'
import { UsageError } from './usage.ts'

export interface Opened<Policy extends LoadedPolicy = LoadedManifest> {
  readonly loaded: Policy
  readonly machine: Machine
  /** The manifest is unsigned and was judged as written. */
  readonly isDraft?: boolean
}

/** The manifest that the flags select. */
export function manifestChoice(args: Arguments): ManifestChoice {
  const file = textFlag(args, 'manifest')
  return file === undefined ? { kind: 'project' } : { kind: 'file', file }
}

/** The root of `--root`, or null. A missing folder is an error: it would be judged as an empty project. */
export function rootFlag(args: Arguments): string | null {
  const root = textFlag(args, 'root') ?? null
  if (root !== null && !machineFiles.isDirectory(root)) throw new UsageError(`--root: ${root} is not a directory`)
  return root
}

/** Opens the policy in force; `unsigned` decides on an unsigned manifest. Null after printing the problem. */
export async function openInForce(
  args: Arguments,
  terminal: Terminal,
  how: Pick<OpenRequest, 'unsigned' | 'programs'>,
): Promise<Opened<LoadedPolicy> | null> {
  const machine = thisMachine()
  const place = { machine, files: machineFiles, root: rootFlag(args), choice: manifestChoice(args) }
  const open = () => openPolicy({ ...place, ...how })
  const opened = await open().catch(async (error) => {
    if (!(await isConfirmed(error, place.root, terminal, machine))) throw error
    return open()
  })
  if ('loaded' in opened) return { loaded: opened.loaded, machine, isDraft: opened.draft !== undefined }
  if ('problems' in opened) await printProblems(args, terminal, opened.problems)
  return null
}

/** A root that is not a project can be used if the person names it with `--root` and confirms. */
async function isConfirmed(
  error: unknown,
  root: string | null,
  terminal: Terminal,
  machine: Machine,
): Promise<boolean> {
  if (!(error instanceof Fault) || error.code !== 'not-a-project' || root === null) return false
  const { confirm } = await import('./confirm.ts')
  const question = `${visible(error.message)}.\nAn agent could change everything in it except protected paths. Use it anyway, from now on? [y/N] `
  if (!(await confirm(terminal, question))) return false
  confirmRoot(machineFiles.canonical(resolve(machine.cwd, root)), machine)
  return true
}

/** Opens the policy with its source manifests, to show, test or sign it; null after printing problems. */
export async function openWritten(args: Arguments, terminal: Terminal): Promise<Opened | null> {
  const { loadPolicy } = await import('../../project/load/load.ts')
  const machine = thisMachine()
  const root = rootFlag(args)
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: manifestChoice(args) })
  if ('loaded' in outcome) return { loaded: outcome.loaded, machine }
  await printProblems(args, terminal, outcome.problems)
  return null
}

/** Prints warnings of a manifest that loads. */
export async function printWarnings(terminal: Terminal, loaded: LoadedPolicy): Promise<void> {
  if (loaded.warnings.length === 0) return
  const { loadWarnings } = await import('../../project/start-notes.ts')
  for (const line of loadWarnings(loaded)) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(line)}\n`)
}

async function printProblems(args: Arguments, terminal: Terminal, problems: readonly Problem[]): Promise<void> {
  if (args.flags.json)
    terminal.out(
      `${JSON.stringify({ error: 'the manifest does not load', code: 'manifest', remedy: null, problems })}\n`,
    )
  const count = problems.length
  terminal.err(
    `${paint(terminal, 'red', 'cordon:')} the manifest does not load (${count} ${count === 1 ? 'problem' : 'problems'})\n`,
  )
  const { renderProblem } = await import('../../project/problems.ts')
  for (const problem of problems) terminal.err(`  ${renderProblem(problem).replaceAll('\n', '\n  ')}\n`)
}

/** Notes that the decision needs a signature to take effect. */
export function hintAtDraft({ isDraft }: Pick<Opened, 'isDraft'>, terminal: Terminal): void {
  if (isDraft)
    terminal.err('cordon.toml is not signed as it is now, so it has no effect yet; cordon sign puts it in force\n')
}

export function hintAtInit(args: Arguments, { ownManifest }: LoadedPolicy, terminal: Terminal): void {
  if (ownManifest || args.flags.json || args.flags.manifest) return
  terminal.err('there is no cordon.toml here, so the built-in rules apply; cordon init writes one\n')
}

/** What a person reads about a denied command: why, by which rules, where they are written. */
export function denialText({ reason, rules }: Decision): string {
  const named = rules.map(({ rule, source }) => `${rule} (${source})`).join(', ')
  return `${reason.message}${named === '' ? '' : ` ${named}`} [${reason.code}]`
}
