/** Keeps a directory open without following links, so that its path cannot be swapped. */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmdirSync,
  type Stats,
} from 'node:fs'
import { posix } from 'node:path'
import { attempt, errorCode, Fault, type FaultCode } from '../fault.ts'
import { type CheckedPath, checkedPath } from './checked-path.ts'
import { type ChangeKeeper, makeChange } from './keeper.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
/** Linux has it; Node does not export it. */
const O_PATH = 0o10000000
const MAX_PATH = 4096

/** Linux can name a child of an open directory; elsewhere the path is compared after every step. */
const heldByKernel: boolean = process.platform === 'linux'

export interface HeldDirectory {
  readonly path: string
  readonly fd: number
  /** Directories created on the way, outermost first. */
  readonly made: readonly CheckedPath[]
  /** A path of a name in this directory, wherever it has moved. */
  at(name: string): string
  /** This directory as a path for `readdir`. */
  self(): string
  close(): void
}

export interface HoldOptions {
  /** Creates missing directories and reports them. */
  readonly make?: ChangeKeeper
}

/** Opens a canonical directory from `/` down. A link means that the path has changed. */
export function holdDirectory(path: string, options: HoldOptions = {}): HeldDirectory {
  const names = segmentsOf(path)
  if (!heldByKernel) return holdByComparison(path, options)
  const created: CheckedPath[] = []
  let fd = openSync('/', O_PATH | O_DIRECTORY)
  try {
    for (const [index, name] of names.entries()) {
      const child = `/proc/self/fd/${fd}/${name}`
      const here = () => `/${names.slice(0, index + 1).join('/')}`
      const next = openChild(child, here, options.make ? { made: created, keeper: options.make } : null)
      closeSync(fd)
      fd = next
    }
    return heldDirectory(path, fd, created)
  } catch (error) {
    closeSync(fd)
    if (options.make) removeCreated(created, options.make)
    throw error
  }
}

/** Opens a directory below an open one. */
export function holdChild(parent: HeldDirectory, name: string): HeldDirectory {
  const path = posix.join(parent.path, name)
  if (!heldByKernel) return holdByComparison(path, {})
  return heldDirectory(
    path,
    openChild(parent.at(name), () => path, null),
    [],
  )
}

