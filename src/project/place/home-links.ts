/** Links from the home directory to other places, such as dotfiles in a repository. */

import { type Dirent, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { type ProtectedKind, protectedNames } from '../../files/protected-names.ts'
import type { ProtectedPlace } from '../../files/protected-paths.ts'

/** Limits of the search: `~/.oh-my-zsh` contains a repository. */
const MAX_DEPTH = 3
const MAX_ENTRIES = 2000

/** Targets of links in home that programs, or Cordon itself, read. */
export function homeLinks(home: string, configDir: string): readonly ProtectedPlace[] {
  const links = new LinkedPlaces(home)
  for (const { path, kind } of protectedNames) {
    if (path.startsWith('/') || path.includes('*')) continue
    links.add(posix.join(home, path.startsWith('~/') ? path.slice(2) : path), kind)
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
  add(path: string, kind: ProtectedKind): void {
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
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
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
