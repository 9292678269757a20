/** Cordon's own places, and those of this machine that are protected beside the table of names: what a decision takes for granted. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { ProtectedPlace } from '../../files/protected-paths.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { homeLinks } from './home-links.ts'
import { ownPackage } from './own-package.ts'
import { pathFolders } from './path-folders.ts'

/** What the sandbox closes to commands is closed to file tools and to the words of commands as well. */
export function ownPlaces(
  project: { readonly root: string; readonly manifestPath: string },
  machine: Pick<Machine, 'configDir' | 'stateDir' | 'env' | 'home'>,
  files: Pick<Files, 'exists' | 'canonical'>,
): SessionFacts['own'] {
  const checkout = ownCheckout(project.root, files)
  const places: ProtectedPlace[] = [
    // A folder that holds the project itself cannot be closed.
    ...pathFolders(machine.env.PATH ?? '', files)
      .filter((path) => !isInside(project.root, path))
      .map((path) => ({
        path,
        kind: 'path' as const,
        reason: 'a folder on PATH, whose programs run outside the sandbox',
      })),
    ...homeLinks(machine.home, machine.configDir).filter(({ path }) => !isInside(project.root, path)),
    ...(checkout === null ? [] : [{ path: checkout, kind: 'cordon' as const, reason: "Cordon's own program" }]),
  ]
  return {
    configDir: machine.configDir,
    stateDir: machine.stateDir,
    manifestPath: project.manifestPath,
    program: ownPackage(files),
    places,
  }
}

/** What runs of a Cordon that was built in the project itself: its `dist`; its sources may be worked on. Null elsewhere. */
export function ownCheckout(
  root: string,
  files: Pick<Files, 'canonical'>,
  program: string = import.meta.dirname,
): string | null {
  const own = files.canonical(program)
  if (!isInside(own, root) || own.includes('/node_modules/')) return null
  const at = own.lastIndexOf('/dist')
  if (at < 0) return null
  const folder = own.slice(0, at + '/dist'.length)
  return isInside(own, folder) ? posix.normalize(folder) : null
}
