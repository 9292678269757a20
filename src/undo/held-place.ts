/**
 * Opens the place of each undo step folder by folder without following links. A command may have
 * replaced a folder by a link, and undo must not write where it points.
 */

import { closeSync, constants, lstatSync, openSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { attempt, errorCode } from '../system/fault.ts'
import { raw } from './keeper.ts'

const SETTINGS: readonly string[] = ['config', 'config.worktree', 'commondir', 'hooks']
const MARKS: readonly string[] = ['objects', 'refs', 'head', 'worktrees']

/**
 * True for a path that would plant something in a repository. `restored`: folders restored as a
 * whole, which are what they were.
 */
export function changesRepository(places: HeldPlaces, path: string, restored: ReadonlySet<string>): boolean {
  const name = posix.basename(path).toLowerCase()
  const folder = posix.dirname(path)
  const isHook = posix.basename(folder).toLowerCase() === 'hooks' && !name.endsWith('.sample')
  if (isHook && isForeign(posix.dirname(folder), restored) && isRepository(places, posix.dirname(folder))) return true
  if (!isForeign(folder, restored)) return false
  if (SETTINGS.includes(name)) return isRepository(places, folder)
  if (!MARKS.includes(name) || isRepository(places, folder)) return false
  return isRepository(places, folder, name) && SETTINGS.some((one) => has(places, folder, one))
}

function isForeign(folder: string, restored: ReadonlySet<string>): boolean {
  return !restored.has(folder) && !folder.split('/').some((name) => name.toLowerCase() === '.git')
}

/** Recognised by git's marks, including one about to be created. */
function isRepository(places: HeldPlaces, folder: string, more = ''): boolean {
  const found = (name: string): boolean => name.toLowerCase() === more || has(places, folder, name)
  return found('objects') && found('refs') && (found('HEAD') || found('worktrees'))
}

function has(places: HeldPlaces, folder: string, name: string): boolean {
  return attempt(() => lstatSync(places.at(`${folder}/${name}`), { throwIfNoEntry: false }) !== undefined, false)
}

/** Linux has it; Node does not export it. */
const O_PATH = 0o10000000
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** A path that points elsewhere now. */
export class MovedPlace extends Error {
  readonly code = 'ELOOP'

  constructor(path: string) {
    super(`${path} is behind a link now`)
  }
}

/** Places of one replay; only the last folder stays open, because steps go folder by folder. */
export class HeldPlaces {
  #open: { readonly path: string; readonly fd: number } | null = null

  /** A name in its folder, wherever the folder is now. The name itself is not followed. */
  at(path: string): Buffer {
    return Buffer.concat([this.folder(posix.dirname(path)), Buffer.from('/'), raw(posix.basename(path))])
  }

  folder(path: string): Buffer {
    if (process.platform !== 'linux') return compared(path)
    if (this.#open?.path !== path) {
      this.forget()
      this.#open = { path, fd: openFolder(path) }
    }
    return Buffer.from(`/proc/self/fd/${this.#open!.fd}`)
  }

  /** Opens a plain file without following links, for the duration of `work`. */
  withFile<T>(path: string, work: (place: Buffer) => T): T {
    const place = this.at(path)
    if (process.platform !== 'linux') return work(place)
    const fd = openSync(place, O_PATH | constants.O_NOFOLLOW)
    try {
      return work(Buffer.from(`/proc/self/fd/${fd}`))
    } finally {
      closeSync(fd)
    }
  }

  /** After a folder was moved or removed its path may mean another one. */
  forget(): void {
    if (this.#open) closeSync(this.#open.fd)
    this.#open = null
  }
}

function openFolder(path: string): number {
  let fd = openSync('/', O_PATH | constants.O_DIRECTORY)
  for (const name of path.split('/').filter((part) => part !== '')) {
    try {
      const next = openSync(Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), raw(name)]), FOLDER)
      closeSync(fd)
      fd = next
    } catch (error) {
      closeSync(fd)
      // Depending on the kernel, O_DIRECTORY of a link returns one of these.
      if (errorCode(error) === 'ELOOP' || errorCode(error) === 'ENOTDIR') throw new MovedPlace(path)
      throw error
    }
  }
  return fd
}

/** If the kernel cannot hold a folder, its path must at least be canonical. */
function compared(path: string): Buffer {
  if (realpathSync.native(raw(path)) !== path) throw new MovedPlace(path)
  return raw(path)
}
