/** The table of protected files: what programs run by themselves, and what decides where code and credentials come from. */

import { protectedMachineNames } from './protected-machine.ts'
import { protectedProjectNames } from './protected-project.ts'
import type { ProtectedName } from './protected-row.ts'

export type { ProtectedKind, ProtectedName } from './protected-row.ts'

/** Names that are protected wherever they stand, under the home directory, or at one absolute place. */
export const protectedNames: readonly ProtectedName[] = [...protectedProjectNames, ...protectedMachineNames]

/** Folders of installed packages: the settings that a package brings along are not read from there. Rows about git hold all the same. */
export const packageFolders: readonly string[] = ['node_modules', 'site-packages', 'dist-packages']

/** Whether a path, given by its folded segments below a root, lies in an installed package. */
export function isOfPackage(segments: readonly string[]): boolean {
  const at = segments.findIndex((segment) => packageFolders.includes(segment))
  return at >= 0 && at < segments.length - 1
}

/** Folders in which agents make working trees of the project: each is a project, with settings of its own. */
export const worktreeFolders: readonly (readonly [folder: string, trees: string])[] = [['.claude', 'worktrees']]

/** Whether the name of a protected folder is only on the way to a working tree: `.claude/worktrees/w/src`. Segments are folded. */
export function isOnWayToWorktree(segments: readonly string[], index: number): boolean {
  return worktreeFolders.some(([folder, trees]) => segments[index] === folder && segments[index + 1] === trees)
}
