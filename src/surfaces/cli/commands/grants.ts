/** `cordon grants`: what was answered for a time or a session, and taking it back. */

import { openSavedGrants } from '../../../runtime/policy/saved-grants.ts'
import { thisMachine } from '../../../system/machine.ts'
import { paint, visible } from '../../terminal/terminal.ts'
import { oneOf, parseArguments } from '../arguments.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../usage.ts'

/** Runs `cordon grants list|revoke`. */
export function run({ terminal, argv }: CommandContext): number {
  const args = parseArguments(commandRow('grants')!, argv)
  const [given = 'list', id] = args.words
  const verb = oneOf(['list', 'revoke', 'prune'], given, 'say what to do')
  const grants = openSavedGrants(thisMachine())
  if (verb === 'revoke') {
    if (id === undefined) throw new UsageError('name the grant to revoke; cordon grants lists them')
    if (!grants.revoke(id)) throw new UsageError(`there is no grant ${id}; cordon grants lists them`)
    terminal.out(`revoked ${visible(id)}\n`)
    return EXIT.ok
  }
  if (verb === 'prune') {
    const unused = grants.unused(UNUSED_DAYS)
    for (const grant of unused) grants.revoke(grant.id)
    terminal.out(`revoked ${unused.length} grants that nothing used in ${UNUSED_DAYS} days\n`)
    return EXIT.ok
  }
  const list = grants.list()
  if (args.flags.json) terminal.out(`${JSON.stringify(list)}\n`)
  else if (list.length === 0) terminal.out('nothing was granted beyond the manifests\n')
  for (const grant of args.flags.json ? [] : list) {
    const ends = grant.scope === 'project' ? 'until it is revoked' : 'until its session ends'
    const until = grant.expires === null ? ends : `until ${new Date(grant.expires).toISOString()}`
    terminal.out(
      `${paint(terminal, 'cyan', grant.id)}  ${grant.verdict} ${grant.kind} ${visible(grant.value)}  ${ageOf(grant.created)} old, ${until}, used ${grant.uses} times  ${visible(grant.project)}\n`,
    )
  }
  const unused = args.flags.json ? [] : grants.unused(UNUSED_DAYS)
  if (unused.length > 0)
    terminal.out(`${unused.length} of them were never used again: cordon grants prune takes those back\n`)
  return EXIT.ok
}

/** A grant that nothing used for so long is offered for removal. */
const UNUSED_DAYS = 14

function ageOf(created: number): string {
  const hours = Math.floor((Date.now() - created) / 3_600_000)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}
