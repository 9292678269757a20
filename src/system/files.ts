/** Cordon's own access to the file system. */

import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { posix } from 'node:path'
import { attempt, errorCode, Fault } from './fault.ts'

export interface Files {
  exists(path: string): boolean
  /**
   * True only if nothing is there, not even a dangling link or something this user cannot inspect.
   */
  isMissing(path: string): boolean
  isDirectory(path: string): boolean
  isLink(path: string): boolean
  /** Owned by Cordon's user; a link counts itself. */
  isOwn(path: string): boolean
  /** Sorted names of a directory; empty if unreadable. */
  list(path: string): readonly string[]
  /** The same, marking directories that are not links; absent if each needs a stat. */
  entries?(path: string): readonly { readonly name: string; readonly isFolder: boolean }[]
  /** The text of a regular file of at most `limit` bytes, strictly UTF-8. */
  readText(path: string, limit?: number): string
  /** Replaces a file atomically. */
  writeText(path: string, text: string, options?: { readonly mode?: number; readonly exclusive?: boolean }): void
  /** Follows links and removes `..` as far as the path exists; keeps the rest. */
  canonical(path: string): string
}

const MAX_LINKS = 40

export const machineFiles: Files = {
  exists: (path) => stat(path) !== null,
  isMissing: (path) => {
    try {
      return lstatSync(path, { throwIfNoEntry: false }) === undefined
    } catch (error) {
      return errorCode(error) === 'ENOTDIR'
    }
  },
  isDirectory: (path) => stat(path)?.isDirectory() ?? false,
  isLink: (path) => readLink(path) !== null,
  isOwn: (path) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.(),
  list: (path) => {
    return attempt(() => readdirSync(path).sort(), [])
  },
  entries: (path) => {
    return attempt(
      () =>
        readdirSync(path, { withFileTypes: true }).map((entry) => ({
          name: entry.name,
          isFolder: entry.isDirectory(),
        })),
      [],
    )
  },
  readText,
  writeText,
  canonical,
}

function stat(path: string) {
  try {
    // Missing files are common, and an exception costs more than the lookup.
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

function readText(path: string, limit = 1024 * 1024): string {
  let fd: number
  try {
    // O_NONBLOCK, so that a FIFO cannot hang us.
    fd = openSync(path, 0o4000)
  } catch (error) {
    throw readFault(path, error)
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) throw new Fault('not-a-file', `${path} is not a regular file`)
    if (facts.size > limit) {
      throw new Fault('too-large', `${path} has ${facts.size} bytes; at most ${limit} are read`)
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(readFileSync(fd))
  } catch (error) {
    if (error instanceof TypeError) {
      throw new Fault('not-utf8', `${path} is not valid UTF-8 text`, { cause: error, remedy: 'Save it as UTF-8.' })
    }
    throw error instanceof Fault ? error : readFault(path, error)
  } finally {
    closeSync(fd)
  }
}

function readFault(path: string, error: unknown): Fault {
  const code = errorCode(error)
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be read by this user',
    ELOOP: 'is a loop of symbolic links',
    ENOTDIR: 'lies below something that is not a directory',
    EISDIR: 'is a directory',
  }
  return new Fault(
    code === 'ENOENT' ? 'not-found' : 'unreadable',
    `${path} ${reasons[code ?? ''] ?? `cannot be read (${code})`}`,
    {
      cause: error,
    },
  )
}

/** Refuses a place that is not a plain file: an output must not replace a device or link. */
export function requirePlainOutput(path: string): void {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (facts && !facts.isFile())
    throw new Fault('not-a-file', `${path} exists and is not a plain file`, { remedy: 'Name another file.' })
}

function writeText(path: string, text: string, options: { mode?: number; exclusive?: boolean } = {}): void {
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  if (options.exclusive && lstatSync(path, { throwIfNoEntry: false }))
    throw new Fault('exists', `${path} already exists`, { remedy: 'Name a file that does not exist yet.' })
  let fd: number | null = null
  try {
    fd = openSync(temporary, 'wx', options.mode ?? 0o644)
    writeFileSync(fd, text)
    fsyncSync(fd)
    closeSync(fd)
    fd = null
    renameSync(temporary, path)
  } catch (error) {
    if (fd !== null) closeSync(fd)
    try {
      unlinkSync(temporary)
    } catch {
      // Never created, or already renamed.
    }
    throw new Fault('unwritable', `${path} cannot be written (${errorCode(error) ?? 'unknown'})`, { cause: error })
  }
}

function canonical(path: string): string {
  const found = resolved(path)
  // macOS finds a file under several spellings; rules name the stored one.
  return process.platform === 'darwin' ? storedSpelling(found, machineFiles.list) : found
}

function resolved(path: string): string {
  // Checked first, because an exception costs more than both calls.
  if (entryAt(path) === undefined) {
    if (path.includes('..')) return canonicalByHand(path)
    // It does not exist, so only its directory can be a link.
    return posix.join(resolved(posix.dirname(path)), posix.basename(path))
  }
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (errorCode(error) === 'ELOOP') throw loopFault(path, error)
    return canonicalByHand(path)
  }
}

// realpath gives up at the first missing component, but a dangling symlink still decides where a
// write would land.
function canonicalByHand(path: string): string {
  let pending = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  let done = '/'
  let links = 0
  while (pending.length > 0) {
    const segment = pending.shift()!
    if (segment === '..') {
      done = posix.dirname(done)
      continue
    }
    const next = posix.join(done, segment)
    const target = readLink(next)
    if (target === null) {
      done = next
      continue
    }
    if (++links > MAX_LINKS) throw loopFault(path)
    pending = [...target.split('/').filter((part) => part !== '' && part !== '.'), ...pending]
    if (target.startsWith('/')) done = '/'
  }
  return done
}

/** What is at a path, without following a link; undefined if nothing is visible. */
function entryAt(path: string): Stats | undefined {
  // Below a file, too long, or not readable.
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }), undefined)
}

function readLink(path: string): string | null {
  return attempt(() => (entryAt(path)?.isSymbolicLink() ? readlinkSync(path) : null), null)
}

function loopFault(path: string, cause?: unknown): Fault {
  return new Fault('link-loop', `${path} is a loop of symbolic links`, { cause })
}

/** The path as its folders list it; missing parts stay as written. */
export function storedSpelling(path: string, list: (folder: string) => readonly string[]): string {
  let stored = '/'
  for (const name of path.split('/').filter((part) => part !== '')) {
    const names = list(stored)
    const folded = alike(name)
    stored = posix.join(stored, names.includes(name) ? name : (names.find((one) => alike(one) === folded) ?? name))
  }
  return stored
}

/** The form shared by all spellings: case-folded, composed, without what HFS+ ignores. */
function alike(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a whole is meant.
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase()
  return [...name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFD')]
    .map(withoutCase)
    .join('')
    .normalize('NFC')
}

/**
 * One letter stays one: `ß` is not `ss` to a file system. Upper case first, so that `ſ` is an `s`.
 */
function withoutCase(letter: string): string {
  const one = (changed: string): string => ([...changed].length === 1 ? changed : letter)
  return one(one(letter.toUpperCase()).toLowerCase())
}

/** Whether this is a file with hard links. */
export function hasMoreNames(path: string): boolean {
  try {
    const stat = lstatSync(path)
    return stat.isFile() && stat.nlink > 1
  } catch {
    return false
  }
}
