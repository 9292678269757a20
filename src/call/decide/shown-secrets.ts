/** Decides which secret-shaped files commands may see, for file tools and for words of commands. */

import { projectPlaces } from '../../confine/confinement.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { placeCommand } from '../../run/placement.ts'
import { worktreeDirectories } from '../../sandbox/protect/protect.ts'
import { hiddenByList } from '../../sandbox/quarantine/kept.ts'
import type { KnownObjects } from '../../sandbox/secrets/git-objects.ts'
import { holdsNoToken } from '../../sandbox/secrets/git-tokens.ts'
import { isCommitted } from '../../sandbox/secrets/tracked.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

/** Files that match git's HEAD, unless `mask_tracked` hides them. On error a file is not shown. */
export function shownSecrets(
  now: () => LoadedPolicy,
  machine: Pick<Machine, 'stateDir'>,
  files: Files,
): NonNullable<SessionFacts['isShown']> {
  const remembered = new Map<string, KnownObjects>()
  return (path, what = 'secret') => {
    const loaded = now()
    const { root, sandbox } = loaded
    if (!sandbox.maskSecrets.value) return false
    try {
      if (what === 'configuration') return !files.exists(path) || holdsNoToken(path)
      if (sandbox.maskTracked.value) return false
      const { reads, writes } = placeCommand(projectPlaces(loaded), files)
      const roots = [...new Set([...reads, ...writes, ...worktreeDirectories(root)])]
      return isCommitted(path, roots, remembered) && !hiddenByList(machine.stateDir, roots).includes(path)
    } catch {
      return false
    }
  }
}
