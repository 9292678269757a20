/** Decides which secret-shaped files commands may see, for file tools and for words of commands. */

import { projectPlaces } from '../../confine/confinement.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { HiddenPaths } from '../../run/hidden-paths.ts'
import { placeCommand } from '../../run/placement.ts'
import { worktreeDirectories } from '../../sandbox/protect/protect.ts'
import { hiddenByList } from '../../sandbox/quarantine/kept.ts'
import type { KnownObjects } from '../../sandbox/secrets/git-objects.ts'
import { holdsNoToken } from '../../sandbox/secrets/git-tokens.ts'
import { isCommitted } from '../../sandbox/secrets/tracked.ts'
import { type Files, hasMoreNames } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

/** A search asks about many files at once. No command can make such a link meanwhile. */
const LOOK_MS = 1000

/** The hidden file that a path is as well, by a hard link: null for none. Only files with several names cost a search. */
export function hiddenNames(
  now: () => LoadedPolicy,
  machine: Machine,
  files: Files,
): NonNullable<SessionFacts['hiddenName']> {
  let last: { readonly at: number; readonly linked: ReadonlyMap<string, string> } | null = null
  return (path) => {
    if (!hasMoreNames(path)) return null
    if (last === null || performance.now() - last.at > LOOK_MS) {
      const places = projectPlaces(now())
      const placement = placeCommand(places, files)
      const hidden = new HiddenPaths(places, machine, files, placement)
      try {
        last = { at: performance.now(), linked: hidden.look(placement, []).linked }
      } finally {
        hidden.close()
      }
    }
    return last.linked.get(path) ?? null
  }
}

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
