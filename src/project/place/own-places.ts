/** Cordon's own places, and protected places of this machine beyond the table of names. */

import { type Dirent, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import { type ProtectedKind, protectedNames } from '../../files/protected-names.ts'
import type { ProtectedPlace } from '../../files/protected-paths.ts'
import type { SessionFacts } from '../../policy/call.ts'
import { attempt } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

/** Limits of the search: `~/.oh-my-zsh` contains a repository. */
const MAX_DEPTH = 3
const MAX_ENTRIES = 2000

/** Targets of links in home that programs, or Cordon itself, read. */
export function homeLinks(home: string, configDir: string): readonly ProtectedPlace[] {
  const links = new LinkedPlaces(home)
  for (const { path, kind } of protectedNames) {
    if (path.startsWith('/') || path.includes('*')) continue
    links.add(path.startsWith('~/') ? path.slice(2) : path, kind)
  }
  links.addOwn(configDir)
  return links.found
}

class LinkedPlaces {
  readonly found: ProtectedPlace[] = []
  readonly #home: string
  readonly #realHome: string
  readonly #names = new Map<string, ReadonlyMap<string, Dirent> | null>()
  #left = MAX_ENTRIES

  constructor(home: string) {
    this.#home = home
    this.#realHome = realPath(home) ?? home
  }

  /** Adds a protected path of home with its contents. */
  add(name: string, kind: ProtectedKind): void {
    const first = name.indexOf('/')
    // Most of the names do not exist, and this runs before every command.
    if (!this.#list(this.#home)?.has(first < 0 ? name : name.slice(0, first))) return
    const path = posix.join(this.#home, name)
    const entry = this.#entry(path)
    if (entry === null) return
    const target = realPath(path) ?? danglingTarget(path)
    if (target === null) return
    if (target !== this.#plain(path)) this.#note(path, target, kind)
    else if (entry.isDirectory()) this.#addBelow(path, kind, 1)
  }

  /** Cordon's own configuration, wherever it is. */
  addOwn(folder: string): void {
    const target = realPath(folder)
    if (target === null) return
    if (target !== this.#plain(folder)) this.#note(folder, target, 'cordon')
    this.#addBelow(folder, 'cordon', 1)
  }

  #addBelow(folder: string, kind: ProtectedKind, depth: number): void {
    for (const [name, entry] of this.#list(folder) ?? []) {
      if (this.#left-- <= 0) return
      const path = posix.join(folder, name)
      if (entry.isDirectory() && depth < MAX_DEPTH) this.#addBelow(path, kind, depth + 1)
      const target = entry.isSymbolicLink() ? (realPath(path) ?? danglingTarget(path)) : null
      if (target !== null) this.#note(path, target, kind)
    }
  }

  #note(path: string, target: string, kind: ProtectedKind): void {
    const name = path.startsWith(`${this.#home}/`) ? `~${path.slice(this.#home.length)}` : path
    this.found.push({ path: target, kind, reason: `it is your ${name}, which is a link to it`, asks: true })
  }

  /** The path if only home itself is a link. */
  #plain(path: string): string {
    return path.startsWith(`${this.#home}/`) ? this.#realHome + path.slice(this.#home.length) : path
  }

  /** Looked up in listings: most of the names do not exist. */
  #entry(path: string): Pick<Dirent, 'isDirectory'> | null {
    if (path === this.#home) return HOME
    const folder = posix.dirname(path)
    if (folder === path || (folder !== this.#home && this.#entry(folder) === null)) return null
    return this.#list(folder)?.get(posix.basename(path)) ?? null
  }

  #list(folder: string): ReadonlyMap<string, Dirent> | null {
    const known = this.#names.get(folder)
    if (known !== undefined) return known
    let names: ReadonlyMap<string, Dirent> | null = null
    try {
      names = new Map(readdirSync(folder, { withFileTypes: true }).map((entry) => [entry.name, entry]))
    } catch {
      // Nobody who cannot list it can follow its links.
    }
    this.#names.set(folder, names)
    return names
  }
}

const HOME = { isDirectory: () => true }

function realPath(path: string): string | null {
  return attempt(() => realpathSync.native(path), null)
}

/** The target of a dangling link: writing the link creates the target. */
function danglingTarget(path: string): string | null {
  try {
    const target = posix.resolve(realPath(posix.dirname(path)) ?? posix.dirname(path), readlinkSync(path))
    const folder = realPath(posix.dirname(target))
    return folder === null ? target : posix.join(folder, posix.basename(target))
  } catch {
    return null
  }
}

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

/** The `dist` of a Cordon built in the project itself; its sources may be changed. */
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

type FileQueries = Pick<Files, 'exists' | 'canonical'>

/** No agent can write there. */
const SYSTEM: readonly string[] = ['/usr', '/bin', '/sbin']

/**
 * Canonical folders outside the system. Package managers must be able to write where they install
 * (`node_modules/.bin`, a virtual environment).
 */
function pathFolders(path: string, files: FileQueries): readonly string[] {
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
export function writablePathFolders(path: string, writes: readonly string[], files: FileQueries): readonly string[] {
  return pathFolders(path, files).filter((folder) =>
    writes.some((write) => folder !== write && isInside(folder, write) && !writes.includes(folder)),
  )
}

export function skillFolders(root: string): readonly string[] {
  return [`${root}/.cordon/skills`, `${root}/.agents/skills`]
}
