/** Cordon's own places, and protected places of this machine beyond the table of names. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { ProtectedPlace } from '../../files/protected-paths.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { homeLinks } from './home-links.ts'

/** Closed to commands, file tools and words of commands alike. */
export function ownPlaces(
  project: { readonly root: string; readonly manifestPath: string },
  machine: Pick<Machine, 'configDir' | 'stateDir' | 'env' | 'home'>,
  files: Pick<Files, 'exists' | 'canonical'>,
): SessionFacts['own'] {
  const checkout = ownCheckout(project.root, files)
  const places: ProtectedPlace[] = [
    // A folder that contains the project cannot be closed.
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

/**
 * The `dist` of a Cordon built in the project itself, which runs; its sources may be changed. Null
 * elsewhere.
 */
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

/** The installed package or its scope; null outside `node_modules`. */
export function ownPackage(files: Pick<Files, 'canonical'>, program: string = import.meta.dirname): string | null {
  const own = files.canonical(program)
  const packages = own.lastIndexOf('/node_modules/')
  if (packages < 0) return null
  const depth = own.slice(0, packages).split('/').length + 2
  return own.split('/').slice(0, depth).join('/')
}

type Look = Pick<Files, 'exists' | 'canonical'>

/** No agent can write there. */
const SYSTEM: readonly string[] = ['/usr', '/bin', '/sbin']

/**
 * Canonical folders outside the system. Package managers must be able to write where they install
 * (`node_modules/.bin`, a virtual environment).
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

/** Those below writable places, which themselves cannot be closed. */
export function writablePathFolders(path: string, writes: readonly string[], files: Look): readonly string[] {
  return pathFolders(path, files).filter((folder) =>
    writes.some((write) => folder !== write && isInside(folder, write) && !writes.includes(folder)),
  )
}

export function skillFolders(root: string): readonly string[] {
  return [`${root}/.cordon/skills`, `${root}/.agents/skills`]
}
