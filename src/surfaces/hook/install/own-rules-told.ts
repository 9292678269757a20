/** What of an agent's own settings the hook holds against commands, told to its person. */

import { machineFiles } from '../../../system/files.ts'
import type { OwnRules } from '../host/host.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { denialsOfHost } from '../host/own-rules.ts'

/** A sentence for each place with rules; those of a command line are only known to a hook that it started. */
export async function ownRulesTold(
  ownRules: OwnRules | undefined,
  { root, home, env }: Pick<InstallPlace, 'root' | 'home' | 'env'>,
): Promise<readonly string[]> {
  if (!ownRules) return []
  const place = { machine: { home, env }, files: machineFiles, root, cwd: root, commandLines: () => [] }
  const denials = await denialsOfHost(ownRules, place)
  if (denials === null) return []
  const rules = [...denials.commands, ...denials.reads, ...denials.writes]
  return [...Map.groupBy(rules, ({ source }) => source)].map(([source, own]) => {
    const names = [...new Set(own.map(({ rule }) => rule))]
    const some = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
    const closed = names.some((name) => name.endsWith('which cannot be read')) ? ', so every command asks' : ''
    return `holds what ${source} denies or asks: ${some}${closed}`
  })
}
