/** Cordon's own places, and those of this machine that are protected beside the table of names: what a decision takes for granted. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { ProtectedPlace } from '../../files/protected-paths.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { homeLinks } from './home-links.ts'

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

/** The folder of the package, or of its scope; null where Cordon does not run from a `node_modules`. */
export function ownPackage(files: Pick<Files, 'canonical'>, program: string = import.meta.dirname): string | null {
  const own = files.canonical(program)
  const packages = own.lastIndexOf('/node_modules/')
  if (packages < 0) return null
  const depth = own.slice(0, packages).split('/').length + 2
  return own.split('/').slice(0, depth).join('/')
}

type Look = Pick<Files, 'exists' | 'canonical'>

/** Nothing of an agent's is ever writable there. */
const SYSTEM: readonly string[] = ['/usr', '/bin', '/sbin']

/**
 * Those outside the system's own, canonical. Where a package manager installs its programs (`node_modules/.bin`, the `bin` of a
 * virtual environment) it must be able to; a word that is not absolute is no one's folder.
 */
function pathFolders(path: string, files: Look): readonly string[] {
  const folders = new Set<string>()
  for (const entry of new Set(path.split(':'))) {
    if (!posix.isAbsolute(entry) || SYSTEM.some((place) => isInside(posix.normalize(entry), place))) continue
    if (!files.exists(entry)) continue
    const folder = files.canonical(entry)
    const ofPackages = folder.endsWith('/node_modules/.bin') || files.exists(posix.join(folder, '../pyvenv.cfg'))
    if (!ofPackages) folders.add(folder)
  }
  return [...folders]
}

/** Those below the writable places, which themselves cannot be closed. */
export function writablePathFolders(path: string, writes: readonly string[], files: Look): readonly string[] {
  return pathFolders(path, files).filter((folder) =>
    writes.some((write) => folder !== write && isInside(folder, write) && !writes.includes(folder)),
  )
}

/** The folders of a project's skills. */
export function skillFolders(root: string): readonly string[] {
  return [`${root}/.cordon/skills`, `${root}/.agents/skills`]
}
