/** Changes in directories: create, remove, copy, move, set modes. */

import { chmodSync, closeSync, copyFileSync, fstatSync, lstatSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { errorCode, Fault } from '../fault.ts'
import { copyAttributes, setFileTime } from '../file-addon.ts'
import type { CheckedPath } from './checked-path.ts'
import {
  changedFault,
  descriptorPath,
  type HeldDirectory,
  holdChild,
  holdDirectory,
  openEntry,
  removeCreated,
  reopenForReading,
  systemFault,
} from './directory.ts'
import { entriesOf, inEntry, inParent, requireFile } from './entry.ts'
import type { TemporaryJournal } from './journal.ts'
import { type ChangeKeeper, makeChange } from './keeper.ts'
import { prepareWrite } from './write.ts'

export interface RemoveOptions {
  readonly recursive?: boolean
  /** Unlink a link itself instead of reporting a changed path. */
  readonly link?: boolean
}

const MAX_DEPTH = 256

/** A sparse file can fill the disk when copied. */
const MAX_COPIED = 1024 ** 3

export function makeDirectory(path: string, keeper: ChangeKeeper): readonly CheckedPath[] {
  const directory = holdDirectory(path, { make: keeper })
  directory.close()
  return directory.made
}

export function remove(parent: HeldDirectory, name: string, options: RemoveOptions, keeper: ChangeKeeper): void {
  // Unlinking never follows: it removes the name in this directory.
  if (options.link && lstatSync(parent.at(name)).isSymbolicLink()) unlink(parent, name, keeper)
  else removeEntry(parent, name, { recursive: options.recursive ?? false, keeper }, 0)
}

function unlink(parent: HeldDirectory, name: string, keeper: ChangeKeeper): void {
  const at = parent.at(name)
  keeper.willRemove(posix.join(parent.path, name), at)
  makeChange(keeper, () => unlinkSync(at))
}

interface Removal {
  readonly recursive: boolean
  readonly keeper: ChangeKeeper
}

function removeEntry(parent: HeldDirectory, name: string, removal: Removal, depth: number): void {
  const { recursive, keeper } = removal
  const path = posix.join(parent.path, name)
  if (depth > MAX_DEPTH) throw new Fault('too-deep', `${path} lies more than ${MAX_DEPTH} directories deep`)
  const isDirectory = inEntry(parent, name, (entry) => {
    if (depth === 0 && !entry.facts.isFile() && !entry.facts.isDirectory()) requireFile(path, entry.facts)
    return entry.facts.isDirectory()
  })
  if (!isDirectory) {
    unlink(parent, name, keeper)
    return
  }
  if (recursive) {
    const directory = holdChild(parent, name)
    try {
      for (const child of entriesOf(directory)) {
        if (child.type === 'directory') removeEntry(directory, child.name, removal, depth + 1)
        else unlink(directory, child.name, keeper)
      }
    } finally {
      directory.close()
    }
  }
  keeper.willRemove(path, parent.at(name))
  makeChange(keeper, () => rmdirSync(parent.at(name)))
}

/**
 * Copying a file onto itself separates it from its hard links, with the same attributes and times.
 */
export function copy(source: string, destination: string, journal: TemporaryJournal, keeper: ChangeKeeper): void {
  inParent(source, (parent, name) =>
    inEntry(parent, name, (entry) => {
      requireFile(source, entry.facts)
      if (entry.facts.size > MAX_COPIED) {
        throw new Fault('too-large', `${source} has ${entry.facts.size} bytes; at most ${MAX_COPIED} are copied`, {
          remedy: 'Copy it with cp, in a command, which can be stopped.',
        })
      }
      const fd = reopenForReading(entry, parent, name)
      try {
        const fill = (target: number, directory: HeldDirectory, temporary: string) => {
          const [from, to] = [descriptorPath(fd, parent, name), descriptorPath(target, directory, temporary)]
          copyFileSync(from, to)
          if (source !== destination) return
          copyAttributes(Buffer.from(from), Buffer.from(to))
          const time = fstatSync(fd, { bigint: true }).mtimeNs
          const second = 1_000_000_000n
          setFileTime(Buffer.from(directory.at(temporary)), time / second, Number(time % second))
        }
        const prepared = prepareWrite(destination, fill, { mode: entry.facts.mode & 0o777 }, journal, keeper)
        try {
          prepared.commit()
        } catch (error) {
          prepared.abort()
          throw error
        }
      } finally {
        closeSync(fd)
      }
    }),
  )
}

export function move(source: string, destination: string, keeper: ChangeKeeper): void {
  inParent(source, (parent, name) => {
    inEntry(parent, name, ({ facts }) => {
      if (!facts.isDirectory()) requireFile(source, facts)
      if (facts.isDirectory() && `${destination}/`.startsWith(`${source}/`)) {
        throw new Fault('into-itself', `${source} cannot be moved into itself`)
      }
    })
    const target = holdDirectory(posix.dirname(destination), { make: keeper })
    try {
      const last = posix.basename(destination)
      const existing = openEntry(target, last)
      if (existing) {
        closeSync(existing.fd)
        throw new Fault('exists', `${destination} already exists`, {
          remedy: 'Delete it first, or choose another name.',
        })
      }
      keeper.willMove(source, destination)
      makeChange(keeper, () => renameSync(parent.at(name), target.at(last)))
    } catch (error) {
      removeCreated(target.made, keeper)
      if (errorCode(error) === 'EXDEV') {
        throw new Fault('other-device', `${destination} is on another file system than ${source}`, {
          cause: error,
          remedy: 'Copy it there and delete the original.',
        })
      }
      throw systemFault(destination, error)
    } finally {
      target.close()
    }
  })
}

export function changeMode(path: string, mode: number, journal: TemporaryJournal, keeper: ChangeKeeper): void {
  if ((mode & ~0o777) !== 0) throw new Fault('special-bits', `${path}: setuid, setgid and sticky bits are not set`)
  const set = () =>
    inParent(path, (parent, name) =>
      inEntry(parent, name, ({ fd, facts }) => {
        if (!facts.isDirectory()) requireFile(path, facts)
        if (facts.isFile() && facts.nlink > 1) return (facts.mode & 0o777) === mode
        keeper.willSetMode(path, parent.at(name))
        makeChange(keeper, () => chmodSync(descriptorPath(fd, parent, name), mode))
        return true
      }),
    )
  // A hard-linked file is copied first, so that its other names keep the mode.
  for (let tries = 0; !set(); tries++) {
    if (tries > 0) throw changedFault(path)
    copy(path, path, journal, keeper)
  }
}
