/** `cordon undo`: restores what calls changed. */

import { type KeptCall, ProjectUndo, type ShownCall } from '../../../../run/undo.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { isTerminalDevice, printJson, type Terminal, visible } from '../../../terminal/terminal.ts'
import type { Arguments } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const SHOWN = 20

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const project = new ProjectUndo(thisMachine())
  if (args.flags.prune) {
    const removed = project.prune()
    terminal.out(`${removed.length} ${removed.length === 1 ? 'call' : 'calls'} can no longer be undone.\n`)
    return EXIT.ok
  }
  if (args.flags.list) return list(terminal, project, args)
  const chosen = choose(project, args)
  if (args.flags.diff) {
    for (const call of chosen) terminal.out(describe(project.show(call), project.diffs(call)))
    return EXIT.ok
  }
  for (const call of chosen) {
    const done = put(terminal, project, call, args.flags.force === true)
    if (!done) return EXIT.failed
  }
  return EXIT.ok
}

function list(terminal: Terminal, project: ProjectUndo, args: Arguments): number {
  const calls = project.calls()
  if (args.flags.json)
    return printJson(
      terminal,
      calls.map((call) => project.show(call)),
    )
  if (calls.length === 0) terminal.out('Nothing is kept for this project.\n')
  for (const call of calls) {
    const { made: created, changed, removed } = project.show(call).changes
    const counts = `${created.length} created, ${changed.length} changed, ${removed.length} removed`
    const state = call.undoneBy ? ', undone' : ''
    terminal.out(`${call.id}  ${localTime(call.about.at)}  ${counts}${state}  ${visible(call.about.what)}\n`)
  }
  return EXIT.ok
}

function localTime(iso: string): string {
  const at = new Date(iso)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-')
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`
}

function choose(project: ProjectUndo, { flags, words }: Arguments): KeptCall[] {
  const [id] = words
  if (flags.redo) {
    const undone = project.calls().filter(({ about, undoneBy }) => about.undoes !== undefined && undoneBy === null)
    const found = id === undefined ? undone[0] : undone.find((call) => call.id === id || call.about.undoes === id)
    if (!found) throw new UsageError('nothing to redo')
    return [found]
  }
  const open = project.restorable()
  if (id === undefined && !flags.last && !flags.diff)
    throw new UsageError('name a call (cordon undo --list), or --last')
  const meant = id === undefined ? undefined : project.restorableAs(id)?.id
  const at = id === undefined ? 0 : open.findIndex((call) => call.id === meant)
  const call = open[at]
  if (!call) throw new UsageError(id === undefined ? 'nothing is kept for this project' : `call ${id} cannot be undone`)
  return flags.since ? open.slice(0, at + 1) : [call]
}

function put(terminal: Terminal, project: ProjectUndo, call: KeptCall, force: boolean): boolean {
  const tell = (done: number, of: number) => terminal.err(`\r${call.id}: ${done} of ${of}`)
  const { id, conflicts, failed, steps } = project.undo(call, force, isTerminalDevice(2) ? tell : undefined)
  if (steps >= 1000 && isTerminalDevice(2)) terminal.err('\r\x1b[K')
  for (const { path, what } of conflicts.slice(0, SHOWN)) terminal.err(`${visible(path)}: ${what}\n`)
  if (conflicts.length > SHOWN) terminal.err(`and ${conflicts.length - SHOWN} more\n`)
  if (id === null) {
    terminal.err(`Nothing was restored: this changed since ${call.id}. --force restores the rest.\n`)
    return false
  }
  for (const { path, error } of failed.slice(0, SHOWN)) terminal.err(`${visible(path)}: not restored (${error})\n`)
  const created = `${steps} ${steps === 1 ? 'change' : 'changes'}`
  const again = call.about.undoes
  if (again !== undefined) terminal.out(`Redone: ${again} (${created}). Undo with: cordon undo --last\n`)
  else terminal.out(`Undone: ${call.id} (${created}). Redo with: cordon undo --redo\n`)
  return failed.length === 0
}

function describe({ id, about, changes, conflicts }: ShownCall, diffs: ReadonlyMap<string, string>): string {
  const lines = (path: string) =>
    (diffs.get(path) ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `    ${visible(line)}`)
  const section = (mark: string, paths: readonly string[]) => [
    ...paths.slice(0, SHOWN).flatMap((path) => [`  ${mark} ${visible(path)}`, ...lines(path)]),
    ...(paths.length > SHOWN ? [`  ${mark} … and ${paths.length - SHOWN} more`] : []),
  ]
  return [
    `${id}  ${visible(about.what)}`,
    ...section('+', changes.made),
    ...section('~', changes.changed),
    ...section('-', changes.removed),
    ...conflicts.slice(0, SHOWN).map(({ path, what }) => `  ! ${visible(path)}: ${what}`),
    '',
  ].join('\n')
}