/** Opens an entry without following it and without side effects; null if missing. */
export function openEntry(
  directory: HeldDirectory,
  name: string,
): { readonly fd: number; readonly facts: Stats } | null {
  let fd: number
  try {
    fd = openSync(directory.at(name), heldByKernel ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    if (errorCode(error) === 'ELOOP') throw changedFault(posix.join(directory.path, name))
    throw systemFault(posix.join(directory.path, name), error)
  }
  const facts = fstatSync(fd)
  if (!facts.isSymbolicLink()) return { fd, facts }
  closeSync(fd)
  throw changedFault(posix.join(directory.path, name))
}

/** Reopens the same inode for reading, whatever its name means now. */
export function reopenForReading(entry: { readonly fd: number }, directory: HeldDirectory, name: string): number {
  if (heldByKernel) return openSync(`/proc/self/fd/${entry.fd}`, O_RDONLY | O_NONBLOCK)
  return openSync(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
}

/** A path to an open file for system calls without a descriptor. */
export function descriptorPath(fd: number, directory: HeldDirectory, name: string): string {
  return heldByKernel ? `/proc/self/fd/${fd}` : directory.at(name)
}

/** Splits a canonical path; refuses anything else. */
export function segmentsOf(path: string): string[] {
  if (!path.startsWith('/')) throw new Fault('not-canonical', `${path} is not an absolute path`)
  if (path.includes('\0') || !path.isWellFormed()) {
    throw new Fault('not-canonical', `${JSON.stringify(path)} contains characters that no path can contain`)
  }
  if (Buffer.byteLength(path) > MAX_PATH) {
    throw new Fault('not-canonical', `the path has more than ${MAX_PATH} bytes: ${path.slice(0, 60)}…`)
  }
  const names = path === '/' ? [] : path.slice(1).split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    throw new Fault('not-canonical', `${path} is not a canonical path`)
  }
  // These show Cordon's own environment, memory and descriptors.
  if (names[0] === 'proc' || names[0] === 'sys') {
    throw new Fault('kernel-file', `${path} is a file of the kernel, which tools do not open`)
  }
  return names
}

export function changedFault(path: string): Fault {
  return new Fault('path-changed', `${path} points somewhere else now than when it was judged`, {
    remedy: 'Something replaced a part of this path with a link. Call the tool again to have the new path judged.',
  })
}

/** The fault for a system error. */
export function systemFault(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error
  const code = errorCode(error) ?? 'unknown'
  const [name, reason] = reasons[code] ?? ['unwritable', `failed with ${code}`]
  return new Fault(name, `${path} ${reason}`, { cause: error })
}

const reasons: Readonly<Record<string, readonly [code: FaultCode, reason: string]>> = {
  ENOENT: ['not-found', 'does not exist'],
  ENOTDIR: ['not-found', 'lies below something that is not a directory'],
  EACCES: ['unreadable', 'may not be opened by this user'],
  EPERM: ['unwritable', 'may not be changed by this user'],
  EROFS: ['unwritable', 'is on a file system that is read-only'],
  ENOSPC: ['no-space', 'cannot be written: the disk is full'],
  EDQUOT: ['no-space', 'cannot be written: the quota is used up'],
  ENAMETOOLONG: ['not-canonical', 'has a name that is too long for the file system'],
  EEXIST: ['exists', 'already exists'],
  EISDIR: ['not-a-file', 'is a directory'],
  ENOTEMPTY: ['not-empty', 'is a directory that is not empty'],
  EBUSY: ['busy', 'is in use as a mount point'],
  EMFILE: ['exhausted', 'cannot be opened: too many files are open'],
}

/** Removes directories that were created for a failed change. */
export function removeCreated(created: readonly string[], keeper: ChangeKeeper): void {
  for (const path of created.toReversed()) {
    try {
      const parent = holdDirectory(posix.dirname(path))
      try {
        const at = parent.at(posix.basename(path))
        keeper.willRemove(path, at)
        makeChange(keeper, () => rmdirSync(at))
      } finally {
        parent.close()
      }
    } catch {
      return
    }
  }
}

interface Creation {
  readonly made: CheckedPath[]
  readonly keeper: ChangeKeeper
}

function openChild(child: string, here: () => string, making: Creation | null): number {
  const open = () => openSync(child, (heldByKernel ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW)
  try {
    return open()
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' && making) {
      try {
        making.keeper.willMake(here())
        makeChange(making.keeper, () => mkdirSync(child))
        making.made.push(checkedPath(here()))
      } catch (failure) {
        // Somebody else may have created it.
        if (errorCode(failure) !== 'EEXIST') throw systemFault(here(), failure)
      }
      try {
        return open()
      } catch (failure) {
        throw isLink(child) ? changedFault(here()) : systemFault(here(), failure)
      }
    }
    if ((code === 'ENOTDIR' || code === 'ELOOP') && isLink(child)) throw changedFault(here())
    throw systemFault(here(), error)
  }
}

function isLink(path: string): boolean {
  return attempt(() => lstatSync(path).isSymbolicLink(), false)
}

function heldDirectory(path: string, fd: number, created: readonly CheckedPath[]): HeldDirectory {
  return {
    path,
    fd,
    made: created,
    at: (name) => {
      if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
        throw new Fault('not-canonical', `${JSON.stringify(name)} is not the name of a file`)
      }
      return `/proc/self/fd/${fd}/${name}`
    },
    self: () => `/proc/self/fd/${fd}/.`,
    close: () => closeSync(fd),
  }
}

// If the kernel cannot name a child of a descriptor (macOS), the path is resolved and compared
// before every use. A race of microseconds remains; the sandbox closes it.
function holdByComparison(path: string, options: HoldOptions): HeldDirectory {
  const created: CheckedPath[] = []
  try {
    if (options.make) makeMissing(path, { made: created, keeper: options.make })
    const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    const verify = () => {
      const facts = fstatSync(fd)
      const now = lstatSync(path)
      if (realpathSync.native(path) !== path || now.ino !== facts.ino || now.dev !== facts.dev) throw changedFault(path)
    }
    try {
      verify()
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return {
      path,
      fd,
      made: created,
      at: (name) => {
        verify()
        return posix.join(path, name)
      },
      self: () => {
        verify()
        return path
      },
      close: () => closeSync(fd),
    }
  } catch (error) {
    if (options.make) removeCreated(created, options.make)
    throw systemFault(path, error)
  }
}

function makeMissing(path: string, { made: created, keeper }: Creation): void {
  const names = segmentsOf(path)
  for (let length = 1; length <= names.length; length++) {
    const directory = `/${names.slice(0, length).join('/')}`
    try {
      keeper.willMake(directory)
      makeChange(keeper, () => mkdirSync(directory))
      created.push(checkedPath(directory))
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' && errorCode(error) !== 'EISDIR') throw error
    }
  }
}
