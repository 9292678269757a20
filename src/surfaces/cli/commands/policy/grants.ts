/** `cordon grants`: lists, suggests and revokes saved answers. */

import {
  openSavedGrants,
  proposedGrants,
  type SavedGrant,
  type SavedGrants,
} from '../../../../project/answer-counts.ts'
import { openPolicy } from '../../../../project/open.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { commandText, oneOf } from '../../arguments.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given = 'list', ...ids] = args.words
  const verb = oneOf(['list', 'suggest', 'revoke', 'prune'], given, 'name an action')
  if (verb !== 'revoke' && ids[0] !== undefined)
    throw new UsageError(`grants ${verb} takes no further words, not ${ids[0]}`)
  if (verb === 'suggest') return suggest(terminal, args.flags.json === true)
  const machine = thisMachine()
  const grants = openSavedGrants(machine)
  const damage = grants.damage()
  if (damage !== null) terminal.err(`cordon: ${visible(damage)}\n`)
  const asJson = args.flags.json === true
  if (verb === 'revoke') revoke(terminal, grants, named(grants, ids), asJson)
  else if (verb === 'prune') prune(terminal, grants, asJson)
  else if (asJson) {
    const locks = await locksOf(grants, machine)
    const rows = grants.list().map((grant) => ({ ...grant, locked: isLocked(grant, locks) }))
    terminal.out(`${JSON.stringify(rows)}\n`)
  } else list(terminal, grants, await locksOf(grants, machine))
  return EXIT.ok
}

/** The projects that take no answers, with the place that says so. */
type Locks = ReadonlyMap<string, string>

/** Those among this project and the ones with grants. */
async function locksOf(grants: SavedGrants, machine: Machine): Promise<Locks> {
  const locks = new Map<string, string>()
  const here = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  for (const root of new Set([here, ...grants.list().map(({ project }) => project)])) {
    const place = { machine, files: machineFiles, root, choice: { kind: 'project' as const } }
    // A folder that was removed since locks nothing.
    const opened = await openPolicy({ ...place, unsigned: 'refused' }).catch(() => null)
    if (opened === null || !('loaded' in opened)) continue
    const { runtimeGrants } = opened.loaded.policy
    if (!runtimeGrants.value) locks.set(root, runtimeGrants.source)
  }
  return locks
}

/** Denials apply in a locked project too. */
function isLocked({ project, verdict }: SavedGrant, locks: Locks): boolean {
  return verdict === 'allow' && locks.has(project)
}

function suggest(terminal: Terminal, asJson: boolean): number {
  const open = proposedGrants(thisMachine(), Date.now())
  if (asJson) terminal.out(`${JSON.stringify(open)}\n`)
  else if (open.length === 0) terminal.out('nothing was answered with yes five times in a row\n')
  else
    for (const [project, rows] of Map.groupBy(open, (row) => row.project)) {
      terminal.out(`${paint(terminal, 'bold', visible(project))}\n`)
      for (const { kind, value, yes, add } of rows)
        terminal.out(`  ${yes} times yes, never no: ${kind} ${visible(value)}\n      ${visible(commandText(add))}\n`)
    }
  return EXIT.ok
}

/** Grants unused for this long are offered for removal. */
const UNUSED_DAYS = 14

/** The chosen grants, by id or unique prefix. An unknown id revokes nothing at all. */
function named(grants: SavedGrants, ids: readonly string[]): readonly SavedGrant[] {
  if (ids.length === 0) throw new UsageError('name the grants to revoke; cordon grants lists them')
  return ids.map((id) => {
    const found = grants.list().filter((grant) => grant.id === id || (id.length >= 4 && grant.id.startsWith(id)))
    const [grant, second] = found
    if (grant === undefined) throw new UsageError(`there is no grant ${id}; cordon grants lists them`)
    if (second !== undefined) throw new UsageError(`${id} begins several grants; write more of it`)
    return grant
  })
}

function revoke(terminal: Terminal, grants: SavedGrants, meant: readonly SavedGrant[], asJson: boolean): void {
  if (asJson) terminal.out(`${JSON.stringify(meant)}\n`)
  for (const grant of meant) {
    grants.revoke(grant.id)
    if (!asJson) terminal.out(`revoked ${visible(grant.id)}: ${whatOf(grant)} in ${visible(grant.project)}\n`)
  }
}

function prune(terminal: Terminal, grants: SavedGrants, asJson: boolean): void {
  const unused = grants.unused(UNUSED_DAYS)
  if (unused.length === 0 && !asJson) terminal.out(`every grant was used, or is younger than ${UNUSED_DAYS} days\n`)
  revoke(terminal, grants, unused, asJson)
}

function list(terminal: Terminal, grants: SavedGrants, locks: Locks): void {
  const all = grants.list()
  for (const [project, source] of locks)
    terminal.out(
      `${visible(project)} is locked: answers open nothing there (security.runtime_grants is false, ${visible(source)})\n`,
    )
  if (all.length === 0) {
    terminal.out('nothing was granted beyond the manifests\n')
    return
  }
  const unused = new Set(grants.unused(UNUSED_DAYS).map(({ id }) => id))
  for (const [project, rows] of Map.groupBy(all, (grant) => grant.project)) {
    terminal.out(`${paint(terminal, 'bold', visible(project))}\n`)
    for (const grant of rows) {
      const uses = unused.has(grant.id) ? paint(terminal, 'yellow', 'never used again') : usesOf(grant)
      terminal.out(`  ${paint(terminal, 'cyan', grant.id)}  ${whatOf(grant)}\n`)
      const lock = isLocked(grant, locks) ? `${paint(terminal, 'yellow', 'not in force')}, ` : ''
      terminal.out(`      ${lock}${ageOf(grant.created)} old, ${uses}, ${endOf(grant)}\n`)
    }
  }
  terminal.out('\nrevoke one: cordon grants revoke ID (its first letters are enough)\n')
  if (unused.size > 0) {
    const these = unused.size === 1 ? 'the one that was' : `the ${unused.size} that were`
    terminal.out(`take back ${these} never used again: cordon grants prune\n`)
  }
}

function whatOf({ verdict, kind, value }: SavedGrant): string {
  return `${verdict} ${kind} ${visible(value)}`
}

function usesOf({ uses }: SavedGrant): string {
  if (uses === 0) return 'not used yet'
  return uses === 1 ? 'used once' : `used ${uses} times`
}

function endOf({ scope, expires }: SavedGrant): string {
  if (expires !== null) return `until ${localTime(expires)}`
  return scope === 'project' ? 'until it is revoked' : 'until its session ends'
}

/** `2026-11-16 17:40`, in local time. */
function localTime(time: number): string {
  const date = new Date(time)
  const two = (part: number): string => String(part).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

function ageOf(created: number): string {
  const minutes = Math.floor((Date.now() - created) / 60_000)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}
